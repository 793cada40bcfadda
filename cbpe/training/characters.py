"""Training over characters, as SentencePiece does it: which characters have a token, and what may be merged.

A text is its lines. Spaces are shown as the mark U+2581 there, and begin words; merges stay within a word. The most
frequent characters have tokens, which come after those of the merges; the others become the tokens of their bytes.
"""

from __future__ import annotations

import operator
import struct
import time
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from cbpe._core.conversion.characters import vocabulary_of_characters
from cbpe._core.counting.count import PieceCounter
from cbpe._core.text.shown import shown
from cbpe._core.training.characters import CLASSES, FIRST_SCRIPT_CLASS, Pieces
from cbpe._core.training.train import Trainer
from cbpe.common.checks import MAX_TOKENS, N_BYTES, checked_flag, checked_int, is_float, refuse_unordered
from cbpe.common.progress import ProgressCallback, progress_reports
from cbpe.corpus.counting import Reading, counts_of
from cbpe.corpus.describing import describe_source, tell_of_plain_text, watched
from cbpe.corpus.sources import Source
from cbpe.corpus.word_counts import WordCounts
from cbpe.formats.parts import Parts
from cbpe.text.byte_tokens import byte_of, byte_token
from cbpe.text.spaces import CHARACTERS_SPLIT_PATTERN, MARK, with_spaces
from cbpe.text.splitting import make_splitter
from cbpe.training.learn import (
    Counted,
    closing_line,
    counted_of,
    nothing_to_learn,
    record_of,
    warn_if_stopped,
)
from cbpe.training.loop import Report, run, token_shown
from cbpe.training.record import TrainingRecord
from cbpe.training.rules import Rules, checked_rules
from cbpe.training.scripts import INHERITED, scripts_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from cbpe._core.calls.encoder import PythonSplitter
    from cbpe._core.splitting.split import Splitter

__all__ = [
    "CharacterOptions",
    "Characters",
    "Learned",
    "checked_characters",
    "checked_special_texts",
    "learn_pieces",
    "trained_characters",
]

FIRST_SPECIAL = ("<unk>", "<s>", "</s>")
TIE_BREAKS = ("shortest", "first")
MAX_LENGTH = 16  # characters of a token, unless said otherwise
DIGITS = {*"0123456789０１２３４５６７８９"}  # noqa: RUF001  # as SentencePiece has them


class CharacterOptions(TypedDict, total=False):
    """Options of train for alphabet="characters"."""

    byte_fallback: bool
    character_coverage: float
    required_characters: str
    split_by_script: bool
    split_by_number: bool
    split_digits: bool
    add_dummy_prefix: bool


class Characters(NamedTuple):
    """The same, checked."""

    byte_fallback: bool = True
    character_coverage: float = 0.9995
    required_characters: str = ""
    split_by_script: bool = True
    split_by_number: bool = True
    split_digits: bool = False
    add_dummy_prefix: bool = True


class Learned(NamedTuple):
    """What was learned: tokens in the order of their ids, with spaces for marks, after the special tokens and the
    bytes."""

    merged: list[str]
    characters: list[str]
    record: TrainingRecord


def checked_characters(options: CharacterOptions) -> Characters:
    """The options, checked. TypeError for one of the wrong type, ValueError for one out of range."""
    checked = Characters(**options)
    for name in ("byte_fallback", "split_by_script", "split_by_number", "split_digits", "add_dummy_prefix"):
        checked_flag(name, getattr(checked, name))
    coverage = checked.character_coverage
    if not is_float(coverage):
        raise TypeError(f"character_coverage must be a float, not {type(coverage).__name__}: {shown(coverage)}")
    if not 0 < coverage <= 1:
        raise ValueError(f"character_coverage is {shown(coverage)}; it must be above 0, and at most 1")
    required = checked.required_characters
    if not isinstance(required, str):
        raise TypeError(f"required_characters must be a str, not {type(required).__name__}: {shown(required)}")
    for character in required:
        if character == "\0" or "\ud800" <= character <= "\udfff":
            kind = "NUL" if character == "\0" else "a surrogate"
            raise ValueError(f"required_characters has U+{ord(character):04X}, which is {kind}: it cannot have a token")
    return checked._replace(character_coverage=float(coverage))


