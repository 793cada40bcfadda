"""The command line as a whole: the main job, how commands fail, and help."""

import ast
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from inspect import unwrap
from pathlib import Path
from typing import Annotated, get_args, get_origin, get_type_hints

import pytest
from command_line import PROGRAM, TEXT, error_of, run
from project import ROOT
from typer.core import TyperGroup
from typer.testing import CliRunner

import cbpe
from cbpe.cli.app import COMMANDS, app, load_command
from store import ModelStore

# ---- The main job


def test_program_trains_encodes_and_decodes(tmp_path, text_file):
    def program(*arguments, stdin=None):
        return subprocess.run([PROGRAM, *arguments], cwd=tmp_path, input=stdin, capture_output=True, check=True).stdout

    program("train", "text.txt", "--vocab-size", "280", "--output", "trained")
    ids = program("encode", "-t", "trained.model", "text.txt")
    assert len(ids.split()) < len(TEXT.encode())
    assert program("decode", "-t", "trained.model", "-", stdin=ids) == TEXT.encode()


# ---- Errors

READERS = [("train", "--vocab-size", 280), ("encode", "-t", "gpt2")]


def test_missing_file(tmp_path):
    missing = tmp_path / "missing.txt"
    for arguments in [
        ("encode", "-t", "gpt2"),
        ("decode", "-t", "gpt2"),
        ("train", "--vocab-size", 280),
    ]:
        assert str(missing) in error_of(*arguments, missing)
    assert "missing.model" in error_of("encode", "-t", tmp_path / "missing.model", "-")


@pytest.mark.parametrize("command", ["count", "encode", "stats", "tokens"])
def test_a_missing_file_among_others_is_told_to_have_them_all_wait(tmp_path, command):
    missing, there = tmp_path / "missing.txt", tmp_path / "there.txt"
    there.write_text("hello")
    told = error_of(command, "-t", "gpt2", there, missing, there)
    assert f"{missing}: No such file or directory; nothing was read of the 3 files, which are all looked at" in told
    assert "nothing was read" not in error_of(command, "-t", "gpt2", missing)


@pytest.mark.parametrize("command", ["encode", "count", "tokens"])
def test_a_text_in_place_of_a_file_is_told_how_texts_are_given(command):
    told = "cbpe: there is no file 'hello world': a text is read from a file, or from standard input\n"
    assert error_of(command, "-t", "gpt2", "hello world") == told


def test_folder_in_place_of_a_file(tmp_path):
    for arguments in [
        ("encode", "-t", "gpt2"),
        ("decode", "-t", "gpt2"),
        ("train", "--vocab-size", 280),
    ]:
        assert str(tmp_path) in error_of(*arguments, tmp_path)


