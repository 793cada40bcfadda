"""Moving: a version travels whole, in a file or from store to store, and nothing else does."""

import dataclasses
import hashlib
import itertools
import json
import random
import struct
import subprocess
import sys

import pytest

import cbpe
from cbpe.tokenizers.description import canonical_form, describe
from store import Damaged, ModelStore, NotFound, Refused, StoreError, moving
from store.records.export import FIXED, MAGIC

pytestmark = pytest.mark.ci

TOK = cbpe.train("low lower lowest newer wider", 262, special_tokens=["<|end|>"])
LABELS = {"tags": {"language": "en", "x": ""}, "notes": "of\n\u540d\u524d", "metrics": {"loss": 0.1}}


@pytest.fixture
def filled(models):
    models.save(cbpe.train("low", 257), "base")
    models.save(TOK, "a", aliases=["prod"], parent="base", **LABELS)
    return models


@pytest.fixture
def other(tmp_path):
    with ModelStore(tmp_path / "other.db") as opened:
        yield opened


def about(version):
    return version.digest, version.kind, version.encoding_name, version.tags, version.notes, version.metrics


def test_a_file_carries_a_version_with_all_that_is_known_of_it(filled, other, tmp_path):
    path = tmp_path / "a.cbpe"
    exported = filled.export("a@prod", path)
    assert exported.reference == "a@1"
    imported = other.import_(path)
    assert (imported.reference, imported.created, imported.aliases) == ("a@1", True, ())
    assert about(imported) == about(exported)
    assert imported.parent == f"sha256:{filled.version('base').digest}"
    assert vars(other.training("a")) == vars(TOK.training)
    assert other.load("a").merges == TOK.merges
    assert other.import_(path, "b").reference == "b@1"
    assert not other.import_(path).created
    assert other.verify().ok
    assert other.audit_log("b")[0].details["source"] == str(path)


@pytest.mark.parametrize("way", ["import", "copy"])
def test_what_is_known_of_the_same_version_here_stays(filled, other, tmp_path, way):
    def again():
        if way == "copy":
            return filled.copy("a", other)
        filled.export("a", tmp_path / "a.cbpe")
        return other.import_(tmp_path / "a.cbpe")

    again()
    other.set_notes("a", "second")
    other.set_metrics("a", {"loss": 0.2, "accuracy": 0.5})
    other.tag("a", {"language": "de"})
    other.untag("a", ["x"])
    found = again()
    assert not found.created
    assert found.notes == "second"
    assert found.metrics == {"loss": 0.2, "accuracy": 0.5}
    assert found.tags == {"language": "de", "x": ""}
    assert other.version("a") == found
    details = other.audit_log("a")[0].details
    assert details["tags"] == {"x": ""}
    assert not {"notes", "metrics"} & details.keys()
    assert other.verify().ok


def test_a_parent_that_is_there_is_found_again(filled, other):
    filled.copy("base", other, "elsewhere")
    assert filled.copy("a", other).parent == "elsewhere@1"


def test_a_parent_that_comes_later_is_found_under_its_own_name(filled, other):
    child = filled.copy("a", other)
    assert child.parent.startswith("sha256:")
    filled.copy("base", other, "stranger")
    assert other.version("a").parent == "stranger@1"
    other.delete("stranger@1")
    assert other.version("a").parent == child.parent
    filled.copy("base", other)
    assert [version.parent for version in other.versions("a")] == ["base@1"]
    other.rename("base", "root")
    assert other.version("a").parent == "root@1"
    assert other.verify().ok


def test_of_several_parents_that_of_the_same_name_is_shown(models, other):
    models.save(TOK, "a")
    models.save(TOK.shrink(260), "a", parent="a@1")
    models.copy("a@1", other, "earlier")
    models.copy("a@1", other)
    assert models.copy("a@2", other).parent == "a@1"
    other.delete("a@1")
    assert other.version("a").parent == "earlier@1"


def test_a_copy_is_the_same_version_elsewhere(filled, other):
    copied = filled.copy("a", other, "b")
    assert (copied.reference, copied.created) == ("b@1", True)
    assert about(copied) == about(filled.version("a"))
    assert vars(other.training("b")) == vars(TOK.training)
    assert other.load("b").special_tokens == TOK.special_tokens


