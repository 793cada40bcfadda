"""Where tokens are: in decoded text as tiktoken says, in encoded text where the bytes of each token are."""

from functools import cache
from itertools import accumulate

import numpy as np
import pytest
import tiktoken
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from vocabularies import by_merges, encoder, merge_lists, rank_dicts

import cbpe
from cbpe._core.calls.encoder import Encoder
from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.text.splitting import make_splitter

# ---- Decoding


@cache
def twins(name):
    """A named encoding, and tiktoken's with the same tokens."""
    ours = cbpe.get_encoding(name)
    ranks = {ours.decode_single_token_bytes(i): i for i in ours.vocab if i not in ours.special_tokens.values()}
    return ours, tiktoken.Encoding(
        name, pat_str=ours.pattern, mergeable_ranks=ranks, special_tokens=ours.special_tokens
    )


def outcome(call):
    try:
        return call()
    except (KeyError, TypeError, UnicodeError) as error:
        return type(error)


NAMES = ["gpt2", "cl100k_base"]
HARD = "aé€😉 \u0301한글नि\u200d\U0010ffff\x00\x7f\x80"


@pytest.mark.parametrize("name", NAMES)
@given(text=st.one_of(st.text(max_size=40), st.text(HARD, max_size=40)))
def test_encoded_text_is_decoded_as_tiktoken_does(name, text):
    ours, theirs = twins(name)
    ids = theirs.encode(text, allowed_special="all")
    assert ours.decode_with_offsets(ids) == theirs.decode_with_offsets(ids)


@pytest.mark.parametrize("name", NAMES)
@given(ids=st.lists(st.integers(0, 100_300), max_size=4))
def test_any_ids_are_decoded_or_refused_as_by_tiktoken(name, ids):
    ours, theirs = twins(name)
    assert outcome(lambda: ours.decode_with_offsets(ids)) == outcome(lambda: theirs.decode_with_offsets(ids))


@pytest.mark.parametrize("wrong", [["a"], [1.0], [None], "ab", None, 5, [2**31]])
def test_what_are_no_ids_is_refused_as_by_tiktoken(wrong):
    ours, theirs = twins("gpt2")
    expected = outcome(lambda: theirs.decode_with_offsets(wrong))
    assert expected in (TypeError, KeyError)
    assert outcome(lambda: ours.decode_with_offsets(wrong)) == expected


def test_decoding_special_and_very_long_tokens_and_arrays_with_offsets():
    special_tokens = {"<|é|>": 300, "<far>": 3_000_000_000}
    tok = encoder(
        vocabulary_from_ranks({bytes([byte]): byte for byte in range(256)} | {b"x" * 300: 256}), special_tokens
    )
    ids = [0xC3, 0xA9, 300, 256, 3_000_000_000, 65]
    expected = ("é<|é|>" + "x" * 300 + "<far>A", [0, 0, 1, 6, 306, 311])
    assert tok.decode_with_offsets(ids) == tok.decode_with_offsets(np.array(ids)) == expected
    assert tok.decode_with_offsets(iter(ids)) == expected
    assert tok.decode_with_offsets([]) == ("", [])


# ---- Encoding


def make(vocabulary, pattern, special_tokens=None):
    made = Encoder()
    made._install(vocabulary, make_splitter(pattern), special_tokens or {})
    return made


def joined(text):
    """The characters that are encoded, and where in the text each is, surrogates being joined or replaced."""
    characters = []
    i = 0
    while i < len(text):
        size = 2 if text[i] < "\udc00" <= text[i + 1 : i + 2] < "\ue000" and text[i] >= "\ud800" else 1
        character = text[i : i + size].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        characters.append((character, i, i + size))
        i += size
    return characters


