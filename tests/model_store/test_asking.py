"""Asking: lists with filters and orders, and where a token is."""

import json
import warnings
from datetime import datetime, timedelta, timezone

import pytest

import cbpe
from store import ModelStore, NotFound

TEXT = "low lower lowest newer wider new low"
PAIRS = [cbpe.train(TEXT * 3, size, special_tokens=["<|end|>"]) for size in (258, 264)]
UNSPLIT = cbpe.train(TEXT, 260, pattern=None)
BYTES = {bytes([255 - i]): i for i in range(256)}
RANKS = cbpe.Encoding("own", pat_str=r"\S+|\s+", mergeable_ranks={**BYTES, b"lo": 300, b"low": 301}, special_tokens={})


def fill(models):
    models.save(PAIRS[0], "b", tags={"language": "en", "old": ""}, metrics={"loss": 1.5})
    models.save(PAIRS[1], "b", tags={"language": "de"}, metrics={"loss": -2})
    models.save(UNSPLIT, "a", tags=["old"], metrics={"loss": 3.5, "size": 3})
    models.save(RANKS, "c")


@pytest.fixture(scope="module")
def filled(shared_store):
    """A store with four versions, for all tests here that only ask."""
    with ModelStore(shared_store) as models:
        fill(models)
    with ModelStore(shared_store, read_only=True) as models:
        yield models


def references(versions):
    return [version.reference for version in versions]


def test_names_are_in_order_and_have_versions(models):
    fill(models)
    assert models.names() == ["a", "b", "c"]
    models.delete("a@1")
    assert models.names() == ["b", "c"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["a@1", "b@1", "b@2", "c@1"]),
        ({"name": "b"}, ["b@1", "b@2"]),
        ({"name": "nobody"}, []),
        ({"tag": "old"}, ["a@1", "b@1"]),
        ({"tag": ("language", "de")}, ["b@2"]),
        ({"tag": ("language", "fr")}, []),
        ({"tag": "language=de"}, ["b@2"]),  # as the command line has it
        ({"tag": "language=fr"}, []),
        ({"vocab_size": 258}, ["b@1", "c@1"]),
        ({"vocab_size": (259, 263)}, ["a@1"]),
        ({"vocab_size": (260, None)}, ["a@1", "b@2"]),
        ({"vocab_size": (None, 258)}, ["b@1", "c@1"]),
        ({"vocab_size": (264, 2**70)}, ["b@2"]),
        ({"vocab_size": -(2**70)}, []),
        ({"semantics": "ranks"}, ["c@1"]),
        ({"semantics": "pairs", "tag": "old"}, ["a@1", "b@1"]),
        ({"has_token": "<|end|>"}, ["b@1", "b@2"]),
        ({"has_token": b" lower"}, ["b@2"]),
        ({"has_token": b"\xff"}, ["a@1", "b@1", "b@2", "c@1"]),
        ({"pattern": r"\S+|\s+"}, ["c@1"]),
        ({"pattern": cbpe.GPT4_SPLIT_PATTERN, "vocab_size": 258}, ["b@1"]),
        ({"prefix": "b"}, ["b@1", "b@2"]),
        ({"prefix": "B"}, []),
        ({"prefix": "%"}, []),
        ({"prefix": ""}, ["a@1", "b@1", "b@2", "c@1"]),
        ({"tag": ["old", ("language", "en")]}, ["b@1"]),
        ({"tag": ["old", ("language", "de")]}, []),
        ({"tag": []}, ["a@1", "b@1", "b@2", "c@1"]),
        ({"metric": "loss"}, ["a@1", "b@1", "b@2"]),
        ({"metric": ("loss", 1.5)}, ["b@1"]),
        ({"metric": ("loss", (None, 1.5))}, ["b@1", "b@2"]),
        ({"metric": ("loss", (1, None))}, ["a@1", "b@1"]),
        ({"metric": [("loss", (1, 2)), "size"]}, []),
        ({"metric": ["loss", ("size", 3)]}, ["a@1"]),
        ({"metric": "nothing"}, []),
        ({"order": "metric:loss"}, ["b@2", "b@1", "a@1", "c@1"]),
        ({"order": "-metric:loss"}, ["a@1", "b@1", "b@2", "c@1"]),
        ({"order": "metric:loss", "limit": 2}, ["b@2", "b@1"]),
        ({"limit": 2}, ["a@1", "b@1"]),
        ({"limit": 2, "offset": 1}, ["b@1", "b@2"]),
        ({"offset": 3}, ["c@1"]),
        ({"offset": 2**70}, []),
        ({"limit": 0}, []),
        ({"limit": 2**70, "tag": "old"}, ["a@1", "b@1"]),
        ({"order": "-name"}, ["c@1", "b@2", "b@1", "a@1"]),
        ({"order": "time"}, ["b@1", "b@2", "a@1", "c@1"]),
        ({"order": "-time"}, ["c@1", "a@1", "b@2", "b@1"]),
        ({"order": "vocab_size"}, ["b@1", "c@1", "a@1", "b@2"]),
        ({"order": "number"}, ["a@1", "b@1", "c@1", "b@2"]),
    ],
)
def test_versions_are_filtered_and_ordered(filled, filters, expected):
    assert references(filled.versions(**filters)) == expected


