"""Running the command line in tests."""

import shutil
import sys
from pathlib import Path

from typer.testing import CliRunner

from cbpe.cli.app import app
from cbpe.cli.training.target import UNKEPT

TEXT = "the cat sat on the mat\r\nthe cat sat still: 안녕하세요 😉\n\n" * 30
PROGRAM = shutil.which("cbpe", path=str(Path(sys.executable).parent))


def run(*arguments, stdin=b"", exit_code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == exit_code, result.output
    return result


def error_of(*arguments, stdin=b"", exit_code=1):
    """The one line on stderr with which a command fails, having printed nothing else, but that train writes nothing."""
    result = run(*arguments, stdin=stdin, exit_code=exit_code)
    assert result.stdout_bytes == b""
    error = result.stderr.removeprefix(f"cbpe: {UNKEPT}\n")
    assert error.startswith("cbpe: ")
    assert error.count("\n") == 1
    return error
