"""Tokenizers from elsewhere: from a file of any known format, and from what other libraries trained."""

from __future__ import annotations

import os

from cbpe.common.atomic_files import is_url
from cbpe.common.checks import checked_flag
from cbpe.common.garbage import without_collecting
from cbpe.common.public import public
from cbpe.common.published import is_published, load_published, load_stored
from cbpe.common.warning import warnings_naming
from cbpe.common.wording import of_another_library, shown
from cbpe.encodings.references import is_bare_folder, is_encoding, is_file, looks_like_a_path, refuse_empty, unknown
from cbpe.formats.files import find_in_folder, recognise
from cbpe.formats.parts import Parts
from cbpe.formats.reading import File
from cbpe.text.special_tokens import is_mapping
from cbpe.tokenizers.kinds import tokenizer_of

# What only some files need is imported where it is used: that takes longer than loading some vocabularies.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from cbpe.formats.inspecting import Inspection
    from cbpe.formats.rustbpe import RustBPE
    from cbpe.formats.table import Format
    from cbpe.tokenizers.tiktoken import Encoding
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["from_bpeasy", "from_rustbpe", "from_transformers", "inspect", "lacks_pattern", "load"]

RANKS, PAIR = "cbpe.formats.ranks.tiktoken", "cbpe.formats.gpt2"
LONGEST_PATH = 4096  # bytes, which is the most that Linux takes
USE_FAST = "pass what AutoTokenizer.from_pretrained gives with use_fast=True"