def test_file_that_is_not_utf8(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes("café".encode("latin-1"))
    for arguments in [*READERS, ("count", "-t", "gpt2"), ("tokens", "-t", "gpt2"), ("stats", "-t", "gpt2")]:
        error = error_of(*arguments, path)
        assert "latin.txt is not UTF-8" in error
        assert "0xe9 at offset 3" in error


def test_model_file_that_is_none(tmp_path):
    path = tmp_path / "wrong.model"
    path.write_text("not a model")
    assert "wrong.model" in error_of("encode", "-t", path, "-")


def test_unknown_encoding():
    assert "cl100k_base" in error_of("encode", "-t", "gpt9", "-")


def test_no_tokenizer():
    assert "-t" in error_of("encode", "-", exit_code=2)


def called_commands():
    """Each command, after the words that call it."""
    models = [["models", name, command] for name, command in load_command("models").commands.items()]
    return [[name, load_command(name)] for name in COMMANDS if name != "models"] + models


def options_of_numbers():
    """Each option that takes a number: the words that call its command, the option, whether the number is whole, and
    what Typer is told of it."""
    for *words, command in called_commands():
        names = {each.name: each.opts[-1] for each in command.params}
        hints = get_type_hints(unwrap(command.callback), include_extras=True)
        for name, hint in hints.items():
            # Python 3.10 puts Optional around the hint of an argument whose default is None.
            hint = next((each for each in get_args(hint) if get_origin(each) is Annotated), hint)
            if get_origin(hint) is Annotated:
                of_type, told = get_args(hint)
                kinds = {of_type, *get_args(of_type)}
                if kinds & {int, float}:
                    yield words, names[name], int in kinds, told


def test_every_option_of_a_number_refuses_others_in_the_same_words():
    asked = {"'x' is no whole number": 0, "'x' is no number": 0, "'x' is no size": 0, "less than": 0, "more than": 0}
    for words, option, is_whole, told in options_of_numbers():
        kind = "size" if told.parser else "whole number" if is_whole else "number"
        expected = {"x": f"'x' is no {kind}"}
        if told.min is not None:
            expected[str(told.min - 1)] = f"'{told.min - 1}' is less than {told.min}"
        if told.max is not None:
            expected[str(told.max + 1)] = f"'{told.max + 1}' is more than {told.max}"
        if not told.parser and is_whole:
            expected["9" * 5000] = "99'.. is too large"
        if told.parser:
            expected["9" * 5000] = expected[str(10**19)] = "is too large: the most is "
        for given, problem in expected.items():
            error = error_of(*words, f"{option}={given}", exit_code=2)
            assert re.search(rf"Invalid value for ([^':]* / )?{option}: ", error), (words, error)
            assert problem in error, (words, error)
            assert len(error) < 300
            for words_asked in asked:
                asked[words_asked] += words_asked in error
    assert all(asked.values()), asked


def test_every_command_that_takes_one_tokenizer_refuses_a_second():
    asked = 0
    for *names, command in called_commands():
        options = {option: each for each in command.params for option in each.opts}
        if "-t" in options and not options["-t"].multiple:
            error = error_of(*names, "-t", "gpt2", "--tokenizer", "r50k_base", exit_code=2)
            assert "takes one tokenizer" in error, names
            asked += 1
    assert asked >= 7


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["truncate", "-t", "gpt2", "--max", "9"], "--max-tokens"),
        (["encode", "--model", "gpt2"], "--tokenizer"),
        (["train", "a.txt", "--size", "300"], "--vocab-size"),
        (["train", "a.txt", "--vocab_size", "300"], "--vocab-size"),
        (["train", "a.txt", "--outptu", "x"], "--output"),
        (["models", "ls", "--sort", "name"], "--order-by"),
        (["encode", "-t", "gpt2", "--out", "x"], None),  # which writes to standard output alone
        (["models", "show", "--zzz"], None),
    ],
)
def test_an_option_that_there_is_not_is_told_with_the_one_that_is_meant(given, meant):
    told = error_of(*given, exit_code=2)
    name = next(each for each in given if each[:2] == "--")
    assert told.startswith(f"cbpe: No such option: {name}")
    assert re.findall(r"--[\w-]+", told.partition(" (see ")[0])[1:] == ([meant] if meant else [])


def options_with_one_value():
    for command in COMMANDS:
        loaded = load_command(command)
        for name, each in loaded.commands.items() if hasattr(loaded, "commands") else [("", loaded)]:
            for option in each.params:
                if option.param_type_name == "option" and not (option.multiple or option.is_flag):
                    yield [command, *([name] if name else [])], max(option.opts, key=len)


def test_no_option_with_one_value_may_be_given_twice():
    seen = set()
    for command, option in options_with_one_value():
        if option != "--tokenizer":
            told = error_of(*command, option, "1", option, "2", exit_code=2)
            assert f"Invalid value for {option}: it is given twice, and has one value: give it once" in told
            seen.add(option)
    assert {"--output", "--save", "--store", "--vocab-size", "--sizes", "--contains", "--plot"} <= seen
    for before in ([], ["models"]):
        told = error_of(*before, "--store", "a.db", "--store", "b.db", "ls" if before else "encodings", exit_code=2)
        assert "Invalid value for --store: it is given twice" in told


@pytest.mark.parametrize(("on", "off"), [("append-eot", "no-append-eot"), ("cut-documents", "whole-documents")])
def test_what_is_switched_on_and_off_is_refused(tmp_path, on, off):
    command = ("tokenize", "-t", "gpt2", tmp_path / "a.txt", "-o", tmp_path / "out")
    (tmp_path / "a.txt").write_text("a")
    for both in ((f"--{on}", f"--{off}"), (f"--{off}", f"--{on}")):
        told = error_of(*command, *both, exit_code=2)
        assert f"Invalid value for --{on}: --{off} says the opposite: give one of them" in told
    assert "opposite" not in run(*command, "--row-tokens", "8", f"--{on}", f"--{on}").stderr


def test_two_stores_before_and_after_the_command_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one, other = "one.db", "other.db"
    run("models", "save", "book", "-t", "gpt2", "--store", one)
    error = error_of("--store", other, "models", "ls", "--store", one, exit_code=2)
    assert f"'{other}' and '{one}' are two stores: name one" in error
    assert "book" in run("--store", one, "models", "ls", "--store", one).stdout


