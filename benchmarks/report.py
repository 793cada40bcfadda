"""The report of a run for people: a table, and notes below it."""

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from suites import JUDGE, OURS


def show(results):
    """Print the report: on a terminal as a drawn table, elsewhere as Markdown."""
    console = Console()
    if not console.is_terminal:
        print(markdown(results), end="")
        return
    (first, *others), *rows = table(results)
    shown = Table(first, box=box.SIMPLE_HEAD)
    for name in others:
        shown.add_column(name, justify="right")
    for cells in rows:
        shown.add_row(*(escape(cell) for cell in cells))
    console.print(shown)
    for line in (title(results), *notes(results)):
        console.print(line, highlight=False, markup=False)


def markdown(results):
    """The report for a README: what was measured, the command, a table, and notes."""
    header, *rows = table(results)
    rules = ["---", "---", *("---:" for _ in header[2:])]
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, rules, *rows)]
    parts = [
        f"```bash\n{results.command}\n```",
        title(results),
        "\n".join(lines),
        "\n".join(f"- {note}" for note in notes(results)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(results):
    """The header and the rows, a list of cells each. The best peer's figure is bold."""
    peers = results.counted_peers()
    rows = [["work", "unit", *peers, "cbpe / best peer"]]
    for task, figure in results.lines():
        about = results.figure(task, figure)
        ratio = results.ratio(task, figure)
        cells = [cell(results, task, figure, peer) for peer in peers]
        rows.append([about.title, about.unit, *cells, "" if ratio is None else f"{ratio:.2f}"])
    return rows


def cell(results, task, figure, peer):
    value = results.median(task, figure, peer)
    if value is None:
        failure = results.failures.get((task, peer), "")
        return failure if failure.startswith("over ") or not failure else "failed"
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"**{shown}**" if peer == results.best_peer(task, figure) else shown


def title(results):
    machine = results.machine
    texts = ", ".join(f"{name} {megabytes:.3g} MB" for name, megabytes in results.texts.items())
    versions = ", ".join(f"{peer} {version}" for peer, version in results.versions.items() if version)
    what = results.encoding if results.suite.name == "encoding" else "Training"
    return (
        f"{what}, on {machine['processor']} with {machine['cores']} cores, Python {machine['python']}. Texts: {texts}. "
        f"Medians of {results.rounds}. {versions}."
    )


def notes(results):
    """Notes: what is missing and why, whose output is wrong, how far trained vocabularies agree."""
    for peer, version in results.versions.items():
        if version is None:
            yield f'{peer} is not installed (`pip install ".[bench]"`).'
        wrong = results.wrong_tasks(peer)
        if wrong:
            judge = OURS if peer == JUDGE else JUDGE
            yield f"{peer} does not count, as its output is not {judge}'s: {', '.join(wrong)}."
        else:
            for reason, tasks in failures_by_reason(results, peer).items():
                yield f"{peer} did not finish, {reason}: {', '.join(tasks)}."
    yield from training_notes(results)


def failures_by_reason(results, peer):
    found = {}
    for (task, by), reason in results.failures.items():
        if by == peer:
            found.setdefault(reason, []).append(task)
    return found


def training_notes(results):
    for name, version in results.versions.items():
        pattern = getattr(results.suite.peers[name], "only_pattern", None)
        if pattern and version:
            yield f"{name} splits by {pattern}'s pattern in every row, as it has no other."
    for peer in results.versions:
        apart = [
            f"{task} {found['in_common']:,} of {found['learned']:,}"
            for task, agreements in results.trained_vocabularies().items()
            if (found := agreements.get(peer)) and not found["in_common"] == found["learned"] == found["ours"]
        ]
        if apart:
            yield f"{peer} learned other tokens than cbpe however it breaks ties; in common are: {', '.join(apart)}."
