"""Values that a user spells in one argument: pairs, numbers, bytes, split patterns, special tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import typer

from cbpe.common.checks import MAX_TOKENS, N_BYTES, bounds_in
from cbpe.common.warning import warn
from cbpe.common.wording import listed, meant, shown
from cbpe.encodings.named import SPECS
from cbpe.text.patterns import BY_NAME
from cbpe.text.splitting import make_splitter

if TYPE_CHECKING:
    from cbpe import Tokenizer
    from cbpe.text.special_tokens import SpecialChoice

__all__ = [
    "PATTERN_NAMES",
    "bytes_of",
    "complete_pattern",
    "hex_bytes",
    "metric_filter",
    "metrics_of",
    "pairs_of",
    "pattern_of",
    "refuse_named_twice",
    "size_of",
    "size_or_zero",
    "size_range",
    "sizes_of",
    "special_choice",
    "special_of",
    "tag_filter",
    "time_of",
    "vocab_size_of",
    "wrong_value_of",
]

LARGEST = 2**62  # as the library has it
ID = re.compile(r"\d+", re.ASCII)  # of a special token
LARGEST_ID = 2**32 - 2
LONGEST_ID = len(str(LARGEST_ID))  # in digits
SEEMS_ID = re.compile(r"[\d+\N{MINUS SIGN}-]")  # its beginning
SIZE = re.compile(r"(\d+(?:[,_]\d{3})*|\d+\.\d+)([kmgKMG]|[KMG]i)?", re.ASCII)
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
NAMES_SHOWN = 10  # of special tokens, in a message
PATTERN_NAMES = ", ".join(BY_NAME)


@contextmanager
def wrong_value_of(option: str) -> Iterator[None]:
    """A context in which a ValueError is about the value of this option."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def pairs_of(labels: Iterable[str] | None, hint: str = "--tag") -> dict[str, str]:
    """["language=en", "final"] -> {"language": "en", "final": ""}; hint: the option, or argument, of them"""
    pairs = [label.partition("=") for label in labels or ()]
    refuse_twice(hint, [key for key, _, _ in pairs])
    return {key: value for key, _, value in pairs}


def refuse_twice(what: str, keys: list[str]) -> None:
    """BadParameter for a key that has two values, of which one would be lost."""
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise typer.BadParameter(f"{shown(twice)} is given twice: give it once", param_hint=what)