def expected_spans(tok, text, special_tokens=(), tokens=None):
    """Every piece encoded alone; the bytes of its tokens, one after the other, are its bytes."""
    characters = joined(text)
    text = "".join(character for character, _, _ in characters)
    of_byte = [place for character, *place in characters for _ in character.encode()]
    at = list(accumulate((len(character.encode()) for character in text), initial=0))
    spans, start = [], 0
    while start <= len(text):
        found = [(text.find(token, start), -len(token), token) for token in special_tokens if token in text[start:]]
        stop, _, token = min(found, default=(len(text), 0, ""))
        stretch = text[start:stop]
        if tok._splitter.native:
            pieces = [(at[start] + i, at[start] + j) for i, j in tok._splitter.spans(stretch.encode())]
        else:
            matches = tok._splitter._compiled.finditer(stretch)
            pieces = [(at[start + match.start()], at[start + match.end()]) for match in matches]
        for i, j in pieces:
            for token_id in tok._encode_single_piece(text.encode()[i:j]):
                size = len(tok.decode_bytes([token_id]))
                spans.append((token_id, of_byte[i][0], of_byte[i + size - 1][1]))
                i += size
        if token:
            spans.append((special_tokens[token], of_byte[at[stop]][0], of_byte[at[stop + len(token)] - 1][1]))
        start = stop + len(token) if token else len(text) + 1
    return [span[0] for span in spans], [span[1:] for span in spans]


PATTERNS = [
    None,
    cbpe.GPT4_SPLIT_PATTERN,
    r"\p{L}+",  # drops what is no letter
    r"[b€]|aé",
    r"b$",
    r"(?<=b)\w",  # the rest run on the `regex` module
    r"a\K\w+",
    r"(?r)\w\w",  # from the end to the beginning
    r"(\w)\1",
]
LETTERS = "abé€😉 \ufffd"
surrogates = st.text([*LETTERS, "\ud83d", "\ude09", "\udc00"], max_size=30)
letters = st.text(LETTERS, max_size=30)
BYTES = "abé€😉".encode()


@pytest.mark.parametrize("pattern", PATTERNS)
@examples(40)
@given(merges=merge_lists(alphabet=BYTES), text=st.one_of(letters, surrogates))
def test_pairs_are_where_their_bytes_are(pattern, merges, text):
    tok = make(by_merges(merges), pattern)
    assert tok._encode_with_offsets(text, None, None) == expected_spans(tok, text)


@pytest.mark.parametrize("pattern", PATTERNS)
@examples(40)
@given(ranks=rank_dicts(alphabet=sorted(set(BYTES))), text=letters)
def test_ranks_are_where_their_bytes_are(pattern, ranks, text):
    ranks |= {bytes([byte]): 1000 + byte for byte in range(256) if bytes([byte]) not in ranks}
    tok = make(vocabulary_from_ranks(ranks), pattern)
    assert tok._encode_with_offsets(text, None, None) == expected_spans(tok, text)


@pytest.mark.parametrize("pattern", PATTERNS)
@examples(40)
@given(
    tokens=st.sets(st.text(LETTERS, min_size=1, max_size=3), max_size=4),
    merges=merge_lists(alphabet=BYTES),
    text=st.one_of(letters, surrogates),
)
def test_special_tokens_are_where_they_are_found(pattern, tokens, merges, text):
    special_tokens = {token: 1000 + i for i, token in enumerate(sorted(tokens))}
    tok = make(by_merges(merges), pattern, special_tokens)
    assert tok._encode_with_offsets(text, tok._special, None) == expected_spans(tok, text, special_tokens)


def test_special_tokens_of_one_id_are_as_long_as_they_are():
    tok = make(by_merges([]), None, {"<a>": 300, "<longer>": 300})
    assert tok._encode_with_offsets("<a>x<longer>", tok._special, None) == ([300, 120, 300], [(0, 3), (3, 4), (4, 12)])


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base", "o200k_base"])
@given(text=st.one_of(st.text(max_size=60), st.text(HARD, max_size=60)))
def test_named_encodings(name, text):
    enc = cbpe.get_encoding(name)
    assert enc.encode_with_offsets(text, disallowed_special=()) == expected_spans(enc, text)


def test_characters_that_are_divided_between_tokens_are_in_each():
    enc = cbpe.get_encoding("cl100k_base")
    ids, spans = enc.encode_with_offsets("안녕 hi")
    assert ids == [31495, 230, 75265, 243, 15960]
    assert spans == [(0, 1), (0, 1), (1, 2), (1, 2), (2, 5)]


def test_dropped_text_is_in_no_token():
    tok = cbpe.RegexTokenizer(pattern=r"\w+")
    assert tok.encode_with_offsets("..é  b.") == ([0xC3, 0xA9, 98], [(2, 3), (2, 3), (5, 6)])
    assert tok.encode_with_offsets("...") == tok.encode_with_offsets("") == ([], [])


