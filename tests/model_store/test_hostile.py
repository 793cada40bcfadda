"""Names, labels, tokens and files that mean harm: kept exactly or refused, and nothing else comes of them."""

import ast
import dataclasses
import re
from pathlib import Path

import pytest
from small_models import small_tokenizer
from sqlalchemy import text

import cbpe
import store
from cbpe.tokenizers.description import describe
from store import ModelStore
from store.records.names import write_name

pytestmark = pytest.mark.ci

TEXTS = [
    "'; DROP TABLE versions; --",
    '"); DELETE FROM names; --',
    "'",
    '"',
    "`[x]`",
    "\\",
    "%",
    "_",
    "%s %(name)s :name ?1 $1 {0}",
    "[red]rich[/red]",
    "a\nb",
    "a\r\n",
    "a\0b",
    "\0",
    "\x1b[2J",
    "\ud800",
    "\u202eabc",
    "e\u0301 é",
    "😉",
    "a@b",
    "a@1",
    "@",
    "1",
    "sha256:00",
    " ",
    "",
    "../../etc/passwd",
    "x" * 256,
    "x" * 10_000_000,
]
PICKLING = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "PickleType"}


def whole_listing(models):
    return [(v.name, v.number, dict(v.tags), v.aliases, v.notes) for v in models.versions()]


def saved_or_refused(models, tok, name, labels):
    """The version, or None where these are no names or labels and a ValueError says so in a few words."""
    try:
        return models.save(tok, name, **labels)
    except ValueError as refusal:
        message = str(refusal)
    assert 10 < len(message) < 1000
    return None


def test_any_text_as_a_name_or_label_is_kept_exactly_or_refused(empty_store_url):
    tok = small_tokenizer(1)
    n_kept = 0
    with ModelStore(empty_store_url) as models:
        models.save(tok, "plain")
        before = whole_listing(models)
        for i, text in enumerate(TEXTS):
            for name, labels in [
                (text, {}),
                (f"key {i}", {"tags": {text: "value"}}),
                (f"value {i}", {"tags": {"tag": text}}),
                (f"alias {i}", {"aliases": [text]}),
                (f"note {i}", {"notes": text}),
            ]:
                version = saved_or_refused(models, tok, name, labels)
                if version is None:
                    continue
                n_kept += 1
                kept = (name, 1, labels.get("tags", {}), tuple(labels.get("aliases", ())), labels.get("notes"))
                assert (version.name, version.number, version.tags, version.aliases, version.notes) == kept
                for reference in (name, version.reference, *(f"{name}@{alias}" for alias in version.aliases)):
                    assert models.version(reference) == dataclasses.replace(version, created=False)
                assert describe(models.load(name)).digest == version.digest
                before.append(kept)
            assert sorted(whole_listing(models), key=repr) == sorted(before, key=repr)
        assert models.verify().problems == ()
    assert n_kept > 2 * len(TEXTS)


def test_any_text_as_a_reference_finds_nothing_that_was_not_meant(empty_store_url):
    with ModelStore(empty_store_url) as models:
        models.save(small_tokenizer(1), "plain", aliases=["alias"])
        for reference in (form.format(text) for text in TEXTS for form in ("{}", "plain@{}", "sha256:{}")):
            if reference == "plain@1":
                continue
            with pytest.raises((ValueError, LookupError)) as caught:
                models.load(reference)
            assert len(str(caught.value)) < 1000


def test_any_text_as_a_token_or_pattern_is_kept_exactly(empty_store_url):
    with ModelStore(empty_store_url) as models:
        for text in filter(lambda text: 0 < len(text) < 1_000_000, TEXTS):
            token = text.encode("utf-8", "surrogatepass")
            pattern = f"{re.escape(text)}+|."
            ranks = {**{bytes([byte]): byte for byte in range(256)}, token + b"'": 256}
            tok = cbpe.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={text: 1000})
            version = models.save(tok, "a")
            loaded = models.load(version)
            assert describe(loaded).digest == version.digest == describe(tok).digest
            assert (loaded.special_tokens, loaded.pattern) == ({text: 1000}, pattern)
        assert len(models.versions()) == len(TEXTS) - 2
        assert models.verify().problems == ()


@pytest.fixture(scope="module")
def too_large():
    """Encodings of which a token, a special token or the pattern is too large, for the stores of both backends."""
    text = "x" * 10_000_000
    ranks = {bytes([byte]): byte for byte in range(256)}
    differences = [
        {"mergeable_ranks": {**ranks, text.encode(): 256}},
        {"special_tokens": {text: 1000}},
        {"pat_str": "|".join(["xx"] * 30_000)},
    ]
    usual = {"pat_str": ".", "mergeable_ranks": ranks, "special_tokens": {}}
    return [cbpe.Encoding("x", **{**usual, **difference}) for difference in differences]


@pytest.mark.slow
def test_tokens_and_patterns_of_10_mb_are_refused(models, too_large):
    for encoding in too_large:
        with pytest.raises(ValueError, match=r"a store takes at most|too large for a store"):
            models.save(encoding, "a")
    assert models.versions() == []


def test_nothing_is_ever_unpickled():
    sources = list(Path(store.__file__).parent.rglob("*.py"))
    assert sources
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            names = {alias.name.split(".")[0] for alias in getattr(node, "names", []) if isinstance(alias, ast.alias)}
            names |= {getattr(node, "id", None), getattr(node, "attr", None)}
            names.add((getattr(node, "module", None) or "").split(".")[0] if isinstance(node, ast.ImportFrom) else None)
            assert not names & (PICKLING | {"eval", "exec", "allow_pickle"}), source


# Each looks as another name does: decomposed, or with something that shows nothing.
LOOK_ALIKES = [
    "e\u0301",
    "\u212b",
    "a\u200bb",
    "a\u00adb",
    "a\u202eb",
    "\ufeffa",
    "a\u00a0b",
    "a\u3164",
    "a\ufe0f",
    "a\u2800",
]


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_names_that_look_like_others_are_not_given(models, name, tmp_path):
    models.save(small_tokenizer(1), "a", aliases=["prod"])
    log = models.audit_log()
    for use in (
        lambda: models.save(small_tokenizer(2), name),
        lambda: models.rename("a", name),
        lambda: models.set_alias("a", name, "a@1"),
        lambda: models.save(small_tokenizer(1), "a", aliases=[name]),
        lambda: models.check_labels(name),
    ):
        with pytest.raises(ValueError, match=r"invisible characters: .* has U|normal form C"):
            use()
    assert models.audit_log() == log


def test_a_name_of_an_older_store_that_looks_like_another_goes_on(models):
    for number, name in enumerate(("\u00e9", "plain")):
        models.save(small_tokenizer(number), name)
    with models._database._writer.begin() as connection:
        write_name(connection, connection.scalar(text("SELECT id FROM names WHERE name = 'plain'")), "e\u0301", 1, 1)
    assert models.load("e\u0301").merges == small_tokenizer(1).merges
    assert models.load("\u00e9").merges == small_tokenizer(0).merges
    assert models.save(small_tokenizer(2), "e\u0301").number == 2
    models.rename("e\u0301", "other")
    assert models.names() == ["other", "\u00e9"]


def test_names_in_every_script_are_given(models):
    names = [
        "\u00e9t\u00e9",
        "\u4e2d\u6587",
        "\uc548\ub155",
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "caf\u00e9 au lait",
        "\U0001f600",
    ]
    for number, name in enumerate(names):
        assert models.save(small_tokenizer(number), name, aliases=[name]).aliases == (name,)
    assert models.names() == sorted(names)
