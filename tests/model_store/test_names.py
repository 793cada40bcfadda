"""The names of the store: the public ones say that they are of `store`, and pickles keep no other."""

import ast
import pickle
import pickletools
from pathlib import Path

import pytest
from small_models import small_tokenizer

import store
from cbpe.encodings.references import shadowed
from cbpe.formats.files import COMPRESSED
from cbpe.formats.table import FORMATS
from store import ModelStore

# All that the store takes from cbpe besides what `import cbpe` offers: a tokenizer as data, and a few shared tools.
SHARED = {
    "cbpe._version": {"__version__"},
    "cbpe._core.splitting.split": {"category"},
    "cbpe._core.vocabulary.buckets": {"bucket_entries"},
    "cbpe._core.vocabulary.vocabulary": {"Vocabulary"},
    "cbpe.analysis.texts": {"told_of_measures"},
    "cbpe.common.atomic_files": {
        "LOCAL",
        "is_url",
        "missing_folder",
        "name_beside",
        "new_file",
        "refuse_no_file",
        "told_of_home",
        "write_files",
    },
    "cbpe.common.checks": {"checked_flag", "is_float", "refuse_no_path"},
    "cbpe.common.little_endian": {"little_endian"},
    "cbpe.common.published": {"EXPORTED", "INDEX", "is_published"},
    "cbpe.common.progress": {"ProgressCallback", "progress_reports"},
    "cbpe.common.public": {"public_of"},
    "cbpe.common.warning": {"warn"},
    "cbpe.corpus.describing": {"tell_of_plain_text"},
    "cbpe.corpus.sources": {"Reader", "Source"},
    "cbpe.common.wording": {
        "links_not_followed",
        "listed",
        "meant",
        "NamedErrors",
        "number_of",
        "number_text",
        "of_another_library",
        "shortened",
    },
    "cbpe.encodings.references": {"FILE_ENDINGS", "is_encoding", "is_file", "shadowed"},
    "cbpe.formats.files": {"format_of_name", "holds_tokenizer"},
    "cbpe.formats.minbpe": {"render_token"},
    "cbpe.text.added_tokens": {"AnyOf"},
    "cbpe.text.splitting": {"refuse_pattern_name"},
    "cbpe.text.surrogates": {"without_surrogates"},
    "cbpe.tokenizers.description": {"KINDS", "Model", "build", "canonical_form", "describe", "in_decoded_order"},
    "cbpe.tokenizers.loading": {"lacks_pattern", "load", "tell_of_files_beside"},
    "cbpe.tokenizers.tokenizer": {"Tokenizer"},
    "cbpe.training.record": {"TrainingRecord"},
    "cbpe.views.changes": {"change_in_words"},
    "cbpe.views.html": {"Apart", "LeftToRight", "block", "cell_text", "in_commas", "pairs", "table"},
    "cbpe.views.readable": {"readable_bytes"},
    "cbpe.views.settings": {"differing"},
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


@pytest.mark.parametrize(
    ("name", "meaning", "other"),
    [
        ("gpt2", "the named encoding", "my-gpt2"),
        ("o200k_base", "the named encoding", "my-o200k_base"),
        ("book.model", "a file", "book-model"),
        ("book.JSON", "a file", "book-json"),
        ("a/b", "a file", "a-b"),
        ("a\\b.tiktoken", "a file", "a-b-tiktoken"),
        ("book.cbpe", "a file", "book-cbpe"),
        ("a.gz", "a file", "a-gz"),
        ("a.json.ZST", "a file", "a-json-zst"),
        ("/", "a file", "my-tokenizer"),
        (".", "a folder", "my-tokenizer"),
        ("..", "a folder", "my-tokenizer"),
        ("-x", "an option", "x"),
        ("--save", "an option", "save"),
        ("-", "an option", "my-tokenizer"),
        ("-gpt2", "an option", "my-gpt2"),
    ],
)
def test_a_name_that_would_be_taken_for_something_else_is_refused_with_another(name, meaning, other):
    with ModelStore(":memory:") as models:
        with pytest.raises(ValueError, match=f"take it for {meaning}. Take another, such as '{other}'"):
            models.save(small_tokenizer(1), name)
        with pytest.raises(ValueError, match="is no name for a version"):
            models.check_labels(name)
        models.save(small_tokenizer(1), "kept")
        with pytest.raises(ValueError, match="is no name for a version"):
            models.rename("kept", name)
        assert models.names() == ["kept"]
        models.rename("kept", other)
        assert models.names() == [other]


def test_endings_that_no_file_of_a_tokenizer_has_are_part_of_names():
    with ModelStore(":memory:") as models:
        for name in ("v1.5", "llama-3.1", "a.b-c", "gpt2 of ours", "model"):
            assert models.save(small_tokenizer(1), name).name == name


def test_every_ending_by_which_a_tokenizer_is_saved_is_known_as_a_files():
    endings = [ending for known in FORMATS for ending in (*known.endings, *known.for_characters)]
    assert [ending for ending in (*endings, *COMPRESSED) if not shadowed(f"x{ending}")] == []


@pytest.mark.parametrize("name", [".", "..", "-x", "a.gz", "b.cbpe"])
def test_a_version_under_a_name_that_is_refused_now_is_found_and_renamed(name, monkeypatch):
    with ModelStore(":memory:") as models:
        with monkeypatch.context() as patched:
            patched.setattr("store.records.references.shadowed", lambda name: None)  # as an earlier release saved it
            models.save(small_tokenizer(1), name)
        assert models.load(name).merges == small_tokenizer(1).merges
        assert models.save(small_tokenizer(2), name).reference == f"{name}@2"
        models.rename(name, "found")
        assert [version.reference for version in models.versions()] == ["found@1", "found@2"]
