"""Reading a tokenizer.json whose model is over words: with a prefix or a suffix, or over characters without marks for
spaces."""

from __future__ import annotations

from collections import namedtuple
from functools import cache

from cbpe._core.conversion.spelled_words import resolve_words
from cbpe._core.conversion.words import BEGIN_MARK, END_MARK, vocabulary_of_words
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.formats.gpt2 import CHARACTER_TO_BYTE
from cbpe.formats.hugging_face.model import pair_of_merge, refuse_as_ordinary
from cbpe.formats.hugging_face.pre_tokenizers import (
    read_plain_pre_tokenizer,
    read_pre_tokenizer,
    takes_digits_apart,
)
from cbpe.formats.hugging_face.values import flag, kinds_in, refuse, text_of
from cbpe.formats.hugging_face.words.settings import MAX_AFFIX, read_words_decoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from cbpe._core.conversion.listed import ListedMerges

__all__ = ["read_words", "vocabulary_over_words"]

AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")
TEXT_BYTES = [bytes([byte]) for byte in range(0xF5)]  # all that may be in UTF-8, and a few more


def read_words(content: dict[str, Any]) -> tuple[str | None, dict[str, Any], tuple[str, str]]:
    """The split pattern; what processing has of splitting, with "words"; and the prefix and the suffix."""
    model = content["model"]
    over_bytes = "ByteLevel" in kinds_in(content.get("pre_tokenizer"), "pre_tokenizer", "pretokenizers")
    alphabet = "bytes" if over_bytes else "characters"
    read = read_pre_tokenizer if over_bytes else read_plain_pre_tokenizer
    pattern, processing = read(content.get("pre_tokenizer"))
    if over_bytes and takes_digits_apart(content.get("pre_tokenizer")):
        refuse("pre_tokenizer", content["pre_tokenizer"], "over words, Digits behind ByteLevel are not supported")
    if flag(model, "model", "ignore_merges", False):
        refuse("model.ignore_merges", True, "over words and characters, only false is supported")
    unknown = model.get("unk_token")
    if unknown is not None and not isinstance(unknown, str):
        refuse("model.unk_token", unknown, "a token should be here, or null")
    processing["words"] = {
        "alphabet": alphabet,
        "decoder": read_words_decoder(content.get("decoder"), alphabet),
        "fuse_unk": flag(model, "model", "fuse_unk", False),
        "unk_token": unknown,
    }
    prefix, suffix = (read_affix(model.get(name), f"model.{name}", alphabet) for name in AFFIXES)
    if prefix and suffix and over_bytes:
        refuse("model.continuing_subword_prefix", prefix, "over bytes, there may be a prefix or a suffix, but not both")
    return pattern, processing, (prefix, suffix)


def read_affix(value: Any, path: str, alphabet: str) -> str:
    if value is None:
        return ""
    text = text_of(value, path, MAX_AFFIX)
    if not text.isascii():
        refuse(path, value, "one of ASCII alone is supported, as `tokenizers` takes its characters for bytes")
    if alphabet == "bytes" and not all("!" <= character <= "~" for character in text):
        refuse(path, value, "over bytes, one of visible characters of ASCII is supported")
    return text


# A token as it stands in a word: what it spells there, and whether it is for the first, or the last, of it.
Token = namedtuple("Token", "body begins ends")