def test_an_order_by_a_metric_that_no_version_has_is_told(filled):
    with pytest.warns(
        UserWarning, match=r"no version has the metric 'los', which sorts nothing: did you mean 'loss'\?"
    ):
        assert references(filled.versions(order="metric:los")) == references(filled.versions())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filled.versions("c", order="metric:loss")  # others have it


def test_versions_since_a_moment_in_any_time_zone(filled):
    middle = filled.version("a").time
    there = middle.astimezone(timezone(timedelta(hours=9)))
    assert references(filled.versions(since=there, order="time")) == ["a@1", "c@1"]
    assert filled.versions(since=datetime.now(timezone.utc) + timedelta(hours=1)) == []

    assert len(filled.versions(since=datetime(2026, 1, 1))) == 4  # in the machine's time zone


@pytest.mark.parametrize(
    ("filters", "error", "message"),
    [
        ({"order": "size"}, ValueError, "'size'; it may be name, "),
        ({"order": 1}, TypeError, "order is a str, not int"),
        ({"name": 1}, TypeError, "a name is a str"),
        ({"tag": 1}, TypeError, "a tag to look for"),
        ({"tag": ("a", 1)}, TypeError, "a tag to look for"),
        ({"tag": ("a", "b", "c")}, TypeError, "a tag to look for"),
        ({"tag": ["a", 1]}, TypeError, "a tag to look for"),
        ({"metric": 1}, TypeError, "a metric to look for"),
        ({"metric": ("loss", (2.5, 1))}, ValueError, "metric 'loss' is at least 2.5 and at most 1: no number is both"),
        ({"vocab_size": (5000, 300)}, ValueError, "vocab_size is at least 5,000 and at most 300: no number is both"),
        ({"metric": ("loss", "low")}, TypeError, "a metric to look for"),
        ({"metric": ("loss", (1, 2, 3))}, TypeError, "a metric to look for"),
        ({"metric": (1, 2)}, TypeError, "a metric to look for"),
        ({"prefix": 1}, TypeError, "a prefix is a str"),
        ({"limit": -1}, ValueError, "a limit is 0 or more, not -1"),
        ({"limit": "1"}, TypeError, "a limit is an int, not str"),
        ({"offset": -1}, ValueError, "an offset is 0 or more, not -1"),
        ({"offset": None}, TypeError, "an offset is an int, not NoneType"),
        ({"order": "metric:"}, ValueError, "a metric has 1 to 255 characters"),
        ({"vocab_size": "258"}, TypeError, "vocab_size is a number"),
        ({"vocab_size": (258,)}, TypeError, "vocab_size is a number"),
        ({"vocab_size": (258, "many")}, TypeError, "vocab_size is a number"),
        ({"semantics": "rank"}, ValueError, "'rank'; it may be pairs or ranks"),
        ({"since": "2026"}, TypeError, "since is a datetime"),
        ({"since": datetime.min.replace(tzinfo=timezone(timedelta(hours=1)))}, ValueError, "no moment in UTC"),
        ({"has_token": 97}, TypeError, "a token is a str or bytes, not int"),
        ({"pattern": 1}, TypeError, "the pattern is a str"),
    ],
)
def test_filters_and_orders_that_are_none_are_refused(filled, filters, error, message):
    with pytest.raises(error, match=message):
        filled.versions(**filters)


