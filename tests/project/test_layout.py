"""The layout of the packages: rooms of a size, functions of a size, and imports that run one way.

lint-imports holds the layers of Python modules (pyproject.toml). Here Cython modules and stubs count as well.
"""

import ast
import io
import re
import shutil
import subprocess
import tokenize
from functools import cache

import pytest
from project import ROOT

PACKAGES = ["cbpe", "store"]
MOST_MODULES = 12  # in a folder
MOST_LINES = 60  # of code in a function
SUFFIXES = (".py", ".pyi", ".pyx", ".pxd")
SCRIPTS = {ROOT / "cbpe" / "_unicode"}  # what wrote the tables of the core, and is no package
LAYERS_OF_THE_CORE = [
    ["calls"],
    ["encoding", "decoding", "counting", "training", "analysis", "conversion", "arrow"],
    ["merging"],
    ["vocabulary", "splitting"],
    ["text"],
    ["c"],
]


FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.suffix in SUFFIXES)
FOLDERS = sorted({path.parent for path in FILES} - SCRIPTS)


def place(path):
    return path.relative_to(ROOT).as_posix()


# ---- Rooms


def test_no_file_lies_at_the_top_that_no_tool_expects_there():
    """Examples and tools make some, which are not to be checked in."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    listed = subprocess.run([git, "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert {path for path in listed if "/" not in path} == {
        ".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in",
        "README.md", "SECURITY.md", "pyproject.toml", "setup.py",
    }  # fmt: skip


@pytest.mark.parametrize("folder", FOLDERS, ids=place)
def test_a_folder_holds_a_dozen_modules_at_most(folder):
    modules = {path.stem for path in folder.iterdir() if path.suffix in SUFFIXES} - {"__init__"}
    assert len(modules) <= MOST_MODULES


@pytest.mark.parametrize("folder", FOLDERS, ids=place)
def test_a_folder_says_what_it_is_for_and_loads_nothing(folder):
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    if folder.parent != ROOT:
        assert not tree.body[1:]


# ---- Functions


def functions_of_python(text):
    """(name, lines of code) of each function; docstrings, comments and blank lines are no code."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    code = {line for token in tokens if token.type not in blank for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = set(range(node.lineno, node.end_lineno + 1)) & code
            if ast.get_docstring(node) is not None:
                lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
            yield node.name, len(lines)


HEAD_OF_CYTHON = re.compile(
    r"^( *)(?:def|cdef(?! class)|cpdef)\b[^\n=]*?(\w+)\(.*?\)[^\n()]*:[^\n]*$", re.MULTILINE | re.DOTALL
)


def functions_of_cython(text):
    """As functions_of_python: a function is its head, and what is indented more deeply after it."""
    text = re.sub(r'^( *)"""(.*?)"""$', lambda found: "\n" * found[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)
    for head in HEAD_OF_CYTHON.finditer(text):
        inside = re.compile(rf"(?:{head[1]} +\S[^\n]*|\s*)(?:\n|\Z)")
        end = head.end() + 1
        while end < len(text) and (line := inside.match(text, end)) and line.end() > end:
            end = line.end()
        lines = text[head.start() : end].split("\n")
        yield head[2], sum(1 for line in lines if line.strip() and not line.lstrip().startswith("#"))


PYTHON = """
def f(
    a,
):
    '''Doc.

    More.
    '''
    # why

    return '''x
y'''


class A:
    def g(self): ...
"""

CYTHON = """
cdef int f(
    int a,
) except -1 nogil:
    \"\"\"Doc.

    More.
    \"\"\"
    # why

    if a:
        return 1
    return 0


cdef class A:
    def g(self):
        return f(1)

    cdef int n


cdef class B(A):
    def h(self):
        return 1
"""


def test_the_lines_of_a_function_are_counted_without_words_about_it():
    assert list(functions_of_python(PYTHON)) == [("f", 5), ("g", 1)]
    assert list(functions_of_cython(CYTHON)) == [("f", 6), ("g", 2), ("h", 2)]


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix in (".py", ".pyx")], ids=place)
def test_a_function_has_at_most_sixty_lines(path):
    functions_of = functions_of_python if path.suffix == ".py" else functions_of_cython
    found = functions_of(path.read_text(encoding="utf-8"))
    assert [(name, n) for name, n in found if n > MOST_LINES] == []


