"""The tokenizer in a GGUF file of llama.cpp's, where it is BPE: tokenizer.ggml.model is "gpt2", which is byte-level, or
"llama", which is SentencePiece's.

A byte-level one names its split pattern by tokenizer.ggml.pre. The names that are known here stand for one pattern
each; a name that stands for several steps, or for another pattern in each model, is refused.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, NoReturn

from cbpe._core.conversion.spelled import resolve
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.common.wording import shown
from cbpe.formats.gguf.metadata import MAGIC, read_metadata
from cbpe.formats.gpt2 import CHARACTER_TO_BYTE, unspell
from cbpe.formats.parts import Parts
from cbpe.formats.reading import File
from cbpe.formats.sentencepiece import Piece, sorted_pieces
from cbpe.formats.sentencepiece import vocabulary_of as vocabulary_of_pieces
from cbpe.text.patterns import GPT2_SPLIT_PATTERN, LLAMA3_SPLIT_PATTERN, O200K_SPLIT_PATTERN, QWEN2_SPLIT_PATTERN

TEKKEN_SPLIT_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class Pre(NamedTuple):
    """What llama.cpp does for a name of tokenizer.ggml.pre."""

    pattern: str
    whole_pieces: bool = False  # a piece that is a token is that token, whatever the merges say
    add_bos: bool = False  # unless the file says otherwise


_LLAMA3 = Pre(LLAMA3_SPLIT_PATTERN, whole_pieces=True, add_bos=True)
PRE = {
    "gpt-2": Pre(GPT2_SPLIT_PATTERN),
    "phi-2": Pre(GPT2_SPLIT_PATTERN),
    "olmo": Pre(GPT2_SPLIT_PATTERN),
    "llama3": _LLAMA3,
    "llama-v3": _LLAMA3,
    "llama-bpe": _LLAMA3,
    "dbrx": Pre(LLAMA3_SPLIT_PATTERN),
    "smaug-bpe": Pre(LLAMA3_SPLIT_PATTERN),
    "qwen2": Pre(QWEN2_SPLIT_PATTERN),
    "gpt-4o": Pre(O200K_SPLIT_PATTERN),
    "tekken": Pre(TEKKEN_SPLIT_PATTERN, whole_pieces=True, add_bos=True),
}

PREFIX = "tokenizer.ggml."
TEXTS = ("model", "pre")
LISTS = ("tokens", "token_type", "merges", "scores")
FLAGS = ("add_bos_token", "add_eos_token", "add_space_prefix")
IDS = ("bos_token_id", "eos_token_id")
WANTED = frozenset(PREFIX + name for name in (*TEXTS, *LISTS, *FLAGS, *IDS))
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)  # kinds of tokens
MAX_ADDED_TOKENS = 100_000  # what is looked for at every place of a text: more would take very long
MAX_ADDED_LENGTH = 1000


def recognises(file: File) -> bool:
    """Whether a file begins with the magic."""
    return file.start.startswith(MAGIC)


def load(file: File) -> Parts:
    """The parts of a HuggingFaceTokenizer in a GGUF file, whose weights are not read. ValueError for what is not whole
    and valid, and for a tokenizer that is not of the kind that is known here."""
    values = {name.removeprefix(PREFIX): value for name, value in read_metadata(file.path, WANTED).items()}
    model = values.get("model")
    for name in FLAGS:
        if not isinstance(values.get(name, False), bool):
            raise ValueError(f"{PREFIX}{name} is {shown(values[name])}: true or false should be here")
    if model == "llama":
        return load_pieces(values)
    if model != "gpt2":
        refuse_model(model)
    pre = PRE.get(values["pre"]) if isinstance(values.get("pre"), str) else None
    if pre is None:
        why = f"the split patterns that are known are {', '.join(PRE)}"
        said = f"{PREFIX}pre is {str(values['pre'])[:80]!r}" if "pre" in values else f"there is no {PREFIX}pre"
        raise ValueError(f"{said}: {why}")
    tokens, kinds, merges = read_lists(values)
    special_tokens, user_defined, vocab = sort_tokens(tokens, kinds)
    processing: dict[str, Any] = {}
    if user_defined:
        processing["ordinary"] = user_defined
    template = template_of(values, pre.add_bos, tokens, special_tokens)
    if template is not None:
        processing["template"] = template
    vocabulary = vocabulary_of(vocab, merges, pre.whole_pieces)
    return Parts(vocabulary, pre.pattern, special_tokens, processing, kind="HuggingFaceTokenizer")


def load_pieces(values: dict[str, Any]) -> Parts:
    """The parts of a SentencePieceTokenizer: pieces that merge by their scores."""
    tokens, kinds = read_tokens(values)
    scores = values.get("scores")
    if not isinstance(scores, list) or len(scores) != len(tokens):
        raise ValueError(f"{PREFIX}scores should have a number for each of {len(tokens):,} tokens")
    pieces: list[Piece] = []
    for token_id, (text, score, kind) in enumerate(zip(tokens, scores, kinds, strict=True)):
        if not isinstance(score, float) or not math.isfinite(score):
            raise ValueError(f"{PREFIX}scores[{token_id}] is {score} ({text[:80]!r}): a number should be here")
        if not NORMAL <= kind <= BYTE or not text:
            raise ValueError(f"{PREFIX}token_type[{token_id}] is {kind} ({text[:80]!r}): 1 to 6 are known")
        pieces.append(Piece(text, score, kind))
    ids, of_kind = sorted_pieces(pieces)
    fallback = bool(of_kind[BYTE])
    vocabulary = vocabulary_of_pieces(pieces, ids, of_kind, fallback)
    special = {text: ids[text] for kind in (UNKNOWN, CONTROL, USER_DEFINED) for text in of_kind[kind]}
    if len(special) > MAX_ADDED_TOKENS or any(len(text) > MAX_ADDED_LENGTH for text in special):
        limits = f"up to {MAX_ADDED_TOKENS:,} special tokens of 1 to {MAX_ADDED_LENGTH:,} characters are supported"
        raise ValueError(f"{PREFIX}tokens: {limits}")
    adds_space = values.get("add_space_prefix", True)
    processing: dict[str, Any] = {
        "characters": {
            "spaces": "each" if adds_space else "never",
            "split": False,
            "strip": "one" if adds_space else None,
            "byte_fallback": fallback,
            "fuse_unk": True,
            "unk_token": of_kind[UNKNOWN][0],
        }
    }
    if of_kind[USER_DEFINED]:
        processing["ordinary"] = sorted(of_kind[USER_DEFINED])
    template = template_of(values, True, tokens, special)
    if template is not None:
        processing["template"] = template
    return Parts(vocabulary, None, special, processing, kind="SentencePieceTokenizer")


def refuse_model(model: object) -> NoReturn:
    if model is None:
        raise ValueError(f"it has no {PREFIX}model: it holds no tokenizer")
    known = "gpt2 (byte-level BPE) and llama (SentencePiece's BPE)"
    raise ValueError(f"{PREFIX}model is {str(model)[:80]!r}, and only {known} are supported")


def dump(parts: Parts) -> list[bytes]:
    """ValueError: such a file holds a model's weights, and is not written here."""
    raise ValueError("GGUF files hold the weights of a model, and are not written")


