"""What the tests of the command line share."""

import pytest
from books import save_books

from store import ModelStore


@pytest.fixture
def models():
    with ModelStore() as models:
        save_books(models)
        yield models
