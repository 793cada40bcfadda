"""The names of the store: the public ones say that they are of `store`, and pickles keep no other."""

import ast
import pickle
import pickletools
from pathlib import Path

import pytest
from small_models import small_tokenizer

import store
from store import ModelStore

# All that the store takes from cbpe besides what `import cbpe` offers: a tokenizer as data, and a few shared tools.
SHARED = {
    "cbpe._version": {"__version__"},
    "cbpe._core.splitting.split": {"category"},
    "cbpe._core.vocabulary.buckets": {"bucket_entries"},
    "cbpe._core.vocabulary.vocabulary": {"Vocabulary"},
    "cbpe.common.atomic_files": {"name_beside", "new_file", "write_files"},
    "cbpe.common.checks": {"is_float"},
    "cbpe.common.little_endian": {"little_endian"},
    "cbpe.common.progress": {"ProgressCallback", "progress_reports"},
    "cbpe.common.public": {"public_of"},
    "cbpe.common.wording": {"shortened"},
    "cbpe.formats.minbpe": {"render_token"},
    "cbpe.tokenizers.description": {"KINDS", "Model", "build", "canonical_form", "describe", "in_decoded_order"},
    "cbpe.tokenizers.loading": {"load"},
    "cbpe.tokenizers.tokenizer": {"Tokenizer"},
    "cbpe.training.record": {"TrainingRecord"},
}


@pytest.mark.parametrize("name", store.__all__)
def test_a_public_name_says_that_it_is_of_the_store(name):
    assert getattr(store, name).__module__ == "store"
    assert getattr(store, name).__qualname__ == name


def modules_in(pickled):
    """The modules that a pickle takes names from."""
    return {argument.split(" ")[0] for code, argument, _ in pickletools.genops(pickled) if code.name == "GLOBAL"}


def test_what_a_store_answers_is_pickled_by_public_names():
    with ModelStore(":memory:") as models:
        version = models.save(small_tokenizer(1), "a", tags={"k": "v"}, aliases=["prod"])
        models.save(small_tokenizer(2), "a")
        answers = [
            version,
            models.diff("a@1", "a@2"),
            models.diff("a@1", "a@2").first_merge,
            models.compare("a@1", "a@2", ["abc"]),
            models.find_token(b"a"),
            models.alias_history("a"),
            models.audit_log(),
            models.verify(),
        ]
    for answer in answers:
        pickled = pickle.dumps(answer, protocol=2)  # which writes the module of a name beside it
        assert pickle.loads(pickled) == answer
        ours = {module for module in modules_in(pickled) if module.split(".")[0] in ("cbpe", "store")}
        assert ours == {"store"}


@pytest.mark.parametrize("name", [name for name in store.__all__ if issubclass(getattr(store, name), Exception)])
def test_an_error_is_pickled_by_its_public_name(name):
    pickled = pickle.dumps(getattr(store, name)("why"), protocol=2)
    again = pickle.loads(pickled)
    assert (type(again), str(again)) == (getattr(store, name), "why")
    assert {module for module in modules_in(pickled) if module.startswith("store")} == {"store"}


def test_the_store_takes_only_shared_names_from_cbpe():
    for source in Path(store.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not [alias.name for alias in node.names if alias.name.startswith("cbpe")], source
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, source
                if node.module.split(".")[0] == "cbpe":
                    taken = {alias.name for alias in node.names}
                    assert taken <= SHARED.get(node.module, set()), (source, node.module)
