"""Laying out: words as the tokens that earlier merges make of them, as if these had been merged one after the other."""

import random
from array import array

import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from training_examples import (
    expected_results,
    max_lengths,
    min_counts,
    results,
    tie_breaks,
    trained,
    trainer_of,
    word_lists,
)
from vocabularies import by_merges, by_merges_in_heap, merge_lists

from cbpe._core.training.train import Trainer


@given(word_lists, merge_lists(b"abc"), tie_breaks, min_counts, max_lengths)
def test_merges_after_any_initial_ones_are_the_references(pieces, initial, tie_break, min_count, max_token_length):
    expected = reference.train(pieces, 20, tie_break, min_count, max_token_length, initial)
    trainer = trainer_of(
        pieces,
        initial=by_merges(initial),
        tie_break=tie_break,
        min_count=min_count,
        max_token_length=max_token_length or 0,
    )
    assert len(trainer) == len(initial)
    trainer.run(20)
    merges, counts, tokens = results(trainer)
    assert (merges, counts[len(initial) :], tokens[len(initial) :]) == (list(expected[0]), *expected[1:])


@given(word_lists, st.integers(0, 20), tie_breaks)
def test_training_goes_on_from_earlier_merges_as_if_it_had_never_stopped(pieces, n_initial, tie_break):
    merges, counts, tokens = expected_results(pieces, 30, tie_break)
    initial = merges[:n_initial]
    trainer = trainer_of(pieces, tie_break=tie_break, initial=by_merges(initial))
    trainer.run(30 - len(initial))
    found = results(trainer)
    assert (found[0], found[2]) == (merges, tokens)
    assert found[1][len(initial) :] == counts[len(initial) :]
    # An initial merge counts where it was applied: each time takes a token away.
    before = [trainer.tokens_at_start, *tokens]
    assert found[1][: len(initial)] == [before[i] - before[i + 1] for i in range(len(initial))]


@pytest.mark.parametrize("letters", [b"a", b"ab", b"abcdefghij"])
def test_a_word_longer_than_what_is_encoded_at_once(letters):
    word = bytes(random.Random(3).choices(letters, k=1_200_000))
    expected = trained([word], 60)
    trainer = trainer_of([word], initial=by_merges(expected[0][:40]))
    trainer.run(20)
    found = results(trainer)
    assert (found[0], found[2], found[1][40:]) == (expected[0], expected[2], expected[1][40:])


def test_a_word_whose_end_decides_about_what_lies_far_before():
    """Chained merges make one token of "b" and all the letters before it, far more than are doubted at a border."""
    merges = [(97, 98), *((97, 256 + i) for i in range(299))]
    word = b"c" * (2**20 - 200) + b"a" * 250 + b"b" + b"c" * 100
    trainer = trainer_of([word], initial=by_merges(merges))
    assert trainer.tokens == 2**20 - 200 + 1 + 100
    assert results(trainer)[1] == [1] * 250 + [0] * 50


def test_words_of_one_byte_and_none_are_no_trouble():
    initial = by_merges([(97, 98)])
    assert results(trainer_of([b"a", b"b"], initial=initial)) == ([(97, 98)], [0], [2])
    assert results(trainer_of([], initial=initial)) == ([(97, 98)], [0], [0])


def test_counts_beyond_32_bits_with_initial_merges():
    trainer = Trainer(b"abab", array("q", [4]), array("q", [2**33]), initial=by_merges([(97, 98)]))
    trainer.run(1)
    assert results(trainer) == ([(97, 98), (256, 256)], [2**34, 2**33], [2**34, 2**33])


def test_a_vocabulary_with_a_merge_made_of_a_later_one_is_refused():
    with pytest.raises(ValueError, match="made of a later one"):
        trainer_of([b"ab"], initial=by_merges_in_heap([]))
