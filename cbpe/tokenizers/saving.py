"""Saving a tokenizer to a file, and what there is to know of that before it is trained and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cbpe.common.atomic_files import check_writable
from cbpe.common.wording import shown
from cbpe.formats import files, minbpe, sentencepiece
from cbpe.formats.files import format_of_name
from cbpe.formats.hugging_face import tokenizer_json

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["left_out", "refuse_before_training", "save", "saved_files"]


def save(tok: Tokenizer, path: str | os.PathLike[str]) -> None:
    """Write any tokenizer to a file as Tokenizer.save does, minbpe's classes too, whose own save takes a prefix."""
    files.save(tok._parts(), path)


def saved_files(path: str, over_characters: bool = False) -> list[str]:
    """The files that a tokenizer is written to by the save of one that was trained: "book" -> book.model, book.vocab"""
    known = format_of_name(path, over_characters)
    return minbpe.files(f"{path}.model") if known is None else known.files(path)


def left_out(tok: Tokenizer, path: str) -> list[str]:
    """What of a tokenizer the file that save makes does not hold, in words."""
    known = format_of_name(path, "characters" in tok._processing())
    missing = () if known is None else known.leaves_out
    words = ["the split pattern"] if "pattern" in missing and tok.pattern is not None else []
    if "template" in missing and "template" in tok._processing():
        words.append("the template that puts tokens around a text")
    if "special_tokens" in missing:
        words += [f"the special token {token} with id {token_id}" for token, token_id in tok.special_tokens.items()]
    return words


def refuse_before_training(
    path: str,
    special_tokens: Iterable[str],
    initial: Tokenizer | None,
    vocab_size: int,
    over_characters: bool = False,
) -> None:
    """Before there is something to lose: an error where the result of a training could not be saved in the end, as far
    as that is known. OSError where files cannot be written there, ValueError for what minbpe's format cannot hold."""
    check_writable(path)
    known = format_of_name(path, over_characters)
    if over_characters:
        if known is None or known.module not in (sentencepiece, tokenizer_json):
            raise ValueError(
                f"{shown(path)}: a tokenizer over characters is saved as .json (Hugging Face's) or .model "
                "(SentencePiece's)"
            )
        return
    if known is not None and known.module is not minbpe:
        return
    minbpe.refuse_texts(None, special_tokens)
    for token, token_id in initial.special_tokens.items() if initial else ():
        if token_id < vocab_size:
            raise ValueError(
                f"new merges go around the special token {shown(token)} with the id {token_id}, and a model file "
                "cannot hold that: save to the model store or as .json, or give special tokens to the last training "
                "only"
            )
