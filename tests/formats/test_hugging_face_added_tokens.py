"""The added tokens of a tokenizer.json: they are found as their owners find them, or refused."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizer_json import BYTE_LEVEL, a_file, added, agrees, as_json, ids_there, tokenizers

import cbpe
from cbpe.formats.files import left_out
from cbpe.formats.hugging_face import writing
from cbpe.formats.parts import Parts
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer

FLAGS = st.fixed_dictionaries({name: st.booleans() for name in ("normalized", "lstrip", "rstrip", "single_word")})

NORMALIZERS = [None, {"type": "NFC"}, {"type": "Lowercase"}, {"type": "Prepend", "prepend": "b"}]


@given(
    st.lists(st.tuples(st.text("abA<> ", min_size=2, max_size=4), FLAGS), max_size=6, unique_by=lambda t: t[0]),
    st.lists(st.text("abA<> \u3000\n\u200d\u4e2de\u0301", max_size=20), min_size=1, max_size=6),
    st.sampled_from(NORMALIZERS),
    st.booleans(),
)
def test_generated_added_tokens_give_the_ids_of_tokenizers(tokens, texts, normalizer, prefix_space):
    """Those found in the text as it is come before those found in normalized text, wherever they overlap; some take
    the white space beside them, and some are none within a word."""
    content = a_file(
        added_tokens=tokens, normalizer=normalizer, pre_tokenizer={**BYTE_LEVEL, "add_prefix_space": prefix_space}
    )
    texts += [text.join(pair) for pair in pairwise(texts) for text, _ in tokens]
    refused = "is never found|are the same normalized|may stand within the white space"
    try:
        tok = HuggingFaceTokenizer.from_json(as_json(content))
    except ValueError as error:
        if not re.search(refused, str(error)):
            raise
        return
    there = tokenizers().Tokenizer.from_str(as_json(content).decode())
    for text in texts:
        assert tok.encode(text) == there.encode(text).ids, text


@given(
    st.lists(st.tuples(st.text("abA<>", min_size=2, max_size=4), FLAGS), max_size=4, unique_by=lambda t: t[0]),
    st.lists(st.text("abA<>", max_size=20), min_size=1, max_size=6),
    st.sampled_from(NORMALIZERS),
)
def test_added_tokens_that_a_whole_piece_may_be_give_the_ids_of_tokenizers_or_are_refused(tokens, texts, normalizer):
    content = a_file(added_tokens=tokens, normalizer=normalizer, pre_tokenizer={**BYTE_LEVEL, "use_regex": False})
    content["model"]["ignore_merges"] = True
    content["model"]["vocab"] |= {token["content"]: token["id"] for token in content["added_tokens"]}
    try:
        tok = HuggingFaceTokenizer.from_json(as_json(content))
    except ValueError:
        return
    there = tokenizers().Tokenizer.from_str(as_json(content).decode())
    for text in [*texts, *(text.join(pair) for pair in pairwise(["", *texts, ""]) for text, _ in tokens)]:
        assert tok.encode(text) == there.encode(text).ids, text


def test_a_token_that_is_looked_for_in_another_form_is_refused_where_it_may_be_a_whole_piece():
    content = a_file(added_tokens=[("<e>", {"normalized": True})], normalizer={"type": "Prepend", "prepend": "b"})
    content["model"]["ignore_merges"] = True
    content["model"]["vocab"] |= {token["content"]: token["id"] for token in content["added_tokens"]}
    reason = r"'<e>', which is also an ordinary token of model\.vocab: the normalizer makes other text of it"
    with pytest.raises(ValueError, match=f"added_tokens has {reason}"):
        HuggingFaceTokenizer.from_json(as_json(content))


def test_offsets_of_added_tokens_have_the_white_space_that_they_take():
    tokens = [("<m>", {"lstrip": True}), ("<r>", {"rstrip": True}), ("<w>", {"single_word": True})]
    content = a_file(added_tokens=tokens)
    tok, there = (
        HuggingFaceTokenizer.from_json(as_json(content)),
        tokenizers().Tokenizer.from_str(as_json(content).decode()),
    )
    for text in ("the  <m> the", "<r>  \u3000the<m>", "the<w>  <w> <w>the", " <r> <m> <w>", "<m><r>"):
        found = there.encode(text)
        assert tok.encode_with_offsets(text) == (found.ids, found.offsets)


@pytest.mark.filterwarnings("ignore:as tokenizers does, cbpe gives the added token")
@given(
    st.dictionaries(st.text("abc<>", min_size=1, max_size=2), st.integers(256, 264), max_size=4),
    st.lists(st.tuples(st.text("abc<>", min_size=1, max_size=2), st.integers(256, 264)), max_size=4),
)
def test_ids_of_added_tokens_are_those_that_tokenizers_gives_or_refused(entries, tokens):
    content = a_file(merges=())
    content["model"]["vocab"] |= {text: token_id for text, token_id in entries.items() if len(text) > 1}
    content["added_tokens"] = [added(text, token_id) for text, token_id in tokens]
    try:
        tok = HuggingFaceTokenizer.from_json(as_json(content))
    except ValueError:
        return
    for text, _ in tokens:
        assert tok.encode(text) == ids_there(content, text) == [tok.special_tokens[text]]


def test_an_added_token_that_would_get_the_id_of_another_is_refused():
    """`tokenizers` counts the vocabulary, which has a gap here, and finds the one before no more."""
    content = a_file(merges=())
    size = len(content["model"]["vocab"])
    content["model"]["vocab"]["<s>"] = size + 1
    content["added_tokens"] = [added("<s>", size + 1), added("<x>", size + 2)]
    assert ids_there(content, "<x>") == [size + 1]
    assert len(ids_there(content, "<s>")) == 3
    with pytest.raises(ValueError, match=f"'<x>' would get the id {size + 1}, as tokenizers counts, which '<s>' has"):
        HuggingFaceTokenizer.from_json(as_json(content))


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([added("<x>", 259, lstrip=1)], r"added_tokens\[0\].lstrip is 1: true or false"),
        (
            [added(" ", 259, lstrip=True), added("<x>", 260, rstrip=True)],
            "the added token ' ' with lstrip may stand within the white space that another one takes, '<x>' with",
        ),
        ([added("<x>", 259, special="yes")], r"added_tokens\[0\].special is \"yes\": true or false"),
        ([added("<x>", "259")], r"added_tokens\[0\].id is \"259\": an id from 0 to"),
        ([added("<x>", -1)], r"added_tokens\[0\].id is -1: an id from 0 to"),
        ([added("<x>", 259), added("<x>", 260)], r"added_tokens\[1\].content is \"<x>\": .*not there twice"),
        ([added("", 259)], r"added_tokens\[0\].content is \"\""),
        (
            [added("the", 257)],
            "added_tokens has 'the', which is also an ordinary .*: a merge makes it",
        ),
        (
            [added("a", 97)],
            "added_tokens has 'a', which is also an ordinary .*: it stands for a byte",
        ),
        ([added("<x>" * 400, 259)], "up to 100,000 added tokens of up to 1,000 characters are supported"),
        ([{"content": "<x>"}], r"added_tokens\[0\] has no 'id'"),
        ([{**added("<x>", 259), "weight": 1}], r"added_tokens\[0\] has a 'weight'"),
        ([7], r"added_tokens\[0\] is 7: an object should be here"),
        ({"<x>": 259}, "added_tokens is .*a list should be here"),
    ],
)
def test_added_tokens_that_cannot_be_honoured_are_refused(tokens, message):
    with pytest.raises(ValueError, match=message):
        HuggingFaceTokenizer.from_json(as_json({**a_file(), "added_tokens": tokens}))


@pytest.mark.parametrize(
    ("tokens", "ids", "told"),
    [
        ([added("<x>", 300)], {"<x>": 259}, "'<x>' the id 259, not 300, as the file says$"),
        ([added("<x>", 1), added("<y>", 260)], {"<x>": 259, "<y>": 260}, "'<x>' the id 259, not 1, as"),
        (
            [added(f"<{i}>", 5) for i in range(9)],
            {f"<{i}>": 259 + i for i in range(9)},
            "'<0>' the id 259, not 5; .*'<4>' the id 263, not 5, as the file says, and so for 4 more$",
        ),
    ],
)
def test_an_id_that_the_vocabulary_contradicts_is_what_tokenizers_gives_with_a_warning(tokens, ids, told):
    content = {**a_file(), "added_tokens": tokens}
    with pytest.warns(UserWarning, match=told) as warned:
        tok = HuggingFaceTokenizer.from_json(as_json(content))
    assert len(warned) == 1
    assert tok.special_tokens == ids
    text = "a".join([*ids, "the"])
    assert tok.encode(text) == ids_there(content, text)


def test_an_added_token_that_spells_other_text_is_refused_where_whole_pieces_are_looked_up():
    """tokenizers takes " xyz" for it, and honours it without that look-up."""
    content = a_file(added_tokens=[("\u0120xyz", {})])
    tok = HuggingFaceTokenizer.from_json(as_json(content))
    assert [tok.encode(text) for text in (" xyz", "a\u0120xyz")] == [[32, 120, 121, 122], [97, 300]]
    assert ids_there(content, " xyz") == [32, 120, 121, 122]
    content["model"]["ignore_merges"] = True
    assert ids_there(content, "a xyz") == [97, 300]
    with pytest.raises(ValueError, match=r"added_tokens has '\u0120xyz', which is also an ordinary"):
        HuggingFaceTokenizer.from_json(as_json(content))


@pytest.mark.parametrize(
    ("added", "normalizer", "text", "reason"),
    [
        ([("xyz", {"single_word": True})], None, "1xyz", "within a word"),
        ([("xyz", {}), ("<xyz>", {"single_word": True})], None, "1<xyz>", "within a word"),
        ([("xyz", {"normalized": False})], {"type": "Lowercase"}, "XYZ", "the normalizer may make it"),
        ([("xy;", {"normalized": False})], {"type": "NFC"}, "xy\u037e", "the normalizer may make it"),
    ],
)
def test_an_added_token_that_a_piece_can_be_is_refused_where_whole_pieces_are_looked_up(
    added, normalizer, text, reason
):
    pattern = {"type": "Split", "pattern": {"Regex": r"xy.|."}, "behavior": "Isolated", "invert": False}
    steps = {"type": "Sequence", "pretokenizers": [pattern, {**BYTE_LEVEL, "use_regex": False}]}
    content = a_file(added_tokens=added, normalizer=normalizer, pre_tokenizer=steps)
    agrees(content, [text])
    content["model"]["ignore_merges"] = True
    token_id = content["added_tokens"][0]["id"]
    assert token_id in ids_there(content, text)
    with pytest.raises(ValueError, match=f"which is also an ordinary token .*{reason}.* by model.ignore_merges: save"):
        HuggingFaceTokenizer.from_json(as_json(content))


def test_a_special_token_that_spells_other_text_is_no_whole_piece_of_the_file_that_is_written():
    """It stays out of the vocabulary, with those after it, if no ordinary token comes after it."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    spelled = {"\u00c3\u00a9": 256, "<x>": 257}
    enc = cbpe.Encoding("x", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens=spelled)
    written = json.loads(writing.dumps(Parts(enc._vocabulary, enc.pattern, enc.special_tokens)))
    assert written["model"]["ignore_merges"]
    assert written["model"]["vocab"].keys().isdisjoint(spelled)
    judge = tokenizers().Tokenizer.from_str(json.dumps(written))
    for text in ("\u00e9", "\u00c3\u00a9", "a\u00e9 <x>\u00c3\u00a9"):
        assert judge.encode(text).ids == enc.encode(text, allowed_special="all")
    more = cbpe.Encoding("x", pat_str=r"\S+|\s+", mergeable_ranks={**ranks, b"ab": 258}, special_tokens=spelled)
    reason = (
        "would take the special token '\u00c3\u00a9' for an ordinary one in other text too: its vocabulary can leave"
    )
    with pytest.raises(ValueError, match=reason):
        writing.dumps(Parts(more._vocabulary, more.pattern, more.special_tokens))
    tok = cbpe.RegexTokenizer()
    written = writing.dumps(Parts(tok._vocabulary, tok.pattern, enc.special_tokens))
    assert tokenizers().Tokenizer.from_str(written.decode()).encode("\u00e9").ids == tok.encode("\u00e9")


