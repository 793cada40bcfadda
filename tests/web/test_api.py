"""The page's JSON: what it says of texts and tokens, and how it refuses."""

import json
import re
import threading
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from tokenizer_json import a_file, as_json, ended
from web_calls import call, post

import cbpe
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer
from cbpe.web import comparing, vocabulary
from cbpe.web.app import Api, make_app
from cbpe.web.assets import PAGES, assets, pages
from cbpe.web.catalogue import Catalogue, Choice, Text
from cbpe.web.refusals import LONGEST_BODY, LONGEST_TEXT, MOST_AT_ONCE

DOCUMENTED = Path(__file__).parents[2] / "docs" / "page.md"
TEXT = "naïve 👩‍🚀<|endoftext|> 안녕하세요\r\n\x00 \u202e <script>alert(1)</script>"
HOSTILE = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\u202egnp.exe", "a\x00b", '"/../../etc/passwd']


@pytest.fixture(scope="module")
def tok():
    return cbpe.train("the cat sat on the mat " * 20, 262, special_tokens=HOSTILE)


@pytest.fixture(scope="module")
def app(tok):
    given = [Choice("./small.json", "given", lambda: tok), *(Choice(name, "given", lambda: tok) for name in HOSTILE)]
    stored = [Choice("book@2", "store", lambda: tok), Choice("gpt2", "store", lambda: tok)]
    texts = [Text("<b>.txt", lambda most: ("hello"[:most], True))]
    return make_app(Catalogue(given, lambda: stored, texts))


def test_the_tokenizers_are_listed_each_name_once(app):
    listed = call(app, "GET", "/api/v1/tokenizers").json()["tokenizers"]
    sources = {each["name"]: each["source"] for each in listed}
    assert len(sources) == len(listed)
    assert [each["name"] for each in listed][: 1 + len(HOSTILE)] == ["./small.json", *HOSTILE]
    assert (sources["book@2"], sources["gpt2"], sources["o200k_base"]) == ("store", "encoding", "encoding")


def test_a_description_has_the_special_tokens(app, tok):
    found = call(app, "GET", "/api/v1/tokenizer?tokenizer=book@2").json()
    assert {each["text"]: each["id"] for each in found["special_tokens"]} == tok.special_tokens
    assert found["n_special_tokens"] == len(HOSTILE)


@pytest.mark.parametrize("special", ["tokens", "text"])
def test_encode_says_what_the_library_says(app, special):
    enc = cbpe.get_encoding("cl100k_base")
    found = post(app, "encode", {"tokenizer": "cl100k_base", "text": TEXT, "special": special}).json()
    ids, places = enc.encode_with_offsets(TEXT, "all" if special == "tokens" else "none", ())
    assert found["ids"] == ids
    assert list(zip(found["starts"], found["ends"], strict=True)) == places
    assert [found["tokens"][str(number)]["bytes"] for number in ids] == [
        enc.decode_single_token_bytes(number).hex() for number in ids
    ]
    assert found["n_bytes"] == len(TEXT.encode())
    assert found["bytes_per_token"] == len(TEXT.encode()) / len(ids)
    assert any(value["special"] for value in found["tokens"].values()) == (special == "tokens")


def test_groups_are_the_runs_of_tokens_that_share_a_character(app):
    found = post(app, "encode", {"tokenizer": "gpt2", "text": TEXT}).json()
    spans = list(zip(found["starts"], found["ends"], strict=True))
    grouped = [spans[first:end] for first, end in found["groups"]]
    assert grouped
    for group in grouped:
        assert all(right[0] < left[1] for left, right in pairwise(group))
    alone = sum(len(group) - 1 for group in grouped)
    borders = sum(right[0] < left[1] for left, right in pairwise(spans))
    assert alone == borders


def test_added_tokens_that_are_not_special_are_found_in_every_text():
    content = a_file(added_tokens=[("<s>", {}), ("<b>", {"special": False})])
    tok = HuggingFaceTokenizer.from_json(as_json(content))
    app = make_app(Catalogue([Choice("html", "given", lambda: tok)]))
    for special, ids in (("text", [301, *b"<s>"]), ("tokens", [301, 300])):
        body = {"tokenizer": "html", "text": "<b><s>", "special": special}
        assert post(app, "encode", body).json()["ids"] == ids
        assert post(app, "count", body).json()["n_tokens"] == len(ids)


