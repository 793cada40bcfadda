"""Byte-pair-encoding tokenizers: train, encode and decode on a compiled core.

Each public name is imported from its module when a program first uses it, so that a program which only encodes does not
load what training needs. Type checkers read __init__.pyi.
"""

import importlib
import os

_HOMES = {
    "GPT2_SPLIT_PATTERN": "cbpe.text.patterns",
    "GPT4_SPLIT_PATTERN": "cbpe.text.patterns",
    "BasicTokenizer": "cbpe.tokenizers.minbpe",
    "Comparison": "cbpe.measures.comparison",
    "Encoding": "cbpe.tokenizers.tiktoken",
    "GPT2Tokenizer": "cbpe.tokenizers.minbpe",
    "GPT4Tokenizer": "cbpe.tokenizers.minbpe",
    "HuggingFaceTokenizer": "cbpe.tokenizers.hugging_face",
    "Inspection": "cbpe.formats.inspecting",
    "RegexTokenizer": "cbpe.tokenizers.minbpe",
    "SentencePieceTokenizer": "cbpe.tokenizers.characters.sentencepiece",
    "Shards": "cbpe.shards.opening",
    "Sweep": "cbpe.measures.sweep",
    "TextStatistics": "cbpe.analysis.texts",
    "Tokenizer": "cbpe.tokenizers.tokenizer",
    "TrainingRecord": "cbpe.training.record",
    "VocabularyAnalysis": "cbpe.analysis.vocabulary",
    "WordCounts": "cbpe.corpus.word_counts",
    "WordTokenizer": "cbpe.tokenizers.characters.words",
    "compare": "cbpe.measures.compare",
    "count_corpus": "cbpe.counting.corpus",
    "count_words": "cbpe.corpus.counting",
    "encoding_for_model": "cbpe.tokenizers.registry",
    "encoding_name_for_model": "cbpe.tokenizers.registry",
    "from_bpeasy": "cbpe.tokenizers.loading",
    "from_rustbpe": "cbpe.tokenizers.loading",
    "from_transformers": "cbpe.tokenizers.loading",
    "get_encoding": "cbpe.tokenizers.registry",
    "list_encoding_names": "cbpe.tokenizers.registry",
    "inspect": "cbpe.tokenizers.loading",
    "load": "cbpe.tokenizers.loading",
    "open_shards": "cbpe.shards.opening",
    "recover_merges": "cbpe.tokenizers.minbpe",
    "render_token": "cbpe.formats.minbpe",
    "sweep": "cbpe.measures.sweep",
    "tokenize": "cbpe.shards.tokenize",
    "train": "cbpe.tokenizers.train",
}
# What __all__ does not name: the version, and what pickles and tracebacks name. Programs catch the exceptions among
# these by those of Python that they are as well.
_OTHER_HOMES = {
    "__version__": "cbpe._version",
    "SpecialChoiceError": "cbpe.text.special_tokens",
    "TokenTypeError": "cbpe.text.special_tokens",
    "VocabularySizeError": "cbpe.tokenizers.tiktoken",
    "_restore": "cbpe.tokenizers.tokenizer",
}
# Modules that import cbpe gives without more ado: ours, and tiktoken's, for programs that import this package in its
# place and say tiktoken.model.MODEL_TO_ENCODING.
_OURS = ("distributed", "patterns")
_MODULES = (*_OURS, "core", "model", "registry")

__all__ = list(_HOMES)


def _refuse_sources() -> None:
    """ImportError in a checkout that is not compiled, which Python finds first where it was started there."""
    here = os.path.dirname(os.path.abspath(__file__))
    first = os.path.join(here, "_core", "vocabulary", "vocabulary")
    if not os.path.exists(f"{first}.pyx"):
        return
    from importlib.machinery import EXTENSION_SUFFIXES

    if not any(os.path.exists(first + ending) for ending in EXTENSION_SUFFIXES):
        raise ImportError(
            f"this is the cbpe of the checkout {os.path.dirname(here)}, which is not compiled: start Python in another "
            "folder, where it finds the cbpe that is installed, or compile this one by pip install -e ."
        )


_refuse_sources()


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"cbpe.{name}")
    home = _HOMES.get(name) or _OTHER_HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_OURS, "__version__", *(name for name in globals() if name.startswith("__"))})
