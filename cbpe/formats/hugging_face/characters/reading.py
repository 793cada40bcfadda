"""Reading a tokenizer.json whose model is over characters."""

from __future__ import annotations

from string import hexdigits

from cbpe._core.conversion.characters import vocabulary_of_characters
from cbpe._core.conversion.listed import ListedTokens
from cbpe._core.conversion.spelled_characters import resolve_characters
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.formats.hugging_face.characters.settings import checked_characters
from cbpe.formats.hugging_face.characters.steps import (
    read_characters_decoder,
    read_characters_normalizer,
    read_characters_pre_tokenizer,
    refuse_lost_beginnings,
)
from cbpe.formats.hugging_face.model import pair_of_merge, refuse_as_ordinary
from cbpe.formats.hugging_face.normalizers import normalizer_of
from cbpe.formats.hugging_face.values import flag, refuse
from cbpe.text.byte_tokens import byte_of, byte_token
from cbpe.text.spaces import MARK, with_marks, with_spaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

    from cbpe._core.conversion.listed import ListedMerges

__all__ = [
    "may_be_missed",
    "read_characters",
    "refuse_missed",
    "refuse_unclear_spaces",
    "refuse_unmade_marks",
    "vocabulary_over_characters",
]

# What the decoder takes for the token of a byte: "<0x0A>", "<0x0a>" and "<0x+A>".
BYTE_TOKENS = frozenset(f"<0x{first}{second}>" for first in f"{hexdigits}+" for second in hexdigits)


def read_characters(content: dict[str, Any]) -> tuple[list[tuple[str, Any]], dict[str, Any]]:
    """The normalizer's steps before the marks, and `processing["characters"]`."""
    model = content["model"]
    byte_fallback = flag(model, "model", "byte_fallback", False)
    may_fall_back = not takes_no_bytes(content)
    byte_fallback = byte_fallback and may_fall_back
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name) not in (None, ""):
            refuse(f"model.{name}", model[name], "over characters, only null is supported")
    if flag(model, "model", "ignore_merges", False):
        refuse("model.ignore_merges", True, "over characters, only false is supported")
    steps, spaces = read_characters_normalizer(content.get("normalizer"))
    spaces, split = read_characters_pre_tokenizer(content.get("pre_tokenizer"), spaces)
    settings = {
        "spaces": spaces,
        "split": split,
        "strip": read_characters_decoder(content.get("decoder"), byte_fallback, may_fall_back),
        "byte_fallback": byte_fallback,
        "fuse_unk": flag(model, "model", "fuse_unk", False),
        "unk_token": model.get("unk_token"),
    }
    if settings["strip"] and spaces is None:
        refuse("decoder", content["decoder"], "it drops spaces that nothing has put before the text")
    refuse_lost_beginnings(spaces, steps)
    return steps, checked_characters(settings)


def refuse_unclear_spaces(content: Mapping[str, Any], processing: Mapping[str, Any]) -> None:
    """ValueError for an added token that Metaspace would find elsewhere than Replace, where it is not kept which of the
    two makes marks of spaces: it is looked for in normalized text, and a space or a mark is in it or taken by it."""
    settings = processing["characters"]
    by_replace = read_characters_normalizer(content.get("normalizer"))[1] is not None
    if by_replace or settings["spaces"] != "never" or settings["split"]:
        return
    taking = {*processing.get("lstrip", ()), *processing.get("rstrip", ())}
    normalizer = normalizer_of(processing.get("normalizer"))
    for text in processing.get("normalized", ()):
        if text in taking or {" ", MARK} & {*text, *normalizer.normalized(text)}:
            raise ValueError(
                f"the added token {text!r} is looked for in normalized text, and spaces are in it or taken by it: that "
                "is supported where a normalizer makes marks of spaces, and not with a Metaspace that neither splits "
                "nor puts a space before texts"
            )


def refuse_unmade_marks(vocab: Mapping[str, int], added_tokens: Collection[str], settings: Mapping[str, Any]) -> None:
    """ValueError for a token with a mark where no step makes marks of spaces: the decoder makes spaces of them."""
    if settings["spaces"] is None:
        for text in (*vocab, *added_tokens):
            if MARK in text:
                refuse("decoder", text, "it makes spaces of marks as in this token, and no step makes marks of spaces")


def may_be_missed(processing: Mapping[str, Any]) -> Callable[[str], bool]:
    """What tells whether an added token of one character may be in a text without being found there: its character is
    then merged as an ordinary one."""
    spaces, split = processing["characters"]["spaces"], processing["characters"]["split"]
    normalized = frozenset(processing.get("normalized", ()))
    normalizer = normalizer_of(processing.get("normalizer"))
    made_by_normalizer = spaces == "each" or (spaces == "never" and not split)  # marks of spaces
    # A longer one that has to be a word of its own, where it is none, hides those in it.
    words = frozenset(processing.get("single_word", ()))
    forms = [normalizer.normalized(word) for word in words & normalized]
    in_words = {*"".join(words), *"".join(map(with_marks, forms) if made_by_normalizer else forms)}

    def is_missed(text: str) -> bool:
        if len(text) != 1 or "sentencepiece" in processing["characters"]:  # which looks for its pieces as they are
            return False
        if text in in_words:
            return True
        if text == MARK and spaces is not None and not (text in normalized and made_by_normalizer):
            return True
        if text not in normalized:
            return "normalizer" in processing
        # What is looked for is the token normalized: with a mark before it, or another text.
        return spaces == "each" or normalizer.normalized(text) != text

    return is_missed