@public
def load(
    path: str | os.PathLike[str],
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | Iterable[str] | None = None,
    name: str | None = None,
    allow_http: bool = False,
    keys: Any = None,
) -> Tokenizer:
    """The tokenizer that a str or a path means, as on the command line:

    1. The one in a file, of whatever known format; the format is told by what the file holds. A file whose name has
       neither an ending nor a separator is given as "./name", or as a pathlib.Path, and so is a folder without a
       separator.
    2. Or else a named encoding: "cl100k_base".
    3. Or else a version in your model store (the one of CBPE_STORE, or the file in your data folder): "name", "name@3",
       "name@prod", "sha256:ab12cd34".

    Or one in a published copy of a model store: "https://host/folder/name@3", "folder/name@prod", or a name alone for
    its newest version; what is no letter, digit or one of "-._~@" is written there as %XX. http:// is fetched from this
    machine alone, unless `allow_http` says otherwise. keys: public ed25519 keys, as PEM files or cryptography's
    objects, one of which has to have signed the copy; with None no signature is looked at.

    minbpe's .model: a BasicTokenizer, or a RegexTokenizer if it has a split pattern. GPT-2's pair of files, given one
    of them or their folder: a GPT2Tokenizer. Hugging Face's tokenizer.json, given it or its folder: a
    HuggingFaceTokenizer, a SentencePieceTokenizer if its model is over characters with marks for spaces, or a
    WordTokenizer if its tokens are marked where words begin or end, or are of characters without such marks.
    llama.cpp's GGUF: one of the first two. SentencePiece's .model of type BPE, given it or its folder: a
    SentencePieceTokenizer. Mistral's tekken.json, given it or its folder: an Encoding. tiktoken's .tiktoken, llm.c's
    gpt2_tokenizer.bin: an Encoding; such files hold ranks and no split pattern, and only for them are `pattern` (the
    split pattern; "" if nothing splits the texts), `special_tokens` (a dict of texts and ids, or texts, which get the
    ids that follow the file's tokens; by default the file's, or those of a tokenizer_config.json beside it, or none)
    and `name` (the file's by default). The files that OpenAI publishes, Llama 3's, and llm.c's of GPT-2, are known by
    their SHA-256; of encodings that share a file, that of its name is taken, or the base. If a tokenizer_config.json
    beside it names a class that is known (Kimi's, Qwen's), the file or its folder gives a HuggingFaceTokenizer that
    does what this class does.

    ValueError, with the file named, for what is no whole and valid file of a known format, or not what a published copy
    says of it; OSError where it cannot be read, or is not there; LookupError for a name that means nothing, and for a
    version that the store or a published copy does not have; ImportError where the package store cannot be imported.

    >>> load("toy.model").encode("hello")
    [104, 101, 108, 108, 111]
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"path is a str or a path, not {of_another_library(path)}")
    refuse_content(path)
    allow_http = checked_flag("allow_http", allow_http)
    of_a_file = pattern is not None or special_tokens is not None or name is not None
    reference = os.fsdecode(path)
    if is_published(reference):
        refuse_options(of_a_file)
        found: Tokenizer = load_published(reference, allow_http, keys)
        return found
    if keys is not None:
        raise ValueError(f"{reference:.200}: keys are for a version in a published copy, and this is none")
    if isinstance(path, str) and not is_file(path):
        found = named(path)  # which tells a name that means nothing first
        refuse_options(of_a_file)
        return found
    path = reference
    is_folder = os.path.isdir(path)
    if is_folder:
        path = find_in_folder(path)
    try:
        with without_collecting(), warnings_naming(path):
            file = File(path)
            known = recognise(file)
            if not known.is_complete:
                return tokenizer_of(completed(known, file, pattern, special_tokens, name))
            refuse_options(of_a_file, f", and {known.title} is read with its own")
            if known.home == PAIR:
                refuse_other_pattern(os.path.dirname(path))
            parts = known.module.load(file)
            if parts.kind == "Encoding" and parts.pattern:
                tell_of_differences(parts.pattern)
            tok = tokenizer_of(parts)
            folder, is_json = os.path.dirname(path), os.path.basename(path) == "tokenizer.json"
            is_pair = known.home == PAIR and not os.path.isfile(os.path.join(folder, "tokenizer.json"))
            if is_pair or (is_folder and parts.kind != "Encoding"):
                tell_of_settings_beside(folder, tok, is_json)
            return tok
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def refuse_content(path: object) -> None:
    """ValueError for what is by far too long for a path, or has a NUL: the content of a file."""
    if isinstance(path, (str, bytes)) and (len(path) > LONGEST_PATH or "\0" in os.fsdecode(path)):
        raise ValueError(
            f"{shown(path)} is no path: it seems to be the content of a file. Write it to one, and name that"
        )


def tell_of_differences(pattern: str) -> None:
    """A UserWarning where tiktoken may split otherwise by this pattern."""
    from cbpe.tokenizers.tiktoken import warn_of_differences  # no other kind of tokenizer needs it

    warn_of_differences(pattern)


def refuse_other_pattern(folder: str) -> None:
    """ValueError where GPT-2's pair of files belongs to a class that splits otherwise."""
    from cbpe.formats.beside.settings import refuse_other_class

    refuse_other_class(folder)


def refuse_options(are_given: bool, why: str = "") -> None:
    if are_given:
        raise ValueError(f"pattern, special_tokens and name are for files without a split pattern{why}")


def named(reference: str) -> Tokenizer:
    """The tokenizer of a name that is no file's: an encoding, or a version in the user's store."""
    refuse_empty(reference)
    if is_encoding(reference):
        from cbpe.tokenizers.registry import get_encoding

        return get_encoding(reference)
    try:
        found: Tokenizer = load_stored(reference)
        return found
    except (LookupError, ImportError) as error:
        message = unknown(reference, str(error))
        cause = None if isinstance(error, LookupError) else error  # which the message says whole
        if looks_like_a_path(reference) and not is_bare_folder(reference):
            raise FileNotFoundError(message) from cause
        raise type(error)(message) from cause


