"""The longest prefix of a text with added tokens, beside trying every prefix."""

import random

import pytest

from cbpe.chunking.between import longest_prefix
from cbpe.text.added_tokens import Finder, Found


def finder_of(tokens):
    return Finder({token: Found(i, False, False, False) for i, token in enumerate(tokens)})


def count(stretch, is_first):
    """As if "ab" were a token, and a text began with a space before its first stretch."""
    return len(stretch) - stretch.count("ab") + is_first


def truncate(stretch, is_first, budget):
    return max((n for n in range(len(stretch) + 1) if (count(stretch[:n], is_first) if n else 0) <= budget), default=0)


def count_all(text, finder):
    is_first, n = True, 0
    for piece, token_id in finder.cut(text):
        n += 1 if token_id is not None else count(piece, is_first)
        is_first = False
    return n


@pytest.mark.parametrize("seed", range(20))
def test_the_longest_prefix_is_that_which_trying_all_finds(seed):
    chance = random.Random(seed)
    for _ in range(60):
        tokens = {"".join(chance.choices("<ab>", k=chance.randint(2, 4))) for _ in range(3)} - {"ab"}
        finder = finder_of(tokens)
        text = "".join(chance.choices([*"<ab>", *tokens], k=chance.randint(0, 9)))
        for budget in range(len(text) + 3):
            fitting = (n for n in range(len(text) + 1) if count_all(text[:n], finder) <= budget)
            assert longest_prefix(text, budget, finder, count, truncate) == text[: max(fitting)], (text, tokens, budget)


def test_tokens_within_tokens_are_looked_at_in_turn_and_what_stands_before_is_counted_once():
    finder, counted = finder_of("x" * n for n in range(2, 1000)), []

    def count_once(stretch, is_first):
        counted.append(len(stretch))
        return len(stretch)

    def no_more(stretch, is_first, budget):
        return budget

    text = "y" * 10_000 + "x" * 999
    assert longest_prefix(text, 10_000, finder, count_once, no_more) == text[:10_000]
    assert counted[:1] == [10_000]
    assert len(counted) <= 3