def checked_special_texts(given: Iterable[str], byte_fallback: bool) -> tuple[str, ...]:
    """All special tokens, in the order of their ids: "<unk>", "<s>", "</s>" and the given ones.

    TypeError for what is no texts, or brings ids; ValueError for a text that is there twice, that is a single
    character, or that stands for a byte.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"special_tokens are several texts, not {shown(given)}")
    if hasattr(given, "keys"):
        raise TypeError("over characters, special tokens have the first ids, 3 and up: give their texts alone")
    refuse_unordered("special_tokens", given)
    texts = list(FIRST_SPECIAL)
    for text in given:
        if not isinstance(text, str):
            raise TypeError(f"a special token must be a str, not {type(text).__name__}: {shown(text)}")
        if text in texts:
            own = f"is one of the three that every such vocabulary has ({', '.join(FIRST_SPECIAL)}): leave it out"
            problem = own if text in FIRST_SPECIAL else "is given twice"
            raise ValueError(f"the special token {shown(text)} {problem}")
        if len(text) < 2 or (byte_fallback and byte_of(text) is not None):
            kind = "stands for a byte" if len(text) > 1 else "is a single character" if text else "is empty"
            raise ValueError(f"the special token {shown(text)} {kind}: choose another text")
        texts.append(text)
    return tuple(texts)


def learn_pieces(
    source: Source | WordCounts,
    vocab_size: int,
    settings: Characters,
    special_tokens: Sequence[str],
    *,
    tie_break: str = "shortest",
    min_count: int = 1,
    max_token_length: int | None = None,
    verbose: bool = False,
    progress: bool | ProgressCallback | None = None,
    **reading: Unpack[Reading],
) -> Learned:
    """Learn a vocabulary of vocab_size tokens, special ones, bytes and characters included.

    The options are those of train. Where nothing is left to merge, training ends early with a UserWarning. Raises
    TypeError and ValueError as train does.
    """
    vocab_size = checked_int("vocab_size", vocab_size, 1, most=MAX_TOKENS)
    length = MAX_LENGTH if max_token_length is None else max_token_length
    rules = checked_rules(tie_break, min_count, length, TIE_BREAKS)
    splitter = make_splitter(CHARACTERS_SPLIT_PATTERN)
    described = describe_source(source)
    tell_of_plain_text(source, special_tokens, reading.get("field"))
    source = watched(source, special_tokens, reading.get("field"))
    started = time.perf_counter()
    with progress_reports(progress) as told:
        counted, pieces, kept = pieces_of(source, splitter, settings, told, reading)
        found = pieces.count_characters()
        characters = alphabet_of(found, settings)
        start = Start(len(special_tokens), N_BYTES * settings.byte_fallback, len(characters))
        n_merges = merges_left(vocab_size, start)
        if n_merges and not counted.distinct_pieces:
            raise nothing_to_learn(counted)
        trainer = make_trainer(pieces, characters, settings, rules, special_tokens)
        del pieces
        read = time.perf_counter()
        alphabet = in_order(characters)
        apart = tokens_without_merges(found, characters, settings.byte_fallback) - trainer.tokens_at_start
        report = None
        if verbose:
            ids = SymbolNames(alphabet, start.special + start.bytes)
            report = Report(trainer, n_merges, ids, [one.encode() for one in alphabet], apart)
        run(trainer, n_merges, report=report, progress=told)
    record = record_of(
        trainer,
        rules,
        counted,
        source=described,
        seconds=(read - started, time.perf_counter() - read),
        splitter=splitter,
        special_tokens={text: number for number, text in enumerate(special_tokens)},
        start_tokens=start.bytes + start.characters,
        tokens_apart=apart,
        vocab_size=vocab_size - start.special,
        characters=settings._asdict(),
        kept_bytes=kept,
    )
    if verbose:
        print(closing_line(record))
    warn_if_stopped(record, n_merges)
    return Learned(merged_texts(alphabet, *trainer.merges()), characters, record)


def pieces_of(
    source: Source | WordCounts,
    splitter: Splitter | PythonSplitter,
    settings: Characters,
    progress: ProgressCallback | None,
    reading: Reading,
) -> tuple[Counted, Pieces, int | None]:
    """Read and count a source; how many bytes are left of it, where rare words were dropped."""
    words, changed = counts_of(source, splitter, progress, **reading)
    lengths, counts = words.lengths(), words.counts()
    kept = sum(map(operator.mul, lengths, counts)) if words.dropped_words else None
    return counted_of(words, changed), Pieces(words.data(), lengths, counts, settings.add_dummy_prefix), kept


class Start(NamedTuple):
    """How many tokens there are before the first merge."""

    special: int
    bytes: int
    characters: int


def merges_left(vocab_size: int, start: Start) -> int:
    """How many merges a vocabulary has room for. ValueError if it has none for what comes before them."""
    least = sum(start)
    if vocab_size < least:
        bytes_too = f"{start.bytes} bytes " if start.bytes else ""
        raise ValueError(
            f"vocab_size is {vocab_size}, but {start.special} special tokens, {bytes_too}and {start.characters:,} "
            f"characters take {least:,}: ask for at least {least}, or lower character_coverage"
        )
    return vocab_size - least


class SymbolNames:
    """What verbose=True calls the trainer's symbols: merges by their ids, and characters, whose ids follow those of all
    merges, as they are."""

    def __init__(self, alphabet: Sequence[str], first_id: int) -> None:
        self.alphabet = alphabet
        self.first_id = first_id

    def __getitem__(self, symbol: int) -> int | str:
        n_characters = len(self.alphabet)
        if symbol < n_characters:
            return token_shown(self.alphabet[symbol].encode())
        return self.first_id + symbol - n_characters


def alphabet_of(found: dict[str, int], settings: Characters) -> list[str]:
    """The characters that have a token, in the order of their ids: the space, the required ones, and the most frequent
    ones until they are so large a part of the text as character_coverage says; never NUL, which SentencePiece cannot
    hold. Of equally frequent characters the one of the lower code point comes first."""
    required = {" ", *with_spaces(settings.required_characters)}
    counts = {**dict.fromkeys(required, 0), **found}
    counts.pop("\0", None)
    total, covered = sum(counts.values()), 0
    chosen = {}
    by_count = sorted(counts, key=lambda character: (-counts[character], code_point(character)))
    for character in (*(one for one in by_count if one in required), *(one for one in by_count if one not in required)):
        is_enough = total == 0 or as_float(covered / total) >= as_float(settings.character_coverage)
        if is_enough and character not in required:
            break
        covered += counts[character]
        chosen[character] = counts[character]
    return sorted(chosen, key=lambda character: (-chosen[character], code_point(character)))


def as_float(number: float) -> float:
    """A number as a C float, in which SentencePiece compares."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0])


