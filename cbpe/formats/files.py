"""Files of any known format: which one a file is of, and parts of a tokenizer to a file."""

from __future__ import annotations

import os
import warnings

from cbpe.common.atomic_files import refuse_elsewhere
from cbpe.common.checks import refuse_no_path
from cbpe.common.published import EXPORTED, INDEX
from cbpe.formats.parts import Parts
from cbpe.formats.reading import MAX_FILE_BYTES, File
from cbpe.formats.table import FORMATS, Format, known_formats

__all__ = [
    "ends_otherwise",
    "find_in_folder",
    "format_of_name",
    "holds_tokenizer",
    "left_out",
    "recognise",
    "refuse_name",
    "save",
    "save_and_warn",
]

SQLITE, DATABASE = b"SQLite format 3\0", "an SQLite database, as a model store is"
NAMED = 3  # special tokens in a warning
WORD_COUNTS = b"\x89cbpeWC\n"  # what a file of them begins with, as corpus/word_counts.py describes it
BESIDE = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json")
COMPRESSED = (".gz", ".xz", ".zst", ".bz2", ".zip")
STREAMS = ("/dev", "/proc")  # where a link may be to standard output, which may be a file


def recognise(file: File) -> Format:
    """The format of a file, which is told by what it holds. ValueError where it is none that is known."""
    stands_beside = "this is what transformers writes beside a tokenizer: name its tokenizer.json, or the folder"
    try:
        for known in FORMATS:
            if known.recognises(file):
                return known
    except ValueError as error:
        if os.path.basename(file.path) in BESIDE:
            raise ValueError(stands_beside) from error
        raise
    if file.looks_like_json:
        unknown = f"this is JSON, but of no known format; these are {known_formats()}"
        raise ValueError(stands_beside if os.path.basename(file.path) in BESIDE else unknown)
    if file.start.startswith(EXPORTED):
        raise ValueError(
            "this is a version that was exported from a model store: "
            "save it in one by ModelStore.import_(path), and load it from there"
        )
    if file.start.startswith(WORD_COUNTS):
        raise ValueError("this is a file of word counts, and holds no tokenizer: train reads it in place of texts")
    refuse_other_kinds(file.start)
    raise ValueError(f"this is no file of a known format, which are {known_formats()}")


def refuse_other_kinds(start: bytes) -> None:
    """ValueError that says what a file is by its first bytes: empty, compressed, an archive, a database, UTF-16."""
    # A file of a known format never needs these.
    from cbpe.corpus.stored_bytes import IN_OTHER_ENCODINGS, SIGNS, ZIP, ZIPPED
    from cbpe.formats.gpt2 import CODES, holds_codes

    if not start:
        raise ValueError("the file is empty")
    if holds_codes(start):
        raise ValueError(CODES)
    for sign, (program, _) in SIGNS.items():
        if start.startswith(sign):
            raise ValueError(f"the file is compressed by {program}: decompress it first")
    if start.startswith(SQLITE):
        raise ValueError(f"the file is {DATABASE}: open it as such, and load a version by its name")
    if start.startswith(ZIP):
        raise ValueError(f"the file is {ZIPPED}")
    for mark, kind in IN_OTHER_ENCODINGS.items():
        if start.startswith(mark):
            raise ValueError(f"the file {kind}")


def holds_tokenizer(path: str) -> bool:
    """Whether a file is one that a tokenizer can be loaded from, or one of two of which the other is gone, or lists
    tokens for people to read. OSError where it cannot be read."""
    from cbpe.formats import gpt2, minbpe

    file = File(path)
    if minbpe.FOR_PEOPLE.match(file.start):
        return True
    if file.looks_like_json and os.path.getsize(path) > MAX_FILE_BYTES:
        return False
    try:
        known = recognise(file)
    except ValueError:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known.module.load(file)
        return True
    except ValueError:
        pass
    try:
        return known.module is gpt2 and format_of_name(path) is known and gpt2.may_be_half(file)
    except ValueError:
        return False


