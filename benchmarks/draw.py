"""Pictures of what compare.py and growth.py measured, as SVG that is readable on a light and on a dark page.

    python benchmarks/draw.py encoding.json [training.json] -o speed.svg
    python benchmarks/draw.py growth.json -o growth.svg

Bars begin at zero, each panel with a scale of its own; lengths are on logarithmic axes.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("agg")

from growth_tasks import KINDS, WORKS
from matplotlib import pyplot as plt
from suites import OURS

# Of a lightness between white and near black, so that each stands out from both.
INK, OURS_COLOR, PEER_COLOR = "#77808a", "#e8702a", "#7d98b3"
LINE_COLORS = (OURS_COLOR, "#4c8fd0", "#3fa37c", "#b07cc6")
STYLE = {
    "axes.edgecolor": INK,
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": INK,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "svg.hashsalt": "cbpe",  # the same picture from the same figures
    "svg.fonttype": "none",  # text as text, not as outlines
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}
# What is drawn of a comparison: a row of panels for each kind of figure.
CORPORA = ("english", "code", "chinese", "multilingual")
ROWS = {
    "encoding": (
        ("first", "Encoding to numpy, first pass: MB/s, more is better", [f"{name}_numpy" for name in CORPORA]),
        ("repeated", "Encoding to numpy, repeated: MB/s, more is better", [f"{name}_numpy" for name in CORPORA]),
    ),
    "training": (("seconds", "Training: seconds, less is better", list(CORPORA)),),
}
SHORT_TITLES = {"english": "English", "code": "Code", "chinese": "Chinese", "multilingual": "Multilingual"}
TRAINED_TO = {
    "english": "English to 32,000",
    "code": "Code to 50,000",
    "chinese": "Chinese to 32,000",
    "multilingual": "Multilingual to 50,000",
}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", nargs="+", help="what compare.py or growth.py wrote")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the picture; its suffix is its format")
    options = parser.parse_args(arguments)
    found = [json.loads(Path(path).read_text(encoding="utf-8")) for path in options.json]
    if "growth" in found[0]:
        growth(found[0], options.output)
    else:
        comparisons(found, options.output)


def comparisons(found, path):
    """Rows of panels with a bar for each peer, from the JSON of one or more comparisons."""
    rows = [
        (result, figure, title, tasks)
        for result in found
        for figure, title, tasks in ROWS[result["suite"]]
        if any((line["task"], line["figure"]) == (task, figure) for line in result["lines"] for task in tasks)
    ]
    with plt.rc_context(STYLE):
        heights = [len(peers_of(result)) + 2.2 for result, *_ in rows]
        picture = plt.figure(figsize=(11, 0.24 * sum(heights) + 0.4), layout="constrained")
        parts = picture.subfigures(len(rows), 1, height_ratios=heights, squeeze=False)[:, 0]
        for part, (result, figure, title, tasks) in zip(parts, rows, strict=True):
            heading(part, title)
            peers = peers_of(result)
            panels = part.subplots(1, len(tasks), sharey=True)
            for axes, task in zip(panels, tasks, strict=True):
                draw_bars(axes, result, task, figure, peers)
        parts[-1].supxlabel(caption(found), fontsize=7.5, color=INK)
        save(picture, path)


def caption(found):
    machine, rounds = found[0]["machine"], found[0]["rounds"]
    encoding = "".join(f"{result['encoding']} on one core; " for result in found if result["suite"] == "encoding")
    return (
        f"{encoding}{machine['processor']} with {machine['cores']} cores, medians of {rounds}. "
        "Bars begin at zero, each panel has its own scale."
    )


def peers_of(result):
    """Who is drawn: those with a figure in one of the panels whose output is right everywhere, ours first."""
    drawn = {(task, figure) for figure, _, tasks in ROWS[result["suite"]] for task in tasks}
    measured = {peer for line in result["lines"] if (line["task"], line["figure"]) in drawn for peer in line["medians"]}
    return [peer for peer in result["versions"] if peer in measured and peer not in result["wrong_outputs"]]


def draw_bars(axes, result, task, figure, peers):
    corpus = task.partition("_")[0]
    axes.set_title(TRAINED_TO[corpus] if result["suite"] == "training" else SHORT_TITLES[corpus], fontsize=9)
    medians = next((x["medians"] for x in result["lines"] if (x["task"], x["figure"]) == (task, figure)), {})
    reasons = {failure["peer"]: failure["reason"] for failure in result["failures"] if failure["task"] == task}
    longest = max((medians[peer] for peer in peers if peer in medians), default=1)
    for row, peer in enumerate(peers):
        style = {"color": OURS_COLOR, "weight": "bold"} if peer == OURS else {"color": INK}
        length, label = medians.get(peer, 0), number(medians.get(peer, 0))
        if peer in medians:
            axes.barh(row, length, color=OURS_COLOR if peer == OURS else PEER_COLOR)
        elif reasons.get(peer, "").startswith("over "):
            length, label = longest, reasons[peer]
            axes.barh(row, longest * 10, color=PEER_COLOR, alpha=0.25)  # to the edge of the panel, and beyond
        else:
            label = "failed" if peer in reasons else "not offered"
        axes.text(length + longest * 0.02, row, label, va="center", fontsize=8, **style)
    axes.set_xlim(0, longest * 1.3)
    axes.set_xticks([])
    axes.set_ylim(len(peers) - 0.4, -0.6)
    axes.set_yticks(range(len(peers)), peers)
    axes.tick_params(left=False, labelsize=8)
    for label in axes.get_yticklabels():
        if label.get_text() == OURS:
            label.set(color=OURS_COLOR, weight="bold")
    axes.spines["bottom"].set_visible(False)


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def growth(found, path):
    """Seconds and memory against length, and speed against threads, from the JSON of growth.py."""
    with plt.rc_context(STYLE):
        picture = plt.figure(figsize=(11, 7.5), layout="constrained")
        by_length, by_threads = picture.subfigures(2, 1, height_ratios=(6, 1 + 0.25 * len(found["threads"])))
        heading(by_length, f"Growth with the length of a text, {found['encoding']}, on one core")
        panels = by_length.subplots(2, len(WORKS), sharex=True, sharey="row")
        for column, (work, title) in zip(panels.T, WORKS.items(), strict=True):
            column[0].set_title(title, fontsize=9)
            for axes, figure in zip(column, ("seconds", "memory"), strict=True):
                draw_lines(axes, [point for point in found["growth"] if point["work"] == work], figure)
            column[0].set_yscale("log")
            column[1].set_yscale("symlog", linthresh=1)  # from 0 to 1 MB it is linear
            for axes in column:
                axes.minorticks_off()
            column[1].set_xlabel("bytes of text")
        panels[1, 0].set_ylim(0, 2 * max(point["memory"] or 1 for point in found["growth"]))
        panels[0, 0].set_ylabel("seconds")
        panels[1, 0].set_ylabel("MB above the text")
        panels[0, 0].legend(fontsize=8, loc="upper left")
        draw_threads(by_threads, found["threads"], found["machine"]["cores"])
        save(picture, path)


def draw_lines(axes, points, figure):
    for color, (kind, title) in zip(LINE_COLORS, KINDS.items(), strict=True):
        measured = [point for point in points if point["kind"] == kind and point[figure] is not None]
        lengths, values = ([point[name] for point in measured] for name in ("bytes", figure))
        axes.plot(lengths, values, marker="o", markersize=3, color=color, label=title)
    axes.set_xscale("log")
    axes.grid(visible=True)


def draw_threads(part, points, cores):
    heading(part, f"English in 8 KB texts: MB/s by the number of threads, on {cores} cores")
    panels = part.subplots(1, 2, sharex=True, sharey=True)
    for axes, figure, title in zip(panels, ("lists", "flat"), ("encode_batch", "encode_batch_flat"), strict=True):
        axes.set_title(title, fontsize=9)
        for row, point in enumerate(points):
            speed = point[figure] or 0
            axes.barh(row, speed, color=OURS_COLOR)
            axes.text(speed, row, f" {number(speed)}" if speed else " failed", va="center", fontsize=8)
        axes.set_yticks(range(len(points)), [point["threads"] for point in points])
        axes.tick_params(left=False)
        axes.spines["bottom"].set_visible(False)
    axes.set(xlim=(0, axes.get_xlim()[1] * 1.05), xticks=[])
    axes.invert_yaxis()


def heading(part, text):
    part.suptitle(text, x=0.008, ha="left", weight="bold", fontsize=10.5)


def save(picture, path):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    metadata = {"Date": None} if Path(path).suffix == ".svg" else None
    picture.savefig(path, metadata=metadata, transparent=True, dpi=130, bbox_inches="tight", pad_inches=0.1)
    plt.close(picture)


if __name__ == "__main__":
    main()
