"""Draws docs/paths.svg: the two paths through cbpe, a text through encode and a source through train.

    python docs/draw_paths.py > docs/paths.svg

The colours are of a lightness between white and near black, so that the picture reads on a light and on a dark page.
"""

from html import escape

WIDTH, HEIGHT = 1280, 500
LEFT, RIGHT = 78, 1202  # where the first box begins and the last ends
BOX_WIDTH, BOX_HEIGHT = 136, 70
INK, DATA, BOX = "#77808a", "#d9702a", "#4c8fd0"

ENCODE_Y, MISS_Y, TRAIN_Y = 78, 208, 380
# What is done, the two lines of its box, and its room.
ENCODE = [
    ("take UTF-8", "of the str", "_core/text"),
    ("find", "special tokens", "_core/text"),
    ("split", "by the pattern", "_core/splitting"),
    ("look up", "in the cache", "_core/encoding"),
    ("hand out", "list, array, count", "_core/calls"),
]
ENCODE_DATA = ["text", "bytes", "stretches", "pieces", "ids", "ids"]
MISS = [
    ("cut", "at safe places", "_core/merging"),
    ("merge", "the earliest merge first", "_core/merging"),
    ("number", "symbol to id", "_core/vocabulary"),
]
MISS_DATA = ["parts", "symbols"]
TRAIN = [
    ("read", "files, texts", "corpus"),
    ("cut", "into batches", "corpus"),
    ("split and count", "in threads", "_core/counting"),
    ("lay out", "distinct pieces", "_core/training"),
    ("learn", "the commonest pair", "_core/training"),
    ("put together", "a vocabulary, a class", "tokenizers"),
]
TRAIN_DATA = ["source", "texts", "batches", "counts", "symbols", "merges", "tokenizer"]


def columns(n):
    """Where n boxes begin that fill the width: columns(2) -> [78, 1066]"""
    step = (RIGHT - LEFT - BOX_WIDTH) / (n - 1)
    return [LEFT + round(i * step) for i in range(n)]


def words(x, y, text, *, size=12, color=INK, weight="normal", anchor="middle"):
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def box(x, y, title, what, room):
    middle = x + BOX_WIDTH // 2
    return [
        f'<rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8" fill="{BOX}" fill-opacity="0.12" '
        f'stroke="{BOX}" stroke-width="1.5"/>',
        words(middle, y + 22, title, size=13, weight="bold"),
        words(middle, y + 39, what, size=11),
        words(middle, y + 58, room, size=11, color=BOX),
    ]


def arrow(points, *, dashed=False):
    path = " ".join(f"{'L' if i else 'M'}{x} {y}" for i, (x, y) in enumerate(points))
    style = ' stroke-dasharray="4 4"' if dashed else ""
    return f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.5" marker-end="url(#head)"{style}/>'


def row(y, boxes, starts, data):
    """Boxes from left to right; data: what goes into the first, from each to the next, and out of the last."""
    middle = y + BOX_HEIGHT // 2
    edges = [starts[0] - 62, *(x + BOX_WIDTH for x in starts)]
    ends = [*starts, starts[-1] + BOX_WIDTH + 62]
    drawn = []
    for x, text in zip(starts, boxes, strict=True):
        drawn += box(x, y, *text)
    for start, end, label in zip(edges, ends, data, strict=True):
        if label:
            drawn += [arrow([(start + 3, middle), (end - 4, middle)])]
            drawn += [words((start + end) // 2 - 2, middle - 7, label, color=DATA)]
    return drawn


def encode_path():
    starts = columns(5)
    drawn = [words(16, 34, "A text through encode", size=15, weight="bold", anchor="start")]
    drawn += row(ENCODE_Y, ENCODE, starts, ENCODE_DATA)

    # The special tokens that are found go past splitting and looking up.
    special, out = starts[1] + BOX_WIDTH // 2, starts[4] + BOX_WIDTH // 2
    drawn += [arrow([(special, ENCODE_Y), (special, 56), (out, 56), (out, ENCODE_Y - 4)])]
    drawn += [words((special + out) // 2, 49, "ids of the special tokens", color=DATA)]

    # A piece that the cache does not have is cut, merged and numbered, and its ids are remembered.
    drawn += row(MISS_Y, MISS, starts[2:], ["", *MISS_DATA, ""])
    below, above = ENCODE_Y + BOX_HEIGHT, MISS_Y - 4
    half = (below + above) // 2 + 2
    asked, told = starts[3] + 30, starts[3] + BOX_WIDTH - 30
    cut, number = starts[2] + BOX_WIDTH // 2, starts[4] + 36
    drawn += [arrow([(asked, below), (asked, half), (cut, half), (cut, above)])]
    drawn += [words((asked + cut) // 2, half - 6, "new pieces", color=DATA)]
    drawn += [arrow([(number, MISS_Y), (number, half), (told, half), (told, below + 4)], dashed=True)]
    drawn += [words((number + told) // 2, half - 6, "remembered", color=DATA)]
    upwards = starts[4] + BOX_WIDTH - 36
    drawn += [arrow([(upwards, MISS_Y), (upwards, below + 4)])]
    drawn += [words(upwards + 8, half + 4, "ids", color=DATA, anchor="start")]
    return drawn


def train_path():
    starts = columns(6)
    drawn = [words(16, TRAIN_Y - 44, "A source through train", size=15, weight="bold", anchor="start")]
    drawn += row(TRAIN_Y, TRAIN, starts, TRAIN_DATA)

    # One merge after the other is learned; meanwhile progress is told and a checkpoint written.
    left, right = starts[4] + 30, starts[4] + BOX_WIDTH - 30
    above, below = TRAIN_Y - 24, TRAIN_Y + BOX_HEIGHT
    drawn += [arrow([(right, TRAIN_Y), (right, above), (left, above), (left, TRAIN_Y - 4)])]
    drawn += [words((left + right) // 2, above - 7, "again and again", color=DATA)]
    middle = starts[4] + BOX_WIDTH // 2
    drawn += [arrow([(middle, below), (middle, below + 24)], dashed=True)]
    drawn += [words(middle, below + 40, "progress, checkpoints: training", size=11)]
    return drawn


def main():
    drawn = "\n".join(encode_path() + train_path())
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="DejaVu Sans, Verdana, sans-serif" role="img">\n'
        f"<title>The two paths: a text through encode, a source through train</title>\n"
        f'<defs><marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>\n{drawn}\n</svg>'
    )


if __name__ == "__main__":
    main()
