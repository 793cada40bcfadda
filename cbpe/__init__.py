"""Byte-pair-encoding tokenizers: train, encode and decode on a compiled core."""

from cbpe.formats.minbpe import render_token
from cbpe.minbpe_tokenizers import BasicTokenizer, GPT2Tokenizer, GPT4Tokenizer, RegexTokenizer, recover_merges
from cbpe.patterns import GPT2_SPLIT_PATTERN, GPT4_SPLIT_PATTERN
from cbpe.tokenizer import Encoding, Tokenizer, get_encoding, list_encoding_names
from cbpe.training import TrainingRecord, train

__all__ = [
    "GPT2_SPLIT_PATTERN",
    "GPT4_SPLIT_PATTERN",
    "BasicTokenizer",
    "Encoding",
    "GPT2Tokenizer",
    "GPT4Tokenizer",
    "RegexTokenizer",
    "Tokenizer",
    "TrainingRecord",
    "get_encoding",
    "list_encoding_names",
    "recover_merges",
    "render_token",
    "train",
]

__version__ = "0.1.0"
