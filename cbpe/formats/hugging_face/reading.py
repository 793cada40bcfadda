"""Reading a tokenizer.json.

What cannot be honoured exactly is refused, and the message names the part of the file. A part that has no influence on
ids and bytes, such as what it says of offsets, is left out when the file is written again.
"""

from __future__ import annotations

from typing import Any

from cbpe._core.analysis.coverage import covers_all_text
from cbpe._core.conversion.merge_lists import vocabulary_from_merges
from cbpe.formats.gpt2 import BYTE_TO_CHARACTER, CHARACTER_TO_BYTE, spells_other_text
from cbpe.formats.hugging_face.oniguruma import from_oniguruma
from cbpe.formats.hugging_face.processing import checked_template, template_ids
from cbpe.formats.hugging_face.values import MAX_ID, fields, flag, is_id, kind_of, refuse
from cbpe.formats.parts import Parts
from cbpe.formats.reading import File, parse_json
from cbpe.text.patterns import GPT2_SPLIT_PATTERN

__all__ = ["load", "loads", "recognises"]

# What is looked for at every place of a text: more would take very long.
MAX_ADDED_TOKENS = 100_000
MAX_ADDED_LENGTH = 1000


def recognises(file: File) -> bool:
    """Whether a file is a tokenizer.json."""
    return file.looks_like_json and isinstance(file.json, dict) and isinstance(file.json.get("model"), dict)


def load(file: File) -> Parts:
    """The parts in a tokenizer.json. Raises as loads does."""
    return read(file.json)


def loads(data: bytes) -> Parts:
    """The parts in the content of a tokenizer.json. ValueError names the part that is wrong, or that
    cannot be honoured exactly."""
    return read(parse_json(data, "tokenizer.json"))


