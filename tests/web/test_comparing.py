"""Comparing tokenizers through the page's JSON."""

import json
import threading

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from web_calls import post

import cbpe
from cbpe.web.app import make_app
from cbpe.web.catalogue import Catalogue, Choice, Text

TEXTS = {"<b>": "the cat sat on the mat, naïve\n" * 5, "ko": "안녕하세요\n" * 5}


@pytest.fixture(scope="module")
def app():
    return make_app(Catalogue(texts=[Text("a.txt", lambda most: ("the cat", False))]))


def test_the_rows_are_those_of_the_library(app):
    names = ["gpt2", "cl100k_base"]
    found = post(app, "compare", {"tokenizers": names, "texts": TEXTS}).json()
    expected = cbpe.compare({name: cbpe.get_encoding(name) for name in names}, TEXTS)
    assert found["rows"] == json.loads(expected.to_json())
    assert found["csv"] == expected.to_csv()
    assert {"tokens", "fertility"} <= {each["key"] for each in found["measures"]}


def test_a_text_that_was_named_at_start_and_only_its_beginning(app):
    found = post(app, "compare", {"tokenizers": ["gpt2"], "named": ["a.txt"]}).json()
    assert [(row["corpus"], row["tokens"]) for row in found["rows"]] == [("a.txt", 2)]
    assert found["cut"] == ["a.txt"]


def test_what_misleads_about_the_measures_is_told():
    over = {"alphabet": "characters", "byte_fallback": False, "character_coverage": 0.9}
    unknown = cbpe.train("the cat sat on the mat " * 20 + "xyz", 13, **over)
    made = {"digits": lambda: cbpe.RegexTokenizer(r"\d+"), "chars": lambda: unknown}
    app = make_app(Catalogue([Choice(name, "given", make) for name, make in made.items()]))
    with pytest.warns(UserWarning, match="bytes/token") as warned:
        found = post(app, "compare", {"tokenizers": [*made], "texts": {"a": "in 1969 "}}).json()
    assert found["told"] == [str(each.message) for each in warned]
    assert found["told"][0].startswith(
        "digits leaves 50.0% of a out, which its split pattern does not match: bytes/tok"
    )
    assert "tokens of chars on a stand for characters without a token" in found["told"][1]
    assert post(app, "compare", {"tokenizers": ["gpt2"], "texts": {"a": "in 1969 "}}).json()["told"] == []


def test_the_ways_of_comparing_are_those_of_the_library(app):
    names, texts = ["gpt2", "cl100k_base"], {"en": "the cat\nsat down\n", "ko": "고양이가\n앉았다\n"}
    ways = {"reference": "cl100k_base", "parallel": "en", "alpha": 2}
    found = post(app, "compare", {"tokenizers": names, "texts": texts, **ways}).json()
    tokenizers = {name: cbpe.get_encoding(name) for name in names}
    expected = cbpe.compare(tokenizers, {name: text.encode() for name, text in texts.items()}, **ways)
    assert found["rows"] == json.loads(expected.to_json())
    assert {row["nsl"] for row in found["rows"] if row["tokenizer"] == "cl100k_base"} == {1.0}
    assert all(row["premium"] > 1 for row in found["rows"] if row["corpus"] == "ko")


def test_a_text_is_never_taken_for_a_file_and_may_be_odd(app, recwarn):
    found = post(app, "compare", {"tokenizers": ["gpt2"], "texts": {"x": __file__, "y": "\ud83d"}}).json()
    assert found["rows"][0]["characters"] == len(__file__)
    assert not recwarn.list


def test_a_comparison_that_takes_too_long_says_what_to_do():
    wait = threading.Event()
    app = make_app(Catalogue([Choice("slow", "given", lambda: wait.wait(20))]), seconds=0.01)
    answer = post(app, "compare", {"tokenizers": ["slow"], "texts": {"a": "x"}})
    wait.set()
    assert answer.status == 503
    assert answer.json()["error"].endswith("compare, which takes the time it needs")


@pytest.mark.parametrize(
    ("values", "status", "said"),
    [
        ({"texts": TEXTS}, 400, "'tokenizers' is missing"),
        ({"tokenizers": None, "texts": TEXTS}, 400, "'tokenizers' is None, not a list of names"),
        ({"tokenizers": [], "texts": TEXTS}, 400, "'tokenizers' names 0, not between 1 and 8"),
        ({"tokenizers": ["gpt2"] * 2, "texts": TEXTS}, 400, "'tokenizers' names 'gpt2' twice"),
        ({"tokenizers": ["gpt2"]}, 400, "'texts' and 'named' together name 0, not between 1 and 8"),
        ({"tokenizers": ["gpt2"], "texts": {str(i): "" for i in range(9)}}, 400, "name 9, not between 1 and 8"),
        ({"tokenizers": ["gpt2"], "texts": {"a.txt": ""}, "named": ["a.txt"]}, 400, "together name 'a.txt' twice"),
        ({"tokenizers": ["gpt2"], "texts": {"": "x"}}, 400, "'texts' has a text without a name"),
        ({"tokenizers": ["gpt2"], "texts": ["a"]}, 400, "no object of texts"),
        ({"tokenizers": ["gpt2"], "texts": {"a": 1}}, 400, "no object of texts"),
        ({"tokenizers": ["gpt2"], "named": ["/etc/passwd"]}, 404, "no text '/etc/passwd' was named at start"),
        ({"tokenizers": ["./x.json"], "texts": TEXTS}, 404, "no tokenizer './x.json'"),
        ({"tokenizers": [5], "texts": TEXTS}, 400, "not a list of names"),
        (
            {"tokenizers": ["gpt2"], "texts": TEXTS, "reference": "o200k_base"},
            400,
            "'reference' is 'o200k_base', which is",
        ),
        ({"tokenizers": ["gpt2"], "texts": TEXTS, "parallel": ["ko"]}, 400, "not among those that are compared"),
        (
            {"tokenizers": ["gpt2"], "texts": {"a": "x", "b": "x\ny"}, "parallel": "a"},
            400,
            "the texts are not parallel: 'a' has 1 line, and 'b' has 2 lines",
        ),
        *(
            ({"tokenizers": ["gpt2"], "texts": TEXTS, "alpha": alpha}, 400, "not a number from 0 to 1000")
            for alpha in (-1, 1001, True, "2", None, float("nan"))
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(app, values, status, said):
    answer = post(app, "compare", values)
    assert answer.status == status
    assert said in answer.json()["error"]
