"""What the name of a tokenizer means, to cbpe.load and on the command line: a file, or else a named encoding, or else a
version in the model store."""

from __future__ import annotations

import os

from cbpe.common.published import is_published
from cbpe.common.wording import meant
from cbpe.encodings.named import SPECS

__all__ = [
    "DIGEST",
    "FILE_ENDINGS",
    "is_bare_folder",
    "is_encoding",
    "is_file",
    "looks_like_a_path",
    "plugin_names",
    "refuse_empty",
    "shadowed",
    "unknown",
]

# Of files that hold tokenizers: no version is called so.
COMPRESSED = (".gz", ".xz", ".zst", ".bz2", ".zip")
FILE_ENDINGS = (
    *(".model", ".vocab", ".json", ".tiktoken", ".bin", ".bpe", ".txt", ".gguf", ".cbpe-model", ".cbpe"),
    *COMPRESSED,
)

LOADED_ENDINGS = (".json", ".model", ".tiktoken", ".gguf")  # of files that hold nothing else, as a rule
DIGEST = "sha256:"  # how a reference to a version by its digest begins


def is_file(reference: str) -> bool:
    """Whether it has a separator or an ending, and is a file that is there, or in a published copy of a store. A folder
    has a separator, or the ending of a file: "llama-3.1" is as good a name for a version."""
    if not looks_like_a_path(reference) or is_bare_folder(reference):
        return False
    return is_there(reference) or is_published(reference)


def is_there(path: str) -> bool:
    """Whether there is such a file or folder, or nobody can know who may not look into the folder that it is in."""
    try:
        os.stat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def is_encoding(reference: str) -> bool:
    return reference in SPECS or reference in plugin_names()


def plugin_names() -> list[str]:
    """The encodings of plug-ins; none if a plug-in is broken, which is told where a name means nothing."""
    from cbpe.encodings.plugins import constructors  # imports what is installed

    try:
        return [name for name in constructors() if name not in SPECS]
    except Exception:
        return []


def looks_like_a_path(reference: str) -> bool:
    """ "book.model", "./book" and "~/models/x" do, "book", "book@3" and "sha256:ab" do not."""
    return has_separator(reference) or os.path.splitext(reference)[1] not in ("", ".")


def is_bare_folder(reference: str) -> bool:
    """Whether it is a folder that is there, but has no separator, nor the ending of a file of a tokenizer."""
    return seems_a_name(reference) and os.path.isdir(reference)


def has_separator(reference: str) -> bool:
    return any(separator in reference for separator in (os.sep, os.altsep) if separator)


def refuse_empty(reference: str) -> None:
    """ValueError for "", which a variable that is not set leaves."""
    if not reference:
        raise ValueError("'' names no tokenizer: name a file, a named encoding or a version in the model store")


def shadowed(name: str) -> str | None:
    """What else the name of a version means, or means where there is such a file; None if nothing.

    >>> shadowed("gpt2"), shadowed("book.model"), shadowed("llama-3.1")
    ('the named encoding', 'a file', None)
    """
    if is_encoding(name):
        return "the named encoding"
    if name in (os.curdir, os.pardir):
        return "a folder"
    if name.startswith("-"):
        return "an option"
    if (
        "/" in name or "\\" in name or name.lower().endswith(FILE_ENDINGS)
    ):  # on any system: a store may be used on several
        return "a file"
    return None


def unknown(reference: str, of_the_store: str) -> str:
    """The message about a reference that means nothing; of_the_store is what the store said."""
    from cbpe.common.atomic_files import in_home
    from cbpe.encodings.models import encoding_of_model, meant_encoding
    from cbpe.encodings.plugins import why_broken

    tried = []
    if is_bare_folder(reference):
        tried.append(of_folder(reference))
    elif os.path.islink(reference) and not os.path.exists(reference):
        tried.append(f"{reference} is a link to no file")
    elif looks_like_a_path(reference):
        close = longer_name(reference) or meant(os.path.basename(reference), beside(reference)).removeprefix(": ")
        # A shell stands "~" in front of a word for the user's folder, but not within quotes, and Python never does.
        home = in_home(reference)
        close = close or (f"~ stands for no folder here: {home}" if home is not None else "")
        tried.append(f"there is no such file ({reference}{close and '; '}{close})")
    elif os.path.exists(reference):
        tried.append(f"a file without an ending is named as {os.path.join('.', reference)}")
    elif longer_name(reference):
        tried.append(longer_name(reference))
    model_of = encoding_of_model(reference)
    if model_of is not None:
        tried.append(f"it is a model of OpenAI's, whose encoding is {model_of}")
    elif not reference.startswith(DIGEST) and "@" not in reference:  # which no encoding has in its name
        names = [*SPECS, *plugin_names()]
        guess = meant_encoding(reference, names).removeprefix(": ")
        tried.append(f"the named encodings are {', '.join(names)}{f' ({guess})' if guess else ''}")
        broken = why_broken()
        if broken is not None:
            tried.append(f"those of plug-ins are not known: {broken}")
    tried.append(of_the_store)
    if seems_on_the_hub(reference):
        tried.append(
            f"nothing is downloaded: of a model on the Hugging Face Hub, get its file (hf download {reference} "
            "tokenizer.json), and name that"
        )
    elif model_of is None and seems_a_name(reference) and "@" not in reference and "did you mean" not in str(tried):
        tried.append("nothing is downloaded: of a tokenizer that is published elsewhere, name its file")
    return f"no tokenizer {reference!r}: {'; '.join(tried)}"


def seems_on_the_hub(reference: str) -> bool:
    """Whether a model on the Hugging Face Hub may have this name: "owner/model"."""
    import re  # which a program that names an encoding does without

    is_name = re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", reference, re.ASCII) is not None
    return is_name and not reference.lower().endswith(FILE_ENDINGS) and not os.path.isdir(os.path.dirname(reference))


def seems_a_name(reference: str) -> bool:
    """Whether it is neither a path, nor the name of a file, nor a digest."""
    return not (has_separator(reference) or reference.lower().endswith(FILE_ENDINGS) or reference.startswith(DIGEST))


def longer_name(name: str) -> str:
    """What there is to say of a name to which the ending of its file lacks, or nothing."""
    found = [name + ending for ending in LOADED_ENDINGS if os.path.isfile(name + ending)]
    return f"there is a file {found[0]}: give its whole name" if found else ""


def of_folder(name: str) -> str:
    """What there is to say of a folder whose name has no separator."""
    from cbpe.formats.files import find_in_folder

    try:
        find_in_folder(name)
    except ValueError as error:
        return str(error)
    return f"a folder is named as {os.path.join('.', name)}"


def beside(path: str) -> list[str]:
    """The names in the folder that a path is in that may be those of tokenizers: of folders, and of files with such
    endings or none. None where it cannot be read."""
    try:
        with os.scandir(os.path.dirname(path) or os.curdir) as entries:
            return [
                each.name
                for each in entries
                if os.path.splitext(each.name)[1].lower() in ("", *FILE_ENDINGS) or each.is_dir()
            ]
    except (OSError, ValueError):
        return []