def code_point(character: str) -> int:
    """By which characters are sorted: a space as its mark."""
    return ord(MARK if character == " " else character)


def in_order(characters: Iterable[str]) -> str:
    return "".join(sorted(characters, key=code_point))


def classes_of(scripts: Mapping[str, str], characters: Sequence[str], settings: Characters) -> dict[str, int]:
    """What each character merges with, for Pieces.cut."""
    numbers: dict[str, int] = {}
    classes = {}
    for character in characters:
        script = scripts.get(character)
        if character in DIGITS and settings.split_digits:
            classes[character] = CLASSES["alone"]
        elif script in (None, INHERITED) or (character in DIGITS and not settings.split_by_number):
            classes[character] = CLASSES["any"]
        else:
            classes[character] = FIRST_SCRIPT_CLASS + numbers.setdefault(script, len(numbers))
    return classes


def make_trainer(
    pieces: Pieces, characters: list[str], settings: Characters, rules: Rules, special_tokens: Sequence[str]
) -> Trainer:
    """Cut the pieces to words, count equal ones together, and give them to a new trainer."""
    scripts = scripts_of("".join(characters)) if settings.split_by_script else {}
    classes = classes_of(scripts, characters, settings)
    counter = PieceCounter()
    pieces.begin_to_cut(classes)
    while (words := pieces.cut()) is not None:
        counter.add_counts(*words)
    taken = [*special_tokens, *(map(byte_token, range(N_BYTES)) if settings.byte_fallback else ())]
    known = {*characters}
    data, lengths, counts = counter.data(), counter.lengths(), counter.counts()
    del counter
    return Trainer(
        data,
        lengths,
        counts,
        tie_break=rules.tie_break,
        min_count=rules.min_count,
        max_token_length=rules.max_token_length or 0,
        alphabet=in_order(characters),
        refused=[text for text in map(with_spaces, taken) if known.issuperset(text)],
        scripts=script_numbers(scripts, characters, classes) if INHERITED in scripts.values() else None,
    )


