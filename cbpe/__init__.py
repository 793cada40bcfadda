"""Byte-pair-encoding tokenizers: train, encode and decode on a compiled core.

Each public name is imported from its module when it is first used, so that a program which only encodes starts without
what training needs.
"""

import importlib

TYPE_CHECKING = False  # what type checkers take for typing.TYPE_CHECKING, which would cost an import
if TYPE_CHECKING:
    from cbpe import core  # noqa: F401
    from cbpe import model as model
    from cbpe import registry as registry
    from cbpe.analysis import TextStatistics, VocabularyAnalysis
    from cbpe.counting import count_words
    from cbpe.formats.bpeasy import from_bpeasy
    from cbpe.formats.minbpe import render_token
    from cbpe.formats.rustbpe import from_rustbpe
    from cbpe.hugging_face_tokenizer import HuggingFaceTokenizer
    from cbpe.loading import load
    from cbpe.minbpe_tokenizers import BasicTokenizer, GPT2Tokenizer, GPT4Tokenizer, RegexTokenizer, recover_merges
    from cbpe.patterns import GPT2_SPLIT_PATTERN, GPT4_SPLIT_PATTERN
    from cbpe.registry import encoding_for_model, encoding_name_for_model, get_encoding, list_encoding_names
    from cbpe.tiktoken_encoding import Encoding
    from cbpe.tokenizer import Tokenizer
    from cbpe.training import train
    from cbpe.training_record import TrainingRecord
    from cbpe.word_counts import WordCounts

__all__ = [
    "GPT2_SPLIT_PATTERN",
    "GPT4_SPLIT_PATTERN",
    "BasicTokenizer",
    "Encoding",
    "GPT2Tokenizer",
    "GPT4Tokenizer",
    "HuggingFaceTokenizer",
    "RegexTokenizer",
    "TextStatistics",
    "Tokenizer",
    "TrainingRecord",
    "VocabularyAnalysis",
    "WordCounts",
    "count_words",
    "encoding_for_model",
    "encoding_name_for_model",
    "from_bpeasy",
    "from_rustbpe",
    "get_encoding",
    "list_encoding_names",
    "load",
    "recover_merges",
    "render_token",
    "train",
]

_HOMES = {
    "cbpe.analysis": ("TextStatistics", "VocabularyAnalysis"),
    "cbpe.counting": ("count_words",),
    "cbpe.formats.bpeasy": ("from_bpeasy",),
    "cbpe.formats.minbpe": ("render_token",),
    "cbpe.formats.rustbpe": ("from_rustbpe",),
    "cbpe.hugging_face_tokenizer": ("HuggingFaceTokenizer",),
    "cbpe.loading": ("load",),
    "cbpe.minbpe_tokenizers": ("BasicTokenizer", "GPT2Tokenizer", "GPT4Tokenizer", "RegexTokenizer", "recover_merges"),
    "cbpe.patterns": ("GPT2_SPLIT_PATTERN", "GPT4_SPLIT_PATTERN"),
    "cbpe.registry": ("encoding_for_model", "encoding_name_for_model", "get_encoding", "list_encoding_names"),
    "cbpe.tiktoken_encoding": ("Encoding",),
    "cbpe.tokenizer": ("Tokenizer",),
    "cbpe.training": ("train",),
    "cbpe.training_record": ("TrainingRecord",),
    "cbpe.word_counts": ("WordCounts",),
}
# tiktoken's modules, for programs that import this package in its place and say tiktoken.model.MODEL_TO_ENCODING.
_MODULES = {"core": "cbpe.core", "model": "cbpe.model", "registry": "cbpe.registry"}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
