"""The public names, for type checkers: what __init__.py imports when it is asked for."""

from cbpe import core as core
from cbpe import distributed as distributed
from cbpe import model as model
from cbpe import patterns as patterns
from cbpe import registry as registry
from cbpe._version import __version__ as __version__
from cbpe.analysis.texts import TextStatistics as TextStatistics
from cbpe.analysis.vocabulary import VocabularyAnalysis as VocabularyAnalysis
from cbpe.corpus.counting import count_words as count_words
from cbpe.corpus.word_counts import WordCounts as WordCounts
from cbpe.counting.corpus import count_corpus as count_corpus
from cbpe.formats.inspecting import Inspection as Inspection
from cbpe.formats.minbpe import render_token as render_token
from cbpe.measures.compare import compare as compare
from cbpe.measures.comparison import Comparison as Comparison
from cbpe.measures.sweep import Sweep as Sweep
from cbpe.measures.sweep import sweep as sweep
from cbpe.shards.opening import Shards as Shards
from cbpe.shards.opening import open_shards as open_shards
from cbpe.shards.tokenize import tokenize as tokenize
from cbpe.text.patterns import GPT2_SPLIT_PATTERN as GPT2_SPLIT_PATTERN
from cbpe.text.patterns import GPT4_SPLIT_PATTERN as GPT4_SPLIT_PATTERN
from cbpe.tokenizers.characters.sentencepiece import SentencePieceTokenizer as SentencePieceTokenizer
from cbpe.tokenizers.characters.words import WordTokenizer as WordTokenizer
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer as HuggingFaceTokenizer
from cbpe.tokenizers.loading import from_bpeasy as from_bpeasy
from cbpe.tokenizers.loading import from_rustbpe as from_rustbpe
from cbpe.tokenizers.loading import from_transformers as from_transformers
from cbpe.tokenizers.loading import inspect as inspect
from cbpe.tokenizers.loading import load as load
from cbpe.tokenizers.minbpe import BasicTokenizer as BasicTokenizer
from cbpe.tokenizers.minbpe import GPT2Tokenizer as GPT2Tokenizer
from cbpe.tokenizers.minbpe import GPT4Tokenizer as GPT4Tokenizer
from cbpe.tokenizers.minbpe import RegexTokenizer as RegexTokenizer
from cbpe.tokenizers.minbpe import recover_merges as recover_merges
from cbpe.tokenizers.registry import encoding_for_model as encoding_for_model
from cbpe.tokenizers.registry import encoding_name_for_model as encoding_name_for_model
from cbpe.tokenizers.registry import get_encoding as get_encoding
from cbpe.tokenizers.registry import list_encoding_names as list_encoding_names
from cbpe.tokenizers.tiktoken import Encoding as Encoding
from cbpe.tokenizers.tokenizer import Tokenizer as Tokenizer
from cbpe.tokenizers.train import train as train
from cbpe.training.record import TrainingRecord as TrainingRecord

__all__ = [
    "GPT2_SPLIT_PATTERN",
    "GPT4_SPLIT_PATTERN",
    "BasicTokenizer",
    "Comparison",
    "Encoding",
    "GPT2Tokenizer",
    "GPT4Tokenizer",
    "HuggingFaceTokenizer",
    "Inspection",
    "RegexTokenizer",
    "SentencePieceTokenizer",
    "Sweep",
    "TextStatistics",
    "Tokenizer",
    "TrainingRecord",
    "VocabularyAnalysis",
    "WordCounts",
    "WordTokenizer",
    "compare",
    "count_corpus",
    "count_words",
    "encoding_for_model",
    "encoding_name_for_model",
    "from_bpeasy",
    "from_rustbpe",
    "from_transformers",
    "get_encoding",
    "inspect",
    "list_encoding_names",
    "load",
    "open_shards",
    "recover_merges",
    "render_token",
    "sweep",
    "tokenize",
    "train",
]