def read_lists(values: dict[str, Any]) -> tuple[list[str], list[int], list[str]]:
    """The tokens by id, the kind of each, and the merges."""
    merges = texts_of(values, "merges")
    return *read_tokens(values), merges


def texts_of(values: dict[str, Any], name: str) -> list[str]:
    value = values.get(name)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{PREFIX}{name} should be a list of texts")
    return value


def read_tokens(values: dict[str, Any]) -> tuple[list[str], list[int]]:
    """The tokens by id, and the kind of each."""
    tokens = texts_of(values, "tokens")
    kinds = values.get("token_type")
    n = len(tokens)
    if not isinstance(kinds, list) or len(kinds) != n:
        found = f"{len(kinds):,} numbers" if isinstance(kinds, list) else "missing, or no list"
        raise ValueError(f"{PREFIX}token_type should have a number for each of {n:,} tokens, and is {found}")
    return tokens, kinds


def sort_tokens(tokens: list[str], kinds: list[int]) -> tuple[dict[str, int], list[str], dict[str, int]]:
    """The special tokens with their ids, which of them are the user's, and the ordinary tokens with their ids. Unused
    ones are left out: nothing becomes one of them."""
    special_tokens: dict[str, int] = {}
    user_defined: list[str] = []
    vocab: dict[str, int] = {}
    for token_id, (text, kind) in enumerate(zip(tokens, kinds, strict=True)):
        if kind == UNUSED:
            continue
        if kind not in (NORMAL, CONTROL, USER_DEFINED):
            why = "1 (normal), 3 (control), 4 (user-defined) and 5 (unused) are supported"
            raise ValueError(f"{PREFIX}token_type[{token_id}] is {kind} ({text[:80]!r}): in byte-level BPE, {why}")
        if text in vocab or text in special_tokens:
            first = vocab.get(text, special_tokens.get(text))
            raise ValueError(f"{PREFIX}tokens has {text[:80]!r} twice, as {first} and {token_id}")
        if kind == NORMAL:
            vocab[text] = token_id
            continue
        if not 0 < len(text) <= MAX_ADDED_LENGTH or len(special_tokens) >= MAX_ADDED_TOKENS:
            limits = f"up to {MAX_ADDED_TOKENS:,} special tokens of 1 to {MAX_ADDED_LENGTH:,} characters are supported"
            raise ValueError(f"{PREFIX}tokens[{token_id}] is {text[:80]!r}: {limits}")
        special_tokens[text] = token_id
        if kind == USER_DEFINED:
            user_defined.append(text)
    return special_tokens, user_defined, vocab