def test_bytes_that_a_pattern_leaves_out_are_in_no_token():
    with pytest.warns(UserWarning, match="leaves 18.2% of the text out"):
        tok = cbpe.train("abc abc abc", 258, pattern="[a-z]+", special_tokens=["<|end|>"])
    app = make_app(Catalogue([Choice("letters", "given", lambda: tok)]))
    text = "abc 123 abc<|end|>"
    for path in ("encode", "count"):
        found = post(app, path, {"tokenizer": "letters", "text": text, "special": "tokens"}).json()
        n = len(tok.encode(text, allowed_special="all"))
        assert (found["n_bytes"], found["covered_bytes"], found["n_tokens"]) == (len(text), len("abcabc<|end|>"), n)
        assert found["bytes_per_token"] == len("abcabc<|end|>") / n


def test_bytes_per_token_leave_the_tokens_of_a_template_out():
    tok = ended(cbpe.train("abc abc abc", 258, special_tokens=["<|end|>"]))
    app = make_app(Catalogue([Choice("ended", "given", lambda: tok)]))
    for path in ("encode", "count"):
        found = post(app, path, {"tokenizer": "ended", "text": "abc abc"}).json()
        n = len(tok.encode("abc abc", add_special_tokens=False))
        assert (found["n_tokens"], found["covered_bytes"], found["bytes_per_token"]) == (n + 1, 7, 7 / n)
        assert found["n_template_tokens"] == 1


@pytest.mark.parametrize("text", ["", "\ud83d", "a" * 5])
def test_odd_texts_are_encoded(app, text):
    found = post(app, "encode", {"tokenizer": "gpt2", "text": text}).json()
    assert found["ids"] == cbpe.get_encoding("gpt2").encode(text)
    assert found["n_characters"] == len(text)
    assert found["n_surrogates"] == text.count("\ud83d")
    assert found["covered_bytes"] == found["n_bytes"] == len(text.encode("utf-8", "surrogatepass"))
    assert post(app, "count", {"tokenizer": "gpt2", "text": text}).json()["n_tokens"] == len(found["ids"])


def test_a_text_that_is_changed_before_encoding_has_tokens_without_places():
    class Changing:
        def encode_to_numpy_with_offsets(self, *arguments):
            raise ValueError("what is done to this text changes it")

        def __getattr__(self, name):
            return getattr(cbpe.get_encoding("gpt2"), name)

    app = make_app(Catalogue([Choice("changing", "given", Changing)]))
    found = post(app, "encode", {"tokenizer": "changing", "text": "hello"}).json()
    assert (found["ids"], found["starts"], found["groups"]) == ([31373], None, None)
    assert found["no_places"] == "what is done to this text changes it"


def test_decode_gives_the_text_and_the_bytes(app):
    ids = cbpe.get_encoding("gpt2").encode(TEXT, allowed_special="none")
    found = post(app, "decode", {"tokenizer": "gpt2", "ids": ids}).json()
    assert (found["text"], found["bytes"], found["is_utf8"]) == (TEXT, TEXT.encode().hex(), True)
    assert post(app, "decode", {"tokenizer": "gpt2", "ids": ids[:4]}).json()["n_tokens"] == 4


def test_a_token_says_what_it_is_merged_from(app):
    found = call(app, "GET", "/api/v1/token?tokenizer=cl100k_base&id=15339").json()
    assert (found["text"], [part["text"] for part in found["parts"]]) == ("hello", ["h", "ello"])
    assert call(app, "GET", "/api/v1/token?tokenizer=cl100k_base&id=0").json()["parts"] is None


