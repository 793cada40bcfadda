"""What shells complete of the command line."""

import os
import subprocess

import pytest
from command_line import PROGRAM, error_of, run
from typer.testing import CliRunner

import cbpe
from cbpe.cli.app import app
from store import ModelStore


def asked_to_complete(typed, tmp_path, shell="bash"):
    """What a shell sets to ask what a line may go on with, where its cursor stands at its end."""
    return {
        "_CBPE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split(" ")) - 1),
        "CBPE_STORE": str(tmp_path / "models.db"),
    }


def test_installing_completion_stands_alone_and_names_what_it_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    told = error_of("--install-completion", "nonsense", exit_code=2)
    assert "--install-completion: it stands alone" in told
    assert [*tmp_path.iterdir()] == []
    monkeypatch.setattr("typer._completion_shared._get_shell_name", lambda: "bash")
    assert f"{tmp_path / '.bashrc'} has a line that loads it\n" in run("--install-completion").stdout


def completions(typed, tmp_path):
    """What a shell is told, by the program within this process."""
    result = CliRunner().invoke(app, prog_name="cbpe", env=asked_to_complete(typed, tmp_path))
    return result.stdout.split()


def test_the_program_completes(tmp_path):
    environment = {**os.environ, **asked_to_complete("cbpe count -t cl", tmp_path)}
    completed = subprocess.run([PROGRAM], env=environment, capture_output=True, check=True)
    assert completed.stdout.split() == [b"cl100k_base"]


def test_bash_completes_commands_options_encodings_and_models(tmp_path):
    assert completions("cbpe enc", tmp_path) == ["encode", "encodings"]
    assert "--tie-break" in completions("cbpe train --t", tmp_path)
    assert completions("cbpe count -t cl", tmp_path) == ["cl100k_base"]
    assert completions("cbpe count --tokenizer o200k_", tmp_path) == ["o200k_base", "o200k_harmony"]
    assert not (tmp_path / "models.db").exists()
    with ModelStore(tmp_path / "models.db") as models:
        models.save(cbpe.train("to be or not to be", 258), "shakespeare")
    assert completions("cbpe count -t sha", tmp_path) == ["shakespeare"]


@pytest.mark.parametrize("command", ["train", "count-words", "convert", "models ls"])
def test_the_names_of_split_patterns_are_completed(command, tmp_path):
    assert completions(f"cbpe {command} --pattern gpt", tmp_path) == ["gpt2", "gpt4"]
    assert completions(f"cbpe {command} --pattern o200k_b", tmp_path) == ["o200k_base"]
    of_characters = ["characters"] if command == "count-words" else []
    assert completions(f"cbpe {command} --pattern char", tmp_path) == of_characters


def test_what_versions_may_be_in_order_of_is_completed(tmp_path):
    assert completions("cbpe models ls --order n", tmp_path) == ["name", "number"]
    assert completions("cbpe models ls --order me", tmp_path) == ["metric:"]


def test_a_script_for_the_shell_is_shown():
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    arguments = [PROGRAM, "--show-completion", "bash"]
    script = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True).stdout
    assert "_CBPE_COMPLETE=complete_bash" in script
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
