"""What the page knows of a vocabulary: searching it, and all about one token."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from cbpe.analysis.lookup import find_tokens
from cbpe.common.wording import as_typed, shown
from cbpe.web.answers import merged_from, token_value
from cbpe.web.refusals import MOST_OF_A_PAGE, SECONDS_OF_MATCHING, Refused

if TYPE_CHECKING:
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["KEYS", "Search", "found", "known"]

KEYS = ("tokenizer", "text", "bytes", "pattern", "least", "most", "order", "offset")  # of what is asked
LONGEST_PATTERN = 200  # characters
MOST_REPEATED = 1000  # times that counts in an expression may repeat a part of it, one within another
MOST_NODES = 1000  # of a merge tree
MOST_LISTED = 200  # tokens that one is a part of

BRACES = re.compile(r"(?<!\\[pPN])\{([^}]*)\}?")
ORDERS: dict[str, Any] = {
    "id": lambda item: item[0],
    "length": lambda item: (len(item[1]), item[0]),
    "bytes": lambda item: (item[1], item[0]),
}


@dataclass(frozen=True)
class Search:
    """What tokens have to be: to hold a text, to hold bytes (hexadecimal), to fit an expression, to have so many bytes.
    order: "id", "length" or "bytes", or one of them with "-" in front. offset: of those that are found, the first that
    is answered."""

    text: str | None = None
    content: str | None = None
    pattern: str | None = None
    least: int | None = None
    most: int | None = None
    order: str = "id"
    offset: int = 0


def found(name: str, tok: Tokenizer, wanted: Search) -> dict[str, Any]:
    """The tokens that are found: how many, and a page of them. Refused for what is no search, or takes too long."""
    key = ORDERS.get(wanted.order.removeprefix("-"))
    if key is None:
        raise Refused(
            400, f"'order' is {shown(wanted.order)}; it must be one of {', '.join(ORDERS)}, with - or without"
        )
    content = bytes_of(wanted.content or "")
    if wanted.pattern:
        check_pattern(wanted.pattern)
    least, most = wanted.least or 0, wanted.most if wanted.most is not None else float("inf")
    if least > most:
        raise Refused(400, f"'least' is {least:,}, which is more than 'most', {most:,}")
    text = (wanted.text or "").encode("utf-8", "replace")
    try:
        everything = find_tokens(tok, contains=text, pattern=wanted.pattern or None, seconds=SECONDS_OF_MATCHING)
        items = [item for item in everything if content in item[1] and least <= len(item[1]) <= most]
    except TimeoutError as error:
        said = f"the expression {as_typed(wanted.pattern or '')} takes longer than {SECONDS_OF_MATCHING:g} s"
        raise Refused(400, said) from error
    items.sort(key=key, reverse=wanted.order.startswith("-"))
    page = items[wanted.offset : wanted.offset + MOST_OF_A_PAGE]
    tokens = [{"id": number, **token_value(tok, number), "length": len(token)} for number, token in page]
    n_special = sum(tok.is_special_token(number) for number, _ in items)
    return {
        "tokenizer": name,
        "n_found": len(items),
        "n_special": n_special,
        "offset": wanted.offset,
        "tokens": tokens,
    }


def bytes_of(digits: str) -> bytes:
    try:
        return bytes.fromhex(digits)
    except ValueError as error:
        raise Refused(400, f"'bytes' is {shown(digits)}, not pairs of hexadecimal digits such as 'e2 80'") from error


def check_pattern(pattern: str) -> None:
    """Refuse an expression that would take gigabytes to compile: counts within counts multiply."""
    if len(pattern) > LONGEST_PATTERN:
        raise Refused(400, f"an expression of {len(pattern)} characters: {LONGEST_PATTERN} are allowed")
    counts = [[int(digits) for digits in re.findall(r"\d{1,9}", inside)] for inside in BRACES.findall(pattern)]
    if prod(max(each, default=1) or 1 for each in counts) > MOST_REPEATED:
        raise Refused(400, f"the counts in {as_typed(pattern)} multiply to more than {MOST_REPEATED}")


def known(name: str, tok: Tokenizer, number: int, others: Iterable[tuple[str, Tokenizer]]) -> dict[str, Any]:
    """All about a token: its bytes, the number of the merge that makes it, its merge tree, what it is a part of, why no
    text produces it if none does, and its id in other tokenizers."""
    value = token_value(tok, number)
    content = bytes.fromhex(value["bytes"])
    pairs = merged_from(tok)
    parents = [merged for merged, pair in pairs.items() if number in pair]
    rank = next((rank for rank, merged in enumerate(pairs) if merged == number), None) if number in pairs else None
    return {
        "tokenizer": name,
        "id": number,
        **value,
        "rank": rank,
        "tree": tree_of(tok, number, pairs),
        "n_part_of": len(parents),
        "part_of": [{"id": parent, **token_value(tok, parent)} for parent in parents[:MOST_LISTED]],
        "marks": marks_of(tok, content) if not value["special"] else [],
        "unreachable": None if value["special"] else tok.analyze().unreachable.get(number),
        "elsewhere": elsewhere(name, tok, number, others),
    }


def tree_of(tok: Tokenizer, number: int, pairs: dict[int, tuple[int, int]]) -> list[dict[str, Any]] | None:
    """The merge tree as a list of nodes, the root first; "parts" are the places of a node's two parts in the list. None
    for one of more than a thousand nodes."""
    nodes: list[dict[str, Any]] = [{"id": number, **token_value(tok, number)}]
    for node in nodes:  # which grows meanwhile
        pair = pairs.get(node["id"], ())
        node["parts"] = list(range(len(nodes), len(nodes) + len(pair)))
        nodes.extend({"id": part, **token_value(tok, part)} for part in pair)
        if len(nodes) > MOST_NODES:
            return None
    return nodes


def elsewhere(name: str, tok: Tokenizer, number: int, others: Iterable[tuple[str, Tokenizer]]) -> list[dict[str, Any]]:
    """The id of the same bytes in other tokenizers: null where they are no token. Where those have no such marks as
    this token has, the id of its bytes without them."""
    token = tok.decode_single_token_bytes(number)
    bare = token
    if not tok.is_special_token(number):
        prefix, suffix = marks_in(tok, token)
        bare = token[len(prefix) : len(token) - len(suffix)]
    return [
        {"tokenizer": other, "id": each.token_to_id(token if affixes(each) == affixes(tok) else bare)}
        for other, each in others
        if other != name
    ]


def affixes(tok: Tokenizer) -> tuple[bytes, bytes]:
    """What tokens are shown with that begin no word ("##"), and those that end one ("</w>"); mostly nothing."""
    vocabulary = tok._vocabulary
    return vocabulary.prefix, vocabulary.suffix


def marks_in(tok: Tokenizer, token: bytes) -> tuple[bytes, bytes]:
    """What of a token's bytes marks its place in a word, and is in no text: at its beginning, and at its end."""
    prefix, suffix = affixes(tok)
    return prefix if token.startswith(prefix) else b"", suffix if token.endswith(suffix) else b""


def marks_of(tok: Tokenizer, token: bytes) -> list[str]:
    return [mark.decode() for mark in marks_in(tok, token) if mark]
