"""Going on from a tokenizer: the old tokens stay what they are, and the new merges are the reference's."""

import copy
import pickle
from array import array

import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from project import TAYLOR_SWIFT
from tokenizer_json import TEMPLATE, a_file, as_json, tokenizers
from training_examples import tie_breaks
from vocabularies import by_merges_in_heap, rank_dicts

import cbpe
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.text.splitting import make_splitter
from cbpe.tokenizers.tokenizer import Tokenizer

pytestmark = pytest.mark.filterwarnings("ignore:training stopped")

LETTERS = r"\p{L}+|\s+"
texts = st.text("ab c", max_size=60).filter(str.strip)


def pieces(text, pattern):
    return [piece.encode() for piece in make_splitter(pattern).split(text)]


def train(source, vocab_size, **options):
    return cbpe.train(source, vocab_size, **{"pattern": LETTERS, **options})


# ---- The merges


@given(texts, st.integers(0, 12), st.integers(0, 12), tie_breaks)
def test_training_in_two_steps_on_one_text_is_training_at_once(text, first, more, tie_break):
    at_once = train(text, 256 + first + more, tie_break=tie_break)
    old = train(text, 256 + first, tie_break=tie_break)
    new = cbpe.train(text, 256 + first + more, initial=old, tie_break=tie_break)
    assert (new.merges, new.pattern, type(new)) == (at_once.merges, at_once.pattern, type(at_once))
    assert new.training.tokens == at_once.training.tokens
    assert new.training.counts[len(old.merges) :] == at_once.training.counts[len(old.merges) :]


@given(texts, texts, tie_breaks, st.sampled_from([None, r"\p{L}+(?: \p{L}+)?|\s", LETTERS]))
def test_merges_on_another_text_and_pattern_are_the_references(text, other, tie_break, pattern):
    """pattern=None is the second stage of SuperBPE, whose tokens span words."""
    old = train(text, 266)
    new = cbpe.train(other, 256 + len(old.merges) + 8, initial=old, pattern=pattern, tie_break=tie_break)
    expected = reference.train(pieces(other, pattern), 8, tie_break, initial=list(old.merges))
    assert list(new.merges.items()) == list(expected[0].items())
    assert (new.pattern, isinstance(new, cbpe.RegexTokenizer)) == (pattern, pattern is not None)
    assert list(new.training.counts[len(old.merges) :]) == expected[1]
    assert list(new.training.tokens[len(old.merges) :]) == expected[2]
    assert new.encode(other) == [
        token for piece in pieces(other, pattern) for token in reference.encode_with_merges(piece, new.merges)
    ]


def test_options_hold_for_the_new_merges_alone():
    old = train("abab abab abab", 258)
    assert list(old.vocab.values())[256:] == [b"ab", b"abab"]
    new = cbpe.train("abab cd cd cd ef", 300, initial=old, min_count=2, max_token_length=2)
    assert list(new.vocab.values())[256:] == [b"ab", b"abab", b"cd"]


def test_no_more_merges_than_there_are_give_the_old_ones():
    old = train("low lower lowest", 260)
    new = cbpe.train([], 260, initial=old)
    assert (new.merges, new.training.initial_merges, new.training.merges_before) == (old.merges, 4, 4)
    with pytest.raises(ValueError, match="vocab_size is 259, but the initial tokenizer has 260"):
        cbpe.train("low", 259, initial=old)


@pytest.mark.skipif(not TAYLOR_SWIFT.exists(), reason="the text is not part of the project")
def test_the_article_of_taylor_swift_in_two_steps():
    text = TAYLOR_SWIFT.read_text(encoding="utf-8")
    old = cbpe.train(text, 1000)
    assert cbpe.train(text, 2000, initial=old).merges == cbpe.train(text, 2000).merges
    words = cbpe.train(text, 300)
    phrases = cbpe.train(text, 315, initial=words, pattern=None)
    assert list(phrases.merges)[:44] == list(words.merges)
    assert list(phrases.merges) == list(reference.train([text.encode()], 15, initial=list(words.merges))[0])


# ---- The ids


def test_special_tokens_after_the_old_merges_keep_their_ids_and_new_merges_take_the_ids_after_them():
    old = train("low lower lowest", 258, special_tokens=["<a>", "<b>"])
    new = cbpe.train("low lower lowest", 260, initial=old, special_tokens=["<c>", "<a>"])
    assert old.special_tokens == {"<a>": 258, "<b>": 259}
    assert new.special_tokens == {"<a>": 258, "<b>": 259, "<c>": 262}
    assert list(new.merges.values()) == [256, 257, 260, 261]
    assert list(new.merges.values())[:2] == list(old.merges.values())
    at_once = train("low lower lowest", 260)
    assert [new.vocab[i] for i in new.merges.values()] == [at_once.vocab[i] for i in at_once.merges.values()]
    assert new.decode(new.encode("<a>lowest<c>", "all")) == "<a>lowest<c>"
    assert new.training.special_tokens == new.special_tokens
    again = cbpe.train("new newer newest", 263, initial=new)
    assert (again.special_tokens, list(again.merges.values())) == (
        new.special_tokens,
        [256, 257, 260, 261, 263, 264, 265],
    )