def read(content: Any) -> Parts:
    """The parts in the JSON of the file."""
    parts = ("truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    fields(content, "tokenizer.json", ("model",), ("version", *parts))
    if content.get("version", "1.0") != "1.0":
        refuse("version", content["version"], "only 1.0 is known")
    for path in ("truncation", "padding"):
        if content.get(path) is not None:
            refuse(path, content[path], "set it to null, and do that with the ids")
    processing: dict[str, Any] = {}
    if read_normalizer(content.get("normalizer")):
        processing["normalizer"] = "NFC"
    pattern, prefix_space = read_pre_tokenizer(content.get("pre_tokenizer"))
    if prefix_space:
        processing["prefix_space"] = True
    template = read_post_processor(content.get("post_processor"))
    if template is not None:
        processing["template"] = template
    read_decoder(content.get("decoder"))
    vocab, merges, whole_pieces = read_model(content["model"])
    added_tokens, flags = read_added_tokens(content.get("added_tokens", []), vocab)
    processing.update(flags)
    take_added_tokens(vocab, merges, added_tokens, whole_pieces)
    tokens = read_vocab(vocab)
    if template is not None:
        known = {*vocab.values(), *added_tokens.values()}
        for token_id in template_ids(processing):
            if token_id not in known:
                refuse("post_processor", token_id, "there is no token with this id")
    ids = {token: vocab[text] for text, token in tokens.items()}
    vocabulary = vocabulary_from_merges(ids, read_merges(merges, tokens), whole_pieces)
    return Parts(vocabulary, pattern, added_tokens, processing, kind="HuggingFaceTokenizer")


def flattened(value: object, path: str, name: str) -> list[tuple[str, Any]]:
    """The steps of a Sequence, or the one step, each with its path in the file. null has none."""
    if value is None:
        return []
    steps = [(path, value)]
    done: list[tuple[str, Any]] = []
    while steps:
        where, step = steps.pop()
        if kind_of(step, where) != "Sequence":
            done.append((where, step))
            continue
        inner = fields(step, where, ("type", name))[name]
        if not isinstance(inner, list):
            refuse(f"{where}.{name}", inner, "a list should be here")
        steps += reversed([(f"{where}.{name}[{i}]", one) for i, one in enumerate(inner)])
    return done


def read_normalizer(value: object) -> bool:
    """Whether text is normalized, to NFC."""
    steps = flattened(value, "normalizer", "normalizers")
    for path, step in steps:
        if kind_of(step, path) != "NFC":
            refuse(path, step, "of the normalizers, only NFC is supported")
        fields(step, path, ("type",))
    return bool(steps)


def read_pre_tokenizer(value: object) -> tuple[str | None, bool]:
    """The split pattern, and whether a space is put before a text."""
    steps = flattened(value, "pre_tokenizer", "pretokenizers")
    if not steps or kind_of(steps[-1][1], steps[-1][0]) != "ByteLevel":
        refuse("pre_tokenizer", value, "only byte-level BPE is supported, where ByteLevel comes last")
    path, last = steps.pop()
    prefix_space, use_regex = read_byte_level(last, path)
    if not steps:
        return GPT2_SPLIT_PATTERN if use_regex else None, prefix_space
    for where, step in steps:
        if kind_of(step, where) != "Split" or len(steps) > 1:
            refuse(where, step, "before ByteLevel, only a single Split is supported")
    if use_regex or prefix_space:
        name = "use_regex" if use_regex else "add_prefix_space"
        refuse(f"{path}.{name}", True, "after a Split, only false is supported")
    return read_split(steps[0][1], steps[0][0]), False


def read_byte_level(value: Any, path: str) -> tuple[bool, bool]:
    """Whether a space is put before a text, and whether it is split by GPT-2's pattern. (Offsets are not looked at.)"""
    fields(value, path, ("type",), ("add_prefix_space", "trim_offsets", "use_regex"))
    flag(value, path, "trim_offsets", True)
    return flag(value, path, "add_prefix_space", True), flag(value, path, "use_regex", True)


def read_split(value: Any, path: str) -> str:
    """The pattern of a Split whose pieces are its matches."""
    fields(value, path, ("type", "pattern", "behavior"), ("invert",))
    how = (value["behavior"], flag(value, path, "invert", False))
    expression = fields(value["pattern"], f"{path}.pattern", (), ("Regex", "String"))
    regex = expression.get("Regex")
    if len(expression) != 1 or not isinstance(regex, str):
        refuse(f"{path}.pattern", expression, "only a Regex is supported")
    try:
        pattern = from_oniguruma(regex)
    except ValueError as error:
        raise ValueError(f"{path}.pattern.Regex is {regex[:80]!r}: {error}") from None
    if how != ("Removed", True) and (how[0] != "Isolated" or not covers_all_text(pattern)):
        why = "only Removed with invert, and Isolated with a pattern that leaves no text between its matches"
        refuse(path, {**value, "pattern": "..."}, f"{why}, are supported")
    return pattern


def read_post_processor(value: object) -> dict[str, Any] | None:
    """The template, if there is one."""
    template = None
    for path, step in flattened(value, "post_processor", "processors"):
        kind = kind_of(step, path)
        if kind == "ByteLevel":  # which changes offsets only
            read_byte_level(step, path)
            continue
        if kind != "TemplateProcessing" or template is not None:
            refuse(path, step, "only ByteLevel and a single TemplateProcessing are supported")
        template = checked_template(step, path)
    return template


def read_decoder(value: object) -> None:
    steps = flattened(value, "decoder", "decoders")
    if len(steps) != 1 or kind_of(steps[0][1], steps[0][0]) != "ByteLevel":
        refuse("decoder", value, "only ByteLevel is supported")
    read_byte_level(steps[0][1], steps[0][0])


def read_model(value: object) -> tuple[dict[str, int], list[tuple[str, str]], bool]:
    """The tokens as the file spells them with their ids, the merges, and whether whole pieces are looked up first."""
    unused = ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback")
    model = fields(value, "model", ("vocab", "merges"), ("type", "ignore_merges", *unused))
    if model.get("type", "BPE") != "BPE":
        refuse("model.type", model["type"], "only BPE is supported")
    vocab = model["vocab"]
    if not isinstance(vocab, dict):
        refuse("model.vocab", vocab, "an object of tokens and their ids should be here")
    texts: dict[int, str] = {}
    for text, token_id in vocab.items():
        if not is_id(token_id):
            refuse(f"model.vocab[{text[:80]!r}]", token_id, f"an id from 0 to {MAX_ID} should be here")
        if texts.setdefault(token_id, text) != text:
            raise ValueError(f"model.vocab gives the id {token_id} to {texts[token_id][:80]!r} and to {text[:80]!r}")
    if model.get("dropout") not in (None, 0) or isinstance(model.get("dropout"), bool):
        refuse("model.dropout", model["dropout"], "set it to null")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name) not in (None, ""):
            refuse(f"model.{name}", model[name], "byte-level BPE has none: set it to null")
    missing = [character for character in BYTE_TO_CHARACTER.values() if character not in vocab]
    flag(model, "model", "fuse_unk", False)
    unknown = model.get("unk_token")
    if unknown is not None and not isinstance(unknown, str):
        refuse("model.unk_token", unknown, "a token should be here, or null")
    if missing and unknown is not None:
        refuse("model.unk_token", unknown, f"it stands for bytes without a token, such as {missing[0]!r}")
    if flag(model, "model", "byte_fallback", False) and missing:
        refuse("model.byte_fallback", True, f"it is for bytes without a token, such as {missing[0]!r}")
    merges = model["merges"]
    if not isinstance(merges, list):
        refuse("model.merges", merges, "a list should be here")
    pairs = [pair_of_merge(merge, i) for i, merge in enumerate(merges)]
    return dict(vocab), pairs, flag(model, "model", "ignore_merges", False)