@pytest.mark.parametrize("name", ["x@y", "", "gpt2", "a/b"])
def test_a_name_that_is_none_is_said_to_be_that_and_nothing_to_be_damaged(filled, other, tmp_path, name):
    filled.export("a", tmp_path / "a.cbpe")
    puts = (
        lambda: filled.copy("a", other, name),
        lambda: other.import_(tmp_path / "a.cbpe", name),
        lambda: other.save(TOK, name),
    )
    told = []
    for put in puts:
        with pytest.raises(ValueError, match=r"is no name|a name has 1 to 255") as error:
            put()
        assert not isinstance(error.value, StoreError)
        told.append(str(error.value))
    assert len(set(told)) == 1
    assert other.versions() == []


def test_a_name_that_an_older_store_gave_is_not_damaged_either(filled, other):
    _, carried = moving.carry(filled._database, "a")
    carried.about["name"] = "gpt2"
    with pytest.raises(
        ValueError, match=r"'gpt2' is no name for a version: .* Take another, such as 'my-gpt2'"
    ) as error:
        moving.put_in(other._database, carried, None, "copy", "another store")
    assert not isinstance(error.value, StoreError)
    assert moving.put_in(other._database, carried, "my-gpt2", "copy", "another store").reference == "my-gpt2@1"


@pytest.mark.parametrize("name", ["gpt2", "r50k_base", "p50k_base", "p50k_edit"])
def test_named_encodings_travel(models, other, tmp_path, name):
    models.save(cbpe.get_encoding(name), f"my {name}")
    models.export(f"my {name}", tmp_path / "x")
    other.import_(tmp_path / "x")
    text = "hello <|endoftext|> w\u00f6rld"
    loaded = other.load(f"my {name}")
    assert loaded.name == name
    assert loaded.encode(text, allowed_special="all") == cbpe.get_encoding(name).encode(text, allowed_special="all")


def test_a_version_that_is_not_there_is_not_exported(filled, tmp_path):
    with pytest.raises(NotFound):
        filled.export("nobody", tmp_path / "x")
    with pytest.raises(OSError, match="nowhere"):
        filled.export("a", tmp_path / "nowhere" / "x")
    assert not (tmp_path / "x").exists()


def test_a_store_is_not_replaced_by_what_is_exported_from_it(tmp_path):
    with ModelStore(tmp_path / "models.db") as models:
        models.save(TOK, "a")
        (tmp_path / "link").symlink_to(tmp_path / "models.db")
        for name in ("models.db", "models.db-wal", "link"):
            with pytest.raises(Refused, match="is the store itself"):
                models.export("a", tmp_path / name)
        assert models.load("a").merges == TOK.merges


def test_a_file_that_holds_something_else_is_not_replaced(filled, tmp_path):
    tokenizer = tmp_path / "x.json"
    cbpe.Tokenizer.save(TOK, tokenizer)
    tokenizer = tokenizer.rename(tmp_path / "x.other")
    before = tokenizer.read_bytes()
    with pytest.raises(Refused, match=r"x\.other is there already, and is no exported version"):
        filled.export("a", tokenizer)
    assert tokenizer.read_bytes() == before
    for _ in range(2):  # an earlier export is replaced
        assert filled.export("a", tmp_path / "x").reference == "a@1"


@pytest.mark.parametrize("name", ["x.json", "x.model", "x.tiktoken", "gpt2_tokenizer.bin", "vocab.bpe", "tekken.json"])
def test_an_export_is_not_called_as_a_file_of_another_format(filled, tmp_path, name):
    with pytest.raises(Refused, match=r"ends as .* does, and .* by model stores alone: .*tok\.save\(path\)"):
        filled.export("a", tmp_path / name)
    assert not (tmp_path / name).exists()


