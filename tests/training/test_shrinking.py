"""tok.shrink: what training to the smaller size gives, in everything."""

import dataclasses
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cbpe

TEXT = "the cat sat on the mat; 안녕하세요 the dog sat on the log. 1234 naïve running through 다리 " * 8
TIMES = {"reading_seconds", "merging_seconds"}


def facts(tok):
    """All that a tokenizer is, its record included, times aside."""
    record = {field.name: getattr(tok.training, field.name) for field in dataclasses.fields(tok.training)}
    return (
        type(tok),
        tok.merges,
        tok.vocab,
        tok.pattern,
        tok.special_tokens,
        tok.semantics,
        tok.encode_ordinary(TEXT),
        {name: value for name, value in record.items() if name not in TIMES},
    )


OPTIONS = {
    "usual": {},
    "unsplit": {"pattern": None},
    "special tokens without ids": {"special_tokens": ["<|end|>", "<|start|>"]},
    "special tokens with ids": {"special_tokens": {"<|end|>": 1000, "<|start|>": 999}},
    "largest": {"tie_break": "largest"},
    "short": {"max_token_length": 3},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_shrunk_tokenizer_is_the_one_that_training_gives(options):
    large = cbpe.train(TEXT, 290, **options)
    for size in (256, 257, 280, large.vocab_size):
        assert facts(large.shrink(size)) == facts(cbpe.train(TEXT, size, **options))


@given(st.integers(256, 290), st.integers())
def test_a_shrunk_tokenizer_is_the_one_that_training_gives_on_any_text(size, seed):
    chance = random.Random(seed)
    text = "".join(chance.choice("aab é") for _ in range(300))
    large = cbpe.train(text, 290, pattern=r"\S+|\s+")
    if size <= large.vocab_size:
        small, trained = large.shrink(size), cbpe.train(text, size, pattern=r"\S+|\s+")
        assert (small.merges, small.vocab) == (trained.merges, trained.vocab)


def test_one_that_went_on_from_another_shrinks_to_what_going_on_gives():
    initial = cbpe.train(TEXT, 262, special_tokens=["<|end|>"])
    large = cbpe.train(TEXT * 2 + "zebra " * 50, 300, initial=initial, special_tokens=["<|more|>"])
    small = large.shrink(280)
    trained = cbpe.train(TEXT * 2 + "zebra " * 50, 280, initial=initial, special_tokens=["<|more|>"])
    assert facts(small) == facts(trained)
    assert large.shrink(259).merges == cbpe.train(TEXT, 259).merges


def test_a_training_that_stopped_early_shrinks_to_one_that_did_not():
    with pytest.warns(UserWarning, match="training stopped"):
        large = cbpe.train("abab", 300)
    assert large.shrink(large.vocab_size).training is large.training
    assert facts(large.shrink(257)) == facts(cbpe.train("abab", 257))


def test_by_ranks_the_first_ranks_are_left_and_the_name_has_the_size():
    gpt2 = cbpe.get_encoding("gpt2")
    small = gpt2.shrink(1000)
    ranks = {token: rank for rank, token in gpt2.vocab.items() if rank < 1000}
    expected = cbpe.Encoding("gpt2-1000", pat_str=gpt2.pattern, mergeable_ranks=ranks, special_tokens={})
    assert small.vocab == {**expected.vocab, 1000: b"<|endoftext|>"}  # which followed the merges
    assert small.encode_ordinary(TEXT) == expected.encode_ordinary(TEXT)
    assert (type(small), small.name) == (cbpe.Encoding, "gpt2-1000")
    assert gpt2.shrink(50256).name == "gpt2"


def test_special_tokens_that_share_an_id_share_the_new_one():
    harmony = cbpe.get_encoding("o200k_harmony")
    first = min(harmony.special_tokens.values())
    assert len({*harmony.special_tokens.values()}) == len(harmony.special_tokens) - 1
    moved = {token: token_id - first + 8000 for token, token_id in harmony.special_tokens.items()}
    assert harmony.shrink(8000).special_tokens == moved


def test_steps_around_merging_stay():
    tok = cbpe.HuggingFaceTokenizer.from_tokenizer(cbpe.train(TEXT, 300, special_tokens={"<|end|>": 500}))
    small = tok.shrink(280)
    assert type(small) is cbpe.HuggingFaceTokenizer
    assert small.encode(TEXT + "<|end|>", allowed_special="all") == [*cbpe.train(TEXT, 280).encode(TEXT), 500]


@pytest.mark.parametrize(
    ("size", "error", "message"),
    [
        (255, ValueError, "vocab_size is 255; it must be at least 256"),
        (301, ValueError, "vocab_size is 301, but .* has 300 bytes and merges: it can only shrink"),
        ("280", TypeError, "vocab_size must be an int, not str"),
        (True, TypeError, "vocab_size must be an int, not bool"),
    ],
)
def test_sizes_that_it_does_not_hold_are_refused(size, error, message):
    tok = cbpe.train(TEXT, 300)
    with pytest.raises(error, match=message):
        tok.shrink(size)


def test_a_vocabulary_that_is_no_sequence_of_merges_is_refused_by_name():
    characters = cbpe.train(TEXT, 330, alphabet="characters")
    with pytest.raises(ValueError, match=r"SentencePieceTokenizer.* no sequence of merges over bytes.*over characters"):
        characters.shrink(300)
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"abcd": 256}
    unmerged = cbpe.Encoding("odd", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})
    with pytest.raises(ValueError, match=r"<Encoding 'odd'> is no sequence.*no merge makes 1 of its tokens.*abcd"):
        unmerged.shrink(256)