# ---- Imports


def name_of(path):
    """The module that a file is, or tells the types of: cbpe/text/streams.py -> "cbpe.text.streams" """
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path) for path in FILES}
CIMPORT = re.compile(r"^\s*(?:from ([\w.]+) c?import (\([^)]*\)|[^\n#]+)|c?import ([\w.]+))", re.MULTILINE)


def imports_of(path):
    """The modules of ours that a file names in imports, those in functions and for type checkers included."""
    named = set()
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".py", ".pyi"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                named.update(f"{node.module}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Import):
                named.update(alias.name for alias in node.names)
    else:
        for source, names, module in CIMPORT.findall(text):
            named.add(module)
            named.update(f"{source}.{name.split()[0]}" for name in names.strip("()").split(",") if name.strip())
    modules = {name if name in MODULES else name.rpartition(".")[0] for name in named}
    return (modules & MODULES) - {name_of(path)}


@cache
def all_imports():
    """The modules of ours that each module imports, by name."""
    found = {}
    for path in FILES:
        found.setdefault(name_of(path), set()).update(imports_of(path))
    return found


def reached_from(module):
    reached, unfinished = set(), [module]
    while unfinished:
        new = all_imports()[unfinished.pop()] - reached
        reached |= new
        unfinished += new
    return reached


def test_the_imports_are_found():
    assert "cbpe.text.patterns" in all_imports()["cbpe.text.splitting"]
    assert "cbpe.text.streams" in all_imports()["cbpe.tokenizers.tokenizer"]  # within a function
    assert "cbpe._core.splitting.split" in all_imports()["cbpe._core.counting.count"]  # of C functions


def test_no_imports_run_in_a_circle():
    assert {module for module in MODULES if module in reached_from(module)} == set()


def room(module):
    """The room of the core that a module is in: "cbpe._core.calls.batch" -> "calls" """
    return module.split(".")[2]


def wrong_imports(imports):
    """The imports of the core, {module: the modules that it imports}, that do not run from a layer to a lower one."""
    level = {name: number for number, layer in enumerate(LAYERS_OF_THE_CORE) for name in layer}
    wrong = set()
    for module in sorted(imports):
        for other in sorted(imports[module]):
            if not other.startswith("cbpe._core.") or (
                room(other) != room(module) and level[room(other)] <= level[room(module)]
            ):
                wrong.add(f"{module} imports {other}")
    return wrong


def test_the_core_imports_from_lower_layers_and_from_nothing_above_it():
    inside = {module: all_imports()[module] for module in MODULES if module.startswith("cbpe._core.")}
    assert "cbpe._core.splitting.split" in inside
    assert wrong_imports(inside) == set()


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("from cbpe._core.c.bits cimport cbpe_lowest_bit\nfrom cbpe._core.text.special cimport SEARCHED\n", set()),
        ("from cbpe._core.merging.merge cimport (\n    pause\n)\n", {"cbpe._core.merging.merge"}),
        ("def f():\n    import cbpe._core.calls.stream\n", {"cbpe._core.calls.stream"}),
        ("import os\nfrom cbpe.text import splitting\n", {"cbpe.text.splitting"}),
    ],
)
def test_an_import_of_what_lies_above_is_found(text, wrong, tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "cbpe" / "_core" / "text" / "made_up.pyx"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    name = name_of(path)
    assert wrong_imports({name: imports_of(path)}) == {f"{name} imports {other}" for other in wrong}