def find_in_folder(folder: str) -> str:
    """The file in a folder that a tokenizer is loaded from: one that holds all of it, if there is one. ValueError if
    there is none, OSError for a folder that may not be looked into."""
    groups = [names for known in sorted(FORMATS, key=lambda one: not one.is_complete) for names in known.in_folders]
    for names in groups:
        if all(os.path.isfile(os.path.join(folder, name)) for name in names):
            return os.path.join(folder, names[0])
    os.listdir(folder)  # or nobody may look
    for path in (os.path.join(folder, name) for names in groups for name in names):
        if os.path.islink(path) and not os.path.exists(path):
            raise ValueError(f"{path} is a link to no file: get the file, or give the path of another")
    expected = ", nor ".join(" with ".join(names) for names in dict.fromkeys(groups))
    is_copy = os.path.isfile(os.path.join(folder, INDEX))
    published = f", or a name in the published copy, as {folder}/NAME" if is_copy else ""
    raise ValueError(f"{folder}: this folder has neither {expected}: give the path of a file{published}")


def format_of_name(path: str | os.PathLike[str], over_characters: bool = False) -> Format | None:
    """The format that the end of a name says, or the whole of the name: for a tokenizer over characters, another one in
    some cases."""
    name = os.path.basename(os.fspath(path))
    for ending in (name, os.path.splitext(name)[1].lower()):
        for known in FORMATS:
            if over_characters and ending in known.for_characters:
                return known
        for known in FORMATS:
            if ending in known.endings:
                return known
    return None


def refuse_name(path: str) -> None:
    """ValueError for what is no name of a file that a tokenizer is written to: none at all, a folder's, a device's, one
    that is nothing but an ending, one that ends as a compressed file's, or one of a format that is only read."""
    refuse_elsewhere(path)
    folder, name = os.path.split(path)
    if not path:
        raise ValueError("the name of the file is empty: give one, as book.json")
    if not name or name in (os.curdir, os.pardir) or (os.path.isdir(path) and format_of_name(path) is None):
        inside = os.path.join(path, "tokenizer.json")
        beside = "" if not name.strip(".") else f", or {path}.json for one beside it"
        raise ValueError(f"{path!r} is a folder: name a file in it, as {inside}{beside}")
    of_a_stream = os.path.islink(path) and os.path.realpath(folder or ".").startswith(STREAMS)
    if os.path.exists(path) and (of_a_stream or not os.path.isfile(path)) and format_of_name(path) is None:
        raise ValueError(f"{path!r} is a pipe or a device: give the name of a file, as book.json")
    if name.lower() in {ending for known in FORMATS for ending in (*known.endings, ".gz") if ending.startswith(".")}:
        raise ValueError(f"{path!r} is an ending without a name, and would be a hidden file: put a name before it")
    stem, ending = os.path.splitext(name)
    if ending.lower() in COMPRESSED:
        plain = os.path.join(folder, stem)
        raise ValueError(f"{path!r}: a tokenizer is not written to a compressed file: give {plain!r}")
    if ending.lower() == ".gguf":
        raise ValueError(f"{path!r}: GGUF is read, and not written: give a .json")


def ends_otherwise(path: str) -> str:
    """The message about the name of a file that says no format."""
    endings = ", ".join(ending for known in FORMATS for ending in known.endings)
    return f"{path[-400:]!r} ends like no file of a known format; these are {endings}"


def save(parts: Parts, path: str | os.PathLike[str]) -> None:
    """Write the files that hold a tokenizer of these parts, in the format that the name says. ValueError, and nothing
    is written, for a name that says none, and for what the format cannot hold; OSError where a file cannot be
    written."""
    from cbpe.common.atomic_files import write_files  # loading takes none of it

    refuse_no_path("path", path)
    path = os.fspath(path)
    refuse_name(path)
    known = format_of_name(path, "characters" in parts.processing)
    if known is None:
        raise ValueError(ends_otherwise(path))
    try:
        contents = known.module.dump(parts)
        files = {name: [data] for name, data in zip(known.files(path), contents, strict=True)}
        refuse_too_large(files)
        write_files(files)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def refuse_too_large(files: dict[str, list[bytes]]) -> None:
    """ValueError for contents that would not be read again, as those of a .vocab never are."""
    for name, data in files.items():
        n_bytes = sum(map(len, data))
        if n_bytes > MAX_FILE_BYTES and not name.endswith(".vocab"):
            raise ValueError(
                f"the file would have {n_bytes:,} bytes, and one of more than {MAX_FILE_BYTES:,} is not read again; a "
                ".model of merges, which holds no tokens, is smaller"
            )


