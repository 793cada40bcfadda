"""Loading: by every kind of reference, and never what was not saved."""

import dataclasses
import hashlib
import threading

import pytest
from sqlalchemy import text, update
from unchecked import unchecked

import cbpe
from cbpe.tokenizers.description import canonical_form, describe
from store import Ambiguous, Damaged, ModelStore, NotFound, StoreError
from store.database.schema import versions
from store.records.seals import version_seal

TEXT = "low lower lowest newer wider new low"
TOKS = [cbpe.train(TEXT, size, special_tokens=["<|end|>"]) for size in (258, 260, 262)]
DIGESTS = [describe(tok).digest for tok in TOKS]


def fill(models):
    for tok in TOKS:
        models.save(tok, "a")
    models.set_alias("a", "prod", "a@2")
    return models


@pytest.fixture
def filled(models):
    return fill(models)


@pytest.fixture(scope="module")
def read(shared_store):
    """The same for all tests that only read."""
    with ModelStore(shared_store) as models:
        fill(models)
    with ModelStore(shared_store, read_only=True) as models:
        yield models


@pytest.mark.parametrize(
    ("reference", "which"),
    [("a", 2), ("a@1", 0), ("a@2", 1), ("a@prod", 1), *((f"sha256:{digest}", i) for i, digest in enumerate(DIGESTS))],
)
def test_a_reference_leads_to_its_version(read, reference, which):
    assert read.version(reference).number == which + 1
    assert describe(read.load(reference)).digest == DIGESTS[which]
    assert read.load(read.version(reference)).merges == TOKS[which].merges


def test_a_digest_is_known_by_its_first_digits_in_either_case(read):
    assert read.version(f"sha256:{DIGESTS[1][:12].upper()}").number == 2


def test_digits_of_several_digests_are_ambiguous_and_the_candidates_listed(filled):
    first, second = filled.version("a@1"), filled.version("a@2")
    alike = first.digest[:8] + second.digest[8:]  # it would take long to find two
    with filled._database._writer.begin() as connection:
        connection.execute(update(versions).where(versions.c.number == 2).values(digest=alike))
    with pytest.raises(Ambiguous, match=f"{first} .*{first.digest[:12]}.*{second} .*{alike[:12]}.*: give more digits"):
        filled.load(f"sha256:{alike[:8]}")


def test_the_newest_version_is_called_latest(filled):
    newest = filled.version("a")
    assert filled.version("a@latest") == newest
    assert describe(filled.load("a@latest")).digest == newest.digest
    for use in (
        lambda: filled.set_alias("a", "latest", "a@1"),
        lambda: filled.save(TOKS[0], "a", aliases=["latest"]),
    ):
        with pytest.raises(ValueError, match="'latest' is no alias: name@latest is the newest version"):
            use()
    with pytest.raises(NotFound, match=r"'gpt2': it is a named encoding, which cbpe\.get_encoding gives"):
        filled.load("gpt2@1")
    with pytest.raises(NotFound, match="no version is called 'b'"):
        filled.load("b@latest")
    digest = filled.version("a").digest
    with pytest.raises(NotFound, match=rf"no version is called '{digest}': .* sha256:{digest[:8]}$"):
        filled.load(digest)
    assert filled.load(f"sha256:{digest[:8]}") is not None


def test_a_version_is_equal_to_what_was_saved(models):
    saved = models.save(TOKS[0], "a")
    assert saved.created
    assert saved == models.version("a") == models.save(TOKS[0], "a")
    assert hash(saved) == hash(models.version("a"))


def test_a_name_in_another_form_of_unicode_is_told_from_the_one_that_looks_the_same(filled):
    filled.save(TOKS[0], "\u00e9")
    message = r"called 'e\\u0301': names are kept in Unicode's form C, in which it is '\u00e9'"
    with pytest.raises(NotFound, match=message):
        filled.load("e\u0301")


def test_an_alias_called_latest_of_an_earlier_cbpe_stays_one(filled, monkeypatch):
    monkeypatch.setattr("store.changing.checked_new_alias", lambda alias: alias)
    filled.set_alias("a", "latest", "a@1")
    assert filled.version("a@latest").number == 1
    filled.remove_alias("a", "latest")
    assert filled.version("a@latest").number == filled.version("a").number == 3


def test_a_digest_that_several_versions_have_is_that_of_the_first_but_says_not_which_to_change(filled):
    filled.save(TOKS[0], "b")
    assert filled.version(f"sha256:{DIGESTS[0]}").reference == "a@1"
    with pytest.raises(Ambiguous, match=r"a@1 .*b@1 .*: give a name$"):
        filled.delete(f"sha256:{DIGESTS[0]}")


