"""What several formats cannot hold, and how it is refused."""

from __future__ import annotations

from cbpe._core.splitting.split import PatternNotSupported, refuse_unportable
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.wording import listed, steps_named, token_shown
from cbpe.formats.parts import Parts
from cbpe.text.added_tokens import FLAGS
from cbpe.text.normalizing import CHARSMAP
from cbpe.text.splitting import make_splitter, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "or_as_model",
    "refuse_long_pattern",
    "refuse_processing",
    "refuse_shared_bytes",
    "refuse_unmerged",
    "refuse_unportable_pattern",
    "shown",
    "unheld",
]

MAX_SHOWN = 5
MAX_PATTERN = 1 << 16  # characters of a split pattern in a file: the `regex` module takes long to read more


def shown(tokens: Mapping[int, bytes], ids: Iterable[int]) -> str:
    """Some tokens with their ids, for a message: 'the' (258), b'\\xe1' (225), ..."""
    return listed((f"{token_shown(tokens[i])} ({i})" for i in ids), MAX_SHOWN)


def refuse_shared_bytes(what: str, tokens: Mapping[int, bytes]) -> None:
    """ValueError if two tokens have the same bytes, by which `what` tells tokens apart."""
    first: dict[bytes, int] = {}
    for token_id, token in tokens.items():
        other = first.setdefault(token, token_id)
        if other != token_id:
            raise ValueError(
                f"{what} cannot hold two tokens with the same bytes: {token_shown(token)} is {other} and {token_id}"
            )


def unheld(text: str) -> str | None:
    """Why no line of a .model file can hold a text, in words; None if one can."""
    if not text:
        return "is empty"
    if "\n" in text or "\r" in text:
        return "has a line break"
    if text != text.strip():
        return "begins with a blank" if text[0].isspace() else "ends with a blank"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "has a lone surrogate, which UTF-8 cannot hold"
    return None


def or_as_model(pattern: str) -> str:
    """The end of an advice to save elsewhere, where a .model file can hold a split pattern."""
    return " or as .model" if unheld(pattern) is None else ""


def refuse_unportable_pattern(what: str, pattern: str) -> None:
    """ValueError for a split pattern that is none, and for one of which it is not certain that those who read `what`
    take it as `regex` does."""
    make_splitter(pattern)
    try:
        refuse_unportable(pattern)
    except PatternNotSupported as error:
        raise ValueError(
            f"{what} cannot hold a split pattern that may mean something else to other engines than to `regex`: "
            f"{quoted(pattern)} ({error}). Save to the model store{or_as_model(pattern)}, or train with a pattern of "
            "characters, classes, \\s, \\d and properties (\\p{L}, \\p{Han}) alone, such as those of cbpe.patterns"
        ) from None


def refuse_long_pattern(pattern: str) -> None:
    """ValueError for a split pattern that takes too long to read."""
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"the split pattern has {len(pattern):,} characters: in a file it may have {MAX_PATTERN:,}")


def refuse_unmerged(what: str, vocabulary: Vocabulary) -> None:
    """ValueError if there are tokens that no merge makes, which `what` has no place for."""
    unmerged = vocabulary.unmerged()
    if unmerged:
        raise ValueError(f"{what} cannot hold tokens that no merge makes: {shown(unmerged, unmerged)}")


def refuse_processing(what: str, parts: Parts, besides: Iterable[str] = ()) -> None:
    """ValueError where text is changed before it is encoded, or ids after, `besides` some steps."""
    steps = parts.processing.keys() - {*FLAGS, "trim_offsets", *besides}
    if steps:
        normalizer = parts.processing.get("normalizer")
        of_sentencepiece = isinstance(normalizer, list) and any(step["type"] == CHARSMAP for step in normalizer)
        raise ValueError(
            f"{what} cannot hold what the tokenizer does besides splitting and merging: {steps_named(steps)}. "
            f"Save it as {'.model' if of_sentencepiece else '.json'}"
        )
