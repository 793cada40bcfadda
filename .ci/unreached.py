"""Which lines of the core no test reached, after a build with CBPE_CFLAGS="-O0 --coverage" and a run of tests.

gcov counts how often each line of the generated C ran. Cython writes before each stretch of it which line of the
sources it stands for. A line is reached if any of its C ran.
"""

import json
import re
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

MARK = re.compile(r'\s*/\* "(cbpe/_core/[^"]+)":(\d+)$')
# What stands after the last line of a function: where it is left, by a return or an exception.
ENDS = re.compile(r"\s*/\* function exit code \*/|\}")


def main():
    ran = defaultdict(Counter)  # file -> line -> how often
    for data in sorted(Path("build").rglob("*.gcda")):
        if "_core" in data.parts:
            for name, lines in counted(data):
                for (source, line), n in in_sources(name, lines).items():
                    ran[source][line] += n
    if not ran:
        raise SystemExit("no counts below build/: build with --coverage, and run tests")
    report(ran)


def counted(data):
    """What gcov says of one module: for each C file and header of the project, how often each line ran."""
    command = ["gcov", "--json-format", "--stdout", str(data)]
    done = subprocess.run(command, capture_output=True, check=True)
    for file in json.loads(done.stdout)["files"]:
        if "cbpe/_core/" in file["file"]:
            lines = Counter()
            for line in file["lines"]:
                lines[line["line_number"]] += line["count"]
            yield file["file"], lines


def in_sources(name, lines):
    """How often lines of the sources ran, {(file, line): times}, by those of a header or of generated C."""
    if not name.endswith(".c"):
        source = name[name.index("cbpe/_core/") :]  # Cython copies some to where it builds
        return {(source, line): n for line, n in lines.items()}
    found = Counter()
    place = None
    with open(name, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            if mark := MARK.match(line.rstrip("\n")):
                place = mark[1], int(mark[2])
            elif ENDS.match(line):
                place = None
            elif place is not None and number in lines:
                found[place] += lines[number]
    return found


def report(ran):
    n_reached = n_lines = 0
    for source in sorted(ran):
        text = Path(source).read_text(encoding="utf-8").splitlines()
        missed = sorted(line for line, n in ran[source].items() if n == 0)
        n_lines += len(ran[source])
        n_reached += len(ran[source]) - len(missed)
        if missed:
            print(f"\n{source}: {len(missed)} of {len(ran[source])}")
            for line in missed:
                print(f"{line:5}  {text[line - 1].rstrip()}")
    print(f"\n{n_reached} of {n_lines} lines of the core were reached ({100 * n_reached / n_lines:.1f} %)")


if __name__ == "__main__":
    main()
