"""Searching a vocabulary through the page's JSON, and all about one token."""

import json

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from good_files import OF_WORDS
from web_calls import call, post

import cbpe
from cbpe.analysis.lookup import merge_tree
from cbpe.web.app import make_app
from cbpe.web.catalogue import Catalogue, Choice
from cbpe.web.refusals import MOST_OF_A_PAGE

HOSTILE = ["<script>alert(1)</script>", "\u202egnp.exe", "a\x00b"]


@pytest.fixture(scope="module")
def tok():
    return cbpe.train("the cat sat on the mat, naïve " * 20, 270, special_tokens=HOSTILE)


@pytest.fixture(scope="module")
def app(tok):
    return make_app(Catalogue([Choice("mine", "given", lambda: tok)]))


def search(app, **wanted):
    return post(app, "search", {"tokenizer": "mine", **wanted}).json()


def found(app, **wanted):
    return [bytes.fromhex(each["bytes"]) for each in search(app, **wanted)["tokens"]]


def test_a_search_without_a_wish_finds_all_by_their_ids(app, tok):
    answer = search(app)
    assert [each["id"] for each in answer["tokens"]] == sorted(tok.vocab)
    assert answer["n_found"] == len(tok.vocab)
    assert search(app, order="-id")["tokens"] == answer["tokens"][::-1]
    assert search(app, offset=5)["tokens"] == answer["tokens"][5:]


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({"text": "at"}, lambda token: b"at" in token),
        ({"text": "<script"}, lambda token: b"<script" in token),
        ({"bytes": "c3 AF"}, lambda token: b"\xc3\xaf" in token),
        ({"bytes": "ff"}, lambda token: token == b"\xff"),
        (
            {"pattern": "^ ?[a-m]+$"},
            lambda token: set(token.removeprefix(b" ")) <= set(b"abcdefghijklm") != token.strip(),
        ),
        ({"least": 2, "most": 3}, lambda token: 2 <= len(token) <= 3),
        ({"text": "a", "least": 3, "pattern": "t"}, lambda token: b"a" in token and len(token) > 2 and b"t" in token),
    ],
)
def test_each_wish_leaves_the_tokens_that_fit_it(app, tok, wanted, fits):
    assert found(app, **wanted) == [token for _, token in sorted(tok.vocab.items()) if fits(token) and token != b" "]


def test_tokens_are_sorted_by_length_and_by_bytes(app, tok):
    lengths = [len(token) for token in found(app, order="-length")]
    assert lengths == sorted(lengths, reverse=True)
    assert found(app, order="bytes") == sorted(tok.vocab.values())


def test_a_large_vocabulary_comes_in_pages(app):
    first = post(app, "search", {"tokenizer": "gpt2"}).json()
    assert (first["n_found"], len(first["tokens"])) == (50257, MOST_OF_A_PAGE)
    last = post(app, "search", {"tokenizer": "gpt2", "offset": 50256}).json()
    assert [each["text"] for each in last["tokens"]] == ["<|endoftext|>"]


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"bytes": "xyz"}, "not pairs of hexadecimal digits"),
        ({"pattern": "("}, "'(' is not a valid expression"),
        ({"pattern": "a" * 201}, "an expression of 201 characters"),
        ({"pattern": "((a{999}){999}){999}"}, "multiply to more than 1000"),
        ({"pattern": "(?:a{2,}){501}"}, "multiply to more than 1000"),
        ({"order": "size"}, "'order' is 'size'"),
        ({"least": -1}, "'least' is -1, not from 0 to 4,294,967,295"),
        ({"most": 1.5}, "'most' is 1.5, not a whole number"),
        ({"least": True}, "'least' is True, not a whole number"),
        ({"text": 5}, "'text' is 5, not a text"),
    ],
)
def test_a_search_that_is_none_is_refused(app, wanted, said):
    answer = post(app, "search", {"tokenizer": "mine", **wanted})
    assert answer.status == 400
    assert said in answer.json()["error"]


