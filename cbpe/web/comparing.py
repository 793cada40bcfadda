"""What the page's JSON says when tokenizers are compared on texts: the rows of cbpe.compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cbpe.common.wording import shown
from cbpe.measures.compare import compare
from cbpe.measures.definitions import DEFAULT_ALPHA, MEASURES, SHARES
from cbpe.measures.rows import told_of_row
from cbpe.web.bodies import required_in
from cbpe.web.refusals import LONGEST_COMPARED, Refused

if TYPE_CHECKING:
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["ADVICE", "KEYS", "Wanted", "compared", "wanted_in"]

KEYS = ("tokenizers", "texts", "named", "reference", "parallel", "alpha")  # of what is asked
ADVICE = ": compare fewer tokenizers or shorter texts, or all of them with cbpe compare, which takes the time it needs"
MOST = 8  # tokenizers, and texts
MOST_ALPHA = 1000  # order of a Rényi entropy


@dataclass(frozen=True)
class Wanted:
    """Names of tokenizers; texts by their names; names of texts that were named at start; and how they are compared, as
    cbpe.compare takes it."""

    tokenizers: list[str]
    texts: dict[str, str]
    named: list[str]
    reference: str | None = None
    parallel: str | None = None
    alpha: float = DEFAULT_ALPHA


def wanted_in(values: Mapping[str, Any]) -> Wanted:
    """What a request asks to be compared. Refused for what is none."""
    tokenizers, texts, named = required_in(values, "tokenizers"), values.get("texts", {}), values.get("named", [])
    for key, names in (("tokenizers", tokenizers), ("named", named)):
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise Refused(400, f"{key!r} is {shown(names)}, not a list of names")
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise Refused(400, "'texts' is no object of texts by their names")
    assert isinstance(tokenizers, list)
    corpora = [*texts, *named]
    for keys, names in (("'tokenizers' names", tokenizers), ("'texts' and 'named' together name", corpora)):
        if not 1 <= len(names) <= MOST:
            raise Refused(400, f"{keys} {len(names)}, not between 1 and {MOST}")
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice is not None:
            raise Refused(400, f"{keys} {shown(twice)} twice: give each a name of its own")
    if "" in corpora:
        raise Refused(400, "'texts' has a text without a name: give it one")
    reference, parallel = values.get("reference"), values.get("parallel")
    for key, name, names in (("reference", reference, tokenizers), ("parallel", parallel, corpora)):
        if name is not None and name not in names:
            raise Refused(400, f"{key!r} is {shown(name)}, which is not among those that are compared")
    alpha = values.get("alpha", DEFAULT_ALPHA)
    if type(alpha) not in (int, float) or not 0 <= alpha <= MOST_ALPHA:
        raise Refused(400, f"'alpha' is {shown(alpha)}, not a number from 0 to {MOST_ALPHA}")
    return Wanted(tokenizers, texts, named, reference, parallel, alpha)


def compared(
    wanted: Wanted, tokenizer_of: Callable[[str], Tokenizer], named: Mapping[str, Callable[[int], tuple[str, bool]]]
) -> dict[str, Any]:
    """The rows of a comparison, the same as CSV, and what each measure is. A long file is measured by its
    beginning."""
    corpora, cut = {name: utf8(text) for name, text in wanted.texts.items()}, []
    for name in wanted.named:
        if name not in named:
            raise Refused(404, f"no text {shown(name)} was named at start")
        text, whole = named[name](LONGEST_COMPARED)
        corpora[name] = utf8(text)
        if not whole:
            cut.append(name)
    tokenizers = {name: tokenizer_of(name) for name in wanted.tokenizers}
    ways: dict[str, Any] = {"reference": wanted.reference, "parallel": wanted.parallel, "alpha": wanted.alpha}
    found = compare(tokenizers, corpora, **ways)
    measures = [
        {"key": each.key, "title": each.title, "definition": each.definition, "is_share": each.key in SHARES}
        for each in MEASURES
    ]
    told = [*(each for row in found.rows for each in told_of_row(row)), *found._told]
    rows = json.loads(found.to_json())
    return {"rows": rows, "csv": found.to_csv(), "measures": measures, "cut": cut, "told": told}


def utf8(text: str) -> bytes:
    """A text as a source that is never taken for a name; U+FFFD for lone surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