def template_of(
    values: dict[str, Any], add_bos: bool, tokens: list[str], special_tokens: dict[str, int]
) -> dict[str, Any] | None:
    """What puts the tokens for the beginning and the end around a text, if the file or llama.cpp says so."""
    around: list[list[dict[str, Any]]] = []
    named: dict[str, Any] = {}
    for side, flag, default in (("bos", "add_bos_token", add_bos), ("eos", "add_eos_token", False)):
        around.append([])
        if not values.get(flag, default):
            continue
        token_id = values.get(f"{side}_token_id")
        if type(token_id) is not int or not 0 <= token_id < len(tokens) or tokens[token_id] not in special_tokens:
            raise ValueError(f"{PREFIX}{side}_token_id is {token_id}, which is no special token to put around texts")
        text = tokens[token_id]
        around[-1] = [{"SpecialToken": {"id": text, "type_id": 0}}]
        named[text] = {"id": text, "ids": [token_id], "tokens": [text]}
    if not named:
        return None
    before, after = around
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    pair = [*before, first, *after, *before, second, *after]
    return {"single": [*before, first, *after], "pair": pair, "special_tokens": named}


def vocabulary_of(vocab: dict[str, int], merges: list[str], whole_pieces: bool) -> Vocabulary:
    """The vocabulary of tokens and merges as the file spells them. ValueError names what is wrong."""
    resolved = resolve(vocab, merges, CHARACTER_TO_BYTE)
    if resolved is not None:
        return resolved.vocabulary(whole_pieces)
    for text, token_id in vocab.items():
        if not text or not unspell(text):
            raise ValueError(f"{PREFIX}tokens[{token_id}] has no bytes")
    seen: set[str] = set()
    for number, merge in enumerate(merges):
        pair = merge.split(" ")
        if len(pair) != 2 or not all(pair):
            raise ValueError(f"{PREFIX}merges[{number}] is {merge[:80]!r}: two tokens should be here")
        for text in (*pair, "".join(pair)):
            if text not in vocab:
                raise ValueError(f"{PREFIX}merges[{number}] needs the token {text[:80]!r}, which is no normal token")
        if merge in seen:
            raise ValueError(f"{PREFIX}merges[{number}] is {merge[:80]!r}, which is there before")
        seen.add(merge)
    raise AssertionError("what cannot be resolved has a reason")