def test_an_expression_that_never_ends_is_given_up(monkeypatch):
    monkeypatch.setattr("cbpe.web.vocabulary.SECONDS_OF_MATCHING", 0.05)
    long = cbpe.train("a" * 5000, 266)
    app = make_app(Catalogue([Choice("mine", "given", lambda: long)]))
    answer = post(app, "search", {"tokenizer": "mine", "pattern": "^(a|aa|aaa)*[^a]"})
    assert answer.status == 400
    assert "takes longer than 0.05 s" in answer.json()["error"]


def test_a_token_has_its_merge_tree(app, tok):
    number = max(tok.merges.values())
    answer = call(app, "GET", f"/api/v1/merges?tokenizer=mine&id={number}").json()

    def nested(at):
        node = answer["tree"][at]
        return node["id"], [nested(part) for part in node["parts"]]

    def expected(node):
        return node.id, [expected(part) for part in node.parts]

    assert nested(0) == expected(merge_tree(tok, number))
    assert answer["rank"] == len(tok.merges) - 1


def test_a_token_is_part_of_those_that_are_merged_from_it(app, tok):
    number = next(iter(tok.merges.values()))
    answer = call(app, "GET", f"/api/v1/merges?tokenizer=mine&id={number}").json()
    assert [each["id"] for each in answer["part_of"]] == [made for pair, made in tok.merges.items() if number in pair]
    assert answer["n_part_of"] == len(answer["part_of"]) > 0


def test_a_token_says_where_else_it_is_and_whether_a_text_produces_it(app):
    answer = call(app, "GET", "/api/v1/merges?tokenizer=gpt2&id=31373").json()
    ids = {each["tokenizer"]: each["id"] for each in answer["elsewhere"]}
    assert (answer["text"], ids["cl100k_base"], ids["mine"], "gpt2" in ids) == ("hello", 15339, None, False)
    assert answer["unreachable"] is None
    unreachable = cbpe.get_encoding("gpt2").analyze().unreachable
    number = next(iter(unreachable))
    answer = call(app, "GET", f"/api/v1/merges?tokenizer=gpt2&id={number}").json()
    assert answer["unreachable"] == unreachable[number]
    assert (answer["rank"], len(answer["tree"])) == (None, 1)


def test_a_search_says_how_many_of_its_tokens_are_special(app, tok):
    assert search(app)["n_special"] == len(HOSTILE)
    assert search(app, text="a")["n_special"] == sum("a" in text for text in HOSTILE)
    assert search(app)["n_found"] == tok.vocab_size + len(HOSTILE)


def test_a_mark_of_a_place_in_a_word_is_told_apart_and_elsewhere_left_aside(tmp_path):
    (tmp_path / "words.json").write_text(json.dumps({"version": "1.0", **OF_WORDS}), encoding="utf-8")
    words = cbpe.load(tmp_path / "words.json")
    choices = [Choice(name, "given", lambda: words) for name in ("words", "again")]
    app = make_app(Catalogue(choices))
    number = words.token_to_id(b"the</w>")
    answer = call(app, "GET", f"/api/v1/merges?tokenizer=words&id={number}").json()
    ids = {each["tokenizer"]: each["id"] for each in answer["elsewhere"]}
    assert (answer["marks"], ids["again"]) == (["</w>"], number)
    assert ids["gpt2"] == cbpe.get_encoding("gpt2").encode_single_token("the")
    answer = call(app, "GET", f"/api/v1/merges?tokenizer=words&id={words.token_to_id(b'th')}").json()
    assert answer["marks"] == []


def test_special_tokens_have_no_merges(app, tok):
    for text, number in tok.special_tokens.items():
        answer = call(app, "GET", f"/api/v1/merges?tokenizer=mine&id={number}").json()
        assert (answer["text"], answer["special"], answer["rank"], answer["unreachable"]) == (text, True, None, None)


def test_a_tree_that_is_too_large_is_left_out():
    doubled = cbpe.train("a" * 5000, 256 + 10)
    app = make_app(Catalogue([Choice("mine", "given", lambda: doubled)]))
    assert call(app, "GET", "/api/v1/merges?tokenizer=mine&id=265").json()["tree"] is None
    assert len(call(app, "GET", "/api/v1/merges?tokenizer=mine&id=260").json()["tree"]) == 63
