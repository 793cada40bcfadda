"""Split patterns in the syntax of Oniguruma, by which Hugging Face's tokenizers split, and in cbpe's.

What the compiled splitter knows means the same in both, but for some things that are rewritten here, or refused: `$`
and `\\z`, `{n,m}+` and `(?>..)`, `{n}?`, the flags s and m, \\pL, \\U, \\x from 80 on, \\x{4e00}, classes within
classes, `([!?])\\1*`, and ignoring the case of letters that fold to one.
"""

from __future__ import annotations

import re
import sys

from cbpe._core.analysis.coverage import may_match_nothing
from cbpe._core.splitting.split import refuse_unportable
from cbpe.formats.checks import or_as_model, refuse_unportable_pattern
from cbpe.text.splitting import quoted

__all__ = ["from_oniguruma", "to_oniguruma"]

# In characters. No expression becomes shorter by half, and the compiled splitter takes half as many.
MAX_LENGTH = 20_000
MAX_QUOTED = 80

INNER_CLASS = r"\[(?:\\.|[^\\\[\]])*\]"
CLASS = rf"\[(?:\\.|{INNER_CLASS}|[^\\\[\]])*\]"
ESCAPE = r"\\(?:[pP](?:\{\^?\w*\}|\w)|x[0-9a-fA-F]{2}|x\{[0-9a-fA-F]{1,8}\}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)"
COUNT = r"\{\d+(?:,\d*)?\}"
SINGLE = rf"{CLASS}|{ESCAPE}|[^\\\[\](){{}}|?*+^$]"
TOKEN = re.compile(
    rf"(?P<atomic>\(\?>(?P<item>{SINGLE}|\((?:\?[im]*:)?(?:{SINGLE})\))(?P<count>{COUNT})\))"
    rf"|(?P<class>{CLASS})|(?P<escape>{ESCAPE})|(?P<repeat>{COUNT}[?+]?)|(?P<flags>\(\?[ims]+[:)])|(?P<other>.)",
    re.DOTALL,
)
WITHIN = re.compile(rf"\\.|(?P<inner>{INNER_CLASS})", re.DOTALL)
# One character, any number of times: a group that is the first of its pattern, and what refers to it.
RUN = re.compile(rf"\((?P<class>{INNER_CLASS})\)\\1\*(?![*+?{{])", re.DOTALL)
IN_CLASSES = ("\\", "[", "]", "^", "-")  # what means something there
CAPTURES = re.compile(r"\\.|(?P<group>\((?!\?))", re.DOTALL)
UNFINISHED = re.compile(r"\\(?:x[0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})$")  # so far, an escape
MEMBER = re.compile(r"\\(?P<sign>[^\w\s])|(?P<plain>[^\\\[\]^\-&])", re.DOTALL)
ESCAPE_IN_CLASS = re.compile(ESCAPE, re.DOTALL)
# Where case is ignored, Oniguruma takes these letters for the one character that they fold with: a sharp s, a ligature.
IGNORES_CASE = re.compile(r"\(\?[ms]*i", re.IGNORECASE)
FOLDED_TOGETHER = re.compile("ss|ff|fi|fl|st", re.IGNORECASE)


def from_oniguruma(pattern: str) -> str:
    """The pattern of cbpe that means what this one means to Oniguruma. ValueError names what has no such meaning.

    >>> from_oniguruma(r"(?>\\p{N}{1,3})|\\s+\\z")
    '\\\\p{N}{1,3}+|\\\\s+$'
    """
    if len(pattern) > MAX_LENGTH:
        raise ValueError(f"it has {len(pattern):,} characters: at most {MAX_LENGTH:,} are read")
    refuse_folding(pattern)
    found = translated(without_reference(pattern))
    refuse_unportable(found)
    refuse_empty(found)
    return found


def translated(pattern: str) -> str:
    """The pattern token by token, which need not be one that cbpe knows. Raises as from_oniguruma does."""
    parts: list[str] = []
    for token in TOKEN.finditer(pattern):
        text, kind = token[0], token.lastgroup
        if kind == "atomic":
            parts.append(translated(token["item"]) + token["count"] + "+")
        elif text == r"\z":
            parts.append("$")
        elif kind in ("class", "escape"):
            parts.append(read_escapes(flattened(text) if kind == "class" else text))
        elif kind == "repeat" and (text.endswith("}+") or (text.endswith("}?") and "," not in text)):
            raise ValueError(
                f"Oniguruma takes {text!r} for a repetition of a repetition: write (?:..{text[:-1]}){text[-1]}"
            )
        elif kind == "flags":
            if "s" in text:
                raise ValueError(f"Oniguruma does not know the flag s of {text!r}")
            parts.append(text.replace("m", "s"))
        elif text == "[":
            raise ValueError(f"an unmatched bracket, '[' at {token.start()}")
        elif text == "$" and parts[-3:] != [r"\s", "+", "+"]:
            # Only after \s++, which leaves no line end to find, does it always mean the end of the text.
            raise ValueError(r"'$' is the end of every line in Oniguruma: the end of the text is \z")
        else:
            parts.append(text)
    return "".join(parts)