def completed(
    known: Format,
    file: File,
    pattern: str | None,
    special_tokens: Mapping[str, int] | Iterable[str] | None,
    name: str | None,
) -> Parts:
    """The parts in a file without a split pattern: what it does not hold is what is given, or what belongs to a file
    that is published, or what is found beside it. ValueError where there is no split pattern."""
    import hashlib

    from cbpe.encodings.digests import PUBLISHED
    from cbpe.encodings.named import SPECS
    from cbpe.formats.beside.config import CONFIG
    from cbpe.formats.beside.ranks import PATTERNS_BY_SHA256, look_beside

    digest = hashlib.sha256(file.data).hexdigest()
    published = PUBLISHED.get(digest)
    if published is not None:
        of_file = [each for each, spec in SPECS.items() if spec.vocabulary == SPECS[published].vocabulary]
        by_file = file.stem if file.stem in of_file else published  # "o200k_harmony.tiktoken", as it was saved
        if name is not None and name not in of_file:
            said = f"this file holds the ranks of {', '.join(of_file)}, and {shown(name)} is"
            if name in SPECS:
                raise ValueError(f"{said} another encoding: leave name out")
            if pattern is None or special_tokens is None:
                from cbpe.common.warning import warn

                warn(f"{said} none of these: what is not given is that of {by_file}")
        spec = SPECS[name if name in of_file else by_file]
        if name is None and special_tokens is None:
            tell_of_config_beside(file.path, by_file, spec.special_tokens)
        name = by_file if name is None else name
        pattern = spec.pattern if pattern is None else pattern
        special_tokens = spec.special_tokens if special_tokens is None else special_tokens
    beside = look_beside(file.path) if known.home == RANKS and published is None else None
    if digest in PATTERNS_BY_SHA256 and name in SPECS:
        raise ValueError(f"this file holds other ranks than those of the encoding {shown(name)}: leave name out")
    if pattern is None:
        pattern = PATTERNS_BY_SHA256.get(digest)
    if pattern is None and beside is not None and beside.known is not None:
        if name is not None:
            raise ValueError(f"name is for an Encoding, and this is {beside.class_name}'s tokenizer")
        parts = known.module.load(file)
        return beside.complete(parts, beside.known, with_ids(special_tokens, parts))
    if pattern is None:
        ending = os.path.splitext(known.endings[0])[1] or known.endings[0]
        found = ""
        if beside is not None:
            named = f"that of the class {beside.class_name}, which {CONFIG} names, is not known"
            found = f", and {named if beside.class_name else f'{CONFIG} names no class'}"
        raise ValueError(
            f"a {ending} file holds no split pattern{found}: give it, as "
            "load(path, pattern=..., special_tokens={...}); cbpe.patterns has those in common use, and '' is for texts "
            "that nothing splits"
        )
    parts = known.module.load(file)
    if pattern and published is None:
        tell_of_differences(pattern)
    ids = with_ids(special_tokens, parts)
    if ids is None:
        ids = parts.special_tokens if beside is None else beside.added_tokens
    name = file.stem if name is None else name
    return Parts(parts.vocabulary, pattern or None, ids, parts.processing, kind=parts.kind, name=name)


def tell_of_config_beside(path: str, encoding: str, special_tokens: Mapping[str, int]) -> None:
    """A UserWarning where what is beside a file that is known by what it holds names other special tokens."""
    from cbpe.formats.beside.settings import left_aside

    told = left_aside(os.path.dirname(path), id_of=special_tokens.get)
    if told:
        from cbpe.common.warning import warn

        warn(
            f"the file is {encoding}'s, and left aside is what the files beside it say: {', and '.join(told)}: give "
            "special tokens, as load(path, special_tokens={...}, name=...)"
        )


def lacks_pattern(path: str) -> bool:
    """Whether a file, or the one in a folder, is of a format without split pattern and special tokens. Raises as load
    does."""
    path = find_in_folder(path) if os.path.isdir(path) else path
    try:
        return not recognise(File(path)).is_complete
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def with_ids(special_tokens: Mapping[str, int] | Iterable[str] | None, parts: Parts) -> Mapping[str, int] | None:
    """Special tokens with ids: texts get those that follow the vocabulary's. TypeError for what is neither."""
    from cbpe.training.initial import with_next_ids

    if special_tokens is None:
        return None
    if is_mapping(special_tokens):
        return special_tokens
    return with_next_ids({}, special_tokens, parts.vocabulary.max_id + 1)


