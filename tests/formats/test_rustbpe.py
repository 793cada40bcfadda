"""rustbpe's tokenizers, taken over: the same ids."""

import pytest

import cbpe
from cbpe import from_rustbpe

TEXT = "the cat sat on the mat, the rat sat on the cat; na\u00efve \u00e9t\u00e9 1234567\n\n  x \u4e2d\u6587 \U0001f609"
OTHER = "another text:  the other cats'll sit there \u017f\t12 \u4e2d\u6587\u5b57\n \n"


class Shown:
    """What such a tokenizer shows of itself."""

    def __init__(self, ranks, pattern=r"\S+|\s+"):
        self.ranks, self.pattern = ranks, pattern

    def get_mergeable_ranks(self):
        return self.ranks

    def get_pattern(self):
        return self.pattern


BYTES = [(bytes([byte]), byte) for byte in range(256)]


@pytest.mark.parametrize("options", [{}, {"pattern": cbpe.GPT2_SPLIT_PATTERN}])
def test_a_trained_tokenizer_has_the_same_ids(options):
    rustbpe = pytest.importorskip("rustbpe", reason="compares with rustbpe")
    there = rustbpe.Tokenizer()
    there.train_from_iterator([TEXT] * 5, 300, **options)
    here = cbpe.from_rustbpe(there, {"<|end|>": 300})
    assert (here.name, here.pattern, here.special_tokens) == ("rustbpe", there.get_pattern(), {"<|end|>": 300})
    assert here.n_vocab == 301
    for text in (TEXT, OTHER, ""):
        assert here.encode(text) == there.encode(text)
        assert here.decode(here.encode(text)) == text


def test_any_object_that_shows_ranks_and_a_pattern_will_do():
    encoding = from_rustbpe(Shown([*BYTES, (b"th", 256), (b"the", 257)]), name="own")
    assert type(encoding) is cbpe.Encoding
    assert encoding.name == "own"
    assert encoding.encode("the th") == [257, 32, 256]


@pytest.mark.parametrize("wrong", [5, None, "rustbpe"])
def test_what_shows_no_ranks_is_refused_by_its_type(wrong):
    with pytest.raises(TypeError, match=f"tokenizer must be a rustbpe.Tokenizer, not {type(wrong).__name__}"):
        cbpe.from_rustbpe(wrong)


def test_what_ranks_cannot_stand_for_is_refused():
    with pytest.raises(ValueError, match="gives the ranks 257 and 258 to the same bytes, b'aaa'"):
        from_rustbpe(Shown([*BYTES, (b"aa", 256), (b"aaa", 257), (b"aaa", 258)]))
    with pytest.raises(ValueError, match=r"never merges 'xyz' \(256\), which an Encoding would find"):
        from_rustbpe(Shown([*BYTES, (b"xyz", 256)]))
