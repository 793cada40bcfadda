"""cbpe.train: from a source of text to a tokenizer that was trained on it."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Mapping
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.checks import N_BYTES, checked_flag, merges_asked
from cbpe.common.garbage import without_collecting
from cbpe.common.progress import ProgressCallback
from cbpe.common.public import public
from cbpe.common.trained_vocabulary import trained_vocabulary
from cbpe.common.wording import of_another_library, shown, steps_named
from cbpe.corpus.counted import name_of_counts, with_counts_loaded
from cbpe.corpus.counting import refuse_other_pattern
from cbpe.corpus.sources import Source
from cbpe.corpus.word_counts import WordCounts
from cbpe.formats.parts import Parts
from cbpe.text.added_tokens import NO_CHANGE_OF_TEXT
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.text.spaces import CHARACTERS_SPLIT_PATTERN
from cbpe.tokenizers.kinds import tokenizer_of
from cbpe.tokenizers.minbpe import BasicTokenizer, RegexTokenizer
from cbpe.tokenizers.tokenizer import Tokenizer
from cbpe.training.characters import (
    Characters,
    checked_characters,
    checked_special_texts,
    learn_pieces,
    trained_characters,
)
from cbpe.training.checkpoint import CHECKPOINT_SECONDS, Checkpoint
from cbpe.training.initial import all_special_tokens, all_token_ids, ids_in_order, problem_with, read_once
from cbpe.training.learn import learn_merges

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from cbpe.tokenizers.characters.sentencepiece import SentencePieceTokenizer
    from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer
    from cbpe.training.characters import CharacterOptions
    from cbpe.training.record import TrainingRecord

__all__ = ["counts_and_pattern", "refuse_initial", "train"]

ALPHABETS = ("bytes", "characters")


@overload
def train(
    source: Source | WordCounts,
    vocab_size: int,
    *,
    alphabet: Literal["bytes"] = "bytes",
    pattern: str | EllipsisType | None = ...,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    tie_break: str | None = None,
    min_count: int = 1,
    max_token_length: int | None = None,
    initial: BasicTokenizer | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    workers: int | None = None,
    max_words: int | None = None,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
    verbose: bool = False,
    progress: bool | ProgressCallback | None = None,
) -> BasicTokenizer: ...


@overload
def train(
    source: Source | WordCounts,
    vocab_size: int,
    *,
    alphabet: Literal["bytes"] = "bytes",
    pattern: str | EllipsisType | None = ...,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    tie_break: str | None = None,
    min_count: int = 1,
    max_token_length: int | None = None,
    initial: Tokenizer,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    workers: int | None = None,
    max_words: int | None = None,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
    verbose: bool = False,
    progress: bool | ProgressCallback | None = None,
) -> BasicTokenizer | HuggingFaceTokenizer: ...


@overload
def train(
    source: Source | WordCounts,
    vocab_size: int,
    *,
    alphabet: Literal["characters"],
    special_tokens: Iterable[str] = (),
    tie_break: str | None = None,
    min_count: int = 1,
    max_token_length: int | None = None,
    workers: int | None = None,
    max_words: int | None = None,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
    verbose: bool = False,
    progress: bool | ProgressCallback | None = None,
    **characters: Unpack[CharacterOptions],
) -> SentencePieceTokenizer: ...


@overload
def train(
    source: Source | WordCounts,
    vocab_size: int,
    *,
    alphabet: str,
    pattern: str | EllipsisType | None = ...,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    tie_break: str | None = None,
    min_count: int = 1,
    max_token_length: int | None = None,
    initial: Tokenizer | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    workers: int | None = None,
    max_words: int | None = None,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
    verbose: bool = False,
    progress: bool | ProgressCallback | None = None,
    **characters: Unpack[CharacterOptions],
) -> BasicTokenizer | HuggingFaceTokenizer | SentencePieceTokenizer: ...


@public
def train(
    source: Source | WordCounts,
    vocab_size: int,
    *,
    alphabet: str = "bytes",
    pattern: str | EllipsisType | None = ...,
    special_tokens: Iterable[str] | Mapping[str, int] = (),
    tie_break: str | None = None,
    min_count: int = 1,
    max_token_length: int | None = None,
    initial: Tokenizer | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    workers: int | None = None,
    max_words: int | None = None,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
    verbose: bool = False,
    progress: bool | ProgressCallback | None = None,
    **characters: Unpack[CharacterOptions],
) -> BasicTokenizer | HuggingFaceTokenizer | SentencePieceTokenizer:
    """A new tokenizer with vocab_size - 256 merges learned from source: a text, texts, files, or WordCounts.

    source, workers, max_words, field, errors, missing: as for count_words, whose WordCounts are a source as well, and
    so are files of them: those whose names end in .words, as count_corpus writes.

    pattern splits each text into pieces, which merges stay within: a regular expression (a RegexTokenizer comes back),
    or None for no splitting (a BasicTokenizer). Left out, it is that of the WordCounts, or of the initial tokenizer,
    or else GPT4_SPLIT_PATTERN.

    special_tokens come on top of vocab_size: given as texts they get the ids that follow the merges, in their order, or
    they bring their ids.

    tie_break: which of several pairs with the highest count is merged, "first" (the default) the one that occurs first,
    as in minbpe, "largest" or "smallest" the one with the largest or smallest (left id, right id). Pairs that occur
    less than min_count times are not merged, nor those whose token would have more than max_token_length bytes.

    initial: a tokenizer to go on from. Its merges are the first of the new one, whatever the options say, and its
    special tokens are taken over; all of them keep their ids. New tokens get the next ids that no special token has.
    What a tokenizer.json says of texts besides is taken over as well, its template and how its added tokens are found:
    then a HuggingFaceTokenizer comes back.

    checkpoint: a path that ends in .model. What has been learned is written to it every checkpoint_seconds, at the end,
    and where training is interrupted or fails; it is a model that RegexTokenizer.load loads. If the file is there
    already, training goes on from it, to the same result as if it had never stopped: it takes the same source and
    options. A checkpoint that cannot be written, once merging has begun, is a warning.

    verbose prints every merge. progress=True draws a bar on stderr; a function is called some ten times a second with
    ("reading", bytes read, bytes in all or None), and then ("merging", merges done, merges asked for or, where
    nothing is left to merge, made).

    alphabet="characters" trains as SentencePiece does, and a SentencePieceTokenizer comes back, of vocab_size tokens in
    all: "<unk>", "<s>", "</s>" and the special_tokens, which are texts without ids; the 256 bytes, if byte_fallback is
    True (the default); merges of characters; and the characters, the most frequent ones until they are
    character_coverage (0.9995) of the text, and all required_characters. Each line of a text stands alone, with a space
    before it, unless add_dummy_prefix is False. A token has characters of one word with the space before it, and of one
    script, digits apart; split_by_script=False and split_by_number=False lift this, and with split_digits a digit is
    merged with nothing. No two tokens are spelled alike. max_token_length is in characters, 16 unless given. tie_break
    is "shortest", the pair of the fewest characters, of several the one that sorts first (with U+2581 for a space),
    then the one with the shorter left token; or "first". pattern, initial and checkpoint are for bytes alone.

    Where nothing is left to merge, training ends early with a UserWarning, and tok.training.stopped says why. Raises
    what count_words raises, TypeError for a number of the wrong type, ValueError for an option out of range, a pattern
    that is no valid expression or not that of the WordCounts, special tokens that are duplicates or take the id of a
    merge, a source without a piece, an initial tokenizer that cannot be gone on from exactly, or a checkpoint of
    another training.

    >>> tok = train("low lower lowest", 258)
    >>> tok.vocab[257]
    b'low'
    >>> train("low lower lowest", 260, initial=tok).vocab[259]
    b' lowe'
    """
    check_verbose_and_seconds(verbose, checkpoint, checkpoint_seconds)
    if is_over_characters(alphabet, characters):
        refuse_options_for_bytes(pattern, initial, checkpoint)
        return train_characters(
            source, vocab_size, special_tokens, characters, tie_break="shortest" if tie_break is None else tie_break,
            min_count=min_count, max_token_length=max_token_length, verbose=verbose, progress=progress, workers=workers,
            max_words=max_words, field=field, errors=errors, missing=missing,
        )  # fmt: skip
    tie_break, special_tokens = "first" if tie_break is None else tie_break, read_once(special_tokens)
    vocabulary = trained_vocabulary() if initial is None else initial_vocabulary(initial)
    n_merges = merges_to_reach(vocab_size, vocabulary)
    source, pattern = counts_and_pattern(source, pattern, initial)
    old_special_tokens = {} if initial is None else initial.special_tokens
    ids = all_token_ids(vocabulary, n_merges, old_special_tokens.values())
    if tie_break != "first" and not ids_in_order(ids):
        raise ValueError(
            f"tie_break is {shown(tie_break)}, which is by id, and the initial tokenizer has no ids in order of its "
            "merges"
        )
    # Given ids are checked before the work begins. Those to come follow the vocabulary that was asked for.
    tok = BasicTokenizer() if pattern is None else RegexTokenizer(pattern)
    tok._use(vocabulary, tok._splitter, {})
    planned = all_special_tokens(old_special_tokens, special_tokens, ids)
    tok.register_special_tokens(planned)
    with_processing_of_initial(tok, initial)  # or it is refused
    refuse_ids_of_merges(planned, ids)
    saved = None
    if checkpoint is not None:
        refuse_ids_out_of_step(vocabulary, ids, vocab_size)
        saved = Checkpoint(checkpoint, pattern, planned, checkpoint_seconds)

    left, right, record = learn_merges(
        source, n_merges, tok._splitter, tie_break=tie_break, min_count=min_count, max_token_length=max_token_length,
        initial=vocabulary, ids=ids, special_tokens=planned, checkpoint=saved, verbose=verbose, progress=progress,
        workers=workers, max_words=max_words, field=field, errors=errors, missing=missing,
    )  # fmt: skip
    del ids[N_BYTES + len(left) :]
    tok._use(Vocabulary(left, right, ids, whole_pieces=vocabulary.whole_pieces), tok._splitter, {})
    tok.register_special_tokens(all_special_tokens(old_special_tokens, special_tokens, ids))
    return with_processing_of_initial(tok, initial, record)


def with_processing_of_initial(
    tok: BasicTokenizer, initial: Tokenizer | None, record: TrainingRecord | None = None
) -> BasicTokenizer | HuggingFaceTokenizer:
    """What was trained, with its record, and with all that the tokenizer that it went on from does around texts and
    about added tokens."""
    tok.training = record
    processing = {} if initial is None else initial._processing()
    if not processing:
        return tok
    parts = tok._parts()
    kind = "HuggingFaceTokenizer"
    found = tokenizer_of(Parts(parts.vocabulary, parts.pattern, parts.special_tokens, processing, kind=kind))
    found.training = tok.training
    return cast("HuggingFaceTokenizer", found)


def check_verbose_and_seconds(verbose: bool, checkpoint: object, seconds: object) -> None:
    """TypeError where verbose is no flag. ValueError for how often a checkpoint is written, where there is none."""
    checked_flag("verbose", verbose)
    if checkpoint is None and seconds != CHECKPOINT_SECONDS:
        raise ValueError(f"checkpoint_seconds is {shown(seconds)}, and there is no checkpoint to write: pass one")


def is_over_characters(alphabet: str, options: CharacterOptions) -> bool:
    """Whether training is over characters. ValueError for an alphabet that there is not, and for options of characters
    over bytes; TypeError for an option that there is not."""
    if alphabet not in ALPHABETS:
        raise ValueError(f"alphabet is {shown(alphabet)}; it must be one of {', '.join(map(repr, ALPHABETS))}")
    for option in options:
        if option not in Characters._fields:
            raise TypeError(f"train() got an unexpected keyword argument {option!r}")
        if alphabet == "bytes":
            raise ValueError(f'{option} is for alphabet="characters": leave it out')
    return alphabet == "characters"


def refuse_options_for_bytes(pattern: object, initial: object, checkpoint: object) -> None:
    """ValueError for an option that training over characters does not have."""
    if not isinstance(pattern, EllipsisType):
        raise ValueError("over characters, text is split at spaces and line breaks: leave the pattern out")
    if initial is not None:
        raise ValueError("over characters, training does not go on from a tokenizer: leave initial out")
    if checkpoint is not None:
        raise ValueError("a checkpoint cannot hold a vocabulary over characters: leave it out")


def train_characters(
    source: Source | WordCounts,
    vocab_size: int,
    special_tokens: Iterable[str],
    options: CharacterOptions,
    **learning: Any,
) -> SentencePieceTokenizer:
    """The tokenizer over characters that is learned from a source."""
    settings = checked_characters(options)
    special = checked_special_texts(special_tokens, settings.byte_fallback)
    learned = learn_pieces(source, vocab_size, settings, special, **learning)
    with without_collecting():
        tok = tokenizer_of(trained_characters(learned.merged, learned.characters, special, settings))
    tok.training = learned.record
    return cast("SentencePieceTokenizer", tok)


def initial_vocabulary(initial: Tokenizer) -> Vocabulary:
    """The vocabulary of a tokenizer that training can go on from exactly.

    Raises TypeError for what is no tokenizer, ValueError for one that also normalizes or the like, and for a vocabulary
    that `problem_with` names a problem with.
    """
    if not isinstance(initial, Tokenizer):
        raise TypeError(f"initial must be a tokenizer, such as cbpe.train returns, not {of_another_library(initial)}")
    refuse_initial(initial, shown(initial))
    return initial._vocabulary


def refuse_initial(initial: Tokenizer, name: str) -> None:
    """ValueError, which calls it by this name, for a tokenizer that training cannot go on from exactly."""
    steps = initial._processing().keys() - NO_CHANGE_OF_TEXT
    if steps and not initial._vocabulary.characters:
        problem = f"what is trained splits and merges text as it is, and this does more: {steps_named(steps)}"
    else:
        problem = problem_with(initial._vocabulary) or ""
    if problem:
        raise ValueError(f"training cannot go on from {name}: {problem}")


def merges_to_reach(vocab_size: int, initial: Vocabulary) -> int:
    """The number of merges of a vocabulary of this size. TypeError and ValueError as merges_asked, ValueError where the
    initial vocabulary has more."""
    n_merges = merges_asked(vocab_size)
    if n_merges < initial.n_merges:
        size = N_BYTES + initial.n_merges
        raise ValueError(f"vocab_size is {vocab_size}, but the initial tokenizer has {size} bytes and merges already")
    return n_merges


def counts_and_pattern(
    source: Source | WordCounts, pattern: str | EllipsisType | None, initial: Tokenizer | None
) -> tuple[Source | WordCounts, str | None]:
    """The source, with files of word counts loaded, and the split pattern. ValueError where it is not theirs."""
    name = name_of_counts(source)
    source = with_counts_loaded(source)
    if isinstance(pattern, EllipsisType):
        pattern = pattern_of(source if isinstance(source, WordCounts) else initial)
        if isinstance(source, WordCounts) and pattern == CHARACTERS_SPLIT_PATTERN:
            raise ValueError(
                f'{name} split for training over characters, alphabet="characters": for a tokenizer over bytes, count '
                "again by another pattern"
            )
    if isinstance(source, WordCounts):
        refuse_other_pattern(source, pattern, name)
    return source, pattern


def pattern_of(given: WordCounts | Tokenizer | None) -> str | None:
    """The split pattern of what training was given; the default for nothing."""
    return GPT4_SPLIT_PATTERN if given is None else given.pattern


def refuse_ids_of_merges(special_tokens: Mapping[str, int], ids: array[int]) -> None:
    """ValueError for a special token whose id a merge gets; ids: of the bytes and of all merges."""
    for token, token_id in special_tokens.items():
        if token_id in ids:
            above = max(ids) + 1
            raise ValueError(
                f"the id {token_id} of the special token {shown(token)} is for a merge: choose one from {above} on"
            )


def refuse_ids_out_of_step(vocabulary: Vocabulary, ids: array[int], vocab_size: int) -> None:
    """ValueError for ids that a checkpoint cannot hold, in which merge i makes token 256 + i."""
    if vocabulary.whole_pieces or ids != array("I", range(len(ids))):
        raise ValueError(
            "a checkpoint cannot hold the ids of this tokenizer, which are not 256 + merge: leave it out, or go on "
            f"from one of cbpe.train whose special tokens have ids from {vocab_size} on"
        )
