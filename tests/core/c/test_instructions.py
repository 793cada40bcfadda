"""The choice of instructions: one list of names, one error, wherever they are chosen. And machines that are refused."""

import shutil
import subprocess

import pytest
from project import ROOT
from vocabularies import by_merges, encoder

import cbpe
from cbpe._core.c.instructions import instruction_sets
from cbpe._core.calls.encoder import Encoder
from cbpe._core.splitting.split import Splitter
from cbpe._core.text.utf8 import to_utf8
from cbpe.text.splitting import RegexSplitter


def encode_with_a_splitter_in_python():
    Encoder()._install(by_merges([]), RegexSplitter(r"\S+"), {})


# Where a name comes from the environment: splitting, counting, and encoding, whose cache and UTF-8 take it too.
BY_ENVIRONMENT = [
    lambda: Splitter(r"\S+"),
    lambda: cbpe.count_words(["a b"]),
    lambda: cbpe.train("a b", 257),
    lambda: cbpe.BasicTokenizer(),
    encode_with_a_splitter_in_python,
]
BY_NAME = [lambda name: Splitter(r"\S+", 0, name), lambda name: to_utf8("é", name)]


def test_every_machine_has_the_portable_set_and_names_it_last():
    assert instruction_sets()[-1] == "portable"
    assert set(instruction_sets()) <= {"avx512", "avx2", "neon", "portable"}


@pytest.mark.parametrize("entry", BY_ENVIRONMENT)
@pytest.mark.parametrize("name", ["mmx", "AVX2", "portable "])
def test_an_unknown_name_in_the_environment_is_one_error_everywhere(entry, name, monkeypatch):
    entry()
    monkeypatch.setenv("CBPE_INSTRUCTIONS", name)
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole message is compared
        entry()
    assert str(raised.value) == f"no instruction set {name!r} here: there are {', '.join(instruction_sets())}"


@pytest.mark.parametrize("entry", BY_NAME)
@pytest.mark.parametrize("name", ["mmx", "", "portable\0", "é"])
def test_an_unknown_name_that_is_passed_is_the_same_error(entry, name):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole message is compared
        entry(name)
    assert str(raised.value) == f"no instruction set {name!r} here: there are {', '.join(instruction_sets())}"


@pytest.mark.parametrize("name", [*instruction_sets(), ""])
def test_every_set_that_is_there_can_be_chosen_and_changes_no_token(name, monkeypatch):
    text = "The quick brown fox, and 中文 as well as é and 😀. " * 200
    vocabulary = by_merges([(97, 98), (0xE4, 0xB8), (257, 0xAD), (32, 97)])
    expected = encoder(vocabulary, pattern=r"\s?\p{L}+|.").encode_ordinary(text)
    monkeypatch.setenv("CBPE_INSTRUCTIONS", name)
    assert encoder(vocabulary, pattern=r"\s?\p{L}+|.").encode_ordinary(text) == expected


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
@pytest.mark.parametrize("order", ["__ORDER_LITTLE_ENDIAN__", "__ORDER_BIG_ENDIAN__"])
def test_a_big_endian_machine_is_refused_when_the_core_is_compiled(order):
    command = ["cc", "-fsyntax-only", "-x", "c", "-U__BYTE_ORDER__", f"-D__BYTE_ORDER__={order}", "loads.h"]
    compiled = subprocess.run(command, cwd=ROOT / "cbpe/_core/c", capture_output=True, text=True, check=False)
    assert (compiled.returncode == 0) == (order == "__ORDER_LITTLE_ENDIAN__")
    assert ("cbpe does not work on big-endian machines" in compiled.stderr) == (compiled.returncode != 0)