def refuse_named_twice(names: list[str], hint: str = "-t") -> None:
    """BadParameter for a tokenizer, or a file, that would be measured twice and have two rows."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise typer.BadParameter(f"{shown(twice)} is named twice", param_hint=hint)


def tag_filter(label: str) -> str | tuple[str, str]:
    """ "final" -> "final", any value; "language=en" -> ("language", "en")"""
    key, has_value, value = label.partition("=")
    return (key, value) if has_value else key


def metric_filter(label: str) -> str | tuple[str, tuple[float | None, float | None]]:
    """ "loss" -> "loss", any value; "loss=0.25" -> ("loss", (0.25, 0.25)); "loss=..3" -> ("loss", (None, 3.0))"""
    key, has_value, value = label.partition("=")
    if not has_value:
        return key
    try:
        return key, bounds_in(value)
    except ValueError as error:
        message = f"{shown(label)} is no KEY=NUMBER, and no KEY=MIN..MAX: {error}"
        raise typer.BadParameter(message, param_hint="--metric") from error


def metrics_of(labels: Iterable[str] | None, hint: str = "--metric") -> dict[str, float]:
    """["loss=0.25"] -> {"loss": 0.25}. hint: as in pairs_of."""
    metrics: dict[str, float] = {}
    pairs = [label.partition("=") for label in labels or ()]
    refuse_twice(hint, [key for key, _, _ in pairs])
    for label, (key, _, value) in zip(labels or (), pairs, strict=True):
        try:
            metrics[key] = float(value)
        except ValueError as error:
            raise typer.BadParameter(f"{shown(label)} is no KEY=NUMBER", param_hint=hint) from error
    return metrics


def time_of(text: str) -> datetime:
    """ "2026-11-30" -> datetime(2026, 11, 30); "2026-11-30T14:00Z" -> the same day at 14:00 in UTC"""
    try:
        return datetime.fromisoformat(re.sub("[zZ]$", "+00:00", text))
    except ValueError as error:
        raise typer.BadParameter(
            f"{shown(text)} is no time: write a day, as 2026-11-30, or 2026-11-30T14:00", param_hint="--since"
        ) from error


def size_of(text: str, hint: str | None = None, most: int = LARGEST, *, groups: bool = True) -> int:
    """ "16000" -> 16000, "16,000" -> 16000, "16k" and "16K" -> 16000, "16Ki" -> 16384; m and g, Mi and Gi likewise

    hint: the option that a message names, where Typer does not know it. groups: whether a comma may stand within one.
    """
    size = whole_number(text)
    if not size:
        same = "16000, 16,000, 16k" if groups else "16000, 16k"
        written = f"{same} (the same), or 16Ki (16384), and with m, Mi, g or Gi likewise"
        problem = "is too small: the least is 1" if size == 0 else f"is no size: write {written}"
        raise typer.BadParameter(f"{shown(text)} {problem}", param_hint=hint)
    if size > most:
        raise typer.BadParameter(f"{shown(text)} is too large: the most is {most}", param_hint=hint)
    return size


def size_or_zero(text: str | int) -> int:
    """As size_of, and 0, which Typer gives as a number where it is the default."""
    return 0 if whole_number(str(text)) == 0 else size_of(str(text))


def whole_number(text: str) -> int | None:
    """ "16k" -> 16000, "0" -> 0, "1.5" -> None"""
    found = SIZE.fullmatch(text)
    if found is None:
        return None
    number = Decimal(found[1].replace(",", "").replace("_", "")) * UNITS[(found[2] or "").lower()]
    return int(number) if number == number.to_integral_value() else None


def vocab_size_of(text: str) -> int:
    """As size_of, of a vocabulary that is made."""
    return size_of(text, most=MAX_TOKENS)


def size_range(text: str | None) -> tuple[int | None, int | None] | None:
    """ "1000" -> (1000, 1000), "1k.." -> (1000, None), and so "1k-", as it was written before"""
    if text is None:
        return None
    least, is_range, most = text.partition(".." if ".." in text else "-")
    if not (least or most):
        raise no_sizes(text)
    first, last = (bound_of(size, text) if size else None for size in (least, most))
    if first is not None and last is not None and first > last:
        raise typer.BadParameter(f"{shown(text)} begins above its end", param_hint="--vocab-size")
    return first, last if is_range else first


def no_sizes(text: str) -> typer.BadParameter:
    message = f"{shown(text)} is no size, and no MIN..MAX: write 16000, 16k, 1k..32k, 1k.. or ..32k"
    return typer.BadParameter(message, param_hint="--vocab-size")


def bound_of(size: str, text: str) -> int:
    """A size, which may be 0. BadParameter for a text that has none in its place."""
    if whole_number(size) is None:
        raise no_sizes(text)
    return 0 if size == "0" else size_of(size, "--vocab-size")


def bytes_of(text: str | int) -> int:
    """As size_of, of bytes; the default of an option is a number already."""
    return text if isinstance(text, int) else size_of(text)


def sizes_of(text: str, largest: int) -> list[int]:
    """ "1000,5k" -> [1000, 5000], "1k..6k" -> [1000, 2000, 4000, 6000], "1000.." -> as far as the largest, "..1k" ->
    from the first of the usual sizes"""
    from cbpe.measures.sweep import FIRST_SIZE  # slow to import

    least, is_range, most = text.partition("..")
    sizes = [most or str(largest)] if is_range else text.split(",")
    if "000" in sizes:
        raise typer.BadParameter(
            f"in {shown(text)}, a comma stands between two sizes: write 16000 or 16k", param_hint="--sizes"
        )
    wrong_size = next((size for size in sizes if "-" in size), None)
    if wrong_size is not None:
        raise typer.BadParameter(f"{shown(wrong_size)} is no size: a range is 1k..32k", param_hint="--sizes")
    spaced = next((size for size in sizes if size.strip() != size), None)
    if spaced is not None:
        raise typer.BadParameter(f"{shown(spaced)} has a blank: write sizes as 1k,2k", param_hint="--sizes")
    found = [size_of(size, "--sizes", groups=False) for size in sizes]
    if is_range:
        found.insert(0, size_of(least, "--sizes") if least else min(FIRST_SIZE, found[0]))
    wrong = [size for size in found if not N_BYTES <= size <= largest]
    if wrong:
        problem = f"{wrong[0]} is no size of a vocabulary that this model holds, which are {N_BYTES} to {largest}"
        raise typer.BadParameter(problem, param_hint="--sizes")
    if not is_range:
        return found
    if found[0] > found[1]:
        raise typer.BadParameter(f"{shown(text)} begins above its end", param_hint="--sizes")
    doublings = (found[0] << i for i in range(largest.bit_length()))
    return sorted({*(size for size in doublings if size < found[1]), found[1]})


def refuse_stream(name: str, hint: str) -> None:
    """BadParameter for "-" where a command writes or reads a whole file or folder."""
    if name == "-":
        raise typer.BadParameter("name a file or a folder: this is no stream. (One called - is ./-)", param_hint=hint)


def hex_bytes(digits: str) -> bytes:
    """ "e28099" -> b"\\xe2\\x80\\x99" """
    try:
        return bytes.fromhex(digits)
    except ValueError as error:
        raise typer.BadParameter(f"{shown(digits)} is no bytes in hexadecimal", param_hint="--bytes") from error


def pattern_of(name_or_expression: str, others: tuple[str, ...] = ()) -> str:
    """ "gpt2" -> GPT2_SPLIT_PATTERN; "cl100k_base" -> the pattern of that encoding; an expression -> itself.
    BadParameter for what is none. others: names that a command takes besides."""
    if name_or_expression in BY_NAME:
        return BY_NAME[name_or_expression]
    if name_or_expression in SPECS:
        return SPECS[name_or_expression].pattern
    if not name_or_expression or name_or_expression.replace("-", "").replace("_", "").isalnum():
        raise typer.BadParameter(
            f"{shown(name_or_expression)} is no expression that could split a text, and the known names are "
            f"{', '.join([*BY_NAME, *others])}{meant(name_or_expression, [*BY_NAME, *SPECS, *others])}",
            param_hint="--pattern",
        )
    with wrong_value_of("--pattern"):
        make_splitter(name_or_expression)
    return name_or_expression


def complete_pattern(incomplete: str) -> Iterator[str]:
    """The names of split patterns, and of encodings for theirs, that begin like this."""
    names = dict.fromkeys([*BY_NAME, *SPECS])  # "gpt2" is both
    yield from (name for name in names if name.startswith(incomplete))


def special_of(labels: list[str] | None, *, over_characters: bool = False) -> list[str] | dict[str, int]:
    """["<|end|>"] -> ["<|end|>"], which gets the next id; ["<|end|>=7"] -> {"<|end|>": 7}. BadParameter for what seems
    to have an id, and has none, as "<|end|>=7O"; over characters, where none brings its id, for all that seems so."""
    refuse_twice("--special", labels or [])
    if "" in (labels or []):
        raise typer.BadParameter("a special token cannot be empty: give its text", param_hint="--special")
    ids = {}
    for label in labels or []:
        token, has_id, token_id = label.rpartition("=")
        seems_id = SEEMS_ID.match(token_id) or (token.endswith((">", "]")) and token_id.isalnum())
        if not has_id or (token and token_id and not seems_id):
            continue
        if over_characters:
            problem = "over characters special tokens have the ids from 3 on: give TOKEN alone"
            raise typer.BadParameter(f"{shown(label)} seems to bring an id, and {problem}", param_hint="--special")
        if not token or not ID.fullmatch(token_id):
            way = f"if that is the text of the token, add its id: {shown(f'{label}=ID')}"
            raise typer.BadParameter(f"{shown(label)} is no TOKEN=ID; {way}", param_hint="--special")
        if len(token_id.lstrip("0")) > LONGEST_ID:  # of the others, the tokenizer says which are too large
            problem = f"{shown(label)} has too large an id: ids go up to {LARGEST_ID}"
            raise typer.BadParameter(problem, param_hint="--special")
        ids[token] = int(token_id.lstrip("0") or "0")
    if not ids:
        return labels or []
    if len(ids) < len(labels or []):
        raise typer.BadParameter("give all of them an id, as TOKEN=ID, or none; none twice", param_hint="--special")
    return ids


def special_choice(tok: Tokenizer, tokens: list[str] | None) -> SpecialChoice:
    """The special tokens that --allowed-special names, as Tokenizer.encode takes them, and those that are found in
    every text. ValueError for a text that is no special token, or one that is never found; a UserWarning if such ones
    are among all."""
    from cbpe.formats.files import control_tokens
    from cbpe.text.special_tokens import stays_text

    always = tok._found_always()
    if not tokens:
        return always or "none"
    never_found = control_tokens(tok._parts())
    special = tok.special_tokens
    for token in tokens:
        if token == "all":
            continue
        if token not in special:
            known = meant(token, special) or f", which has {listed(map(shown, special), NAMES_SHOWN) or 'none'}"
            raise typer.BadParameter(
                f"{shown(token)} is no special token of this tokenizer{known}", param_hint="--allowed-special"
            )
        if token in never_found:
            raise ValueError(f"{stays_text([token])}: leave it out of --allowed-special")
    if "all" in tokens:
        if never_found:
            warn(stays_text(never_found))
        return "all"
    return always.union(tokens)
