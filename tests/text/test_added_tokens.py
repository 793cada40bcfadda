"""Finding added tokens, beside searches that try every token at every place."""

import random
from itertools import product

import pytest

from cbpe.text.added_tokens import AnyOf, Finder, Finders, Found, begins_one, begins_with_one, common_beginnings


def some_tokens(rng, most):
    alphabet = "<ab" if rng.random() < 0.5 else "<|abcdefghij"
    return list({"".join(rng.choices(alphabet, k=rng.randint(1, 5))) for _ in range(rng.randint(1, most))})


def cut_plainly(text, tokens):
    """Finder.cut for tokens without flags: (text, whether it is a token)."""
    start = at = 0
    while at < len(text):
        longest = max((token for token in tokens if text.startswith(token, at)), key=len, default=None)
        if longest is None:
            at += 1
            continue
        if start < at:
            yield text[start:at], False
        yield longest, True
        start = at = at + len(longest)
    if start < len(text):
        yield text[start:], False


@pytest.mark.parametrize("most", [3, 30])
def test_finders_find_what_trying_every_token_at_every_place_finds(most):
    rng = random.Random(most)
    for _ in range(100):
        tokens = some_tokens(rng, most)
        text = "".join(rng.choices("<|abcx", k=rng.randint(0, 30)))
        found = Finder({token: Found(1, False, False, False) for token in tokens}).cut(text)
        assert [(stretch, token_id is not None) for stretch, token_id in found] == list(cut_plainly(text, tokens))
        assert AnyOf(tokens).is_in(text) == any(token in text for token in tokens)


def test_beginnings_of_texts_in_order_are_those_of_any():
    rng = random.Random(1)
    for _ in range(100):
        tokens = some_tokens(rng, 20)
        text = "".join(rng.choices("<ab", k=rng.randint(1, 6)))
        assert begins_with_one(text, sorted(tokens)) == any(text.startswith(token) for token in tokens)
        assert begins_one(text, sorted(tokens)) == any(token.startswith(text) for token in tokens)


def test_every_token_begins_with_one_of_a_few_beginnings():
    rng = random.Random(2)
    assert common_beginnings(["<s>", "</s>", "[CLS]"]) == ["<s>", "</s>", "[CLS]"]
    assert common_beginnings([f"<x{i}>" for i in range(9)]) == ["<x"]
    assert common_beginnings([f"{i}>" for i in range(9)]) == [""]
    for _ in range(100):
        tokens = some_tokens(rng, 20)
        assert all(any(token.startswith(one) for one in common_beginnings(tokens)) for token in tokens)


def test_it_takes_two_steps_where_a_token_that_is_found_first_may_begin_inside_of_another():
    rng = random.Random(3)
    for _ in range(200):
        tokens = some_tokens(rng, 6)
        late = set(rng.sample(tokens, rng.randint(0, len(tokens))))
        finders = Finders(dict.fromkeys(tokens, 1), {"normalized": late}, str)
        first = set(tokens) - late
        expected = any(
            token in text or text[start:] == token[: len(text) - start]
            for text, token in product(late, first)
            for start in range(1, len(text))
        )
        assert finders.in_two_steps == expected
