"""The examples in docstrings: of public names, and of what is within the library."""

import doctest
import importlib
import inspect
import io
from json import JSONDecodeError
from pathlib import Path

import pytest
import tiktoken

import cbpe
import store

# Examples with files, data, servers or tokenizers that the reader has: they are compiled, and not run.
NOT_HERE = {
    "Diff.more_merges", "HuggingFaceTokenizer.register_special_tokens", "ModelStore", "ModelStore.find_token",
    "ModelStore.import_folder", "ModelStore.missing_file", "ModelStore.publish", "ModelStore.was_done",
    "ModelStore.watch", "Tokenizer.arrow_udf", "Tokenizer.decode_arrow", "Tokenizer.encode",
    "Tokenizer.register_special_tokens", "Tokenizer.show", "Tokenizer.statistics", "count_corpus", "from_transformers",
    "inspect", "load", "open_shards", "tokenize",
}  # fmt: skip
NEEDS_RAY = {"cbpe.counting.datasets.count_words"}
PUBLIC = {name: getattr(library, name) for library in (cbpe, store) for name in library.__all__}


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {}
    for name, value in PUBLIC.items():
        if inspect.isclass(value) or inspect.isfunction(value):
            for each in finder.find(value, name, module=False, globs={}):
                if each.examples:
                    found.setdefault(each.docstring, each)  # once, of what classes have from each other
    return list(found.values())


EXAMPLES = {each.name: each for each in examples()}


def test_what_is_not_run_is_there():
    assert set(EXAMPLES) >= NOT_HERE
    assert len(EXAMPLES) > len(NOT_HERE) + 15


@pytest.mark.parametrize("name", sorted(EXAMPLES))
@pytest.mark.filterwarnings("ignore")
def test_examples_of_docstrings_run_and_give_what_they_show(name, tmp_path, monkeypatch):
    example = EXAMPLES[name]
    for each in example.examples:
        compile(each.source, name, "single")
    if name in NOT_HERE:
        return
    monkeypatch.chdir(tmp_path)
    names = {**PUBLIC, "cbpe": cbpe, "store": store, "enc": cbpe.get_encoding("cl100k_base")}
    if "arrow" in name:
        names["pyarrow"] = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    example.globs = names
    told = io.StringIO()
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(example, out=told.write, clear_globs=False)
    assert told.getvalue() == ""


# ---- Within the library


def modules_with_examples():
    """The modules of which a name that is not public has an example."""
    for library in (cbpe, store):
        folder = Path(library.__file__).parent
        for path in sorted(folder.rglob("*.py")):
            if path.name != "__init__.py" and ">>>" in path.read_text("utf-8"):
                yield ".".join(path.relative_to(folder.parent).with_suffix("").parts)


@pytest.mark.parametrize("name", sorted(modules_with_examples()))
def test_examples_within_the_library_give_what_they_show(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"an extra is not installed: {error.name}")
    public = {each.docstring for each in EXAMPLES.values()}
    told = io.StringIO()
    for example in doctest.DocTestFinder(exclude_empty=True).find(module):
        if example.examples and example.docstring not in public and example.name not in NEEDS_RAY:
            example.globs.update(
                JSONDecodeError=JSONDecodeError, tiktoken=tiktoken, enc=cbpe.get_encoding("cl100k_base")
            )
            doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(example, out=told.write)
    assert told.getvalue() == ""