def test_what_is_no_export_and_what_is_one_say_where_they_go(filled, tmp_path):
    TOK.save(tmp_path / "book")
    with pytest.raises(Damaged, match=r"no exported tokenizer.*ModelStore.save"):
        filled.import_(tmp_path / "book.model")
    filled.export("a", tmp_path / "a.cbpe")
    with pytest.raises(ValueError, match=r"exported from a model store.*ModelStore.import_"):
        cbpe.load(tmp_path / "a.cbpe")


def test_too_many_tags_are_not_exported(filled, tmp_path):
    filled.tag("a", {str(i): "x" * 10_000 for i in range(220)})
    with pytest.raises(Refused, match="a@1 cannot be exported: the tags"):
        filled.export("a", tmp_path / "x")
    assert not (tmp_path / "x").exists()


# ---- What is no whole file of this kind. All of it is refused with the store as before, so that one serves for all.


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    with ModelStore(tmp_path_factory.mktemp("untouched") / "models.db") as opened:
        yield opened


def refuse(store, data, message, path):
    before = store.audit_log(), store.names()
    path.write_bytes(data)
    with pytest.raises(Damaged, match=message):
        store.import_(path)
    assert (store.audit_log(), store.names()) == before


def sealed(header, *parts, version=1):
    """A file with its checksum right."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = MAGIC + struct.pack("<II", version, len(text)) + text + b"".join(parts)
    return body + hashlib.sha256(body).digest()


def changed(content=None, vocabulary=None, sizes=None, **differences):
    """A file as export would write it, but for some differences, with its checksum right."""
    model = describe(TOK)
    packed = model.vocabulary if vocabulary is None else vocabulary
    content = canonical_form(model) if content is None else content
    content = content.replace(model.vocabulary_digest.encode(), hashlib.sha256(packed).hexdigest().encode())
    header = {
        "name": "a",
        "kind": "RegexTokenizer",
        "encoding_name": None,
        "tags": {},
        "metrics": {},
        "parent_digest": None,
        "saved_at": "2026-01-01T00:00:00+00:00",
        "digest": hashlib.sha256(content).hexdigest(),
        "sizes": {
            "content": len(content),
            "notes": None,
            "training": None,
            "counts": 0,
            "tokens": 0,
            "vocabulary": len(packed),
            **(sizes or {}),
        },
        **differences,
    }
    return sealed(header, content, packed)


def test_what_the_tests_below_change_is_put_in_as_it_is(other, tmp_path):
    (tmp_path / "x").write_bytes(changed())
    assert other.import_(tmp_path / "x").digest == describe(TOK).digest


OTHERS = [None, True, 7, 1.5, "x", "", ["x"], {"x": 1}, -1, 1 << 70, float("nan")]


def spoilt(fields, *within):
    """The fields without one of them, and with each replaced by something of another type, as (what was done, fields).
    Those in `within` are objects, whose fields are spoilt as well."""
    for field, value in fields.items():
        yield f"no {field}", {name: kept for name, kept in fields.items() if name != field}
        for other in OTHERS:
            if type(other) is not type(value):
                yield f"{field} is {other!r}", {**fields, field: other}
        if field in within:
            for done, spoilt_fields in spoilt(value):
                yield f"{field}: {done}", {**fields, field: spoilt_fields}


def exported(tmp_path):
    """The header of a version with a training record, its canonical form, the record and what follows."""
    with ModelStore(":memory:") as models:
        models.save(TOK, "a", tags={"k": "v"}, metrics={"loss": 1.5}, notes="n")
        models.export("a", tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    size = int.from_bytes(data[FIXED - 4 : FIXED], "little")
    header, rest = json.loads(data[FIXED : FIXED + size]), data[FIXED + size : -32]
    ends = list(itertools.accumulate(header["sizes"][part] for part in ("content", "notes", "training")))
    return header, rest[: ends[0]], rest[ends[1] : ends[2]], rest[ends[0] : ends[1]], rest[ends[2] :]


def resized(header, content, training):
    sizes = {**header["sizes"], "content": len(content), "training": len(training)}
    return {**header, "sizes": sizes, "digest": hashlib.sha256(content).hexdigest()}


def test_every_field_that_is_missing_or_of_another_type_is_damage(other, tmp_path):
    header, content, training, notes, rest = exported(tmp_path)
    files = [
        (f"header: {done}", sealed(spoilt_header, content, notes, training, rest))
        for done, spoilt_header in spoilt(header, "sizes")
    ]
    for done, fields in spoilt(json.loads(training)):
        text = json.dumps(fields).encode()
        files.append((f"training: {done}", sealed(resized(header, content, text), content, notes, text, rest)))
    for done, fields in spoilt(json.loads(content)):
        text = json.dumps(fields, separators=(",", ":"), sort_keys=True).encode()
        files.append((f"content: {done}", sealed(resized(header, text, training), text, notes, training, rest)))
    assert len(files) > 300
    put_in = []
    for done, data in files:
        (tmp_path / "x").write_bytes(data)
        for name in (None, "b"):
            try:
                other.import_(tmp_path / "x", name)
            except Damaged:
                continue
            put_in.append(done)
    assert [done for done in put_in if not is_allowed(done)] == []


def is_allowed(done):
    """What the type of a training record's field allows, which may be several; a whole number is a float, too. And a
    tokenizer needs no pattern."""
    types = {field.name: str(field.type) for field in dataclasses.fields(cbpe.TrainingRecord)}
    part, _, rest = done.partition(": ")
    field, _, value = rest.partition(" is ")
    if part != "training" or not value:
        return done == "content: pattern is None"
    given = next(other for other in OTHERS if repr(other) == value)
    kinds = types[field].replace("None", "NoneType").replace("float", "float | int").split(" | ")
    return type(given).__name__ in kinds


def test_a_header_without_the_time_of_saving_is_damage(other, tmp_path):
    for spoil, message in (({}, "its header has no saved_at"), ({"saved_at": "now"}, "isoformat")):
        header, content, training, notes, rest = exported(tmp_path)
        del header["saved_at"]
        refuse(other, sealed({**header, **spoil}, content, notes, training, rest), message, tmp_path / "x")


def test_every_flipped_byte_and_every_cut_is_found(filled, other, tmp_path):
    filled.export("a", tmp_path / "x")
    data = (tmp_path / "x").read_bytes()
    generator = random.Random(5)
    for position in [*range(FIXED + 4), *(generator.randrange(len(data)) for _ in range(300))]:
        flipped = bytearray(data)
        flipped[position] ^= 1 << generator.randrange(8)
        refuse(other, bytes(flipped), "no exported tokenizer|damaged|version", tmp_path / "y")
        refuse(other, data[:position], "no exported tokenizer|damaged", tmp_path / "y")
    refuse(other, data + b"\0", "damaged", tmp_path / "y")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no exported tokenizer"),
        (b"minbpe v1\n\n0\n", "no exported tokenizer"),
        (sealed({}, version=2), "version 2; only 1"),
        (sealed(b"{"), "not written as it should be"),
        (sealed(b"[" * 1_000_000), "not written as it should be"),
        (sealed([]), "not written as it should be"),
        (sealed({}), "not written as it should be"),
        (sealed(b" " * (1 << 21) + b"{}"), "its header has"),
        (changed(sizes={"vocabulary": 1 << 60}), "of at most"),
        (changed(sizes={"vocabulary": -1}), "of at most"),
        (changed(sizes={"vocabulary": 7}), "do not fit"),
        (changed(sizes={"vocabulary": 1.5}), "of at most"),
        (changed(sizes={"vocabulary": None}), "of at most"),
        (changed(sizes={"content": True}), "of at most"),
        (changed(digest="0" * 64), "canonical form does not have its digest"),
        (changed(name="a@b"), "is no name"),
        (changed(name=None), "the name in its header is a str"),
        (changed(kind="object"), "is no tokenizer"),
        (changed(kind="Encoding"), "is no tokenizer"),
        (changed(encoding_name="x"), "is no tokenizer"),
        (changed(kind="Encoding", encoding_name=3), "is a str"),
        (changed(kind=["RegexTokenizer"]), "the kind in its header is a str"),
        (changed(tags={"x": 1}), "is a str"),
        (changed(tags=7), "."),
        (changed(metrics={"x": "1"}), "is a number"),
        (changed(parent_digest="x"), "the parent_digest in its header"),
        (changed(parent_digest={"a": 1}), "the parent_digest in its header"),
        (changed(content=canonical_form(describe(TOK)) + b" "), "not as cbpe writes it"),
        (changed(content=b"[]"), "canonical form is none"),
        (changed(content=b"[" * 100_000), "canonical form is none"),
        (changed(content=b"[" + b"[]," * 600_000 + b"1]"), "canonical form is none"),
        (changed(content=b" " * (1 << 21) + b"{}"), "its content have 2097154 bytes"),
        (changed(content=canonical_form(describe(TOK)).replace(b'"pairs"', b'"ranks"')), "merges by 'ranks'"),
        (changed(content=canonical_form(describe(TOK)).replace(b'"16.0.0"', b'"15.0.0"')), r"by 15\.0\.0"),
        (changed(content=canonical_form(describe(TOK)).replace(b":262", b":97")), "in use for another token"),
        (
            changed(content=canonical_form(describe(TOK)).replace(b'"processing":{}', b'"processing":{"x":1}')),
            "does no x|x",
        ),
        (changed(content=canonical_form(describe(TOK)).replace(b'"pattern":"', b'"pattern":"(')), "valid expression"),
        (changed(vocabulary=b"no vocabulary"), "cut short"),
    ],
)
def test_what_was_not_exported_is_refused(untouched, tmp_path, data, message):
    refuse(untouched, data, message, tmp_path / "x")


def packed(merges, ids=None):
    """A packed vocabulary by hand, its checksum right, however wrong its merges are."""
    import zlib

    n = len(merges)
    firsts, counts = ([0], [256 + n]) if ids is None else ids
    parts = [[left for left, _ in merges], [right for _, right in merges], firsts, counts]
    body = b"".join(struct.pack(f"<{len(part)}I", *part) for part in parts)
    header = struct.pack("<8sIIIIIII", b"\x89cbpe\r\n\x1a", 1, 0, n, 0, 0, len(firsts), 0)
    return header + struct.pack("<I", zlib.crc32(body, zlib.crc32(header))) + body


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        (packed([(256, 97)]), "made of itself"),
        (packed([(257, 97), (256, 97)]), "made of itself"),
        (packed([(97, 999)]), "there are only 257"),
        (packed([(97, 98), (97, 98)]), "merged twice"),
        (packed([(97, 98)], ([0, 0], [256, 1])), "given to two tokens"),
        (packed([(97, 98)], ([0, 4_000_000_000], [256, 1])), "too large"),
        (packed([(97, 98)], ([0, 0xFFFFFFFF], [256, 1])), "too large"),
        (packed([(97, 97), *((255 + i, 255 + i) for i in range(1, 40))]), "more than 16777216 bytes"),
        (packed([(97, 97), *((255 + i, 255 + i) for i in range(1, 25))]), "more than 16777216 bytes"),
    ],
    ids=range(9),
)
def test_hostile_vocabularies_are_refused(untouched, tmp_path, vocabulary, message):
    refuse(untouched, changed(vocabulary=vocabulary), message, tmp_path / "x")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits a process's memory as Linux does")
def test_what_would_take_much_memory_is_refused_in_little(tmp_path):
    """Each in a process that may take 100 MB more than it has."""
    files = {
        "doubling": changed(vocabulary=packed([(97, 97), *((255 + i, 255 + i) for i in range(1, 27))])),
        "sizes": changed(sizes={"vocabulary": 1 << 40}),
        "lists": changed(content=b"[" + b"{}," * 690_000 + b"1]"),
        "header": sealed(b"[" + b"{}," * 690_000 + b"1]"),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    code = """
import resource, sys
from store import Damaged, ModelStore
with ModelStore(sys.argv[1]) as models:
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + 100_000_000,) * 2)
    for path in sys.argv[2:]:
        try:
            models.import_(path)
        except Damaged:
            continue
        sys.exit(f"{path} was not refused")
"""
    arguments = [str(tmp_path / "models.db"), *(str(tmp_path / name) for name in files)]
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)