def save_and_warn(parts: Parts, path: str | os.PathLike[str]) -> None:
    """As save does, with a warning of what the file does not hold."""
    from cbpe.common.warning import warn
    from cbpe.common.wording import listed

    save(parts, path)
    missing = left_out(parts, path)
    if missing:
        known = format_of_name(path, "characters" in parts.processing)
        given = "" if known is None or known.is_complete else ": cbpe.load takes pattern= and special_tokens= beside it"
        warn(f"{os.fspath(path)} does not hold {listed(missing, NAMED)}{given}")


def left_out(parts: Parts, path: str | os.PathLike[str]) -> list[str]:
    """What of a tokenizer the file that save makes does not hold, in words."""
    from cbpe.common.wording import listed

    known = format_of_name(path, "characters" in parts.processing)
    missing = () if known is None else known.leaves_out
    words = []
    if "pattern" in missing:
        words.append("that nothing splits texts (pattern '')" if parts.pattern is None else "the split pattern")
    if "template" in missing and "template" in parts.processing:
        words.append("the template that puts tokens around a text")
    if "special_tokens" in missing:
        from cbpe.views.inspected import as_shown

        words += [f"the special token {as_shown(text)} with id {i}" for text, i in parts.special_tokens.items()]
    if "special" in missing:
        from cbpe.text.special_tokens import END_OF_TEXT

        others = [text for text in parts.special_tokens if text != END_OF_TEXT]
        named = f"{listed(others, NAMED)} {'is a special token' if len(others) == 1 else 'are special tokens'}"
        words += [f"that {named} (as others know {END_OF_TEXT} alone, unless they are told)"] if others else []
    if "flags" in missing:
        words += flags_left_out(parts)
    never_found = control_tokens(parts)
    if "never_found" in missing and never_found:
        words.append(
            f"how text that spells {listed(never_found, NAMED)} is encoded (here as ordinary text; in this format as "
            "these tokens, and decode writes them)"
        )
    if "found" in missing and parts.special_tokens and not never_found:
        named = listed(parts.special_tokens, NAMED)
        words.append(f"how text that spells {named} is encoded (here as these tokens; in this format as ordinary text)")
    words += unknown_left_out(parts, missing)
    if "decoded" in missing and parts.special_tokens and {"characters", "words"}.isdisjoint(parts.processing):
        from cbpe.formats.gpt2 import spells_other_bytes

        taken = [token for token in parts.special_tokens if spells_other_bytes(token)]
        if taken:
            named = listed(taken, NAMED)
            words.append(f"how {named} is decoded (here as it is written; `tokenizers` takes its characters for bytes)")
    return words


def flags_left_out(parts: Parts) -> list[str]:
    """How added tokens are found, as a tokenizer.json says it."""
    from cbpe.common.wording import listed

    flags = {
        "lstrip": ("lstrip", "the white space before goes with it"),
        "rstrip": ("rstrip", "the white space after goes with it"),
        "single_word": ("single_word", "it is none within a word"),
        "ordinary": ("special: false", "it is found in every text"),
    }
    processing = parts.processing
    return [
        f"{name} of {listed(processing[key], NAMED)} ({said})"
        for key, (name, said) in flags.items()
        if key in processing
    ]


def unknown_left_out(parts: Parts, missing: tuple[str, ...]) -> list[str]:
    """How an unknown character is decoded, if there may be one: as the token by Hugging Face, as a sign of its own by
    SentencePiece."""
    settings = parts.processing.get("characters", {})
    unknown, owner = settings.get("unk_token"), settings.get("sentencepiece")
    if unknown is None or settings["byte_fallback"]:
        return []
    if "never_found" in missing and owner is not None:
        return [f"how an unknown character is decoded (here as {owner['unk_surface']!r}; in this format as {unknown})"]
    if "found" in missing and owner is None:
        return [f"how an unknown character is decoded (here as {unknown}; in this format as ' \u2047 ')"]
    return []


def control_tokens(parts: Parts) -> list[str]:
    """The special tokens that are found in no text, as SentencePiece has it."""
    owner = parts.processing.get("characters", {}).get("sentencepiece")
    return [] if owner is None else [token for token in parts.special_tokens if token in owner["controls"]]