class Speller:
    """Tokens of a file as vocabulary_of_words takes them."""

    def __init__(self, prefix: str, suffix: str, alphabet: str) -> None:
        self.prefix = prefix
        self.suffix = suffix
        self.alphabet = alphabet
        # Most tokens are asked about several times.
        self.token = cache(self._token)
        self.spelled = cache(self._spelled)

    def _token(self, text: str) -> Token:
        """What a token of the file stands for. Which of two things it stands for is not always certain: see joined."""
        body, begins, ends = text, bool(self.prefix), False
        if self.suffix and body.endswith(self.suffix) and len(body) > len(self.suffix):
            body, ends = body[: -len(self.suffix)], True
        if self.prefix and body.startswith(self.prefix) and len(body) > len(self.prefix):
            body, begins = body[len(self.prefix) :], False
        return Token(body, begins, ends)

    def _spelled(self, text: str) -> bytes:
        """The bytes of a token, with marks. ValueError for one that no text has."""
        token = self.token(text)
        if not token.body:
            raise ValueError("model.vocab has a token without any characters")
        data = self.data(token.body, text)
        before, behind = self.prefix and BEGIN_MARK, self.suffix and END_MARK
        if len(data) > 1 and ((before and data.startswith(BEGIN_MARK)) or (behind and data.endswith(END_MARK))):
            raise ValueError(f"model.vocab has {text[:80]!r}, with a byte that is in no text")
        return (BEGIN_MARK if token.begins else b"") + data + (END_MARK if token.ends else b"")

    def data(self, body: str, text: str) -> bytes:
        if self.alphabet == "characters":
            try:
                return body.encode()
            except UnicodeEncodeError:
                problem = "which is no text: a lone surrogate is in it"
                raise ValueError(f"model.vocab has {text[:80]!r}, {problem}") from None
        try:
            return bytes([CHARACTER_TO_BYTE[character] for character in body])
        except KeyError as error:
            problem = f"the character {error.args[0]!r} stands for no byte, and it is no added token"
            raise ValueError(f"model.vocab has {text[:80]!r}: {problem}") from None

    def joined(self, left: str, right: str, number: int) -> str | None:
        """What a merge makes; None for a merge that never happens, as its left token ends a word. ValueError where a
        token would stand for two things, such as "a</w>" for an "a" that ends a word and for these five characters."""
        if self.prefix and not (right.startswith(self.prefix) and len(right) > len(self.prefix)):
            refuse(f"model.merges[{number}]", [left, right], f"the right token has to begin with {self.prefix!r}")
        made = left + right[len(self.prefix) :]
        first, second = self.token(left), self.token(right)
        if first.ends:
            return None
        if self.token(made) != Token(first.body + second.body, first.begins, second.ends):
            refuse(f"model.merges[{number}]", [left, right], f"{made[:80]!r} would be marked in a way that it is not")
        return made


def vocabulary_over_words(
    vocab: Mapping[str, int],
    merges: list[Any] | ListedMerges,
    added_tokens: dict[str, int],
    affixes: tuple[str, str],
    settings: dict[str, Any],
) -> Vocabulary:
    """The vocabulary of such a model, whose merges are as in the file. ValueError for one that cannot be kept
    exactly."""
    speller = Speller(*affixes, settings["alphabet"])
    unknown = settings["unk_token"]
    others = [text for text in (*added_tokens, *([] if unknown is None else [unknown])) if text in vocab]
    singles = any(len(speller.token(text).body) == 1 for text in others)
    if not (affixes[0] or singles or (unknown is not None and unknown not in vocab)):
        alphabet = None if settings["alphabet"] == "characters" else CHARACTER_TO_BYTE
        resolved = resolve_words(vocab, merges, alphabet, affixes[1], added_tokens, unknown)
        if resolved is not None:
            return resolved.vocabulary_of_words(None if unknown is None else vocab[unknown], settings["fuse_unk"])
    # The slower way says what is wrong.
    pairs = []
    merged: set[str] = set()
    for number, merge in enumerate(merges):
        left, right = pair_of_merge(merge, number)
        made = speller.joined(left, right, number)
        merged.update((left, right))
        for text in (left, right, made):
            if text is not None and text not in vocab:
                raise ValueError(f"model.merges[{number}] needs the token {text[:80]!r}, which is not in model.vocab")
        if made is not None:
            merged.add(made)
            pairs.append((speller.spelled(left), speller.spelled(right)))
    if unknown is not None and unknown not in vocab:
        refuse("model.unk_token", unknown, "there is no such token in model.vocab")
    for text in others:
        if text in merged or len(speller.token(text).body) == 1:
            reason = "a merge makes it, or takes it" if text in merged else "it is a single character"
            refuse_as_ordinary(text, reason)
    ids: dict[bytes, int] = {}
    for text, token_id in vocab.items():
        if text not in added_tokens:
            ids[speller.spelled(text)] = token_id
    over_characters = settings["alphabet"] == "characters"
    characters = characters_of(ids) if over_characters else TEXT_BYTES
    is_unknown = unknown is not None and (over_characters or lacks_some(ids, affixes))
    return vocabulary_of_words(
        ids,
        pairs,
        characters,
        affixes[0].encode(),
        affixes[1].encode(),
        over_characters,
        vocab[unknown] if is_unknown and unknown is not None else None,
        settings["fuse_unk"] and is_unknown,
    )


def characters_of(ids: dict[bytes, int]) -> list[bytes]:
    """The characters that have a token, wherever in a word."""
    bare = {token.strip(BEGIN_MARK + END_MARK) for token in ids}  # bytes that are in no UTF-8
    return [token for token in bare if len(token) <= 4 and len(token.decode()) == 1]


def lacks_some(ids: dict[bytes, int], affixes: tuple[str, str]) -> bool:
    """Whether some byte has no token at some place in a word."""
    befores = (b"", BEGIN_MARK) if affixes[0] else (b"",)
    behinds = (b"", END_MARK) if affixes[1] else (b"",)
    return any(before + byte + behind not in ids for byte in TEXT_BYTES for before in befores for behind in behinds)