def test_no_command_shows_help():
    for group in ([], ["models"]):
        assert run(*group).stdout == run(*group, "--help").stdout


@pytest.mark.parametrize("width", [60, 70, 80])
@pytest.mark.parametrize("group", [[], ["models"]], ids=["cbpe", "cbpe models"])
def test_no_first_sentence_is_cut_in_the_list_of_commands(group, width):
    commands = load_command("models").commands if group else COMMANDS
    environment = {**os.environ, "COLUMNS": str(width)}
    shown = subprocess.run([PROGRAM, *group, "--help"], capture_output=True, text=True, check=True, env=environment)
    lines = shown.stdout.split("Commands:\n")[1].splitlines()
    assert all(len(line) <= width for line in lines)
    listed = re.split(r"\n  (?=\S)", "\n".join(["", *lines]))[1:]
    assert [each.split()[0] for each in listed] == [*commands]
    assert all(each.endswith(".") and not each.endswith("...") for each in listed)
    assert width < 80 or len(lines) == len(listed)


@pytest.mark.parametrize("arguments", [["trian"], ["train"], ["encode", "--nope", "-"]])
def test_command_line_that_is_wrong(arguments):
    assert "--help" in error_of(*arguments, exit_code=2)


@pytest.mark.parametrize("before", [True, False])
def test_debug_shows_where_it_failed(tmp_path, before):
    command = ["encode", "-t", "gpt2", tmp_path / "missing.txt"]
    arguments = ["--debug", *command] if before else [*command, "--debug"]
    failed = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "Traceback" in failed.stderr
    assert "FileNotFoundError" in failed.stderr