def refuse_missed(
    vocab: Mapping[str, int],
    merges: list[Any] | ListedMerges,
    added_tokens: Collection[str],
    processing: dict[str, Any],
) -> None:
    """ValueError for an added token that is an ordinary one where it is not found."""
    is_missed = may_be_missed(processing)
    missed = {text for text in added_tokens if text in vocab and is_missed(text)}
    if missed:
        # What merges are made of is kept as an ordinary token as well.
        missed.difference_update(*(pair_of_merge(merge, i) for i, merge in enumerate(merges)))
    for text in sorted(missed):
        refuse_as_ordinary(text, "it may be in a text where it is not looked for, or not found")


def takes_no_bytes(content: dict[str, Any]) -> bool:
    """Whether no token is that of a byte, as decoders write one: then falling back to bytes does nothing. Files are so
    that `tokenizers` trained anew by the settings of others."""
    vocab, added_tokens = content["model"].get("vocab"), content.get("added_tokens")
    if not isinstance(vocab, (dict, ListedTokens)) or not isinstance(added_tokens, (list, type(None))):
        return False  # it is refused
    texts = (token.get("content") for token in added_tokens or () if isinstance(token, dict))
    added = {text for text in texts if isinstance(text, str)}
    return BYTE_TOKENS.isdisjoint(added) and not any(text in vocab for text in BYTE_TOKENS)


def vocabulary_over_characters(
    vocab: Mapping[str, int],
    merges: list[Any] | ListedMerges,
    added_tokens: Collection[str],
    settings: dict[str, Any],
) -> Vocabulary:
    """The vocabulary of such a model, whose merges are as in the file. ValueError for one that cannot be kept
    exactly."""
    fallback, unknown = settings["byte_fallback"], settings["unk_token"]
    if unknown is not None and unknown not in vocab:
        refuse("model.unk_token", unknown, "there is no such token in model.vocab")
    spaces = settings["spaces"] is not None
    byte_texts = [*map(byte_token, range(256))] if fallback else []
    stands_for_unknown = None if fallback or unknown is None else vocab[unknown]
    options = (stands_for_unknown, settings["fuse_unk"] and stands_for_unknown is not None)
    if all(text in vocab for text in [*byte_texts, *([MARK] if spaces and fallback else [])]):
        byte_ids = [vocab[text] for text in byte_texts] if fallback else None
        resolved = resolve_characters(vocab, merges, spaces, frozenset(added_tokens), unknown, byte_texts)
        if resolved is not None:
            return resolved.vocabulary_of_characters(byte_ids, *options)
    # The slower way says what is wrong.
    pairs = [pair_of_merge(merge, i) for i, merge in enumerate(merges)]
    merged = {text for left, right in pairs for text in (left, right, left + right)}
    left_out = {text for text in added_tokens if text not in merged}
    ids: dict[bytes, int] = {}
    for text, token_id in vocab.items():
        if fallback and byte_of(text) is not None:
            if text in merged:
                raise ValueError(f"model.merges makes {text!r}, which is the token of a byte")
        elif text not in left_out:
            ids[spelled(text, settings)] = token_id
    byte_ids = bytes_of_fallback(vocab, spaces) if fallback else None
    if unknown is not None and unknown in merged:
        raise ValueError(f"model.merges makes {unknown!r}, which is the unknown token")
    listed = [(spelled(left, settings), spelled(right, settings)) for left, right in pairs]
    return vocabulary_of_characters(ids, listed, byte_ids, *options)


def bytes_of_fallback(vocab: Mapping[str, int], marks: bool) -> list[int]:
    """The ids of the byte tokens. ValueError where one is missing that a text may need."""
    missing = next((text for text in map(byte_token, range(256)) if text not in vocab), None)
    if missing is not None:
        refuse("model.byte_fallback", True, f"it takes a token for each byte, and there is none for {missing!r}")
    if marks and MARK not in vocab:
        refuse("model.byte_fallback", True, f"spaces would become the bytes of a mark, as there is no token {MARK!r}")
    return [vocab[text] for text in map(byte_token, range(256))]


def spelled(text: str, settings: dict[str, Any]) -> bytes:
    """The bytes of a token as it is kept. ValueError for one that no text has."""
    if settings["spaces"] is not None:
        if " " in text:
            raise ValueError(f"model.vocab has {text[:80]!r}, with a space, where {MARK!r} stands for spaces")
        text = with_spaces(text)
    try:
        found = text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"model.vocab has {text[:80]!r}, which is no text: a lone surrogate is in it") from None
    if not found:
        raise ValueError("model.vocab has a token without any characters")
    return found