def script_numbers(scripts: Mapping[str, str], characters: Sequence[str], classes: Mapping[str, int]) -> bytes:
    """The scripts of the alphabet, for the trainer: 0 any, 1 that of the character before, and then the others."""
    numbers = {character: kind - FIRST_SCRIPT_CLASS + 2 for character, kind in classes.items()}
    numbers = {character: number if number >= 2 else 0 for character, number in numbers.items()}
    numbers |= {character: 1 for character, script in scripts.items() if script == INHERITED}
    numbers[" "] = 0
    return bytes(numbers[character] for character in in_order(characters))


def tokens_without_merges(found: dict[str, int], characters: Sequence[str], byte_fallback: bool) -> int:
    """The tokens of all words before the first merge: one for each character with a token, for others one for each
    byte, or the unknown one."""
    known = {*characters}
    return sum(
        count * (len(character.encode("utf-8", "replace")) if byte_fallback and character not in known else 1)
        for character, count in found.items()
    )


def merged_texts(alphabet: str, left: array[int], right: array[int]) -> list[str]:
    """What each merge spells."""
    texts = [*alphabet]
    for first, second in zip(left, right, strict=True):
        texts.append(texts[first] + texts[second])
    return texts[len(alphabet) :]


def trained_characters(
    merged: Sequence[str], characters: Sequence[str], special_tokens: Sequence[str], settings: Characters
) -> Parts:
    """The parts of the tokenizer of what was learned, with ids as SentencePiece gives them: special tokens, bytes, what
    merges make, characters."""
    special = {text: number for number, text in enumerate(special_tokens)}
    first = len(special) + N_BYTES * settings.byte_fallback
    ids = {text.encode(): number for number, text in enumerate((*merged, *characters), first)}
    unknown = FIRST_SPECIAL[0]
    vocabulary = vocabulary_of_characters(
        ids,
        None,
        list(range(len(special), first)) if settings.byte_fallback else None,
        None if settings.byte_fallback else special[unknown],
        not settings.byte_fallback,
    )
    processing = {
        "spaces": "each" if settings.add_dummy_prefix else "never",
        "split": False,
        "strip": "one" if settings.add_dummy_prefix else None,
        "byte_fallback": settings.byte_fallback,
        "fuse_unk": True,
        "unk_token": unknown,
    }
    return Parts(vocabulary, None, special, {"characters": processing}, kind="SentencePieceTokenizer")
