"""Whatever is done to a store in whatever order, it holds what a few plain dicts say that it holds; and whatever is
done at once, nothing but what is refused fails."""

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select, text

import cbpe
from store import ModelStore, NotFound, Refused
from store.database.schema import names
from store.records.names import write_name

pytestmark = pytest.mark.ci

TOKS = [cbpe.train("low lower lowest newer wider " * 9, 257 + i) for i in range(5)]
NAMES = "abcd"


class Expected:
    """A store as it should be."""

    def __init__(self):
        self.kept = {name: {} for name in NAMES}  # numbers and what is saved under them
        self.last = dict.fromkeys(NAMES, 0)
        self.meant = {name: {} for name in NAMES}  # numbers and the versions that they ever were of, in order of making
        self.prod = {}  # where name@prod points to
        self.n_changes = 0

    def references(self):
        return {f"{name}@{number}": tok for name, kept in self.kept.items() for number, tok in kept.items()}


def save(models, expected, name, generator):
    tok = generator.randrange(len(TOKS))
    version = models.save(TOKS[tok], name)
    kept = expected.kept[name]
    if kept and kept[max(kept)] == tok:
        assert (version.number, version.created) == (max(kept), False)
    else:
        expected.last[name] += 1
        assert (version.number, version.created) == (expected.last[name], True)
        kept[version.number] = tok
        expected.meant[name][version.number] = expected.n_changes


def point(models, expected, name, generator):
    number = generator.randint(1, expected.last[name] + 1)
    if number in expected.kept[name]:
        models.set_alias(name, "prod", f"{name}@{number}")
        expected.prod[name] = number
    else:
        with pytest.raises(NotFound):
            models.set_alias(name, "prod", f"{name}@{number}")
        expected.n_changes -= 1


def remove_alias(models, expected, name, _):
    if expected.prod.pop(name, None):
        models.remove_alias(name, "prod")
    else:
        with pytest.raises(NotFound):
            models.remove_alias(name, "prod")
        expected.n_changes -= 1


def rename(models, expected, name, generator):
    new = generator.choice([other for other in NAMES if other != name])
    was, is_now = expected.meant[new], expected.meant[name]
    taken = expected.kept[new] or any(was.get(n, is_now[n]) != is_now[n] for n in expected.kept[name])
    if not expected.kept[name] or taken:
        with pytest.raises(Refused if expected.kept[name] else NotFound):
            models.rename(name, new)
        expected.n_changes -= 1
        return
    models.rename(name, new)
    was.update((number, is_now[number]) for number in expected.kept[name])
    expected.kept[new], expected.kept[name] = expected.kept[name], {}
    expected.last[new] = max(expected.last[new], expected.last[name])
    if name in expected.prod:
        expected.prod[new] = expected.prod.pop(name)


def delete(models, expected, name, generator):
    number, force = generator.randint(1, expected.last[name] + 1), generator.random() < 0.5
    points_there = expected.prod.get(name) == number
    if number not in expected.kept[name] or (points_there and not force):
        with pytest.raises(Refused if points_there else NotFound):
            models.delete(f"{name}@{number}", force)
        expected.n_changes -= 1
        return
    models.delete(f"{name}@{number}", force)
    del expected.kept[name][number]
    if points_there:
        del expected.prod[name]


def vacuum(models, *_):
    models.vacuum()


@pytest.mark.parametrize("seed", range(2))
def test_a_store_holds_what_was_put_in_and_not_taken_out(empty_store_url, seed):
    generator, expected = random.Random(seed), Expected()
    with ModelStore(empty_store_url) as models:
        for _ in range(60):
            step = generator.choice([save, save, save, point, remove_alias, rename, delete, vacuum])
            expected.n_changes += 1
            step(models, expected, generator.choice(NAMES), generator)
            assert {version.reference for version in models.versions()} == set(expected.references())
            found = {version.name: version.number for version in models.versions() if version.aliases}
            assert found == expected.prod
            assert len(models.audit_log()) == expected.n_changes
        assert models.verify().problems == ()
        for reference, tok in expected.references().items():
            assert models.load(reference).merges == TOKS[tok].merges
        for name, kept in expected.kept.items():
            if kept:
                assert models.load(name).merges == TOKS[kept[max(kept)]].merges


def test_threads_that_change_the_same_names_at_once_are_at_most_refused(empty_store_url):
    with ModelStore(empty_store_url) as models, ThreadPoolExecutor(6) as threads:
        models.save(TOKS[0], "a")

        def work(seed):
            generator = random.Random(seed)
            n_done = 0
            for _ in range(20):
                name, other = generator.choice("ab"), generator.choice("abc")
                method, *arguments = generator.choice(
                    [
                        (models.save, generator.choice(TOKS), name),
                        (models.save, generator.choice(TOKS), name),
                        (models.rename, name, other),
                        (models.set_alias, name, "prod", name),
                        (models.set_parent, name, other),
                        (models.tag, name, ["x"]),
                        (models.delete, name, True),
                        (models.load, name),
                    ]
                )
                try:
                    method(*arguments)
                    n_done += 1
                except (NotFound, Refused):
                    pass
            return n_done

        assert min(threads.map(work, range(6))) > 0
        assert models.verify().problems == ()


def test_a_save_that_waited_for_a_rename_is_under_the_name_that_was_asked_for(empty_store_url):
    with ModelStore(empty_store_url) as models, ThreadPoolExecutor(1) as threads:
        models.save(TOKS[0], "a")
        with models._database._writer.begin() as connection:
            connection.execute(select(names).where(names.c.name == "a").with_for_update())
            saved = threads.submit(models.save, TOKS[1], "a")
            wait_for_a_lock_to_be_waited_for(models)
            write_name(connection, 1, "b", 1, 1)
            connection.execute(text("INSERT INTO names (id, name, last_number) VALUES (9, 'a', 1)"))
            write_name(connection, 9, "a", 1, None)
        assert saved.result().reference == "a@2"
        assert models.load("b@1").merges == TOKS[0].merges


def wait_for_a_lock_to_be_waited_for(models):
    for _ in range(400):
        time.sleep(0.01)
        if models.url.startswith("sqlite"):  # which does not tell: it waits, or will have to
            return
        with models._database.reading() as connection:
            if connection.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")):
                return
