"""A store whose packed vocabularies or file were damaged, and a disk that is full: always an error, never a wrong
tokenizer and nothing lost."""

import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pytest
from command_line import error_of
from small_models import model_of, small_tokenizer
from sqlalchemy import bindparam, create_engine, event, text
from sqlalchemy.engine import Engine
from unchecked import unchecked
from vocabularies import by_merges

from cbpe.tokenizers.description import build, describe
from store import Damaged, ModelStore, StoreError
from store.database.schema import metadata

pytestmark = pytest.mark.ci

PAGE = 4096


def damaged(data, generator):
    """The data with a byte changed, a bit flipped, the end cut off, or a page or a part of one zeroed."""
    while True:
        changed = bytearray(data)
        position = generator.randrange(len(data))
        kind = generator.choice(["byte", "bit", "cut", "page", "part"])
        if kind == "byte":
            changed[position] = generator.randrange(256)
        elif kind == "bit":
            changed[position] ^= 1 << generator.randrange(8)
        elif kind == "cut":
            del changed[position:]
        elif kind == "page":
            start = position // PAGE * PAGE
            changed[start : start + PAGE] = bytes(len(changed[start : start + PAGE]))
        else:
            changed[position : position + 64] = bytes(len(changed[position : position + 64]))
        if changed != data:
            return bytes(changed)


def test_a_store_that_has_lost_a_table_is_damaged_and_not_as_before(tmp_path):
    with ModelStore(tmp_path / "models.db") as models:
        models.save(small_tokenizer(1), "a")
    with contextlib.closing(sqlite3.connect(tmp_path / "models.db")) as connection, connection:
        connection.execute("DROP TABLE aliases")
    with (
        ModelStore(tmp_path / "models.db") as models,
        pytest.raises(Damaged, match=r"no such table: aliases\. Restore a"),
    ):
        models.versions()


def is_found(url, ref, digest):
    """Whether the damage is found when a store is opened and a version loaded; if not, that is the version."""
    try:
        with ModelStore(url) as models:
            assert describe(models.load(ref)).digest == digest
    except StoreError:
        return True
    return False


@pytest.mark.slow
def test_all_damage_to_a_packed_vocabulary_is_found_by_loading(empty_store_url):
    generator = random.Random(8)
    tok = small_tokenizer(1, n_merges=1500)
    with ModelStore(empty_store_url) as models:
        version = models.save(tok, "a")
        engine = create_engine(empty_store_url)
        change = text("UPDATE vocabularies SET packed = :packed").bindparams(bindparam("packed"))
        packed = describe(tok).vocabulary
        for i in range(500):
            with engine.begin() as connection:
                connection.execute(change, {"packed": damaged(packed, generator)})
            with pytest.raises(StoreError):
                models.load("a")
            if i % 50 == 0:
                assert not models.verify().ok
                assert is_found(empty_store_url, "a", version.digest)
        # Another vocabulary that is whole and valid is none that was saved here either.
        for other in (small_tokenizer(2, n_merges=1500), small_tokenizer(1)):
            with engine.begin() as connection:
                connection.execute(change, {"packed": describe(other).vocabulary})
            with pytest.raises(StoreError):
                models.load("a")
        with engine.begin() as connection:
            connection.execute(change, {"packed": packed})
        assert describe(models.load("a")).digest == version.digest
        assert models.verify().problems == ()
        engine.dispose()


def saved_with(path, n_merges):
    """The path of a store's file and its bytes, a version "a" in it, and that one's digest."""
    with ModelStore(path) as models:
        version = models.save(small_tokenizer(1, n_merges), "a", tags={"k": "v"}, aliases=("prod",), notes="n")
        models.save(build(model_of(by_merges([]), pattern="[ab]+", special_tokens={"<|end|>": 300})), "b")
    return path, path.read_bytes(), version.digest


@pytest.fixture
def saved(tmp_path):
    return saved_with(tmp_path / "models.db", n_merges=1500)


# Different ways of reading that version.
LOOKS = [
    lambda models: models.load("a"),
    lambda models: models.load("a@prod"),
    lambda models: models.versions(),
    lambda models: models.version("b"),
    lambda models: models.history("a"),
    lambda models: models.audit_log(),
    lambda models: models.find_token(b"a"),
    lambda models: models.diff("a", "b"),
    lambda models: models.verify().problems,
]


def places_of(part, data):
    """Where the pieces of a part lie in a file, which may break it up."""
    found = (data.find(part[i : i + 32]) for i in range(0, len(part), 32))
    return [place for place in found if place >= 0]


@pytest.mark.slow
def test_all_damage_to_a_packed_vocabulary_in_the_file_is_found(saved):
    path, data, digest = saved
    generator = random.Random(9)
    places = places_of(describe(small_tokenizer(1, n_merges=1500)).vocabulary, data)
    assert len(places) > 350
    for i in range(250):
        changed = bytearray(data)
        place = generator.choice(places)
        if i % 2:
            changed[place + generator.randrange(32)] ^= 1 << generator.randrange(8)
        else:
            start = place // PAGE * PAGE
            changed[start : start + PAGE] = bytes(PAGE)
        path.write_bytes(changed)
        assert is_found(path, "a", digest)
    path.write_bytes(data)
    assert not is_found(path, "a", digest)


@pytest.mark.slow
def test_damage_anywhere_in_the_file_gives_an_error_or_the_right_tokenizer(saved):
    path, data, digest = saved
    generator = random.Random(10)
    n_found = 0
    for _ in range(250):
        path.write_bytes(damaged(data, generator))
        n_found += is_found(path, "a", digest)
    zeroed = 0
    for start in range(0, len(data), PAGE):
        path.write_bytes(data[:start] + bytes(PAGE) + data[start + PAGE :])
        try:
            with ModelStore(path) as models:
                zeroed += not models.verify().ok
        except StoreError:
            zeroed += 1
    assert n_found > 50
    assert zeroed > len(data) // PAGE // 2


