"""Files to be imported that mean harm: refused at once, in little memory, and the store stays as it was."""

import dataclasses
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import hostile_files
import pytest
from hostile_files import GOOD, checksummed, file_of
from small_models import small_tokenizer

from cbpe.tokenizers.description import describe
from store import ModelStore, StoreError

pytestmark = pytest.mark.ci

MB = 1_000_000


def content_of(models):
    return models.versions(), models.audit_log(), models.verify()


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux says how much memory was taken")
def test_hostile_files_are_refused_in_a_second_and_100_mb(tmp_path):
    url = f"sqlite:///{tmp_path}/models.db"
    with ModelStore(url) as models:
        models.save(small_tokenizer(2), "a")
        before = content_of(models)
        wrong = dict(enumerate(hostile_files.hostile_files().items()))
        for number, (_, data) in wrong.items():
            (tmp_path / str(number)).write_bytes(data)
        paths = {str(tmp_path / str(number)): what for number, (what, _) in wrong.items()}
        command = [sys.executable, hostile_files.__file__, url, *paths]
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=len(paths), check=True)
        tried = json.loads(done.stdout)
        assert {paths[path]: raised for path, (raised, *_) in tried.items() if raised != "Damaged"} == {}
        assert {paths[path]: message for path, (_, message, *_) in tried.items() if path not in message} == {}
        assert {paths[path]: message for path, (_, message, *_) in tried.items() if len(message) > 1000} == {}
        assert {paths[path]: bytes_ for path, (*_, bytes_) in tried.items() if bytes_ > 100 * MB} == {}
        assert content_of(models) == before


def test_a_hostile_file_is_as_good_as_any_once_nothing_is_wrong_with_it(tmp_path):
    """So that the files of the other tests are refused for what is wrong with them."""
    (tmp_path / "good").write_bytes(file_of())
    with ModelStore(tmp_path / "models.db") as models:
        version = models.import_(tmp_path / "good")
        assert (version.name, version.digest) == ("hostile", GOOD.digest)
        assert models.verify().problems == ()


def test_an_endless_file_and_what_is_no_file_are_refused(tmp_path):
    sparse = tmp_path / "sparse"
    sparse.write_bytes(file_of()[:200])
    with sparse.open("ab") as file:
        file.truncate(1 << 40)
    with ModelStore(tmp_path / "models.db") as models:
        with pytest.raises(StoreError, match="bytes"):
            models.import_(sparse)
        if hasattr(os, "mkfifo"):
            os.mkfifo(tmp_path / "pipe")
            with pytest.raises(StoreError, match="a pipe or a device"):
                models.import_(tmp_path / "pipe")
        for path in (tmp_path, tmp_path / "missing"):
            with pytest.raises(OSError, match=str(path)):
                models.import_(path)
        assert models.versions() == []


@pytest.mark.slow
def test_a_changed_vocabulary_with_all_its_digests_made_right_is_refused_or_whole(tmp_path):
    generator = random.Random(12)
    path = tmp_path / "file"
    n_kept = 0
    packed = describe(small_tokenizer(1, n_merges=40)).vocabulary
    with ModelStore(tmp_path / "models.db") as models:
        for _ in range(400):
            changed = bytearray(packed)
            for _ in range(generator.randint(1, 3)):
                position = generator.randrange(12, len(packed))
                changed[position] = generator.choice([0, 1, 97, 127, 128, 255, generator.randrange(256)])
            model = dataclasses.replace(GOOD, vocabulary=checksummed(bytes(changed)))
            path.write_bytes(file_of(model))
            try:
                version = models.import_(path)
            except StoreError:
                continue
            n_kept += version.created
            assert describe(models.load(version)).digest == version.digest == model.digest
            assert models.verify(version).problems == ()
        assert models.verify().problems == ()
        assert n_kept == len(models.versions()) > 20