def test_a_version_leads_to_no_other_of_its_name_and_number(filled):
    meant = filled.version("a@1")
    with ModelStore(":memory:") as other:
        other.save(TOKS[1], "a")
        for use in (other.load, other.version, other.delete, lambda version: other.diff("a", version)):
            with pytest.raises(NotFound, match="a@1 is not the version that is meant"):
                use(meant)
    with ModelStore(":memory:") as copy:
        copy.save(TOKS[0], "a")
        assert copy.load(meant).merges == TOKS[0].merges


@pytest.mark.parametrize(
    "reference", ["b", "b@1", "a@4", "a@0", "a@99999999", "a@best", "b@prod", "sha256:" + "0" * 64]
)
def test_what_is_not_there_is_not_found(read, reference):
    with pytest.raises(NotFound):
        read.load(reference)
    with pytest.raises(NotFound):
        read.training(reference)


@pytest.mark.parametrize(
    "reference",
    ["", "@1", "a@", "a@b@c", "sha256:", "sha256:xyz", "sha256:0123456", "sha256:" + "0" * 65, "a@" + "9" * 30],
)
def test_what_cannot_be_a_reference_is_refused(read, reference):
    with pytest.raises(ValueError, match=r"name|alias|hexadecimal|number") as error:
        read.load(reference)
    assert not isinstance(error.value, StoreError)


def test_a_reference_is_text(read):
    with pytest.raises(TypeError, match="not int"):
        read.load(1)


CHANGES = {
    "the packed form": "UPDATE vocabularies SET packed = :other",
    "the digest of the packed form and the form": "UPDATE vocabularies SET packed = :other, digest = :digest",
    "the vocabulary": "UPDATE versions SET vocabulary_id = (SELECT min(id) FROM vocabularies)",
    "the digest": "UPDATE versions SET digest = :digest",
    "the canonical form": "UPDATE versions SET content = replace(content, '262', '263')",
    "no canonical form": "UPDATE versions SET content = ''",
    "the class": "UPDATE versions SET kind = 'BasicTokenizer' WHERE number = 3",
    "the name of an encoding": "UPDATE versions SET encoding_name = 'gpt2' WHERE number = 3",
    "the seal": "UPDATE versions SET seal = NULL",
    "the training record": "UPDATE training_records SET record = '[]'",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_changed_behind_the_stores_back_is_not_loaded(filled, change):
    other = describe(TOKS[0])
    with filled._database._writer.begin() as connection:
        connection.execute(text("DELETE FROM aliases"))
        for statement in ("DELETE FROM versions WHERE number < 3", "DELETE FROM vocabularies WHERE id = 2"):
            connection.execute(text(statement))
        values = {"other": other.vocabulary, "digest": "0" * 64}
        if "digest" in change and "packed" in change:
            connection.execute(text("DELETE FROM vocabularies WHERE id = 1"))
            values["digest"] = other.vocabulary_digest
        with unchecked(connection):
            connection.execute(text(change), {key: value for key, value in values.items() if f":{key}" in change})
    with pytest.raises(Damaged, match="a@3 is damaged"):
        filled.load("a@3")
    assert not filled.verify("a@3").ok


def test_a_form_of_a_newer_cbpe_is_refused(filled):
    model = describe(TOKS[0])
    content = canonical_form(model).decode().replace("cbpe model 1", "cbpe model 2")
    digest = hashlib.sha256(content.encode()).hexdigest()
    with filled._database._writer.begin() as connection:
        change = text("UPDATE versions SET content = :content, digest = :digest, seal = :seal WHERE number = 1")
        seal = version_seal(1, 1, 1, digest, model.kind, model.name)
        connection.execute(change, {"content": content, "digest": digest, "seal": seal})
    with pytest.raises(Damaged, match="cbpe model 2"):
        filled.load("a@1")


def test_threads_share_a_store(filled):
    failures = []

    def work(number):
        try:
            for _ in range(5):
                assert filled.load("a@prod").merges == TOKS[1].merges
                filled.save(TOKS[number % 3], f"thread {number}")
                filled.versions()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(filled.versions()) == 3 + 6


def test_a_version_cannot_be_changed(read):
    with pytest.raises(dataclasses.FrozenInstanceError):
        read.version("a").notes = "other"


def test_versions_are_members_of_sets(read):
    assert len({*read.versions(), *read.history("a")}) == 3