@pytest.mark.parametrize(("more", "normalizer"), [({"single_word": True}, None), ({}, {"type": "Lowercase"})])
def test_what_a_file_has_beside_its_vocabulary_is_written_beside_it_where_it_has_to_be(more, normalizer, tmp_path):
    """As of a tokenizer of Llama 3's kind to which a token was added: in its vocabulary it would be a whole piece."""
    added = [("xyz", more), ("<e>", {"normalized": True, "special": False})]
    content = a_file(added_tokens=added, normalizer=normalizer)
    for text, _ in added:
        del content["model"]["vocab"][text]
    size = len(content["model"]["vocab"])
    content["model"]["ignore_merges"] = True
    content["added_tokens"] = [{**token, "id": size + i} for i, token in enumerate(content["added_tokens"])]
    (tmp_path / "a.json").write_bytes(as_json(content))
    tok = cbpe.load(tmp_path / "a.json")
    tok.save(tmp_path / "b.json")
    again = cbpe.load(tmp_path / "b.json")
    judges = [tokenizers().Tokenizer.from_file(str(tmp_path / name)) for name in ("a.json", "b.json")]
    assert judges[0].get_vocab_size(with_added_tokens=False) == judges[1].get_vocab_size(with_added_tokens=False)
    for text in ("xyz", "1xyz", "XYZ the xyz<e>", "the<e> wxyz"):
        assert tok.encode(text) == again.encode(text) == judges[0].encode(text).ids == judges[1].encode(text).ids


