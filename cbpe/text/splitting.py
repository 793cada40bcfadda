"""Chooses how a split pattern runs: natively where the compiled splitter understands it, else by the `regex` module."""

from __future__ import annotations

from cbpe._core.splitting.split import UNICODE_VERSION, PatternNotSupported, Splitter
from cbpe.common.wording import shown
from cbpe.text.patterns import ASCII_RULES, BY_NAME, OF_ENCODINGS
from cbpe.text.spaces import CHARACTERS_SPLIT_PATTERN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cbpe._core.calls.encoder import PythonSplitter

__all__ = ["RegexSplitter", "make_splitter", "pattern_in_words", "quoted", "refuse_pattern_name", "unicode_version"]

# How long the `regex` module may work on one text before its pattern is taken to backtrack without end.
SECONDS_PER_TEXT = 10.0
SECONDS_PER_CHARACTER = 1e-5
# `regex` copies a group as often as it must occur, nested ones as often as the product says: (?:(?:a{9}){9}){9}.
MAX_COPIES = 2000
MAX_COUNT = 100_000  # of single characters, which the `regex` module unrolls to some 300 bytes each
MAX_UNROLLED = 250_000  # characters and classes in all, when every repetition is written out
MAX_DIGITS = 12
MAX_QUOTED = 200  # characters of an expression, in a message


def make_splitter(pattern: str | None) -> Splitter | RegexSplitter:
    """A splitter for a pattern; its `native` says which kind. ValueError if the pattern is not a valid expression, or
    if it would find next to nothing, as an empty one and the name of one of cbpe.patterns.

    The environment's CBPE_INSTRUCTIONS may name the instruction set that classifies characters, in place of the best
    that the machine has; "portable" is the one that every machine has. The pieces are the same with each.

    >>> make_splitter(r"\\p{L}+|\\P{L}+").native
    True
    >>> make_splitter(r"(\\w)\\1*|.").native  # remembers what it has seen
    False
    """
    if pattern == "":
        raise ValueError("the split pattern '' is empty, and matches nothing: with None nothing is split")
    if isinstance(pattern, str):
        refuse_pattern_name(pattern)
    try:
        rules = ASCII_RULES.get(pattern, 0) if isinstance(pattern, str) else 0
        return Splitter(pattern, rules)
    except PatternNotSupported as reason:
        assert pattern is not None  # which is always supported
        return RegexSplitter(pattern, str(reason))


def refuse_pattern_name(pattern: str) -> None:
    """ValueError for the name of a split pattern in place of one."""
    name = OF_ENCODINGS.get(pattern, pattern).removesuffix("_SPLIT_PATTERN").lower()
    if name in BY_NAME:
        raise ValueError(
            f"the split pattern {shown(pattern)} is the name of one: pass cbpe.patterns.{name.upper()}_SPLIT_PATTERN"
        )


