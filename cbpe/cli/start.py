"""Where the program `cbpe` begins. Counting the tokens of files, which scripts ask for again and again, leaves out what
reads command lines: to import that takes longer than to load most tokenizers and to count."""

from __future__ import annotations

import sys
import warnings

from cbpe.cli.ending import code_of_interrupt, heed_nothing, heed_signals

__all__ = ["main"]


def main() -> None:
    heed_signals()
    try:
        run()
    except KeyboardInterrupt:  # while the program is imported
        sys.exit(code_of_interrupt())
    finally:
        heed_nothing()


def run() -> None:
    arguments = sys.argv[1:]
    if sys.stdout is not None and is_plain_count(arguments):
        sys.exit(count_plainly(arguments[2], arguments[3:]))
    from cbpe.cli.app import main as whole  # slow to import

    whole()


def is_plain_count(arguments: list[str]) -> bool:
    """Whether this is `count -t REF FILE...`, and no other option, nor standard input, is named."""
    others = arguments[2:]
    return arguments[:2] == ["count", "-t"] and len(others) > 1 and all(each[:1] not in ("", "-") for each in others)


def count_plainly(reference: str, files: list[str]) -> int:
    """What the command count does with these arguments. Returns the exit code."""
    from cbpe.cli.input.counts import file_counts
    from cbpe.cli.input.references import tokenizer_of
    from cbpe.cli.input.texts import files_meant, readers, tell_of_tables_in
    from cbpe.cli.output.printing import (
        error_message,
        escape_what_is_missing,
        leave_closed_pipe,
        print_counts,
        print_error,
        print_warning,
    )

    escape_what_is_missing()
    warnings.showwarning = print_warning
    try:
        tok = tokenizer_of(reference)
        found = files_meant(files, None, "strict")
        tell_of_tables_in(found, None)
        named = readers(found, None, "strict")
        counts, failures = file_counts(tok, named, tok._found_always() or "none")
        if counts:
            print_counts(counts, named=True)
        for message in map(error_message, failures):
            print_error(message)
    except BrokenPipeError:
        return leave_closed_pipe()
    except KeyboardInterrupt:
        return code_of_interrupt()
    except Exception as error:
        print_error(error_message(error))
        return 1
    return 1 if failures else 0