def looked_at(models):
    """What the ways of reading give that find no damage."""
    for look in LOOKS:
        with contextlib.suppress(StoreError):
            yield look(models)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["NULL", "-1e300", "'text'", "x'00ff'", "CAST(x'c328' AS TEXT)"])
def test_whatever_stands_in_a_column_gives_an_error_or_the_right_tokenizer(tmp_path, value):
    path, data, digest = saved_with(tmp_path / "models.db", n_merges=20)  # the same is done to all rows of a table
    columns = [(table.name, column.name) for table in metadata.sorted_tables for column in table.columns]
    columns.append(("tokens", "shown"))
    n_changed = 0
    for table, column in columns:
        changed = 0
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA synchronous = OFF")  # the file is for this process alone
            with (
                unchecked(connection),
                contextlib.suppress(sqlite3.DatabaseError),
            ):  # the schema does not allow everything
                changed = connection.execute(f"UPDATE {table} SET {column} = {value}").rowcount
            connection.commit()
        if changed <= 0:
            continue  # and the file is as before
        n_changed += 1
        with contextlib.suppress(StoreError), ModelStore(path) as models:
            for found in looked_at(models):
                assert not hasattr(found, "merges") or describe(found).digest == digest
        path.write_bytes(data)
    assert n_changed >= 12  # so many columns may be NULL, and more may be something else


# ---- Full disks


def listing(models):
    return [(version.reference, version.digest, version.tags, version.aliases) for version in models.versions()]


def is_refused_for_want_of_room(models, before):
    """Whether a larger model cannot be saved under the name of a smaller one; the store is as before then."""
    try:
        models.save(small_tokenizer(3, n_merges=3000), "a", tags={"large": "yes"}, aliases=("prod", "large"))
    except StoreError as refusal:
        message = str(refusal)
    else:
        return False
    assert any(reason in message for reason in ("is full", "disk I/O error")), message
    assert listing(models) == before
    assert models.verify().problems == ()
    return True


@pytest.fixture
def most_pages():
    """A list of one number, of the pages that SQLite files may have whenever they are connected to; none at first."""
    limit = []

    def set_limit(connection, _):
        if limit:
            connection.execute(f"PRAGMA max_page_count = {limit[0]}")

    event.listen(Engine, "connect", set_limit)
    yield limit
    event.remove(Engine, "connect", set_limit)


def test_a_full_file_is_an_error_and_the_store_as_before(tmp_path, most_pages):
    path = tmp_path / "models.db"
    with ModelStore(path) as models:
        models.save(small_tokenizer(1), "a", aliases=("prod",))
        before = listing(models)
    n_pages = path.stat().st_size // PAGE
    n_failed = 0
    for room in range(0, 200, 2):
        most_pages[:] = [n_pages + room]
        with ModelStore(path) as models:
            if not is_refused_for_want_of_room(models, before):
                break
            n_failed += 1
    assert n_failed > 5
    most_pages.clear()
    with ModelStore(path) as models:
        assert models.verify().problems == ()
        assert models.version("a@prod").number == models.version("a@large").number == 2
        assert len(list(models.versions())) == 2


def test_a_full_file_is_told_on_the_command_line(tmp_path, most_pages):
    path = tmp_path / "models.db"
    ModelStore(path).close()
    most_pages[:] = [path.stat().st_size // PAGE]
    error = error_of("models", "save", "b", "-t", "r50k_base", "--store", path)
    assert error == f"cbpe: the store {path} could not do it, and is as before: database or disk is full\n"


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not shutil.which("mount"):
        pytest.skip("there is no mount to make a small disk with")
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no small disk can be made here: {made.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(path, leave):
    """Fill a disk with a file, but for some bytes."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(PAGE))
        except OSError:
            size = file.tell()
        file.truncate(size - leave)


def test_a_full_disk_is_an_error_and_the_store_as_before(small_disk):
    path = small_disk / "models.db"
    with ModelStore(path) as models:
        models.save(small_tokenizer(1), "a", aliases=("prod",))
        before = listing(models)
    n_failed = 0
    for room in range(0, 800 * 1024, 5 * PAGE):
        fill(small_disk / "filler", room)
        try:
            with ModelStore(path) as models:
                if not is_refused_for_want_of_room(models, before):
                    break
                n_failed += 1
        except StoreError:  # not even to be opened for writing: there is no room for the write-ahead log's index
            assert room < 16 * PAGE
        (small_disk / "filler").unlink()
        with ModelStore(path) as models:
            assert listing(models) == before
            assert models.verify().problems == ()
    assert n_failed > 5
    (small_disk / "filler").unlink()
    with ModelStore(path) as models:
        assert models.verify().problems == ()
        assert models.version("a@prod").number == 2
    assert sorted(os.listdir(small_disk)) == ["models.db"]


def test_a_file_cut_short_anywhere_is_refused_and_left_alone(saved):
    path, data, _ = saved
    generator = random.Random(11)
    for length in [*range(0, len(data), PAGE), *(generator.randrange(len(data)) for _ in range(50))]:
        path.write_bytes(data[:length])
        for read_only in (False, True):
            with pytest.raises(StoreError):
                ModelStore(path, read_only=read_only)
        assert path.read_bytes() == data[:length]
        assert os.listdir(path.parent) == [path.name]


def test_no_store_is_made_on_a_full_disk(small_disk):
    fill(small_disk / "filler", 2 * PAGE)
    with pytest.raises(StoreError, match="no store can be made"):
        ModelStore(Path(small_disk) / "models.db")
    assert os.listdir(small_disk) == ["filler"]
