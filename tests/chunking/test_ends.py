"""The end of a text that holds its last tokens."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cbpe.chunking.ends import end_of_text


@given(st.text(st.sampled_from("a \u00e9\u4e2d\U0001f600"), max_size=12), st.lists(st.integers(0, 40), max_size=6))
def test_tokens_of_any_sizes_begin_in_the_characters_that_hold_their_first_byte(text, cuts):
    encoded = text.encode()
    borders = sorted({min(cut, len(encoded)) for cut in cuts} | {len(encoded)})
    tokens = [encoded[start:stop] for start, stop in pairwise(borders)]
    end, starts = end_of_text(text, tokens)
    assert text.endswith(end)
    character_of = [i for i, character in enumerate(text) for _ in character.encode()]
    shift = len(text) - len(end)
    assert [shift + start for start in starts] == [character_of[border] for border in borders[:-1]]
    assert len(end) <= sum(map(len, tokens))


def test_a_text_that_does_not_end_with_the_tokens_has_no_such_end():
    assert end_of_text("a cup", [b" c", b"ap"]) is None
    assert end_of_text("cup", [b"a cup"]) is None
    assert end_of_text("caf\u00e9", [b"\xe9"]) is None
    assert end_of_text("", []) == ("", [])
