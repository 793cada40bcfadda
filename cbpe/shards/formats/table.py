"""The formats of shards by their names."""

from __future__ import annotations

from cbpe.shards.formats.datatrove import DATATROVE
from cbpe.shards.formats.dolma import DOLMA
from cbpe.shards.formats.megatron import MEGATRON
from cbpe.shards.formats.parquet import PARQUET
from cbpe.shards.formats.streams import BIN, LLM_C
from cbpe.shards.formats.writing import Format

__all__ = ["FORMATS"]

FORMATS: dict[str, Format] = {
    "megatron": MEGATRON,
    "bin": BIN,
    "llmc": LLM_C,
    "datatrove": DATATROVE,
    "dolma": DOLMA,
    "parquet": PARQUET,
}