def flattened(text: str) -> str:
    """A class with the members of those within it, which Oniguruma takes for members of its own; a class that excludes,
    and one beside a hyphen, which could be a range then, are left where they are.

    >>> flattened(r"[^(\\s|[.,])]")
    '[^(\\\\s|.,)]'
    """

    def members(found: re.Match[str]) -> str:
        inner = found["inner"]
        if inner is None or "&&" in text or inner[1:2] in ("^", ":", "]"):
            return found[0]
        if UNFINISHED.search(text, 0, found.start() + 1):
            return inner
        hyphens = text[found.start()], text[found.end() + 1], inner[1:2], inner[-2:-1]
        return inner if "-" in hyphens else inner[1:-1]

    return text[0] + WITHIN.sub(members, text[1:])


def without_reference(pattern: str) -> str:
    """The pattern with runs of each of some characters in place of a reference to a group of these.

    >>> without_reference(r"([!?])\\1*| ")
    '(?:[!]+|[?]+)| '
    """
    run = RUN.search(pattern)
    if (
        run is None
        or IGNORES_CASE.search(pattern)
        or any(each["group"] for each in CAPTURES.finditer(pattern, 0, run.start()))
    ):
        return pattern
    members = list(MEMBER.finditer(run["class"], 1, len(run["class"]) - 1))
    if not members or sum(len(each[0]) for each in members) != len(run["class"]) - 2:
        return pattern  # a range, a kind of characters, or all but some
    signs = dict.fromkeys(each["sign"] or each["plain"] for each in members)
    runs = "|".join(rf"[\{sign}]+" if sign in IN_CLASSES else f"[{sign}]+" for sign in signs)
    return f"{pattern[: run.start()]}(?:{runs}){pattern[run.end() :]}"


def to_oniguruma(pattern: str) -> str:
    """The inverse of from_oniguruma. ValueError for a pattern that may mean something else there."""
    refuse_unportable_pattern("Hugging Face's format", pattern)
    try:
        refuse_empty(pattern)
        refuse_folding(pattern)
    except ValueError as error:
        problem = f"Hugging Face's format cannot hold the split pattern {quoted(pattern)}: {error}"
        advice = f"Give another pattern, or save to the model store{or_as_model(pattern)}"
        raise ValueError(f"{problem}. {advice}") from None
    parts: list[str] = []
    open_groups: list[int] = []
    item = 0  # where in the parts the last item starts, which a quantifier repeats
    for token in TOKEN.finditer(pattern):
        text, kind = token[0], token.lastgroup
        if kind == "repeat":
            if text.endswith("}+"):
                parts[item:] = ["(?>", *parts[item:], text[:-1], ")"]
            else:
                parts.append(text.rstrip("?") if "," not in text else text)
            continue
        item = open_groups.pop() if text == ")" else len(parts)
        if text.startswith("(") and not text.endswith(")"):
            open_groups.append(item)
        if kind in ("class", "escape"):
            text = write_escapes(text)
        elif kind == "flags":
            text = text.replace("s", "m")
        elif text == "$":
            text = r"\z"
        parts.append(text)
    return "".join(parts)


def read_escapes(text: str) -> str:
    """A class or an escape of Oniguruma's in cbpe's syntax."""

    def read(escape: re.Match[str]) -> str:
        name = escape[0]
        if name.startswith(r"\x{"):
            code_point = int(name[3:-1], 16)
            if code_point > sys.maxunicode or 0xD800 <= code_point < 0xE000:
                raise ValueError(f"{name!r} is no character")
            return f"\\u{code_point:04x}" if code_point < 0x10000 else chr(code_point)
        if re.fullmatch(r"\\[pP]\w|\\U.*|\\x[89a-fA-F].", name):
            raise ValueError(f"{name!r} is something else in Oniguruma than in other engines")
        return name

    return ESCAPE_IN_CLASS.sub(read, text)


def write_escapes(text: str) -> str:
    """The inverse of read_escapes."""

    def write(escape: re.Match[str]) -> str:
        name = escape[0]
        if re.fullmatch(r"\\[pP]\w", name):
            return f"{name[:2]}{{{name[2]}}}"
        if name[1] in "xuU" and len(name) > 2:
            code_point = int(name[2:], 16)
            return f"\\x{code_point:02x}" if code_point < 128 else chr(code_point)
        return name

    return ESCAPE_IN_CLASS.sub(write, text)


def refuse_empty(pattern: str) -> None:
    if may_match_nothing(pattern):
        raise ValueError("it may match the empty string, after which engines go on in different ways")


def refuse_folding(pattern: str) -> None:
    start = IGNORES_CASE.search(pattern)
    folded = FOLDED_TOGETHER.search(pattern, start.end()) if start else None
    if start and folded:
        named = last_of(pattern[start.start() : folded.end()])
        raise ValueError(f"ignoring case, Oniguruma takes the last letters of {named} for one character as well")


def last_of(text: str) -> str:
    """A text in quotes; of a long one, the end."""
    return repr(text) if len(text) <= MAX_QUOTED else f"..{text[-MAX_QUOTED:]!r}"