@public
def inspect(path: str | os.PathLike[str]) -> Inspection:
    """What a file of any format, or a folder with one, holds: its format and sizes, the steps around merging, the split
    pattern and the special tokens; of a file that cbpe.load refuses, what can be told, and why.

    OSError where it cannot be read; ValueError for a folder without a tokenizer, and for a URL.

    >>> inspect("toy.model").kind
    'BasicTokenizer'
    """
    from pathlib import Path

    from cbpe.formats.inspecting import Inspection, found_in, title_of

    if not isinstance(path, (str, bytes, os.PathLike)):
        analyze = ": its analyze() and repr tell of it" if hasattr(path, "analyze") else ""
        raise TypeError(f"path is a str or a path, not {of_another_library(path)}{analyze}")
    refuse_content(path)
    path = os.fsdecode(path)
    if is_url(path):
        raise ValueError(f"{path}: a tokenizer's file is not read from a URL: download it")
    if os.path.isdir(path):
        path = find_in_folder(path)
    elif is_encoding(path) and not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}: cbpe.get_encoding({path!r}).analyze() tells of the encoding")
    file = File(path)
    known = (path, os.stat(path).st_size, title_of(file), found_in(file))
    try:
        tok = load(Path(path))  # never an encoding that is called like the file
    except ValueError as error:
        return Inspection(*known, refused=str(error).removeprefix(f"{path}: "))
    return Inspection(
        *known,
        kind=type(tok).__name__,
        vocab_size=len(tok._vocabulary),
        n_merges=tok._vocabulary.n_merges,
        semantics=tok.semantics,
        pattern=tok.pattern,
        splits_natively=tok.splits_natively,
        special_tokens=tok.special_tokens,
        processing=tok._processing(),
        all_tokens=len(tok),
    )


@public
def from_bpeasy(
    vocab: dict[bytes, int], pattern: str, special_tokens: Iterable[str] = (), *, name: str = "bpeasy"
) -> Encoding:
    """The Encoding with the ids of a bpeasy vocabulary, dict[bytes, int], and the pattern that it was trained with.

    The special tokens have the ids that follow the vocabulary, as in a BPEasyTokenizer. (There, they are tokens to be
    merged as well: ordinary text that spells one may become it.) ValueError or TypeError for what is no vocabulary by
    ranks.

    >>> from_bpeasy({b"a": 0, b"b": 1, b"ab": 2}, r"\\S+|\\s+", ["<end>"]).encode("ab<end>", allowed_special="all")
    [2, 3]
    """
    from cbpe.formats import bpeasy
    from cbpe.tokenizers.tiktoken import Encoding

    return Encoding._of(bpeasy.take_over(vocab, pattern, special_tokens, name))


@public
def from_rustbpe(
    tokenizer: RustBPE, special_tokens: Mapping[str, int] | None = None, *, name: str = "rustbpe"
) -> Encoding:
    """The Encoding with the ids of a rustbpe.Tokenizer, and special tokens, which rustbpe has none of.

    ValueError where ranks do not stand for what it merges: two tokens have the same bytes, or one is never merged.
    """
    from cbpe.formats import rustbpe
    from cbpe.tokenizers.tiktoken import Encoding

    return Encoding._of(rustbpe.take_over(tokenizer, dict(special_tokens or {}), name))