@pytest.mark.parametrize(
    "make", [tuple, iter, lambda tokens: (token for token in tokens)], ids=["tuple", "iter", "map"]
)
def test_special_tokens_may_come_from_what_can_be_gone_through_once(make):
    tok = cbpe.train("low lower lowest", 258, special_tokens=make(["<a>", "<b>"]))
    assert tok.special_tokens == {"<a>": 258, "<b>": 259}
    assert cbpe.train("low lower", 259, initial=tok, special_tokens=make(["<c>"])).special_tokens == {
        "<a>": 258,
        "<b>": 259,
        "<c>": 261,
    }


@pytest.mark.parametrize("special_tokens", [None, 5])
def test_special_tokens_that_are_no_texts_are_a_type_error(special_tokens):
    with pytest.raises(TypeError, match="special_tokens are texts, or a dict of texts and their ids, not"):
        cbpe.train("low lower", 258, special_tokens=special_tokens)


def test_special_tokens_with_far_higher_ids_leave_room_for_merges():
    old = train("low lower lowest", 258, special_tokens={"<a>": 1000})
    new = cbpe.train("low lower lowest", 260, initial=old)
    assert (new.special_tokens, list(new.merges.values())) == ({"<a>": 1000}, [256, 257, 258, 259])


def test_a_special_token_gets_neither_a_second_id_nor_that_of_a_merge():
    old = train("low lower lowest", 258, special_tokens=["<a>"])
    assert cbpe.train("low lower", 259, initial=old, special_tokens={"<a>": 258}).special_tokens == {"<a>": 258}
    for ids, message in [
        ({"<a>": 300}, "'<a>' has the id 258 in the initial tokenizer, and keeps it: it cannot have the id 300"),
        ({"<b>": 259}, "the id 259 of the special token '<b>' is for a merge: choose one from 261 on"),
        ({"<b>": 257}, "the id 257 of the special token '<b>' is in use"),
        ({"<b>": 258}, "'<a>' and '<b>' have the same id 258"),
    ]:
        with pytest.raises(ValueError, match=message):
            cbpe.train("low lower", 260, initial=old, special_tokens=ids)


def test_a_tokenizer_with_ids_between_its_merges_is_pickled_but_no_file_of_minbpes(tmp_path):
    old = train("low lower lowest", 257, special_tokens=["<a>"])
    new = cbpe.train("low lower lowest", 259, initial=old)
    text = "lowest lower <a> low"
    for copied in (pickle.loads(pickle.dumps(new)), copy.deepcopy(new)):
        assert (copied.merges, copied.encode(text, "all")) == (new.merges, new.encode(text, "all"))
    with pytest.raises(ValueError, match="makes token 258, and minbpe's format would make it token 257"):
        new.save(tmp_path / "new")
    assert not list(tmp_path.iterdir())


# ---- Vocabularies by ranks


def test_going_on_from_a_named_encoding_adds_to_its_ranks():
    gpt2 = cbpe.get_encoding("gpt2")
    text = "the quick brown foxes jumped; the quick brown foxes slept. " * 3
    new = cbpe.train(text, 50256 + 3, initial=gpt2, pattern=None)
    expected = reference.train(
        [text.encode()], 3, initial=list(symbols_of(gpt2))
    )[0]  # fmt: skip
    assert list(symbols_of(new)) == list(expected)
    assert list(new.merges.values())[-3:] == [50257, 50258, 50259]  # 50256 is <|endoftext|>
    assert list(new.merges)[:50000] == list(gpt2.merges)
    assert (new.semantics, new.special_tokens) == ("ranks", gpt2.special_tokens)
    ranks = {token: i for i, token in new.vocab.items() if i != 50256}
    as_encoding = cbpe.Encoding("new", pat_str="(?s).+", mergeable_ranks=ranks, special_tokens=gpt2.special_tokens)
    assert as_encoding.encode(text) == new.encode(text)
    with pytest.raises(ValueError, match="minbpe's format cannot hold an id of the byte 0x00"):
        new.save("never")


def symbols_of(tok):
    """The merges of a tokenizer as pairs of bytes' values and 256 + numbers of merges."""
    numbers = {tok.encode_single_token(bytes([byte])): byte for byte in range(256)}
    numbers.update({token_id: 256 + i for i, token_id in enumerate(tok.merges.values())})
    return ((numbers[left], numbers[right]) for left, right in tok.merges)