def test_lone_surrogates_are_one_character_and_halves_that_are_joined_two():
    tok = cbpe.BasicTokenizer()
    ids, spans = tok.encode_with_offsets("\ud800a\ud83d\ude09\udc00b")
    assert bytes(ids).decode() == "\ufffda😉\ufffdb"
    assert spans == [(0, 1)] * 3 + [(1, 2)] + [(2, 4)] * 4 + [(4, 5)] * 3 + [(5, 6)]


class Text(str):
    def __len__(self):
        return 1

    def __str__(self):
        return "other"


def test_a_subclass_of_str_is_its_characters():
    tok = cbpe.BasicTokenizer()
    assert tok.encode_with_offsets(Text("a\ud83d\ude09b")) == tok.encode_with_offsets("a\ud83d\ude09b")
    with pytest.raises(TypeError, match="text must be a str, not bytes"):
        tok.encode_with_offsets(b"abc")


def test_arrays_hold_the_same():
    enc = cbpe.get_encoding("cl100k_base")
    text = "hello 안녕 <|endoftext|>" * 50
    ids, spans = enc.encode_with_offsets(text, allowed_special="all")
    tokens, places = enc.encode_to_numpy_with_offsets(text, allowed_special="all")
    assert (tokens.dtype, places.dtype, places.shape) == (np.uint32, np.int64, (len(ids), 2))
    assert tokens.tolist() == ids == enc.encode(text, allowed_special="all")
    assert list(map(tuple, places.tolist())) == spans
    tokens, places = enc.encode_to_numpy_with_offsets("")
    assert (tokens.shape, places.shape) == ((0,), (0, 2))


def test_special_tokens_are_allowed_and_refused_as_by_encode():
    enc, tok = cbpe.get_encoding("cl100k_base"), cbpe.GPT4Tokenizer()
    for method in (enc.encode_with_offsets, enc.encode_to_numpy_with_offsets, tok.encode_with_offsets):
        with pytest.raises(ValueError, match="which is not allowed"):
            method("<|endoftext|>")
    assert enc.encode_with_offsets("a<|endoftext|>", {"<|endoftext|>"}) == ([64, 100257], [(0, 1), (1, 14)])
    assert tok.encode_with_offsets("a<|endoftext|>", "all") == ([64, 100257], [(0, 1), (1, 14)])
    assert enc.encode_with_offsets("<|endoftext|>", disallowed_special=())[0] == enc.encode_ordinary("<|endoftext|>")
    assert tok.encode_with_offsets("<|endoftext|>", "none")[0] == enc.encode_ordinary("<|endoftext|>")
    with pytest.raises(ValueError, match="which is not allowed"):
        tok.encode_with_offsets("<|endoftext|>", {"<|fim_prefix|>"}, "all")


def test_a_byte_without_a_token_is_a_key_error():
    tok = make(vocabulary_from_ranks({b"a": 0}), None)
    with pytest.raises(KeyError, match="0x62"):
        tok._encode_with_offsets("ab", None, None)
    assert tok._encode_with_offsets("aa", None, None) == ([0, 0], [(0, 1), (1, 2)])


def test_more_text_than_is_encoded_without_a_look_at_the_signals():
    tok = cbpe.RegexTokenizer(pattern=r"\p{L}+")
    assert tok.splits_natively
    tok.register_special_tokens({"<é>": 300})
    text = "é  " * 1_100_000 + "<é>" + "b." * 2_100_000
    tokens, spans = tok.encode_to_numpy_with_offsets(text, "all")
    starts = np.concatenate([np.repeat(np.arange(0, 3_300_000, 3), 2), [3_300_000], np.arange(3_300_003, len(text), 2)])
    assert (spans[:, 0] == starts).all()
    assert (spans[:, 1] - starts == np.where(tokens == 300, 3, 1)).all()
    assert len(tokens) == tok.count(text, "all")


def test_encoding_afterwards_is_as_before():
    tok = make(by_merges([(97, 98)]), r"\w+")
    assert tok._encode_with_offsets("ab ab", None, None) == ([256, 256], [(0, 2), (3, 5)])
    assert tok.encode_ordinary("ab ab") == [256, 256]
    assert tok._encode_with_offsets(" ab", None, None) == ([256], [(1, 3)])
