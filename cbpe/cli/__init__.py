"""The command line: every command is the twin of a function or method, with the same nouns and verbs.

It holds arguments and printing, nothing else. app.py knows the commands by name and ends all errors; each command is
in a module that is imported when it runs, so that --help is quick.
"""

from cbpe.cli.app import app, main

__all__ = ["app", "main"]