@given(rank_dicts(), st.text("ab", min_size=1, max_size=80))
def test_going_on_from_ranks_is_exact_or_refused(ranks, text):
    bytes_of_others = {bytes([byte]): 100 + byte for byte in range(256) if bytes([byte]) not in ranks}
    old = cbpe.Encoding("ranks", pat_str="(?s).+", mergeable_ranks={**bytes_of_others, **ranks}, special_tokens={})
    vocabulary = old._vocabulary
    try:
        new = cbpe.train(text, 256 + vocabulary.n_merges + 4, initial=old)
    except ValueError:
        assert vocabulary.unmerged() or not vocabulary.monotone
        return
    merges = [tuple(pair) for pair in symbols_of(new)]
    expected = reference.train([text.encode()], 4, initial=merges[: vocabulary.n_merges])[0]
    assert merges == list(expected)
    # As ranks, the new vocabulary gives the same tokens: no two of its tokens are of the same bytes.
    new_ranks = {token: token_id for token_id, token in new.vocab.items()}
    assert len(new_ranks) == len(new.vocab)
    assert new.encode(text) == reference.encode_with_ranks(text.encode(), new_ranks)


# ---- What cannot be gone on from


def test_what_is_no_tokenizer_is_a_type_error():
    with pytest.raises(TypeError, match=r"initial must be a tokenizer, such as cbpe\.train returns, not str"):
        cbpe.train("low", 260, initial="gpt2")


def by_ranks(longer, missing=()):
    bytes_alone = {bytes([byte]): byte for byte in range(256) if byte not in missing}
    return cbpe.Encoding("x", pat_str="x", mergeable_ranks={**bytes_alone, **longer}, special_tokens={})


def never_merged():
    """By ranks, "abc" as a whole piece; but merging gives "ab" and "c"."""
    left, right = array("I", [97, 98, 97]), array("I", [98, 99, 257])
    return Tokenizer(Vocabulary(left, right, array("I", range(259)), whole_pieces=True), None)


def normalizing():
    return cbpe.HuggingFaceTokenizer.from_tokenizer(cbpe.train("low", 257), {"normalizer": "NFC"})


@pytest.mark.parametrize(
    ("tok", "message"),
    [
        (by_ranks({b"abc": 256}), r"no merge makes 1 of its tokens, such as 'abc' \(256\)"),
        (by_ranks({b"abc": 256, b"ab": 257}), "merged from a token of a higher rank"),
        (Tokenizer(by_merges_in_heap([]), None), "merged from a token of a higher rank"),
        (by_ranks({}, missing=[7]), "the byte 0x07 has no token"),
        (never_merged(), "token 258 is no token that merging its bytes gives"),
        (normalizing(), "what is trained splits and merges text as it is, and this does more: normalizing text"),
    ],
)
def test_what_cannot_be_exact_is_refused(tok, message):
    with pytest.raises(ValueError, match=message):
        cbpe.train("low", 300, initial=tok)


def test_a_tie_break_by_ids_is_refused_where_ids_are_in_no_order():
    gpt2 = cbpe.get_encoding("gpt2")
    with pytest.raises(ValueError, match="tie_break is 'largest', which is by id, and"):
        cbpe.train("low", 50300, initial=gpt2, tie_break="largest")


def test_the_initial_tokenizer_is_left_alone():
    old = train("low lower lowest", 258, special_tokens=["<a>"])
    before = (dict(old.merges), old.special_tokens, old.pattern, old.training)
    cbpe.train("low lower", 262, initial=old, special_tokens=["<b>"])
    assert (dict(old.merges), old.special_tokens, old.pattern, old.training) == before
    assert isinstance(old._vocabulary, Vocabulary)


def test_a_template_and_the_flags_of_added_tokens_are_kept(tmp_path):
    template = {**TEMPLATE, "single": TEMPLATE["single"][:2]}
    flags = {"lstrip": True, "special": False, "normalized": True}
    content = a_file(added_tokens=[("<s>", {}), ("</s>", {}), ("<think>", flags)], post_processor=template)
    old = cbpe.HuggingFaceTokenizer.from_json(as_json(content))
    new = cbpe.train("the cat and the hat " * 9, 270, initial=old, special_tokens=["<|new|>"])
    assert isinstance(new, cbpe.HuggingFaceTokenizer)
    assert new.processing == old.processing
    assert new.special_tokens == {**old.special_tokens, "<|new|>": new.special_tokens["<|new|>"]}
    assert new.training.merges_before == old._vocabulary.n_merges
    new.save(tmp_path / "new.json")
    judge = tokenizers().Tokenizer.from_file(str(tmp_path / "new.json"))
    for text in ("hi  <think> def", "the hat</s><|new|>", ""):
        assert new.encode(text) == judge.encode(text).ids
        assert new.encode(text)[0] == 300
    assert new.decode(new.encode("hi  <think>", add_special_tokens=False)) == "hi<think>"  # which takes the blanks
    with pytest.raises(ValueError, match="cannot hold"):
        new.save(tmp_path / "new.model")
