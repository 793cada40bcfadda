"""A text cut into its tokens, as a notebook shows it: coloured, with ids, and what is in each when one points at it."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from cbpe.common.wording import number_of
from cbpe.views.directions import Direction, direction_of, places_in, turned
from cbpe.views.html import block, escaped, visible
from cbpe.views.readable import CIRCLE, on_circle

__all__ = ["ShownText"]

MOST_TOKENS = 5000  # that are drawn; a page with more is slow
MOST_IN_LINE = 20  # that are printed
WORD_END = "</w>"  # as some vocabularies mark the tokens that end a word
COLOURS = 5  # of neighbours, in turn
STYLE = (
    ".cbpe .t{border-radius:.2em;padding:.05em .1em;margin:0 1px;display:inline-block;white-space:pre-wrap;"
    "overflow-wrap:anywhere;color:#111;font-family:ui-monospace,monospace}"
    # In DejaVu Sans Mono, for one, a mark stands beside its circle, where the next token covers it.
    ".cbpe .o{font-family:system-ui,sans-serif}"
    ".cbpe .t sub{font-size:.65em;color:#333;margin-left:.2em}.cbpe .s{outline:2px solid var(--mark)}"
    ".cbpe .t0{background:#bfdbfe}.cbpe .t1{background:#fde68a}.cbpe .t2{background:#bbf7d0}"
    ".cbpe .t3{background:#fbcfe8}.cbpe .t4{background:#ddd6fe}"
)


class Group(NamedTuple):
    """A token, or several that only together are whole characters."""

    ids: tuple[int, ...]
    tokens: tuple[bytes, ...]

    @property
    def text(self) -> str:
        return b"".join(self.tokens).decode("utf-8", "replace")

    def in_line(self) -> str:
        """The text in quotes, and of several tokens how many they are."""
        quoted = repr(self.text)
        marked = quoted[0] + on_circle(quoted[1:])
        return marked + (f" ({len(self.ids)} tokens)" if len(self.ids) > 1 else "")


class ShownText:
    """The tokens of a text, which a notebook shows in colours.

    ids: of the tokens. Characters that are divided between tokens are shown as one group. n_bytes: how many bytes the
    text has. covered_bytes: how many of them are in tokens; the tokens may have more, such as marks of the ends of
    words. template: how many tokens a template adds, which are not among the ids.
    """

    def __init__(
        self,
        ids: list[int],
        vocab: Mapping[int, bytes],
        special: Collection[int],
        n_bytes: int,
        covered_bytes: int,
        template: int = 0,
    ) -> None:
        self.ids = ids
        self._vocab = vocab
        self._special = special
        self._n_bytes = n_bytes
        self._covered_bytes = covered_bytes
        self._template = template

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        shown = [group.in_line() for group in self._groups(MOST_IN_LINE)]
        more = ["..."] if len(self.ids) > MOST_IN_LINE else []
        return f"<{number_of(len(self.ids), 'token')}{self._around()}: {' '.join([*shown, *more])}>"

    def _around(self) -> str:
        """What is said of a template."""
        return f", and {self._template:,} of the template" if self._template else ""

    def _groups(self, most: int) -> Iterator[Group]:
        """The first tokens, at most so many. A group that goes on after them is left out."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        held: list[tuple[int, bytes]] = []
        for token_id in self.ids[:most]:
            held.append((token_id, self._vocab[token_id]))
            decoder.decode(held[-1][1])
            if not decoder.getstate()[0]:  # no character has begun and not ended
                yield group_of(held)
                held = []
        if held and len(self.ids) <= most:
            yield group_of(held)

    def _repr_html_(self) -> str:
        drawn = list(self._groups(MOST_TOKENS))
        n_drawn = sum(len(group.ids) for group in drawn)
        lines = "".join(self._lines(drawn))
        covered = "" if self._covered_bytes == self._n_bytes else f"{self._covered_bytes:,} of "
        total = f"{number_of(len(self.ids), 'token')}{self._around()}, {covered}{number_of(self._n_bytes, 'byte')}"
        if self.ids:
            total += f", {self._covered_bytes / len(self.ids):,.2f} bytes per token"
        if len(self.ids) > n_drawn:
            total += f"; the first {n_drawn:,} are shown"
        return block(f'<div>{lines}</div><p class="dim">{escaped(total)}</p>', style=STYLE)

    def _lines(self, groups: list[Group]) -> Iterator[str]:
        """Each line of the text as an element, in the direction of most of its letters, special tokens and marks of the
        ends of words aside."""
        line: list[Part] = []
        for part in parts_of(groups):
            line.append(part)
            if part.text.endswith("\n"):
                yield self._line(line)
                line = []
        if line:
            yield self._line(line)

    def _line(self, parts: list[Part]) -> str:
        texts = ["" if self._is_special(each.group) else each.text.removesuffix(WORD_END) for each in parts]
        line = direction_of("".join(texts)) or "ltr"
        places = places_in(texts, line)
        drawn = []
        for at, (begun, n_ended) in enumerate(turned(places, line)):
            drawn += ["</span>"] * n_ended + [f'<span dir="{direction}">' for direction in begun]
            if at < len(places):
                direction: Direction = "rtl" if places[at][1] % 2 else "ltr"
                drawn.append(self._span(parts[at], direction))
        return f'<div dir="{line}">{"".join(drawn)}</div>'

    def _is_special(self, group: Group) -> bool:
        return group.ids[0] in self._special

    def _span(self, part: Part, direction: Direction) -> str:
        """A token, or what is in this line of one. direction: in which brackets and the like open that stand alone."""
        group = part.group
        kind = " s" if self._is_special(group) else ""
        said = "; ".join(
            f"{token_id}: {token.hex(' ')}" for token_id, token in zip(group.ids, group.tokens, strict=True)
        )
        text = escaped(part.text).replace(" ", "·")
        circled = ' class="o"' if text.startswith(CIRCLE) and not part.text.startswith(CIRCLE) else ""
        # What is written out, as r"\u200f" is, reads from the left wherever it stands.
        is_written_out = visible(part.text).count("\\") > part.text.count("\\")
        is_turned = direction == "rtl" and direction_of(part.text) is None and not is_written_out
        turned = ' dir="rtl"' if is_turned else ""
        if part.text.endswith(WORD_END):  # or the mark would stand before a word that runs from right to left
            turned = ' dir="ltr"'
        ids = f"<sub>{' '.join(map(str, group.ids))}</sub>" if part.is_last else ""
        shown = f"<bdi{circled}{turned}>{text}</bdi>{ids}"
        return f'<span class="t t{part.number % COLOURS}{kind}" title="{said}">{shown}</span>'


class Part(NamedTuple):
    """What is in a line of a group."""

    number: int  # of the group
    group: Group
    text: str
    is_last: bool


def parts_of(groups: list[Group]) -> Iterator[Part]:
    """The lines of each group: each but the last ends with a line break."""
    for i, group in enumerate(groups):
        lines = re.findall(r"[^\n]*\n|[^\n]+", group.text) or [""]
        for k, line in enumerate(lines, 1):
            yield Part(i, group, line, k == len(lines))


def group_of(held: list[tuple[int, bytes]]) -> Group:
    return Group(tuple(token_id for token_id, _ in held), tuple(token for _, token in held))
