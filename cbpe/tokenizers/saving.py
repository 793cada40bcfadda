"""save: a tokenizer as a file of any known format, which is told by the end of the file's name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from cbpe.common.atomic_files import check_writable, write_files
from cbpe.formats import gpt2, hugging_face, minbpe, tiktoken
from cbpe.formats.checks import refuse_unmerged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cbpe._core.vocabulary.vocabulary import Vocabulary
    from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["has_known_ending", "left_out", "refuse_before_training", "save", "save_minbpe", "saved_files"]


def save(tok: Tokenizer, path: str | os.PathLike[str]) -> None:
    """As Tokenizer.save says."""
    write = writer(os.fspath(path))
    if write is None:
        raise ValueError(f"{os.fspath(path)!r} ends like no file of a known format; these are {', '.join(WRITERS)}")
    try:
        write(tok, os.fspath(path))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def has_known_ending(path: str | os.PathLike[str]) -> bool:
    """Whether the end of a name says in which format to save."""
    return writer(os.fspath(path)) is not None


def saved_files(path: str) -> list[str]:
    """The files that a tokenizer is written to by the save of one that was trained: "book" -> book.model, book.vocab"""
    write = writer(path)
    if write is None or write is save_minbpe:
        prefix = path if write is None else os.path.splitext(path)[0]
        return [prefix + ending for ending in MINBPE_ENDINGS]
    if write is save_gpt2:
        return [os.path.join(os.path.dirname(path), name) for name in gpt2_names(path)]
    return [path]


def left_out(tok: Tokenizer, path: str) -> list[str]:
    """What of a tokenizer the file that save makes does not hold: a .tiktoken file has nothing but ranks, all others
    hold everything, or are refused."""
    if writer(path) is not save_tiktoken:
        return []
    parts = [] if tok.pattern is None else ["the split pattern"]
    if "template" in tok._processing():
        parts.append("the template that puts tokens around a text")
    return parts + [f"the special token {token} with id {token_id}" for token, token_id in tok.special_tokens.items()]


def refuse_before_training(
    path: str, special_tokens: Iterable[str], initial: Tokenizer | None, vocab_size: int
) -> None:
    """Before there is something to lose: an error where the result of a training could not be saved in the end, as far
    as that is known. OSError where files cannot be written there, ValueError for what minbpe's format cannot hold."""
    check_writable(path)
    if writer(path) not in (None, save_minbpe):
        return
    minbpe.dumps(minbpe.Model(None, dict.fromkeys(special_tokens, 0), []))
    for token, token_id in initial.special_tokens.items() if initial else ():
        if token_id < vocab_size:
            raise ValueError(
                f"new merges go around the special token {token!r} with the id {token_id}, and a model file cannot "
                "hold that: save to the model store or as .json, or give special tokens to the last training only"
            )


def writer(path: str) -> Callable[[Tokenizer, str], None] | None:
    """What writes a file of this name."""
    name = os.path.basename(path)
    return WRITERS.get(name) or WRITERS.get(os.path.splitext(name)[1])


def save_minbpe(tok: Tokenizer, path: str) -> None:
    """Write minbpe's .model file, and the .vocab file beside it."""
    refuse_processing("minbpe's format", tok)
    prefix = os.path.splitext(path)[0]
    vocabulary = tok._vocabulary
    refuse_unmerged("minbpe's format", vocabulary)
    refuse_other_ids(vocabulary)
    merges = vocabulary.merges()
    model = minbpe.dumps(minbpe.Model(tok.pattern, tok.special_tokens, list(merges)))
    vocab = minbpe.dumps_vocab(vocabulary.tokens(), merges)
    write_files({f"{prefix}.model": [model.encode("utf-8")], f"{prefix}.vocab": [vocab.encode("utf-8")]})


def refuse_processing(what: str, tok: Tokenizer, besides: Iterable[str] = ()) -> None:
    """ValueError where text is changed before it is encoded, or ids after, `besides` some steps."""
    steps = tok._processing().keys() - {*hugging_face.FLAGS, *besides}
    if steps:
        raise ValueError(
            f"{what} cannot hold what the tokenizer does besides splitting and merging: {', '.join(sorted(steps))}"
        )


def refuse_other_ids(vocabulary: Vocabulary) -> None:
    """ValueError where a token's id is not the byte's value, or 256 + the number of the merge."""
    for byte in range(256):
        if vocabulary.find(bytes([byte])) != byte:
            raise ValueError(
                f"minbpe's format cannot hold an id of the byte 0x{byte:02x} other than {byte}: pickle the tokenizer"
            )
    for i, (pair, token_id) in enumerate(vocabulary.merges().items(), 256):
        if token_id != i:
            problem = f"the merge of {pair} makes token {token_id}, and minbpe's format would make it token {i}"
            raise ValueError(f"{problem}: pickle the tokenizer, or train it without special tokens between its merges")


def save_tiktoken(tok: Tokenizer, path: str) -> None:
    """Write tiktoken's file of ranks, which holds neither split pattern nor special tokens."""
    refuse_processing("tiktoken's format", tok, besides=("template",))
    write_files({path: [tiktoken.dumps(tiktoken.exported_ranks(tok._vocabulary))]})


def save_gpt2(tok: Tokenizer, path: str) -> None:
    """Write GPT-2's two files, one of which has this path."""
    refuse_processing("GPT-2's format", tok)
    names = gpt2_names(path)
    contents = gpt2.exported(tok._vocabulary, tok.pattern, tok.special_tokens)
    folder = os.path.dirname(path)
    write_files({os.path.join(folder, name): [data] for name, data in zip(names, contents, strict=True)})


def gpt2_names(path: str) -> tuple[str, str]:
    """The names of the pair that a file is of."""
    return next(pair for pair in gpt2.FILE_NAMES if os.path.basename(path) in pair)


def save_hugging_face(tok: Tokenizer, path: str) -> None:
    """Write Hugging Face's tokenizer.json."""
    write_files({path: [hugging_face.dumps(tok._vocabulary, tok.pattern, tok.special_tokens, tok._processing())]})


MINBPE_ENDINGS = (".model", ".vocab")

# By the end of a name, or by the whole of it.
WRITERS: dict[str, Callable[[Tokenizer, str], None]] = {
    **dict.fromkeys(MINBPE_ENDINGS, save_minbpe),
    ".tiktoken": save_tiktoken,
    ".json": save_hugging_face,
    **{name: save_gpt2 for pair in gpt2.FILE_NAMES for name in pair},
}