def pair_of_merge(merge: Any, number: int) -> tuple[str, str]:
    """The two tokens of a merge, which is written as "a b" or as ["a", "b"]."""
    pair = merge.split(" ") if isinstance(merge, str) else merge
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(path, str) and path for path in pair):
        refuse(f"model.merges[{number}]", merge, "two tokens should be here")
    return pair[0], pair[1]


def read_added_tokens(value: Any, vocab: dict[str, int]) -> tuple[dict[str, int], dict[str, list[str]]]:
    """The added tokens with their ids, and which of them are `ordinary` (not special), and which are looked for in the
    text after it has been `normalized`."""
    added: dict[str, int] = {}
    flags: dict[str, list[str]] = {}
    if not isinstance(value, list):
        refuse("added_tokens", value, "a list should be here")
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    next_id = len(vocab)
    for i, token in enumerate(value):
        path = f"added_tokens[{i}]"
        fields(token, path, ("id", "content"), names)
        text, token_id = token["content"], token["id"]
        if not isinstance(text, str) or not text or text in added:
            refuse(f"{path}.content", text, "a text that is not empty and not there twice should be here")
        if len(text) > MAX_ADDED_LENGTH or i >= MAX_ADDED_TOKENS:
            limits = f"up to {MAX_ADDED_TOKENS:,} added tokens of up to {MAX_ADDED_LENGTH:,} characters are supported"
            refuse(f"{path}.content", text, limits)
        for name in names[:3]:
            if flag(token, path, name, False):
                refuse(f"{path}.{name}", True, f"only false is supported ({text[:80]!r})")
        # Whatever the file says, tokenizers takes the vocabulary's id, or gives the next one after the vocabulary.
        expected = vocab.get(text, next_id)
        if type(token_id) is not int or token_id != expected:
            refuse(f"{path}.id", token_id, f"tokenizers would give {text[:80]!r} the id {expected}")
        next_id += text not in vocab
        added[text] = token_id
        if not flag(token, path, "special", False):
            flags.setdefault("ordinary", []).append(text)
        if flag(token, path, "normalized", not token.get("special", False)):
            flags.setdefault("normalized", []).append(text)
    return added, flags


def take_added_tokens(
    vocab: dict[str, int], merges: list[tuple[str, str]], added_tokens: dict[str, int], whole_pieces: bool
) -> None:
    """Take the added tokens out of the vocabulary. ValueError for one that other text could become as well."""
    listed = added_tokens.keys() & vocab
    merged = {path for left, right in merges for path in (left, right, left + right) if path in listed}
    for text in added_tokens:
        ordinary = text in merged or text in CHARACTER_TO_BYTE or (whole_pieces and spells_other_text(text))
        if text in listed and ordinary:
            raise ValueError(f"added_tokens has {text[:80]!r}, which is also an ordinary token of model.vocab")
        vocab.pop(text, None)


def read_vocab(vocab: dict[str, int]) -> dict[str, bytes]:
    """The bytes that the tokens are spelled for. ValueError for one that is not of characters that stand for bytes."""
    tokens = {}
    for text in vocab:
        try:
            tokens[text] = bytes([CHARACTER_TO_BYTE[character] for character in text])
        except KeyError as error:
            wrong = error.args[0]
            problem = f"the character {wrong!r} stands for no byte, and it is no added token"
            raise ValueError(f"model.vocab has {text[:80]!r}: {problem}") from None
    if "" in tokens:
        raise ValueError("model.vocab has a token without any bytes")
    return tokens


def read_merges(merges: list[tuple[str, str]], tokens: dict[str, bytes]) -> list[tuple[bytes, bytes]]:
    pairs = []
    for number, (left, right) in enumerate(merges):
        if left not in tokens or right not in tokens or left + right not in tokens:
            missing = next(text for text in (left, right, left + right) if text not in tokens)
            raise ValueError(f"model.merges[{number}] needs the token {missing[:80]!r}, which is not in model.vocab")
        pairs.append((tokens[left], tokens[right]))
    return pairs