class RegexSplitter:
    """Splits by the `regex` module: any of its patterns, but much slower.

    That module decides the version of Unicode, and that `$` also matches before a last newline. A piece is the whole
    match, whatever groups the pattern has; empty matches are no pieces.
    """

    native = False

    def __init__(self, pattern: str, reason: str = "") -> None:
        self.pattern = pattern
        self.reason = reason  # why the pattern does not run natively
        self._compiled = compile_regex(pattern)
        self._looks_ahead: bool | None = None  # until somebody asks

    def __reduce__(self) -> tuple[type[RegexSplitter], tuple[str, str]]:
        return RegexSplitter, (self.pattern, self.reason)

    def __repr__(self) -> str:
        return f"RegexSplitter({self.pattern!r})"

    def split(self, text: str) -> list[str]:
        """The pieces of a text. ValueError if the pattern backtracks, or calls itself, beyond all measure on
        it."""
        return [text[start:end] for start, end in self.spans(text)]

    @property
    def looks_ahead(self) -> bool:
        """Whether what follows a place in a text, or that the text ends there, may change the pieces before it."""
        if self._looks_ahead is None:
            self._looks_ahead = may_look_ahead(self.pattern)
        return self._looks_ahead

    def spans(self, text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
        """The places of the pieces in a text, which ends at `end`, from `start` on, where a piece begins: (start, end)
        in characters. Raises as split does."""
        timeout = SECONDS_PER_TEXT + SECONDS_PER_CHARACTER * len(text)
        try:
            found = self._compiled.finditer(text, start, end, timeout=timeout)
            return [match.span() for match in found if match.group()]
        except TimeoutError:
            problem = f"took more than {timeout:.0f} s on one text"
            raise ValueError(f"the split pattern {quoted(self.pattern)} {problem}") from None
        except MemoryError:
            if not calls_itself(self.pattern):
                raise
            problem = "calls itself, or a group in itself, without end: write it without (?R) and its like"
            raise ValueError(f"the split pattern {quoted(self.pattern)} {problem}") from None


def may_look_ahead(pattern: str) -> bool:
    """Whether an expression may look beyond what it matches. It does not where it has nothing but characters, classes,
    what matches them, repetitions, references, and groups that are plain, atomic, named, or look back.

    >>> may_look_ahead(r"(\\w)\\1*|(?<=a)\\s+"), may_look_ahead(r"\\w+|\\s+(?!\\S)")
    (False, True)
    """
    import re

    escapes = r"\\[sSdDwW\d]|\\[pP](?:\{[^{}]*\}|\w)|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[nrtfv]|\\[^\w]"
    groups = r"\((?!\?)|\(\?(?:[is]*:|[is]+\)|<[=!]|>|P?<[^\W\d]\w*>|P=[^\W\d]\w*\))"
    return re.fullmatch(rf"(?:{escapes}|{groups}|\{{\d*,?\d*\}}|[^\\({{$])*", pattern, re.ASCII) is None


def calls_itself(pattern: str) -> bool:
    """Whether an expression may match itself, or a group of it, anew within a match: "(?R)", "(?1)", "(?&name)"."""
    import re

    return re.search(r"\(\?(?:R|&|P>|[+-]?\d)", pattern) is not None


def unicode_version(splitter: Splitter | PythonSplitter) -> str | None:
    """The version of Unicode by which a splitter knows characters; None for that of the `regex` module."""
    return UNICODE_VERSION if isinstance(splitter, Splitter) else getattr(splitter, "unicode_version", None)


def compile_regex(pattern: str) -> Any:
    """The pattern compiled by the `regex` module; its errors become ValueErrors that quote the pattern."""
    import regex  # slow to import, and rarely needed

    named = f"the split pattern {quoted(pattern)}"
    copies, size = unrolled(pattern)
    if copies > MAX_COPIES:
        raise ValueError(f"{named} is too large: it repeats a group more than {MAX_COPIES} times")
    if largest_count(pattern) > MAX_COUNT:
        raise ValueError(f"{named} is too large: it repeats something more than {MAX_COUNT:,} times")
    if size > max(MAX_UNROLLED, len(pattern)):
        raise ValueError(f"{named} is too large: its repetitions come to {size:,} characters, of {MAX_UNROLLED:,}")
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"{named} is not a valid expression: {error}") from error
    except (RecursionError, MemoryError, OverflowError) as error:
        raise ValueError(f"{named} is too large: {error}") from error


def unrolled(pattern: str) -> tuple[int, int]:
    """How many copies of something inside a repeated group the `regex` module makes, and of how many characters and
    classes all is made in the end, signs included: (?:(?:ab{2}){3,}c){5} -> (30, 178)

    This guard needs no more than a rough reading, which is right for any syntax with groups, classes and escapes, or
    more than there is. Where comments are possible, or classes in classes, all repetitions are taken for nested ones.
    """
    import re

    least_count = re.compile(rf"\{{(\d{{1,{MAX_DIGITS}}})")
    if ("#" in pattern and re.search(r"\(\?(#|[a-zA-Z0-9]*x)", pattern)) or re.search(r"\(\?[a-zA-Z0-9]*V", pattern):
        total = len(pattern)
        for found in least_count.finditer(pattern):
            total = min(total * max(int(found[1]), 1), 10**MAX_DIGITS)
        return 1, total
    copies, sizes = [1], [0]  # in the groups that are open
    most = 1
    for token in re.finditer(r"\\.|\[\^?\]?(?:\\.|[^\\\]])*\]|.", pattern, re.DOTALL):
        inside, size = 1, 1
        if token[0] == "[":
            break  # a class without an end, which is no valid expression
        if token[0] == "(":
            copies.append(1)
            sizes.append(1)
            continue
        is_group = token[0] == ")" and len(copies) > 1
        if is_group:
            inside, size = copies.pop(), sizes.pop()
        count = least_count.match(pattern, token.end())
        times = int(count[1]) if count else 1
        if is_group and inside > 1:
            most = max(most, inside * times)
        copies[-1] = max(copies[-1], inside * times)
        sizes[-1] += size * max(times, 1)
    return most, sum(sizes)


def largest_count(pattern: str) -> int:
    """The largest number of times that the pattern, in braces, asks for something in a row: a{2,3}b{7} -> 7"""
    import re

    return max((int(digits[:MAX_DIGITS]) for digits in re.findall(r"\{(\d+)", pattern)), default=0)


def quoted(pattern: str) -> str:
    """An expression as a message quotes it: as it was written, without what does not print, and the beginning of a long
    one."""
    written = "".join(each if each.isprintable() else repr(each)[1:-1] for each in pattern[:MAX_QUOTED])
    return f"'{written}'" + (".." if len(pattern) > MAX_QUOTED else "")


def pattern_in_words(pattern: str | None) -> str:
    """A split pattern by its short names, if it has some; or else the expression."""
    if pattern is None:
        return "no pattern"
    known = {**BY_NAME, "characters": CHARACTERS_SPLIT_PATTERN}
    names = [name for name, expression in known.items() if expression == pattern]
    return " or ".join(names) or quoted(pattern)
