"""Whatever is done to a store in whatever order, it holds what a few plain dicts say that it holds."""

import random

import pytest

import cbpe
from store import ModelStore, NotFound, Refused

TOKS = [cbpe.train("low lower lowest newer wider " * 9, 257 + i) for i in range(5)]
NAMES = "abcd"


class Expected:
    """A store as it should be."""

    def __init__(self):
        self.kept = {name: {} for name in NAMES}  # numbers and what is saved under them
        self.last = dict.fromkeys(NAMES, 0)
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
    if not expected.kept[name] or expected.kept[new]:
        with pytest.raises(Refused if expected.kept[name] else NotFound):
            models.rename(name, new)
        expected.n_changes -= 1
        return
    models.rename(name, new)
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


@pytest.mark.parametrize("seed", range(3))
def test_a_store_holds_what_was_put_in_and_not_taken_out(store_url, seed):
    generator, expected = random.Random(seed), Expected()
    with ModelStore(store_url) as models:
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
