"""A small tokenizer with special tokens, for the tests of what all tokenizers do, and texts with known tokens."""

import pytest

import cbpe

END = "<|endoftext|>"
SPECIAL = {END: 100257, "<|fim|>": 100258, "<|fim|>2": 100259}
HELLO = "hello world!!!? (안녕하세요!) lol123 😉"
HELLO_IDS = [15339, 1917, 12340, 30, 320, 31495, 230, 75265, 243, 92245, 16715, 28509, 4513, 57037]


@pytest.fixture
def toy():
    """minbpe's example, with special tokens."""
    tok = cbpe.RegexTokenizer()
    tok.train("aaabdaaabac " * 3, 259)
    tok.register_special_tokens(SPECIAL)
    return tok


def facts(tok):
    """All that a tokenizer is."""
    return (
        type(tok),
        tok.merges,
        tok.vocab,
        tok.pattern,
        tok.special_tokens,
        tok.semantics,
        tok.splits_natively,
        tok.encode("aaab aaab<|fim|>2é", allowed_special="all"),
        getattr(tok, "name", None),
    )