@pytest.mark.parametrize("special", HOSTILE)
def test_hostile_tokens_and_names_come_as_text_in_json(app, special):
    answer = post(app, "encode", {"tokenizer": special, "text": f"the {special}", "special": "tokens"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    last = answer.json()["ids"][-1]
    assert answer.json()["tokens"][str(last)] == {"bytes": special.encode().hex(), "text": special, "special": True}
    assert answer.content.isascii()


def test_a_text_that_was_named_at_start(app):
    assert call(app, "GET", "/api/v1/about").json()["texts"] == [{"number": 0, "name": "<b>.txt", "problem": None}]
    found = call(app, "GET", "/api/v1/text?number=0").json()
    assert found == {"name": "<b>.txt", "text": "hello", "whole": True}


# ---- Refused


@pytest.mark.parametrize(
    ("path", "values", "status", "said"),
    [
        ("encode", {"text": "a"}, 400, "'tokenizer' is missing"),
        ("encode", {"tokenizer": "gpt2"}, 400, "'text' is missing"),
        ("encode", {"tokenizer": "gpt2", "text": 5}, 400, "'text' is 5, not a text"),
        ("encode", {"tokenizer": "gpt2", "text": "", "special": "all"}, 400, "neither 'tokens' nor 'text'"),
        ("encode", {"tokenizer": "gpt3", "text": ""}, 404, "no tokenizer 'gpt3'"),
        ("encode", {"tokenizer": "/etc/passwd", "text": ""}, 404, "no tokenizer '/etc/passwd'"),
        ("encode", {"tokenizer": "https://host/x@1", "text": ""}, 404, "no tokenizer 'https://host/x@1'"),
        ("encode", b"{", 400, "not JSON"),
        ("encode", b"[" * 100_000, 400, "the request is nested too deeply"),
        ("encode", b"\xff", 400, "not JSON"),
        ("encode", b"[]", 400, "JSON of a list"),
        (
            "encode",
            {"tokenizer": "gpt2", "text": "", "speical": "tokens"},
            400,
            "'speical' is no key of this path",
        ),
        ("search", {"tokenizer": "gpt2", "patern": "a"}, 400, "'patern' is no key"),
        (
            "compare",
            {"tokenizers": ["gpt2"], "text": "a"},
            400,
            "'text' is no key of this path, which takes tokenizers, texts",
        ),
        ("encode?text=a", {"tokenizer": "gpt2", "text": ""}, 400, "'text' is no key of this path, which takes none"),
        ("decode", {"tokenizer": "gpt2"}, 400, "'ids' is missing"),
        ("encode", b'{"tokenizer":"gpt2","tokenizer":"en","text":""}', 400, "'tokenizer' comes twice"),
        ("compare", b'{"tokenizers":["gpt2"],"texts":{"a":"x","a":"y"}}', 400, "'a' comes twice"),
        ("search", {"tokenizer": "gpt2", "least": -5}, 400, "'least' is -5, not from 0 to 4,294,967,295"),
        ("search", {"tokenizer": "gpt2", "most": 2**32}, 400, "'most' is 4294967296, not from 0 to 4,294,967,295"),
        ("search", {"tokenizer": "gpt2", "least": 1.5}, 400, "'least' is 1.5, not a whole number"),
        ("search", {"tokenizer": "gpt2", "least": 3, "most": 2}, 400, "'least' is 3, which is more than 'most', 2"),
        ("decode", {"tokenizer": "gpt2", "ids": "1"}, 400, "'ids' is '1', not a list"),
        ("decode", {"tokenizer": "gpt2", "ids": [True]}, 400, "True is no token id"),
        ("decode", {"tokenizer": "gpt2", "ids": [None]}, 400, "None is no token id"),
        ("decode", {"tokenizer": "gpt2", "ids": [-1]}, 400, "-1 is no token id"),
        ("decode", {"tokenizer": "gpt2", "ids": [50257]}, 404, "no token has the id 50257"),
        ("decode", {"tokenizer": "gpt2", "ids": [10**30]}, 404, "no token has the id"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(app, path, values, status, said):
    answer = post(app, path, values)
    assert answer.status == status
    assert said in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    ("method", "url", "status", "said"),
    [
        ("GET", "/api/v1/token?tokenizer=gpt2&id=x", 400, "not a whole number"),
        ("GET", "/api/v1/token?tokenizer=gpt2&id=50257", 404, "no token has the id 50257"),
        ("GET", "/api/v1/merges?tokenizer=gpt2&id=50257", 404, "no token has the id 50257"),
        ("GET", "/api/v1/token?tokenizer=gpt2", 400, "'id' is missing"),
        ("GET", "/api/v1/token?tokenizer=gpt2&id=", 400, "'id' is '', not a whole number"),
        ("GET", "/api/v1/token?tokenizer=gpt2&id=-1", 400, "'id' is -1, not from 0 to 4,294,967,295"),
        ("GET", "/api/v1/log?offset=-1", 400, "'offset' is -1, not from 0 to 4,294,967,295"),
        ("GET", f"/api/v1/token?tokenizer=gpt2&id={'9' * 5000}", 400, f"'id' is {'9' * 20}…, not from 0 to"),
        ("GET", "/api/v1/version?reference=", 400, "'reference' is empty"),
        ("GET", "/api/v1/diff?a=gpt2&b=", 400, "'b' is empty"),
        ("GET", "/api/v1/versions?metric=loss=3..2", 400, "MIN is more than MAX"),
        ("GET", "/api/v1/text?number=1", 404, "there is no text 1"),
        ("GET", "/api/v1/about?x=1", 400, "'x' is no key of this path, which takes none"),
        ("GET", "/api/v1/nothing", 404, "no such path"),
        ("GET", "/static/..%2fapp.py", 404, "there is no"),
        ("GET", "/static/nothing.js", 404, "there is no file 'nothing.js'"),
        ("GET", "/api/v1/encode", 405, "this path takes POST, not GET"),
        ("POST", "/api/v1/encode", 415, "not 'application/json'"),
    ],
)
def test_paths_and_methods_that_are_wrong(app, method, url, status, said):
    answer = call(app, method, url)
    assert answer.status == status
    assert said in answer.json()["error"]


def test_allow_names_the_method_of_a_path(app):
    assert call(app, "GET", "/api/v1/encode").headers["allow"] == "POST"
    answer = post(app, "about", {})
    assert (answer.status, set(answer.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})


def test_every_status_of_an_error_is_documented():
    said = DOCUMENTED.read_text(encoding="utf-8")
    code = "".join(path.read_text(encoding="utf-8") for path in Path(cbpe.web.app.__file__).parent.glob("*.py"))
    raised = set(re.findall(r"(?:Refused\(|return |== )(4\d\d|503)\b", code)) | {"401", "405"}
    assert raised >= {"400", "403", "404", "408", "413", "415"}
    assert [status for status in sorted(raised) if not re.search(rf"(^\| .*|status is ){status}\b", said, re.M)] == []


@pytest.mark.parametrize("text", ["a\n", "\u4e2d", "\U0001f600"])
def test_of_a_file_that_was_named_at_start_as_much_is_shown_as_can_be_encoded(text):
    """A request has so many bytes at most, whatever script a text is of."""
    content = text * (LONGEST_TEXT // len(text))
    app = make_app(
        Catalogue([Choice("gpt2", "given", lambda: None)], texts=[Text("a", lambda most: (content[:most], False))])
    )
    shown = call(app, "GET", "/api/v1/text?number=0").json()
    assert shown["whole"] is False
    n_bytes = len(shown["text"].encode())
    assert LONGEST_TEXT - 4 < n_bytes <= LONGEST_TEXT
    assert len(json.dumps({"tokenizer": "gpt2", "text": shown["text"]}, ensure_ascii=False).encode()) < LONGEST_BODY


@pytest.mark.parametrize("character", ["\n", "\u4e2d"])
def test_a_text_has_so_many_bytes_at_most_however_many_it_takes_in_json(app, character):
    most = character * (LONGEST_TEXT // len(character.encode()))
    found = post(app, "count", {"tokenizer": "gpt2", "text": most})
    assert (found.status, found.json()["n_bytes"]) == (200, len(most.encode()))
    for path in ("encode", "count"):
        refused = post(app, path, {"tokenizer": "gpt2", "text": most + character})
        assert refused.status == 413
        assert "a text of more than 10,000,000 bytes: the page is for looking at texts" in refused.json()["error"]


def test_a_text_of_100_mb_is_refused_by_the_length_that_it_is_said_to_have(app):
    answer = post(app, "encode", b"{}", headers=[("Content-Length", "100000000")])
    assert answer.status == 413
    assert "cbpe count and cbpe compare take files of any size" in answer.json()["error"]


def test_what_is_too_long_is_read_to_its_end_and_no_further_than_a_limit(app, monkeypatch):
    """Python's client sends all before it reads an answer, and would be told of a lost connection."""
    n = LONGEST_BODY // 1_000_000
    answer = post(app, "encode", b" " * (LONGEST_BODY + 3_000_000), chunk=1_000_000)
    assert (answer.status, answer.read) == (413, n + 3)
    monkeypatch.setattr(cbpe.web.bodies, "MOST_PASSED_OVER", LONGEST_BODY + 1_000_000)
    answer = post(app, "encode", b" " * (LONGEST_BODY + 3_000_000), chunk=1_000_000)
    assert (answer.status, answer.read) == (413, n + 2)


def test_what_takes_too_long_is_given_up_and_counts_until_it_ends():
    wait = threading.Event()
    app = make_app(Catalogue([Choice("slow", "given", lambda: wait.wait(20))]), seconds=0.01)
    try:
        for _ in range(MOST_AT_ONCE):
            answer = post(app, "count", {"tokenizer": "slow", "text": ""})
            assert (answer.status, "longer than 0.01 s" in answer.json()["error"]) == (503, True)
            assert "take a shorter text or fewer tokenizers at once, or cbpe encode" in answer.json()["error"]
        assert "requests are being worked on" in post(app, "count", {"tokenizer": "slow", "text": ""}).json()["error"]
    finally:
        wait.set()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError("a.txt is gone"), "a.txt is gone"),
        (FileNotFoundError(2, "No such file or directory", "a.txt"), "a.txt: No such file or directory"),
    ],
)
def test_a_file_that_has_gone_since_the_start_is_said(error, said):
    def read(most):
        raise error

    answer = call(make_app(Catalogue(texts=[Text("a.txt", read)])), "GET", "/api/v1/text?number=0")
    assert (answer.status, answer.json()["error"]) == (503, said)


def test_a_fault_tells_nothing_of_the_program():
    def broken():
        raise RuntimeError("/a/path")

    app = make_app(Catalogue([Choice("broken", "given", broken)]))
    # Starlette raises it again, for the server's log.
    answer = post(app, "count", {"tokenizer": "broken", "text": ""}, raised=RuntimeError)
    assert (answer.status, answer.json()) == (500, {"error": "a fault in cbpe: RuntimeError"})


# ---- What the documentation says


def test_the_documentation_names_the_keys_that_are_taken():
    said = DOCUMENTED.read_text(encoding="utf-8")
    taken = {f"GET {name}": keys.split() for name, keys, _ in Api(Catalogue(), None, None, 1).asked()}
    taken |= {"POST search": [*vocabulary.KEYS], "POST compare": [*comparing.KEYS]}
    for path, keys in taken.items():
        (cell,) = re.findall(rf"^\| `{path}` \| ([^|]*)\|", said, re.MULTILINE)
        assert [key for key in re.findall(r"`(\w+)`", cell) if key != "cbpe"] == keys, path


def test_the_documented_example_asks_for_all_that_the_page_takes():
    extras = re.search(r"^web = \[(.*)\]$", (DOCUMENTED.parents[1] / "pyproject.toml").read_text(), re.MULTILINE)
    (guard,) = re.findall(r"^    import (.*)$", DOCUMENTED.read_text(encoding="utf-8"), re.MULTILINE)
    assert guard.split(", ") == re.findall(r'"(\w+)', extras[1])


# ---- The page's files


def test_pages_load_only_files_that_are_there(app):
    names = set(assets())
    assert {"style.css", "playground.js", "icon.svg"} <= names
    for path in pages():
        page = call(app, "GET", path)
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert '"/static/' in page.content.decode()
    contents = [*pages().values(), *(call(app, "GET", f"/static/{name}").content for name in names)]
    for content in map(bytes.decode, contents):
        assert "http://" not in content.replace("http://www.w3.org/2000/svg", "")
        assert "https://" not in content
        for loaded in [part.split('"')[0] for part in content.split('"/static/')[1:]]:
            assert loaded in names


def test_every_page_leads_to_all_and_says_which_it_is():
    for page, content in zip(PAGES, pages().values(), strict=True):
        links = re.findall(r'<a href="([^"]*)"( aria-current="page")?>([^<]*)</a>', content.decode())
        assert [(path, title) for path, _, title in links] == [(each.path, each.title) for each in PAGES]
        assert [path for path, current, _ in links if current] == [page.path]
        assert f'id="{page.first}"' in content.decode()


@pytest.mark.parametrize("name", [*pages(), *sorted(name for name in assets() if name.endswith(".js"))])
def test_no_file_makes_markup_or_code_of_a_text(name):
    content = (pages()[name] if name in pages() else assets()[name][0]).decode()
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser"):
        assert word not in content
    assert " style=" not in content
    assert " on" + "click=" not in content


def test_json_of_a_large_text_stays_small(app):
    text = "the quick brown fox " * 5000
    answer = post(app, "encode", {"tokenizer": "gpt2", "text": text})
    assert len(answer.content) < 10 * len(text)
    assert json.loads(answer.content)["n_tokens"] == cbpe.get_encoding("gpt2").count(text)


def test_an_unknown_address_is_a_page_with_links_for_a_browser_and_json_for_others(app):
    for_people = call(app, "GET", "/nowhere", headers=[("Accept", "text/html,*/*")])
    assert (for_people.status, for_people.headers["content-type"].split(";")[0]) == (404, "text/html")
    assert all(f'<a href="{page.path}">' in for_people.content.decode() for page in PAGES)
    for path, accept in (("/nowhere", "*/*"), ("/api/v1/nowhere", "text/html")):
        answer = call(app, "GET", path, headers=[("Accept", accept)])
        assert (answer.status, answer.json()) == (404, {"error": "there is no such path"})
