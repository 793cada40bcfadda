"""What all tests share: reproducible Hypothesis runs and the optional data beside the project."""

import gc
import os
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["published_copies", "store_backends", "toys"]

# A machine that is busy with other things draws examples slowly: that is no fault of a test.
usual = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("cbpe", derandomize=True, max_examples=50, **usual)
settings.register_profile("few", settings.get_profile("cbpe"), max_examples=10)  # pytest --hypothesis-profile=few
settings.load_profile("cbpe")

for name in ("COLUMNS", "LINES"):  # of the terminal in which the tests run
    os.environ.pop(name, None)

NUMBERS = count()  # of tests without a folder


def pytest_collection_finish():
    """Whoever collects garbage in a test does not look at all modules and at thousands of collected tests each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def somewhere_else(tmp_path_factory):
    """Run in another folder than the checkout, where `python -c` would find the sources in place of what is
    installed."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("somewhere_else"))
    yield
    os.chdir(before)


@pytest.fixture(scope="session")
def folder_of_stores(tmp_path_factory):
    return tmp_path_factory.mktemp("stores")


@pytest.fixture(autouse=True)
def no_store_of_the_user(request, folder_of_stores, monkeypatch):
    """What a test keeps is in no store of the user's, nor of another test's: it is in the test's own folder, if it has
    one. To make one for each of thousands of tests takes seconds."""
    if "tmp_path" in request.fixturenames:
        path = request.getfixturevalue("tmp_path") / "models.db"
    else:
        path = folder_of_stores / f"{next(NUMBERS)}.db"
    monkeypatch.setenv("CBPE_STORE", str(path))
