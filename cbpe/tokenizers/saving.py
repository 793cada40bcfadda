"""Saving a tokenizer to a file, and what there is to know of that before it is trained and after."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cbpe.common.atomic_files import check_writable, name_beside
from cbpe.common.trained_vocabulary import trained_vocabulary
from cbpe.common.wording import shown
from cbpe.formats import files, minbpe, sentencepiece
from cbpe.formats.files import format_of_name, refuse_name
from cbpe.formats.hugging_face import tokenizer_json
from cbpe.formats.parts import Parts
from cbpe.formats.ranks import llm_c
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.text.special_tokens import checked_special_tokens
from cbpe.training.initial import all_special_tokens, all_token_ids

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["left_out", "refuse_before_training", "rescue", "save", "saved_files"]

RESCUED = "cbpe-trained"  # how the name of a file begins that holds what could not be saved elsewhere


def save(tok: Tokenizer, path: str | os.PathLike[str]) -> None:
    """Write any tokenizer to a file as Tokenizer.save does, minbpe's classes too, whose own save takes a prefix, and
    without a warning of what is left_out."""
    files.save(tok._parts(), path)


def saved_files(path: str, over_characters: bool = False) -> list[str]:
    """The files that a tokenizer is written to by the save of one that was trained: "book" -> book.model, book.vocab"""
    known = format_of_name(path, over_characters)
    return minbpe.files(f"{path}.model") if known is None else known.files(path)


def left_out(tok: Tokenizer, path: str) -> list[str]:
    """What of a tokenizer the file that save makes does not hold, in words."""
    return files.left_out(tok._parts(), path)


def refuse_before_training(
    path: str,
    special_tokens: Iterable[str] | Mapping[str, int],
    initial: Tokenizer | None,
    vocab_size: int,
    over_characters: bool = False,
    pattern: str | None = GPT4_SPLIT_PATTERN,
) -> None:
    """Before there is something to lose: an error where the result of a training could not be saved in the end, as far
    as that is known. OSError where files cannot be written there, ValueError for a path that names no file, and for
    what the format cannot hold."""
    refuse_name(path)
    for written in saved_files(path, over_characters):
        check_writable(written)
    known = format_of_name(path, over_characters)
    if over_characters:
        if known is None or known.module not in (sentencepiece, tokenizer_json):
            raise ValueError(
                f"{shown(path)}: a tokenizer over characters is saved as .json (Hugging Face's) or .model "
                "(SentencePiece's)"
            )
        return
    module = minbpe if known is None else known.module
    parts = parts_without_merges(special_tokens, initial, pattern)  # raises for special tokens, whatever the file
    try:
        if module is minbpe:
            refuse_ids_between_merges(initial, vocab_size)
        if module is not llm_c or (initial is None and not isinstance(special_tokens, Mapping)):
            # llm.c's ids have no gaps, which merges may fill that are still to be learned
            module.dump(parts)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def parts_without_merges(
    special_tokens: Iterable[str] | Mapping[str, int], initial: Tokenizer | None, pattern: str | None
) -> Parts:
    """What a training begins with: what a format cannot hold of it, it cannot hold of the result."""
    vocabulary = trained_vocabulary() if initial is None else initial._vocabulary
    old = {} if initial is None else initial.special_tokens
    ids = all_token_ids(vocabulary, vocabulary.n_merges, old.values())
    planned = checked_special_tokens(all_special_tokens(old, special_tokens, ids), vocabulary)
    processing = {} if initial is None else initial._processing()
    kind = "HuggingFaceTokenizer" if processing else "BasicTokenizer" if pattern is None else "RegexTokenizer"
    return Parts(vocabulary, pattern, planned, processing, kind=kind)


def refuse_ids_between_merges(initial: Tokenizer | None, vocab_size: int) -> None:
    """ValueError for a special token whose id lies between those of merges, which minbpe's format does not hold."""
    for token, token_id in initial.special_tokens.items() if initial else ():
        if token_id < vocab_size:
            raise ValueError(
                f"new merges go around the special token {shown(token)} with the id {token_id}, and a model file "
                "cannot hold that: save to the model store or as .json, or give special tokens to the last training "
                "only"
            )


def rescue(tok: Tokenizer, folders: Iterable[str]) -> str | None:
    """Write a tokenizer that could not be saved where it was wanted to a new file in the first of these folders that
    takes it; -> the path, or None where none does."""
    for folder in folders:
        for ending in (".json", ".model"):
            path = name_beside(os.path.join(folder, RESCUED)).removesuffix(".part") + ending
            try:
                files.save(tok._parts(), path)
                return path
            except ValueError:
                continue  # the other format may hold it
            except OSError:
                break
    return None
