"""The page's JSON of a model store: it says what the store says, bounds what is large, and changes nothing."""

import hashlib
import threading
from contextlib import nullcontext
from datetime import datetime, timedelta, timezone
from functools import partial
from types import SimpleNamespace
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from web_calls import call

import cbpe
from cbpe.web.app import make_app
from cbpe.web.catalogue import Catalogue, Choice
from store import Busy, Damaged, ModelStore

SCRIPT, IMAGE, TURNED = "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\u202egnp.exe"
NOTES = f"{SCRIPT}\n{TURNED}\x01"
TEXT = "the cat sat on the mat, and the dog sat on the log " * 20


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A store with lineage in two names, moved aliases, and labels that are markup."""
    path = tmp_path_factory.mktemp("stored") / "models.db"
    with ModelStore(path) as models:
        first = cbpe.train(TEXT, 262)
        models.save(first, "book", aliases=["prod", SCRIPT], tags={IMAGE: TURNED, "plain": ""}, notes=NOTES)
        second = cbpe.train(TEXT, 268, initial=first, special_tokens=[IMAGE])
        models.save(second, "book", parent="book@1", aliases=["prod"], metrics={"loss": 2.5})
        models.save(cbpe.train(TEXT, 266, initial=first), IMAGE, parent="book@1", metrics={SCRIPT: 1.5})
        models.save(cbpe.train("aaabdaaabac" * 5, 258), "alone")
        models.remove_alias("book", SCRIPT)
    return path


@pytest.fixture(scope="module")
def opened(path):
    return partial(ModelStore, path, read_only=True)


@pytest.fixture(scope="module")
def app(opened):
    small = cbpe.train(TEXT, 260)
    return make_app(Catalogue([Choice("small", "given", lambda: small)]), models=opened)


def get(app, path, /, **values):
    return call(app, "GET", f"/api/v1/{path}?{urlencode(values)}")


def test_the_store_and_its_names(app, opened):
    with opened() as models:
        expected = {"store": models.url, "why": None, "missing": False, "n_names": 3, "names": models.names()}
    assert get(app, "store").json() == expected


def test_versions_are_those_of_the_store(app, opened):
    found = get(app, "versions", order="name").json()
    with opened() as models:
        expected = models.versions()
    assert [each["reference"] for each in found["versions"]] == [version.reference for version in expected]
    for each, version in zip(found["versions"], expected, strict=True):
        assert (each["tags"], each["metrics"]) == (version.tags, version.metrics)
        assert (tuple(each["aliases"]), each["parent"]) == (version.aliases, version.parent)
        assert (each["vocab_size"], each["digest"]) == (version.vocab_size, version.digest)
        assert datetime.fromisoformat(each["time"]) == version.time
    assert found["more"] is False


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"name": "book", "order": "number"}, ["book@1", "book@2"]),
        ({"prefix": "<img"}, [f"{IMAGE}@1"]),
        ({"tag": IMAGE.replace("=", "")}, []),
        ({"tag": "plain"}, ["book@1"]),
        ({"tag": "plain="}, ["book@1"]),
        ({"tag": f"{IMAGE.partition('=')[0]}="}, []),
        ({"metric": "loss"}, ["book@2"]),
        ({"metric": "loss=2.5"}, ["book@2"]),
        ({"metric": "loss=..2.4"}, []),
        ({"metric": "loss=2.4.."}, ["book@2"]),
        ({"metric": SCRIPT}, [f"{IMAGE}@1"]),
        ({"metric": "los"}, []),
        ({"name": "book", "metric": SCRIPT}, []),
        ({"order": "-metric:loss", "offset": 0, "prefix": "b"}, ["book@2", "book@1"]),
        ({"order": "time", "offset": 3}, ["alone@1"]),
    ],
)
def test_versions_are_chosen_by_labels(app, wanted, expected):
    assert [each["reference"] for each in get(app, "versions", **wanted).json()["versions"]] == expected


def test_the_metric_of_the_order_is_the_first_of_many(tmp_path):
    many = {chr(97 + i): float(i) for i in range(20)}
    with ModelStore(tmp_path / "models.db") as models:
        models.save(cbpe.train(TEXT, 260), "book", metrics=many)
        models.save(cbpe.train(TEXT, 262), "other")
    page = make_app(Catalogue([]), models=partial(ModelStore, tmp_path / "models.db", read_only=True))
    for order, first in (("-metric:t", [*"tabcdefghi"]), ("name", [*"abcdefghij"]), ("metric:c", [*"cabdefghij"])):
        book, other = get(page, "versions", order=order).json()["versions"]
        assert (book["n_metrics"], book["metrics"]) == (20, {key: many[key] for key in first})
        assert list(book["metrics"]) == first
        assert other["metrics"] == {}


def test_a_version_with_labels_that_are_markup_comes_as_text_in_json(app, opened):
    answer = get(app, "version", reference="book@1")
    found = answer.json()
    assert (found["notes"], found["tags"], found["aliases"]) == (NOTES, {IMAGE: TURNED, "plain": ""}, [])
    assert answer.headers["content-type"] == "application/json"
    assert answer.content.isascii()
    with opened() as models:
        record, version = models.training("book@1"), models.version("book@1")
    assert found["training"]["source"] == record.source
    curve = record.compression_curve()
    assert found["training"]["curve"] == [[256 + i, value] for i, value in enumerate(curve)]
    assert (found["pattern"], found["n_merges"]) == (version.pattern, version.n_merges)


def test_a_version_is_found_by_alias_and_digest_and_may_have_no_training(app, opened):
    found = get(app, "version", reference="book@prod").json()
    assert found["reference"] == "book@2"
    assert get(app, "version", reference=f"sha256:{found['digest'][:12]}").json()["reference"] == "book@2"
    fake = SimpleNamespace(version=lambda reference: version(1), training=lambda reference: None)
    app = make_app(Catalogue(), models=lambda: nullcontext(fake))
    assert get(app, "version", reference="many@1").json()["training"] is None


def test_where_aliases_pointed(app, opened):
    found = get(app, "aliases", name="book").json()
    with opened() as models:
        expected = models.alias_history("book")
    moves = [(each["alias"], each["number"]) for each in found["moves"]]
    assert moves == [(move.alias, move.number) for move in reversed(expected)]
    assert moves[0] == (SCRIPT, None)
    assert found["n_moves"] == len(expected)


@pytest.mark.parametrize("name", ["book", IMAGE])
def test_a_lineage_crosses_names_and_has_children_before_their_parents(app, name):
    found = get(app, "lineage", name=name).json()
    listed = [each["reference"] for each in found["versions"]]
    assert set(listed) == {"book@1", "book@2", f"{IMAGE}@1"}
    assert listed[-1] == "book@1"
    assert {each["reference"]: each["parent"] for each in found["versions"]}["book@2"] == "book@1"
    assert found["whole"] is True
    alone = get(app, "lineage", name="alone").json()["versions"]
    assert [each["reference"] for each in alone] == ["alone@1"]


def test_the_log_is_that_of_the_store(app, opened):
    found = get(app, "log").json()
    with opened() as models:
        expected = models.audit_log()
    known = [(each["action"], each["name"], each["number"], each["who"]) for each in found["changes"]]
    assert known == [(change.action, change.name, change.number, change.who) for change in expected]
    assert [each["details"] for each in found["changes"]] == [change.details for change in expected]
    assert found["changes"][0]["details"]["alias"] == SCRIPT
    assert found["changes"][0]["said"].startswith(SCRIPT)
    assert {each["name"] for each in get(app, "log", name="alone").json()["changes"]} == {"alone"}
    assert get(app, "log", offset=len(expected)).json() == {"offset": len(expected), "changes": [], "more": False}


def test_a_difference_is_that_of_the_store(app, opened):
    found = get(app, "diff", a="book@1", b="book@2").json()
    with opened() as models:
        expected = models.diff("book@1", "book@2")
    assert [(each["id"], bytes.fromhex(each["bytes"])) for each in found["only_b"]] == list(expected.only_b)
    assert (found["n_only_a"], found["n_only_b"], found["n_moved"]) == (0, len(expected.only_b), len(expected.moved))
    first = [bytes.fromhex(each["bytes"]) for each in found["first_merge"]["b"]]
    rank, none, pair = expected.first_merge
    assert (found["first_merge"]["rank"], found["first_merge"]["a"], tuple(first)) == (rank, none, pair)
    assert found["special_only_b"] == [{"text": IMAGE, "id": expected.special_only_b[IMAGE]}]
    assert (found["same"], found["a"], found["b"]) == (False, "book@1", "book@2")
    assert found["more_merges"] == 268 - 262
    assert get(app, "diff", a="book@2", b="book@1").json()["more_merges"] == 262 - 268
    assert get(app, "diff", a="book@1", b="alone").json()["more_merges"] is None


def test_versions_are_compared_with_tokenizers_of_elsewhere(app):
    found = get(app, "diff", a="alone", b="small").json()
    assert (found["a"], found["b"], found["n_only_a"] > 0) == ("alone@1", "small", True)
    assert get(app, "diff", a="small", b="small").json()["same"] is True


def test_two_tokenizers_of_elsewhere_are_compared_without_a_store(opened):
    def missing():
        raise FileNotFoundError("there is no model store at /a/b: train --save and models save make one")

    small = cbpe.train(TEXT, 260)
    outside = partial(ModelStore, ":memory:")
    app = make_app(Catalogue([Choice("small", "given", lambda: small)]), models=missing, outside=outside)
    found = get(app, "diff", a="r50k_base", b="small").json()
    with opened() as models:
        expected = models.diff(cbpe.get_encoding("r50k_base"), small)
    assert (found["a"], found["b"], found["same"]) == ("r50k_base", "small", False)
    assert (found["n_only_a"], found["n_only_b"]) == (len(expected.only_a), len(expected.only_b))
    answer = get(app, "diff", a="small", b="book")
    assert (answer.status, answer.json()["error"].startswith("there is no model store")) == (404, True)


def test_asking_leaves_the_file_of_the_store_as_it_was(app, path):
    before = {each.name: hashlib.sha256(each.read_bytes()).digest() for each in path.parent.iterdir()}
    for name, values in (
        ("store", {}),
        ("versions", {"metric": "loss"}),
        ("version", {"reference": "book"}),
        ("aliases", {"name": "book"}),
        ("lineage", {"name": "book"}),
        ("log", {}),
        ("diff", {"a": "book@1", "b": "alone"}),
    ):
        assert get(app, name, **values).status == 200
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert call(app, method, f"/api/v1/{name}?{urlencode(values)}").status == 405
    assert before == {each.name: hashlib.sha256(each.read_bytes()).digest() for each in path.parent.iterdir()}


# ---- Refused


@pytest.mark.parametrize(
    ("name", "values", "status", "said"),
    [
        ("version", {}, 400, "'reference' is missing"),
        ("version", {"reference": "nothing"}, 404, "nothing"),
        ("version", {"reference": "boook"}, 404, "did you mean 'book'?"),
        ("version", {"reference": "book@9"}, 404, "book@9"),
        ("version", {"reference": "/etc/passwd"}, 404, "/etc/passwd"),
        ("version", {"reference": "sha256:zz"}, 400, "sha256"),
        ("version", {"reference": "a\x00b"}, 400, "a\\x00b"),
        ("versions", {"order": "odd"}, 400, "order is 'odd'"),
        ("versions", {"offset": "-1"}, 400, "'offset' is -1, not from 0 to"),
        ("versions", {"name": "a@b"}, 400, "a@b"),
        ("versions", {"name": "boook"}, 404, "did you mean 'book'?"),
        ("versions", {"name": "boook", "tag": "plain", "offset": "5"}, 404, "did you mean 'book'?"),
        (
            "versions",
            {"nmae": "book"},
            400,
            "'nmae' is no key of this path, which takes name, prefix, tag, metric, order, offset",
        ),
        ("versions", {"tag": "=en"}, 400, "'tag' is '=en', not KEY or KEY=VALUE"),
        ("versions", {"tag": ""}, 400, "not KEY or KEY=VALUE"),
        ("versions", {"metric": "=1"}, 400, "not KEY, KEY=NUMBER or KEY=MIN..MAX"),
        (
            "versions",
            {"metric": "loss=x"},
            400,
            "'metric' is 'loss=x'; it takes KEY, KEY=NUMBER or KEY=MIN..MAX: 'x' is no number",
        ),
        ("versions", {"metric": "loss=3..2"}, 400, "of '3..2' MIN is more than MAX: give the smaller number first"),
        ("versions", {"metric": "loss="}, 400, "'metric' is 'loss='"),
        ("versions", {"metric": "loss=.."}, 400, "'metric' is 'loss=..'"),
        ("versions", {"metric": "loss=nan"}, 400, "'metric' is 'loss=nan'"),
        ("versions", {"metric": "loss>1"}, 400, "'metric' is 'loss>1', which no version has: bounds are KEY=MIN..MAX"),
        ("store", {"x": "y"}, 400, "'x' is no key of this path, which takes none"),
        ("aliases", {"name": "boook"}, 404, "did you mean 'book'?"),
        ("log", {"name": "boook"}, 404, "did you mean 'book'?"),
        ("log", {"name": "boook", "offset": "7"}, 404, "did you mean 'book'?"),
        ("lineage", {"name": "boook"}, 404, "did you mean 'book'?"),
        ("lineage", {}, 400, "'name' is missing"),
        ("aliases", {"name": ""}, 400, "name"),
        ("log", {"offset": "10001"}, 400, "cbpe models log"),
        ("log", {"name": "@"}, 400, "@"),
        ("diff", {"a": "book"}, 400, "'b' is missing"),
        ("diff", {"a": "book", "b": "./x.json"}, 404, "./x.json"),
    ],
)
def test_what_is_not_there_is_said_in_a_line(app, name, values, status, said):
    answer = get(app, name, **values)
    assert (answer.status, said in answer.json()["error"], "\n" in answer.json()["error"]) == (status, True, False)


def test_a_key_that_comes_twice_is_refused(app):
    answer = call(app, "GET", "/api/v1/versions?tag=plain&tag=language")
    assert (answer.status, answer.json()["error"]) == (400, "'tag' comes twice")


def test_the_log_and_the_aliases_of_a_name_whose_versions_are_gone_are_still_told(tmp_path):
    with ModelStore(tmp_path / "models.db") as models:
        models.save(cbpe.train(TEXT, 258), "gone", aliases=["prod"])
        models.delete_name("gone", force=True)
        models.save(cbpe.train(TEXT, 259), "quiet")
    app = make_app(Catalogue(), models=partial(ModelStore, tmp_path / "models.db", read_only=True))
    assert {each["name"] for each in get(app, "log", name="gone").json()["changes"]} == {"gone"}
    assert get(app, "log", name="gone", offset=50).json() == {"offset": 50, "changes": [], "more": False}
    assert get(app, "versions", name="gone").status == 404
    assert get(app, "aliases", name="gone").json()["moves"][0]["number"] is None
    assert get(app, "aliases", name="quiet").json()["moves"] == []


def test_a_lone_surrogate_is_no_name(app):
    assert call(app, "GET", "/api/v1/version?reference=%ED%A0%80").status in (400, 404)


def test_where_there_is_no_store_that_is_said(tmp_path):
    def missing():
        raise FileNotFoundError("there is no model store at /a/b: train --save and models save make one")

    found = get(make_app(Catalogue(), models=missing), "store")
    assert (found.status, found.json()["store"], found.json()["missing"]) == (200, None, True)
    assert found.json()["why"].startswith("there is no model store at /a/b")
    without = make_app(Catalogue())
    assert get(without, "store").json()["why"] == "this page was started without a model store"
    assert get(without, "versions").status == get(without, "log").status == 404


def junk(path):
    path.write_bytes(b"no database" * 100)
    return path


@pytest.mark.parametrize(
    "make", [junk, lambda path: path.parent, lambda path: "nosuch://x.db", lambda path: "sqlite:///:memory:?x.db"]
)
def test_a_store_that_cannot_be_read_is_said_and_is_no_fault_of_the_request(tmp_path, make):
    broken = make_app(Catalogue(), models=partial(ModelStore, make(tmp_path / "x.db"), read_only=True))
    found = get(broken, "store")
    assert (found.status, found.json()["store"], found.json()["missing"]) == (200, None, False)
    for name, values in (("versions", {}), ("version", {"reference": "book"}), ("diff", {"a": "gpt2", "b": "book"})):
        answer = get(broken, name, **values)
        assert (answer.status, answer.json()["error"]) == (503, found.json()["why"])
    assert found.json()["why"]


class Broken:
    """A store that opens, and then fails by this error in whatever is asked."""

    def __init__(self, error):
        self.error = error

    def __getattr__(self, name):
        raise self.error


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (Damaged("the version book@1 is damaged"), 503, "the version book@1 is damaged"),
        (Busy("others keep\nthe store locked"), 503, "others keep the store locked"),
        (OSError("the disk is gone"), 503, "the disk is gone"),
        (ValueError("order is 'odd'"), 400, "order is 'odd'"),
    ],
)
def test_what_fails_while_it_is_read_is_told_from_a_wrong_request(error, status, said):
    app = make_app(Catalogue(), models=lambda: nullcontext(Broken(error)))
    answer = get(app, "versions")
    assert (answer.status, answer.json()["error"]) == (status, said)
    assert get(app, "store").json()["why"] == said


def test_tokenizers_of_elsewhere_ask_no_store():
    def asked():
        raise AssertionError("the store was asked")

    app = make_app(Catalogue(stored=asked, find=lambda name: asked()), models=asked)
    assert get(app, "tokenizer", tokenizer="gpt2").json()["tokenizer"] == "gpt2"


def test_a_version_that_cannot_be_loaded_is_no_fault_of_the_request():
    def load():
        raise ValueError("the version book@1 is damaged")

    answer = get(make_app(Catalogue(stored=lambda: [Choice("book@1", "store", load)])), "tokenizer", tokenizer="book@1")
    assert (answer.status, answer.json()["error"]) == (503, "the version book@1 is damaged")


# ---- Large stores, whose answers are bounded

MOMENT = datetime(2026, 1, 1, tzinfo=timezone.utc)


def version(number, parent=None, labels=0):
    """A version as the store describes it, with so many labels of each kind."""
    same = {"name": "many", "kind": "BasicTokenizer", "encoding_name": None, "semantics": "pairs", "pattern": None}
    same |= {"digest": "0" * 64, "vocabulary_digest": "1" * 64, "unicode_version": None, "n_special_tokens": 0}
    return SimpleNamespace(
        **same,
        reference=f"many@{number}",
        number=number,
        vocab_size=256 + number,
        n_merges=number,
        parent=parent,
        notes="n" * 200_000,
        time=MOMENT + timedelta(seconds=number),
        tags={f"tag {i}": "v" * 5000 for i in range(labels)},
        aliases=tuple(f"alias {i}" for i in range(labels)),
        metrics={f"metric {i}": i / 7 for i in range(labels)},
    )


MANY = [version(n, f"many@{n - 1}" if n > 1 else None, labels=1200 if n > 990 else 0) for n in range(1, 1001)]


class ManyVersions:
    """A store with these versions of one name, a long training, and a hundred thousand changes."""

    url = "sqlite:///many.db"

    def __init__(self, everything):
        self.everything = everything

    def names(self):
        return [f"name {i}" for i in range(5000)]

    def versions(self, name=None, *, order, limit, offset=0):
        return self.everything[::-1][offset : offset + limit]

    def version(self, reference):
        return self.everything[-1]

    def training(self, version):
        known = {"source": "s" * 5000, "text_bytes": 1, "distinct_pieces": 1, "seconds": 1.0, "stopped": None}
        known |= {
            "covered_bytes": 1,
            "dropped_occurrences": 0,
            "cbpe_version": "1",
            "start_tokens": 256,
            "merges_before": 0,
        }
        return SimpleNamespace(**known, compression_curve=lambda: [1 + n / 1000 for n in range(100_000)])

    def alias_history(self, name):
        return [SimpleNamespace(alias="a", number=n, time=MOMENT) for n in range(3000)]

    def audit_log(self, name, limit):
        change = SimpleNamespace(time=MOMENT, who=None, action="save", name="many", number=1, details={"x": "y" * 5000})
        return [change] * min(limit, 100_000)


@pytest.fixture(scope="module")
def large():
    return make_app(Catalogue(), models=lambda: nullcontext(ManyVersions(MANY)))


def test_a_thousand_versions_come_in_pages(large):
    listed, offset, more = [], 0, True
    while more:
        answer = get(large, "versions", offset=offset)
        assert len(answer.content) < 200_000
        found = answer.json()
        listed += [each["number"] for each in found["versions"]]
        offset, more = len(listed), found["more"]
    assert listed == list(range(1000, 0, -1))
    assert offset == 1000


def test_what_people_wrote_is_cut_where_it_is_long_and_said_to_be_more(large):
    row = get(large, "versions").json()["versions"][0]
    assert (len(row["tags"]), row["n_tags"], len(row["aliases"]), row["n_aliases"]) == (10, 1200, 10, 1200)
    assert row["tags"]["tag 0"] == "v" * 80 + "…"
    alone = get(large, "version", reference="many").json()
    assert (len(alone["tags"]), alone["n_tags"], len(alone["metrics"])) == (1000, 1200, 1000)
    assert (alone["notes"], alone["n_notes"]) == ("n" * 100_000 + "…", 200_000)
    curve = alone["training"]["curve"]
    assert 100 < len(curve) <= 201
    assert (curve[0], curve[-1]) == ([256, 1.0], [100_255, 1 + 99_999 / 1000])
    store = get(large, "store").json()
    assert (store["n_names"], len(store["names"])) == (5000, 1000)
    moves = get(large, "aliases", name="many").json()
    assert (moves["n_moves"], [each["number"] for each in moves["moves"]]) == (3000, list(range(2999, 2499, -1)))
    log = get(large, "log", offset=9900).json()
    assert (len(log["changes"]), log["more"]) == (100, True)
    assert log["changes"][0]["details"] == {"x": "y" * 300 + "…"}
    assert log["changes"][0]["said"] == "x " + "y" * 298 + "…"


def test_of_a_long_lineage_the_newest_are_shown_and_that_is_said(large):
    found = get(large, "lineage", name="many").json()
    assert [each["reference"] for each in found["versions"]] == [f"many@{n}" for n in range(1000, 700, -1)]
    assert found["whole"] is False


def test_a_lineage_that_bites_its_tail_ends():
    circle = ManyVersions([version(1, "many@2"), version(2, "many@1"), version(3, "many@2")])
    app = make_app(Catalogue(), models=lambda: nullcontext(circle))
    assert len(get(app, "lineage", name="many").json()["versions"]) == 3


def test_a_store_that_never_answers_is_given_up():
    wait = threading.Event()
    app = make_app(Catalogue(), models=lambda: nullcontext(wait.wait(20)), seconds=0.01)
    try:
        answer = get(app, "versions")
        assert (answer.status, "longer than 0.01 s" in answer.json()["error"]) == (503, True)
    finally:
        wait.set()


def test_an_old_version_that_is_not_listed_is_found_by_its_name():
    tok = cbpe.train(TEXT, 258)
    found = Choice("many@1", "store", lambda: tok)
    catalogue = Catalogue(find=lambda name: found if name == "many@1" else None)
    assert catalogue.tokenizer("many@1") is tok
    assert call(make_app(catalogue), "GET", "/api/v1/tokenizer?tokenizer=many@2").status == 404
