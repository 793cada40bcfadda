"""The measures: what each is called, how it is defined, and who defined it. Tables, reports and the documentation name
them by this list."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["BY_KEY", "DEFAULT_ALPHA", "INTERMEDIATE", "LITTLE", "MEASURES", "SHARES", "SHOWN", "Measure"]

DEFAULT_ALPHA = 2.5  # of the Rényi entropy; Zouhar et al. found the highest correlation with translation quality by it
LITTLE = 0.03  # the share of tokens that a doubling of the vocabulary saves
INTERMEDIATE = 0.9  # the share that one merge took of the occurrences of a token that there were then


class Measure(NamedTuple):
    """One of a Comparison's rows."""

    key: str
    title: str
    definition: str
    source: str = ""  # the paper that defines it
    better: str = ""  # "high" or "low" where one is better than the other, all else being equal


MEASURES = (
    Measure("tokens", "tokens", "tokens of the corpus, without a template and with special tokens as text", "", "low"),
    Measure("bytes_per_token", "bytes/token", "bytes of UTF-8 in tokens over tokens", "", "high"),
    Measure("characters_per_token", "characters/token", "characters in tokens over tokens", "", "high"),
    Measure(
        "fertility",
        "fertility",
        "tokens over words, which white space separates",
        "Rust et al. 2021, 2012.15613",
        "low",
    ),
    Measure(
        "continued_words",
        "continued words",
        "share of the words, with the space before each, that are more than one token",
        "Rust et al. 2021, 2012.15613",
        "low",
    ),
    Measure(
        "strr",
        "STRR",
        "share of the distinct words, with the space before each, that are one token",
        "2510.09947",
        "high",
    ),
    Measure("nsl", "NSL", "tokens over those of the reference tokenizer", "Dagan et al. 2024, 2402.01035", "low"),
    Measure(
        "parity",
        "parity",
        "mean over aligned lines of their tokens over those of the line in the reference language",
        "Petrov et al. 2023, 2305.15425",
        "low",
    ),
    Measure(
        "premium",
        "premium",
        "tokens of all aligned lines over those of the reference language",
        "Petrov et al. 2023, 2305.15425",
        "low",
    ),
    Measure(
        "gini",
        "Gini",
        "Gini coefficient of the languages' tokens for the same lines, 0 where all cost the same",
        "Foroutan et al. 2025, 2508.04796",
        "low",
    ),
    Measure(
        "renyi_efficiency",
        "Rényi efficiency",
        "Rényi entropy of the tokens' frequencies over the logarithm of the vocabulary's size",
        "Zouhar et al. 2023, 2306.16842",
    ),
    Measure(
        "renyi_efficiency_seen",
        "Rényi efficiency (seen)",
        "Rényi entropy of the tokens' frequencies over the logarithm of the number of different tokens that came up",
        "Zouhar et al. 2023, 2306.16842",
    ),
    Measure("vocabulary_used", "vocabulary used", "share of the vocabulary that came up, special tokens aside"),
    Measure("type_token_ratio", "type/token", "different tokens that came up, over tokens"),
    Measure("tokens_seen_once", "seen once", "different tokens that came up once"),
    Measure(
        "intermediate_tokens",
        "intermediate",
        f"tokens of which one merge took {INTERMEDIATE} or more of the occurrences that earlier merges had left",
        "Chizhov et al. 2024, PickyBPE, 2409.04599",
    ),
    Measure("unreachable", "unreachable", "tokens that no text can produce; analyze() says why", "", "low"),
    Measure("not_utf8", "not UTF-8", "tokens that alone decode to no UTF-8"),
)
SHARES = ("continued_words", "strr", "vocabulary_used")  # in percent, in tables
BY_KEY = {measure.key: measure for measure in MEASURES}
# What a table has room for; those of languages only where there are parallel texts.
SHOWN = (
    "tokens", "bytes_per_token", "fertility", "continued_words", "strr", "nsl", "parity", "premium", "gini",
    "renyi_efficiency", "vocabulary_used",
)  # fmt: skip
