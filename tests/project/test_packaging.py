"""What is shipped: one version, the public names, an import that loads nothing heavy, commands that work."""

import ast
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from project import ROOT

import cbpe
import store

PUBLIC_NAMES = [
    "BasicTokenizer",
    "Comparison",
    "Encoding",
    "GPT2Tokenizer",
    "GPT2_SPLIT_PATTERN",
    "GPT4Tokenizer",
    "GPT4_SPLIT_PATTERN",
    "HuggingFaceTokenizer",
    "RegexTokenizer",
    "SentencePieceTokenizer",
    "Sweep",
    "TextStatistics",
    "Tokenizer",
    "TrainingRecord",
    "VocabularyAnalysis",
    "WordCounts",
    "WordTokenizer",
    "compare",
    "count_corpus",
    "count_words",
    "encoding_for_model",
    "encoding_name_for_model",
    "from_transformers",
    "get_encoding",
    "list_encoding_names",
    "load",
    "recover_merges",
    "sweep",
    "tokenize",
    "train",
]


def test_version_is_written_in_one_place_only():
    assert metadata.version("cbpe") == cbpe.__version__
    assert cbpe.__version__ not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert cbpe.__version__ not in (ROOT / "setup.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PUBLIC_NAMES)
def test_public_name(name):
    assert name in cbpe.__all__
    assert getattr(cbpe, name) is not None


def test_all_names_exist():
    assert [name for name in cbpe.__all__ if not hasattr(cbpe, name)] == []


@pytest.mark.parametrize("package", [cbpe, store], ids=lambda package: package.__name__)
def test_dir_is_the_public_names_and_those_of_every_module(package):
    modules = {"distributed", "patterns"} if package is cbpe else set()
    public = {*package.__all__} - {"__version__"} | modules
    assert {name for name in dir(package) if not name.startswith("__")} == public
    assert all(hasattr(package, name) for name in modules)
    assert {"__all__", "__version__"} <= {*dir(cbpe)}


def test_import_loads_nothing_heavy(tmp_path):
    heavy = ["numpy", "regex", "sqlalchemy", "typer", "rich", "tiktoken", "matplotlib"]
    program = f"import cbpe, sys; print([name for name in {heavy} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ast.literal_eval(loaded.stdout) == []


def test_types_are_shipped():
    package = Path(cbpe.__file__).parent
    assert (package / "py.typed").exists()
    stubs = {path.relative_to(ROOT / "cbpe") for path in (ROOT / "cbpe").rglob("*.pyi")}
    assert stubs
    assert {stub for stub in stubs if not (package / stub).exists()} == set()


def test_the_files_of_the_page_are_shipped():
    patterns = read_pyproject()["tool"]["setuptools"]["package-data"]["cbpe"]
    folders = [ROOT / "cbpe" / "web" / name for name in ("static", "templates")]
    files = {path.relative_to(ROOT / "cbpe") for folder in folders for path in folder.iterdir()}
    assert files
    assert {file for file in files if not any(file.match(pattern) for pattern in patterns)} == set()


def test_ci_runs_the_commands_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = dict(re.findall(r"<!-- command: ([^\n]+) -->\n```bash\n(.+?)\n```\n", readme, re.DOTALL))
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r'^run_from_readme "(.+)"$', ci, re.MULTILINE) == ["the tests", "the main job"]
    assert set(commands) == {"the tests", "the main job"}
    assert re.search(r"\bpytest\b", commands["the tests"])
    assert "cbpe train" in commands["the main job"]


def read_pyproject():
    tomllib = pytest.importorskip("tomllib", reason="Python reads TOML from 3.11 on")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_front_page_says_what_each_extra_for_users_is_for():
    extras = read_pyproject()["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    for_users = {*re.fullmatch(r"cbpe\[(.+)\]", everything)[1].split(","), "ray"}
    assert for_users <= extras.keys()
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == for_users


def test_a_release_has_wheels_for_every_python_and_machine():
    project = read_pyproject()
    wheels = project["tool"]["cibuildwheel"]
    oldest = re.fullmatch(r">=3\.(\d+)", project["project"]["requires-python"])
    versions = [name.removeprefix("cp3").removesuffix("-*") for name in wheels["build"]]
    ordinary = [int(version) for version in versions if version.isdigit()]
    assert oldest
    assert ordinary == list(range(int(oldest[1]), max(ordinary) + 1))
    assert f"{max(ordinary)}t" in versions  # a Python without the lock
    workflow = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    built = sorted(re.findall(r"machine: (ubuntu|macos|windows)\S*, archs: (\w+)", workflow))
    systems = {"ubuntu": "linux", "macos": "macos", "windows": "windows"}
    assert built == sorted((system, arch) for system, name in systems.items() for arch in wheels[name]["archs"])


def test_a_wheel_holds_no_source_that_it_does_not_need():
    shipped = read_pyproject()["tool"]["setuptools"]
    ends = {pattern.rsplit(".", 1)[1] for patterns in shipped["package-data"].values() for pattern in patterns}
    assert shipped["include-package-data"] is False
    assert ends == {"typed", "pyi", "cbpe", "mako", "ini", "html", "css", "js", "svg"}


def test_a_checkout_that_is_not_compiled_says_what_to_do(tmp_path):
    """Python finds it before the cbpe that is installed, where it is started there."""
    shutil.copytree(ROOT / "cbpe", tmp_path / "cbpe", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    command = [sys.executable, "-c", "import cbpe; cbpe.load"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith(
        f"ImportError: this is the cbpe of the checkout {tmp_path.resolve()}, which is not compiled: "
    )
    assert "start Python in another folder" in said
    assert "pip install -e ." in said
