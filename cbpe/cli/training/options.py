"""The options of train."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from cbpe.cli.input.references import complete_reference
from cbpe.cli.input.values import PATTERN_NAMES, complete_pattern, size_of, vocab_size_of

__all__ = [
    "Alphabet",
    "AlphabetOption",
    "CheckpointOption",
    "CoverageOption",
    "FallbackOption",
    "InitialOption",
    "MaxLengthOption",
    "MaxWordsOption",
    "MinCountOption",
    "MixNumbersOption",
    "MixScriptsOption",
    "NewSpecialOption",
    "NoPrefixOption",
    "NoSplitOption",
    "OutputOption",
    "PatternOption",
    "PlotOption",
    "RequiredOption",
    "SaveOption",
    "SizeOption",
    "SourcesArgument",
    "SplitDigitsOption",
    "TieBreak",
    "TieBreakOption",
    "WorkersOption",
]


class TieBreak(str, Enum):
    first = "first"
    largest = "largest"
    smallest = "smallest"
    shortest = "shortest"


class Alphabet(str, Enum):
    bytes = "bytes"
    characters = "characters"


SourcesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE", help="Files, folders, patterns, URLs of these, or - for standard input.", show_default=False
    ),
]
SizeOption = Annotated[
    int,
    typer.Option(
        parser=vocab_size_of,
        metavar="N",
        help="Tokens to end with, as 16000 or 16k: the 256 bytes and the merges. Over characters, as in SentencePiece, "
        "special tokens are counted as well.",
        show_default=False,
    ),
]
PatternOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|REGEX",
        help=f"Split text by an expression, or a known one: {PATTERN_NAMES}. Left out, it is that of the initial "
        "tokenizer, or gpt4.",
        autocompletion=complete_pattern,
    ),
]
NoSplitOption = Annotated[bool, typer.Option("--no-split", help="Do not split: merge across the whole text.")]
NewSpecialOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TOKEN[=ID]",
        help="A special token, with its id; without, the id follows the merges; repeatable, all with ids or none.",
    ),
]
TieBreakOption = Annotated[
    TieBreak | None,
    typer.Option(
        help="Of equally frequent pairs: the first in the text, or the largest or smallest ids; over characters, the "
        "shortest, or the first. Left out, it is first, and shortest over characters.",
    ),
]
AlphabetOption = Annotated[
    Alphabet, typer.Option(help="What merges join: bytes, as GPT's, or characters, as SentencePiece and Llama 2.")
]
CoverageOption = Annotated[
    float | None,
    typer.Option(help="Give tokens to so much of the text, the most frequent first (0.9995)."),
]
RequiredOption = Annotated[str | None, typer.Option(metavar="TEXT", help="Give these a token as well.")]
FallbackOption = Annotated[bool, typer.Option("--no-byte-fallback", help="Rare ones are <unk>, not their bytes.")]
MixScriptsOption = Annotated[bool, typer.Option("--mix-scripts", help="Merge across scripts, and with punctuation.")]
MixNumbersOption = Annotated[bool, typer.Option("--mix-numbers", help="Merge digits with what is beside them.")]
SplitDigitsOption = Annotated[bool, typer.Option("--split-digits", help="Each digit is a token of its own.")]
NoPrefixOption = Annotated[bool, typer.Option("--no-dummy-prefix", help="Put no space before a line.")]
MinCountOption = Annotated[int, typer.Option(min=1, help="Merge no pair that is rarer than this.")]
MaxLengthOption = Annotated[
    int | None, typer.Option(min=2, help="Make no token of more bytes than this (characters: 16).")
]
InitialOption = Annotated[
    str | None,
    typer.Option(
        metavar="REF", help="Go on from this tokenizer: its merges come first.", autocompletion=complete_reference
    ),
]
CheckpointOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE.model",
        help="Save what is learned here every minute; if the file is there, go on from it.",
    ),
]
WorkersOption = Annotated[int | None, typer.Option(min=1, help="Threads that read; all cores by default.")]
MaxWordsOption = Annotated[
    int | None,
    typer.Option(parser=size_of, metavar="N", help="Bound memory: of more distinct words drop the rarest; or 10m."),
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        help="Save to this file, in the format of its ending (see convert). A name with another ending or none is a "
        "prefix: train writes FILE.model, to load, and FILE.vocab, to read. Over characters: .json or .model.",
    ),
]
PlotOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Draw bytes per token against the size of the vocabulary: .svg, .png, .pdf."),
]
SaveOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Save to the model store, as the next version of this name."),
]