def test_debug_shows_where_the_text_of_a_file_is_wrong(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9")
    failed = subprocess.run(
        [PROGRAM, "--debug", "count", "-t", "gpt2", path], capture_output=True, text=True, check=False
    )
    assert failed.returncode == 1
    assert "Traceback" in failed.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals here")
@pytest.mark.parametrize("how", ["", "--no-progress", "before", "notebook"])
def test_bars_are_left_out_where_nobody_wants_them_and_in_notebooks(tmp_path, how):
    import pty

    (tmp_path / "a.txt").write_text("low lower lowest " * 100_000)
    command = ["train", str(tmp_path / "a.txt"), "--vocab-size", "260", "--output", str(tmp_path / "a.json")]
    command = {"--no-progress": [*command, how], "before": ["--no-progress", *command]}.get(how, command)
    known = {name: value for name, value in os.environ.items() if name != "JPY_PARENT_PID"}
    known |= {"JPY_PARENT_PID": "1"} if how == "notebook" else {}
    ours, terminal = pty.openpty()
    try:
        subprocess.run([PROGRAM, *command], stdout=subprocess.DEVNULL, stderr=terminal, env=known, check=True)
        os.write(terminal, b"end")
        drawn = os.read(ours, 100_000)
    finally:
        os.close(ours)
        os.close(terminal)
    assert (b"reading a.txt" in drawn) == (how == "")
    assert (drawn == b"end") == (how != "")


def test_debug_behind_two_dashes_is_a_file():
    assert "--debug: No such file" in error_of("count", "-t", "gpt2", "--", "--debug")


def test_an_option_before_its_command_is_told_to_follow_it():
    assert "; options of a command follow its name" in error_of("--json", "encodings", exit_code=2)
    assert "; options of a command follow its name" in error_of("models", "--json", "ls", exit_code=2)
    for command in (
        ("count", "-t", "gpt2", "--key", "a.pem"),
        ("models", "ls", "--key", "a.pem"),
        ("encode", "--version"),
    ):
        assert "; it stands before the names of commands, behind cbpe" in error_of(*command, exit_code=2)
    assert "stands before" not in error_of("count", "--nope", exit_code=2)
    assert "follow" not in error_of("encodings", "--jsn", exit_code=2)


# ---- Help


def test_version():
    assert run("--version").stdout == f"cbpe {cbpe.__version__}\n"


def commands():
    """All commands, as their words, and their help."""
    for name in COMMANDS:
        command = load_command(name)
        if isinstance(command, TyperGroup):
            yield from ((f"{name} {below}", part.help) for below, part in command.commands.items())
        else:
            yield name, command.help


HELP = dict(commands())


@pytest.mark.parametrize("command", HELP)
def test_help_has_an_example(command):
    text = run(*command.split(), "-h").stdout
    assert f"cbpe {command}" in text.partition("Example:")[2]
    assert text == run(*command.split(), "--help").stdout


@pytest.mark.parametrize("command", ["", "models", *HELP])
def test_help_is_whole_on_a_terminal_of_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = run(*command.split(), "-h").stdout
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert re.findall(r"[\w,;]\.\.\.$", text.partition("\n\n")[2], re.MULTILINE) == []  # the mark of what is cut


@pytest.mark.parametrize("command", HELP)
def test_every_command_has_json(command):
    assert "--json" in run(*command.split(), "-h").stdout


@pytest.mark.parametrize("command", HELP)
def test_usage_names_what_is_asked_for_without_braces(command):
    usage = run(*command.split(), "-h").stdout.partition("\n\n")[0]
    assert re.findall(r"\{\w+\}", usage) == []


def test_commands_are_listed_with_the_beginning_of_their_help():
    for name, (_, said) in COMMANDS.items():
        assert load_command(name).help.split("\n\n")[0] == said


def examples():
    for command, text in HELP.items():
        for line in text.partition("Example:")[2].splitlines():
            if line.strip():
                yield pytest.param(line.strip(), id=command)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with all that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    for name in ("book", "english", "german"):
        (folder / f"{name}.txt").write_bytes(TEXT.encode())
    for name in ("a", "b"):
        (folder / f"{name}.jsonl.gz").write_bytes(gzip.compress(json.dumps({"text": TEXT}).encode()))
    trained = cbpe.train(TEXT, 290)
    trained.save(folder / "book")
    trained.save(folder / "ranks.tiktoken")
    cbpe.get_encoding("cl100k_base").save(folder / "cl100k_base.tiktoken")
    cbpe.tokenize(folder / "book.txt", trained, folder / "pretraining")
    with ModelStore(folder / "models.db") as models:
        models.save(cbpe.train(TEXT, 270), "shakespeare")
        models.save(
            cbpe.train(TEXT, 280),
            "shakespeare",
            tags={"language": "en"},
            notes="on all plays",
            metrics={"bytes_per_token": 3.5, "loss": 3.2},
        )
        models.set_alias("shakespeare", "prod", "shakespeare@1")
        models.export("shakespeare", folder / "shakespeare.cbpe", key=new_key(folder))
        models.backup(folder / "models-backup.db")
    return folder


def new_key(folder):
    """The file of a key to sign with, beside those of public keys: its own, and another one."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    keys = {"public.pem": Ed25519PrivateKey.generate(), "older.pem": Ed25519PrivateKey.generate()}
    for name, key in keys.items():
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (folder / name).write_bytes(public)
    private = keys["public.pem"].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "private.pem").write_bytes(private)
    return folder / "private.pem"


@pytest.fixture
def somewhere_with_files(files, tmp_path, monkeypatch):
    folder = tmp_path / "here"
    shutil.copytree(files, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CBPE_STORE", str(folder / "models.db"))


@pytest.mark.usefixtures("somewhere_with_files")
def test_an_export_that_is_signed_names_the_file_of_its_signature_too():
    said = run("models", "export", "shakespeare@1", "a.cbpe", "--key", "private.pem").stdout
    assert said == "wrote shakespeare@1 to a.cbpe and its signature to a.cbpe.sig\n"
    assert Path("a.cbpe.sig").exists()


@pytest.fixture
def page_without_a_server(monkeypatch):
    """cbpe ui ends as soon as it could answer, and opens no browser."""
    if find_spec("starlette") is not None:
        monkeypatch.setattr("cbpe.web.server.run", lambda app, opened: opened.close())
    monkeypatch.setattr("webbrowser.open", lambda url: True)


@pytest.mark.ci
@pytest.mark.usefixtures("somewhere_with_files", "page_without_a_server")
@pytest.mark.parametrize("line", list(examples()))
def test_examples_in_the_help_run(line):
    words = shlex.split(line)
    if words[:2] == ["cbpe", "ui"] and find_spec("starlette") is None:
        pytest.skip("the extra web is not installed")
    if {"|", ">"} & set(words):
        path = f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(["bash", "-euc", "-o", "pipefail", line], env={**os.environ, "PATH": path}, check=True)
    else:
        assert words[0] == "cbpe"
        run(*words[1:])


@pytest.mark.parametrize(
    "arguments",
    [
        ("train", "--vocab-size", 260, ""),
        ("count-words", "-o", "counted.words", ""),
        ("tokenize", "-t", "gpt2", "-o", "shards", ""),
        ("count", "-t", "gpt2", ""),
        ("encode", "-t", "gpt2", "book.txt", ""),
        ("compare", "-t", "gpt2", ""),
        ("decode", "-t", "gpt2", ""),
        ("inspect", ""),
    ],
)
def test_a_name_that_is_empty_is_no_file_and_not_the_folder_that_one_is_in(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book.txt").write_text("one text")
    error = run(*arguments, exit_code=1).stderr
    assert "cbpe: ''" in error
    assert "Traceback" not in error
    assert os.listdir(tmp_path) == ["book.txt"]


WRITING = [
    ("train", "book.txt", "--vocab-size", 260, "-o", "s3://bucket/book.json"),
    ("train", "book.txt", "--vocab-size", 260, "--checkpoint", "s3://bucket/book.model"),
    ("train", "book.txt", "--vocab-size", 260, "--plot", "s3://bucket/book.svg"),
    ("count-words", "book.txt", "-o", "s3://bucket/book.words"),
    ("tokenize", "book.txt", "-t", "gpt2", "-o", "s3://bucket/shards"),
    ("convert", "gpt2", "s3://bucket/gpt2.json"),
    ("compare", "-t", "gpt2", "book.txt", "--plot", "s3://bucket/book.html"),
]


@pytest.mark.parametrize("arguments", WRITING)
def test_a_url_is_not_written_to_nor_taken_for_a_folder_of_that_name(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book.txt").write_text("one text")
    (tmp_path / "s3:" / "bucket").mkdir(parents=True)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code in (1, 2)
    assert "is a URL, and is not written to: give a name on this machine" in result.stderr
    assert not any((tmp_path / "s3:" / "bucket").iterdir())
    assert sorted(os.listdir(tmp_path)) == ["book.txt", "s3:"]


@pytest.mark.parametrize("arguments", WRITING)
def test_a_path_from_home_that_no_shell_has_replaced_makes_no_folder_of_that_name(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "book.txt").write_text("one text")
    at_home = [str(argument).replace("s3://bucket", "~") for argument in arguments]
    result = CliRunner().invoke(app, at_home)
    assert result.exit_code in (1, 2)
    assert "would be in a folder that is called ~: write " in result.stderr
    assert os.listdir(tmp_path) == ["book.txt"]


def test_a_folder_to_write_to_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "book.txt").write_text("one text")
    monkeypatch.chdir(tmp_path / "in")
    assert "'' names no folder" in error_of("tokenize", "book.txt", "-t", "gpt2", "-o", "")
    assert os.listdir() == ["book.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_files_whose_names_are_no_utf8_are_read_as_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"caf\xe9.txt")
    Path(name).write_text("low lower")
    for again in ([], ["--resume", "--verify"]):
        assert "shards" in run("tokenize", name, "-t", "gpt2", "-o", "shards", *again).stdout
        assert "low.words" in run("count-words", name, "-o", "low.words", *again).stdout
    manifest = json.loads(Path("shards/manifest.json").read_bytes().decode())
    assert manifest["run"]["sources"][0][0] == name
    for command in ("stats", "compare"):
        assert "caf\\udce9.txt" in run(command, "-t", "gpt2", name, "--csv").stdout
    assert run("count", "-t", "gpt2", name).stdout.split()[0] == "2"


def test_bytes_that_are_no_utf8_are_looked_for_in_a_vocabulary():
    command = [PROGRAM, "vocab", "-t", "gpt2", "--contains", b"\xff", "--json"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    assert [row["bytes"] for row in json.loads(printed)] == ["ff"]


def test_every_command_is_in_the_documentation():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert [command for command in HELP if f"cbpe {command} " not in page and f"cbpe {command}\n" not in page] == []


LOADED = """
import sys
from cbpe.cli.start import main
try:
    main()
finally:
    slow = ("numpy", "rich", "typer", "pydantic", "regex", "sqlalchemy", "store")
    print([name for name in slow if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        (["--help"], ["typer"]),
        (["count", "-t", "gpt2", __file__], []),
        (["count", "-t", "gpt2"], ["typer", "pydantic"]),  # which is Typer's
        (["encode", "-t", "gpt2"], ["typer", "pydantic"]),
    ],
)
def test_nothing_slow_is_loaded_in_vain(arguments, loaded):
    command = [sys.executable, "-c", LOADED, *arguments]
    shown = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert set(ast.literal_eval(shown.stderr)) <= set(loaded)
