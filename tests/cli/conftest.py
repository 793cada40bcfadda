"""What the tests of the command line share."""

import pytest
from books import save_books
from command_line import TEXT
from measured_texts import ENGLISH, OTHER

from store import ModelStore


@pytest.fixture
def text_file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    return path


@pytest.fixture
def models():
    with ModelStore() as models:
        save_books(models)
        yield models


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en.txt").write_text(ENGLISH, encoding="utf-8")
    (tmp_path / "ko.txt").write_text(OTHER, encoding="utf-8")
    return tmp_path