@public
def from_transformers(tokenizer: Any) -> Tokenizer:
    """The tokenizer of a fast tokenizer of transformers (PreTrainedTokenizerFast, what AutoTokenizer gives): with the
    ids that it gives now, whatever was added to it since it was loaded.

    Where its tokenizer.json is on this machine, a UserWarning tells what of it the file has otherwise; without one,
    both are equal in every result. `decode` is that of its tokenizer.json, where a class of transformers may do more:
    CLIP's writes spaces for the ends of words. Truncation, padding and split_special_tokens are left aside, with a
    warning. TypeError for what has no fast tokenizer inside; ValueError for what cbpe.load would refuse, and for an
    added token that its tokenizer.json gives another id.

    >>> from_transformers(AutoTokenizer.from_pretrained("folder")).encode("hello")
    """
    from cbpe.formats.hugging_face.reading import loads

    written = getattr(getattr(tokenizer, "backend_tokenizer", None), "to_str", None)
    if not callable(written):
        kind = type(tokenizer).__name__
        way = "load takes what tokenizer.save(path) wrote" if callable(getattr(tokenizer, "to_str", None)) else USE_FAST
        raise TypeError(f"a fast tokenizer of transformers has a backend_tokenizer, and a {kind} has none: {way}")
    found = tokenizer_of(loads(written().encode()))
    for token, token_id in tokenizer.get_added_vocab().items():
        own = found.token_to_id(token)
        if own != token_id:
            raise ValueError(
                f"the added token {shown(token)} has the id {token_id} there, and {own} in its tokenizer.json, as "
                "`tokenizers` reads it: there is a gap between the ids"
            )
    if getattr(tokenizer, "split_special_tokens", False):
        tell_of_split_special_tokens()
    path = file_of_transformers(tokenizer)
    differences = [] if path is None else differences_of(found, load(path))
    if differences:
        from cbpe.common.warning import warn

        warn(f"this tokenizer is not that of {path}: {' and '.join(differences)} differ")
    return found


def tell_of_split_special_tokens() -> None:
    from cbpe.common.warning import warn

    warn(
        "split_special_tokens is left aside: transformers takes what spells a special token for ordinary text, and "
        'here encode does so with allowed_special="none"'
    )


def tell_of_settings_beside(folder: str, tok: Tokenizer, is_json: bool) -> None:
    """A UserWarning for what transformers' files in the folder of a tokenizer say, and it does not do. is_json: of a
    tokenizer.json, which holds added tokens and the rest itself."""
    from cbpe.common.warning import warn
    from cbpe.formats.beside.settings import damaged_in, left_aside, left_aside_of_json, splits_special_tokens

    if is_json:
        damaged = damaged_in(folder)
        if damaged:
            warn(f"left aside is what cannot be read beside it: {' and '.join(damaged)}")
        if splits_special_tokens(folder):
            tell_of_split_special_tokens()
        template = tok._template
        around = ([], []) if template is None else (template.before, template.after)
        told = left_aside_of_json(folder, id_of=tok.token_to_id, around=around)
        way = "cbpe.from_transformers takes them over from the tokenizer that AutoTokenizer makes"
    else:
        told = left_aside(folder, id_of=tok.token_to_id)
        way = "a tokenizer.json has these, as save_pretrained of transformers writes"
    if told:
        warn(f"left aside is what the files beside it say: {', and '.join(told)}; {way}")


def tell_of_files_beside(path: str, tok: Tokenizer) -> None:
    """The same for a file that was loaded by its own name, if it is the one that the name of its folder stands for."""
    from cbpe.tokenizers.tiktoken import Encoding

    folder, name = os.path.split(path)
    is_json = name == "tokenizer.json"
    is_alone = name == "tokenizer.model" and not os.path.isfile(os.path.join(folder, "tokenizer.json"))
    if (is_json or is_alone) and not isinstance(tok, Encoding):
        with warnings_naming(path):
            tell_of_settings_beside(folder, tok, is_json)


def file_of_transformers(tokenizer: Any) -> str | None:
    """The tokenizer.json that a tokenizer of transformers was loaded from, if it is there."""
    given = getattr(tokenizer, "init_kwargs", {}).get("tokenizer_file")
    folder = getattr(tokenizer, "name_or_path", "")
    places = [given, os.path.join(folder, "tokenizer.json") if isinstance(folder, str) and folder else None]
    return next((place for place in places if isinstance(place, str) and os.path.isfile(place)), None)


def differences_of(one: Tokenizer, other: Tokenizer) -> list[str]:
    """In what the results of two tokenizers may differ, in words."""
    a, b = one._parts(), other._parts()
    told = {
        "the vocabularies": (a.vocabulary.pack(), b.vocabulary.pack()),
        "the split patterns": (a.pattern, b.pattern),
        "the special tokens": (a.special_tokens, b.special_tokens),
        "the steps around merging": (a.processing, b.processing),
    }
    return [what for what, (ours, theirs) in told.items() if ours != theirs]
