"""Readers of token shards, each written from its format's own words."""

import csv
import gzip
import struct

import numpy as np

MEGATRON_TYPES = {4: np.int32, 8: np.uint16}
LLM_C_TYPES = {(20240520, 1): np.uint16, (20240801, 7): np.uint32}


def megatron(path):
    """The documents of P.bin by P.idx (path ends in .idx)."""
    data = path.read_bytes()
    assert data[:9] == b"MMIDIDX\x00\x00"
    version, code, n, n_edges = struct.unpack_from("<QBQQ", data, 9)
    assert version == 1
    dtype = np.dtype(MEGATRON_TYPES[code])
    lengths = np.frombuffer(data, "<i4", n, 34)
    pointers = np.frombuffer(data, "<i8", n, 34 + 4 * n)
    edges = np.frombuffer(data, "<i8", n_edges, 34 + 12 * n)
    assert 34 + 12 * n + 8 * n_edges == len(data)
    assert edges.tolist() == list(range(n + 1))
    tokens = path.with_suffix(".bin").read_bytes()
    found = [np.frombuffer(tokens, dtype, k, at).tolist() for k, at in zip(lengths, pointers, strict=True)]
    assert sum(lengths) * dtype.itemsize == len(tokens)
    return found


def llm_c(path):
    """The tokens of a shard."""
    header = np.fromfile(path, "<i4", 256)
    dtype = np.dtype(LLM_C_TYPES[tuple(header[:2].tolist())])
    tokens = np.fromfile(path, dtype, offset=1024)
    assert header[2] == len(tokens)
    assert not header[3:].any()
    return tokens.tolist()


def datatrove(path, dtype):
    """The documents of a .ds file."""
    tokens = np.fromfile(path, dtype)
    ends = np.fromfile(f"{path}.index", "<u8").astype(int).tolist()
    assert (ends[-1] if ends else 0) == len(tokens)
    return [tokens[start:end].tolist() for start, end in zip([0, *ends], ends, strict=False)]


def dolma(path, dtype):
    """The documents of a .npy file with (id, source, location) of each."""
    tokens = np.memmap(path, dtype, "r")
    with gzip.open(path.with_suffix(".csv.gz"), "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return [(tokens[int(start) : int(end)].tolist(), *others) for start, end, *others in rows]