def test_what_else_cannot_be_asked_is_refused(filled):
    with pytest.raises(TypeError, match="a name is a str, not NoneType"):
        filled.history(None)
    with pytest.raises(TypeError, match="a token is a str or bytes, not int"):
        filled.find_token(10**11)
    with pytest.raises(ValueError, match="a limit is 0 or more, not -1"):
        filled.audit_log(limit=-1)
    with pytest.raises(TypeError, match="a limit is an int"):
        filled.audit_log(limit="1")
    with pytest.raises(TypeError, match="a name is a str"):
        filled.audit_log(1)
    assert len(filled.audit_log(limit=2**70)) == 4


def test_where_a_token_is(filled):
    expected = [
        (f"{name}@{number}", tok.encode_single_token(b"low"), rank)
        for name, number, tok in (("a", 1, UNSPLIT), ("b", 1, PAIRS[0]), ("b", 2, PAIRS[1]))
        if b"low" in tok.vocab.values()
        for rank in [tok.encode_single_token(b"low") - 256]
    ]
    expected.append(("c@1", 301, 1))
    for token in (b"low", "low"):
        found = filled.find_token(token)
        assert [(version.reference, token_id, rank) for version, token_id, rank in found] == expected


def test_special_tokens_and_single_bytes_have_no_rank(filled):
    ends = [(str(version), token_id, rank) for version, token_id, rank in filled.find_token("<|end|>")]
    assert ends == [("b@1", 258, None), ("b@2", 264, None)]
    assert [(str(place.version), place.id, place.rank) for place in filled.find_token(b"\xff")] == [
        *(("a@1", 255, None), ("b@1", 255, None), ("b@2", 255, None), ("c@1", 0, None)),
    ]
    assert filled.find_token("no such token") == []


def test_a_special_token_that_is_in_the_vocabulary_too_has_one_place(tmp_path):
    cbpe.train("low lower lowest " * 9, 280, alphabet="characters").save(tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text())
    low = content["model"]["vocab"]["low"]
    content["added_tokens"].append({**content["added_tokens"][-1], "id": low, "content": "low"})
    (tmp_path / "a.json").write_text(json.dumps(content))
    tok = cbpe.load(tmp_path / "a.json")
    assert tok.special_tokens["low"] == low
    with ModelStore(tmp_path / "models.db") as models:
        models.save(tok, "a")
        ((version, token_id, _),) = models.find_token("low")
        assert (version.reference, token_id) == ("a@1", low)


@pytest.mark.parametrize("token", [b"\0", b"'", b"\xf0\x9f", b"\xed\xa0\x80"])
def test_odd_bytes_are_found(models, token):
    ranks = BYTES if len(token) == 1 else {**BYTES, token: 256}
    tok = cbpe.Encoding("odd", pat_str=".", mergeable_ranks=ranks, special_tokens={})
    models.save(tok, "odd")
    assert [place.id for place in models.find_token(token)] == [ranks[token]]


def test_the_history_of_a_name_has_parents(models):
    models.save(PAIRS[0], "base")
    for tok in (PAIRS[1], UNSPLIT):
        models.save(tok, "a", parent=None if tok is UNSPLIT else "base")
    models.set_parent("a@2", "a@1")
    assert [(version.number, version.parent) for version in models.history("a")] == [(1, "base@1"), (2, "a@1")]
    with pytest.raises(NotFound, match="'nobody'"):
        models.history("nobody")


def test_the_name_of_a_split_pattern_is_not_taken_for_one(models):
    models.save(cbpe.train("the cat", 257), "a")
    with pytest.raises(ValueError, match=r"the split pattern 'gpt4' is the name of one: pass cbpe.patterns.GPT4_SPLIT"):
        models.versions(pattern="gpt4")
    with pytest.raises(TypeError, match="the pattern is a str, not int"):
        models.versions(pattern=[5])