SPECIAL = ["<|size|>", "<|gr\u00f6\u00dfe|>", "<|\u2264|>", "<|\u00e9 |>", "\u0120the"]


@pytest.mark.parametrize("text", SPECIAL)
def test_saving_tells_of_special_tokens_that_tokenizers_decodes_otherwise(text, tmp_path, recwarn):
    tok = cbpe.train("low lower lowest " * 9, 260, special_tokens=[text])
    tok.save(tmp_path / "tokenizer.json")
    judge = tokenizers().Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    ids = tok.encode(f"low{text}", allowed_special="all")
    assert ids == judge.encode(f"low{text}").ids
    assert tok.decode(ids) == f"low{text}"
    told = [str(warning.message) for warning in recwarn]
    if judge.decode(ids, skip_special_tokens=False) == tok.decode(ids):
        assert told == []
    else:
        (line,) = told
        assert f"does not hold how {text} is decoded (here as it is written; `tokenizers` takes its cha" in line


@pytest.mark.parametrize("name", ["a.model", "encoder.json", "tekken.json", "gpt2_tokenizer.bin"])
def test_formats_without_flags_of_added_tokens_tell_what_is_lost(tmp_path, name):
    text, options = "the cat the hat", {"pattern": cbpe.GPT2_SPLIT_PATTERN}
    tok = cbpe.train(text, 258, special_tokens=["<|endoftext|>"], **options)
    if name == "tekken.json":  # in which special tokens come first
        ranks = {token: number + 1 for number, token in tok.vocab.items() if number < 258}
        tok = cbpe.Encoding("a", pat_str=options["pattern"], mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 0})
    flags = {key: ["<|endoftext|>"] for key in ("lstrip", "ordinary", "rstrip", "single_word")}
    flagged = HuggingFaceTokenizer.from_tokenizer(tok, flags)
    path = tmp_path / name
    said = "lstrip of <|endoftext|> (the white space before goes with it)"
    with pytest.warns(UserWarning, match=f"does not hold .*{re.escape(said)}"):
        flagged.save(path)
    for lost in (
        said,
        "rstrip of <|endoftext|> (the white space after goes with it)",
        "single_word of <|endoftext|> (it is none within a word)",
        "special: false of <|endoftext|> (it is found in every text)",
    ):
        assert lost in left_out(flagged._parts(), path)
        assert lost not in left_out(tok._parts(), path)
