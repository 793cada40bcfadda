"""Reading a tokenizer.json. Each part of it has a module of its own beside this one.

What cannot be honoured exactly is refused, and the message names the part of the file. A part that has no influence on
ids and bytes, such as what it says of offsets, is left out when the file is written again.
"""

from __future__ import annotations

from cbpe._core.conversion.json_lists import read_lists
from cbpe._core.conversion.merge_lists import vocabulary_from_merges
from cbpe._core.conversion.spelled import resolve
from cbpe.common.warning import warn
from cbpe.formats.gpt2 import CHARACTER_TO_BYTE
from cbpe.formats.hugging_face.added_tokens import read_added_tokens
from cbpe.formats.hugging_face.decoders import read_decoder
from cbpe.formats.hugging_face.model import (
    MODEL_FIELDS,
    pair_of_merge,
    read_merges,
    read_model,
    read_vocab,
    refuse_ordinary,
)
from cbpe.formats.hugging_face.normalizers import read_normalizer
from cbpe.formats.hugging_face.post_processors import read_post_processor, template_ids
from cbpe.formats.hugging_face.pre_tokenizers import read_pre_tokenizer, refuse_joined_digits, takes_digits_apart
from cbpe.formats.hugging_face.processing import refuse_taken_space
from cbpe.formats.hugging_face.values import fields, kinds_in, refuse
from cbpe.formats.parts import Parts
from cbpe.formats.reading import File, parse_json
from cbpe.text.spaces import MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["load", "loads", "recognises"]

SPLITTING = (("pre_tokenizer", "pretokenizers"), ("decoder", "decoders"))
AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")
# Parts that change no ids of a text that fits, with the fields that they need and those that they may have.
LEFT_ASIDE = (
    ("truncation", ("max_length", "strategy", "stride"), ("direction",)),
    ("padding", ("strategy", "pad_id", "pad_type_id", "pad_token"), ("direction", "pad_to_multiple_of")),
)


def recognises(file: File) -> bool:
    """Whether a file is a tokenizer.json."""
    if not file.looks_like_json:
        return False
    content = content_of(file)
    return isinstance(content, dict) and isinstance(content.get("model"), dict)


def load(file: File) -> Parts:
    """The parts in a tokenizer.json. Raises as loads does."""
    return read(content_of(file))


def loads(data: bytes) -> Parts:
    """The parts in the content of a tokenizer.json. ValueError names the part that is wrong, or that
    cannot be honoured exactly."""
    content = with_lists(data)
    return read(parse_json(data, "tokenizer.json") if content is None else content)


def content_of(file: File) -> Any:
    """The JSON of a file, with the tokens and merges in a form of their own where that is possible."""
    return file.once(with_lists) or file.json


def with_lists(data: bytes) -> Any:
    """The JSON of a tokenizer.json with its tokens and merges as ListedTokens and ListedMerges; None for one that has
    not both, or is not valid."""
    found = read_lists(data)
    if found is None:
        return None
    rest, tokens, merges = found
    try:
        content = parse_json(rest, "the rest")
    except ValueError:  # whoever reads all of it says what is wrong, and where
        return None
    content["model"].update(vocab=tokens, merges=merges)
    return content


def read(content: Any) -> Parts:
    """The parts in the JSON of the file."""
    parts = ("truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    fields(content, "tokenizer.json", ("model",), ("version", *parts))
    if content.get("version", "1.0") != "1.0":
        refuse("version", content["version"], "only 1.0 is known")
    model = content["model"]
    if isinstance(model, dict):
        refuse_other_models(model)
    for path, needed, others in LEFT_ASIDE:
        if content.get(path) is not None:
            fields(content[path], path, needed, others)
            warn(f"the {path} in the tokenizer.json is left aside: ids are neither cut off nor filled in")
    if is_over_characters(content):
        return read_over_characters(content)
    if is_over_words(content):
        return read_over_words(content)
    processing: dict[str, Any] = {}
    normalizer = read_normalizer(content.get("normalizer"))
    if normalizer is not None:
        processing["normalizer"] = normalizer
    pattern, splitting = read_pre_tokenizer(content.get("pre_tokenizer"))
    processing.update(splitting)
    processing.update(read_post_processor(content.get("post_processor")))
    read_decoder(content.get("decoder"))
    vocab, merges, whole_pieces = read_model(model)
    if takes_digits_apart(content.get("pre_tokenizer")):
        if whole_pieces:
            refuse("model.ignore_merges", True, "with Digits behind ByteLevel, only false is supported")
        refuse_joined_digits(pair_of_merge(merge, i) for i, merge in enumerate(merges))
    added_tokens, flags = read_added_tokens(content.get("added_tokens", []), vocab)
    processing.update(flags)
    refuse_taken_space(processing)
    listed = [text for text in added_tokens if text in vocab]
    spelled = resolve(vocab, merges, CHARACTER_TO_BYTE, listed)
    # Where all is well, no merge has to do with an added token, and each is of tokens that spell bytes.
    pairs = [] if spelled is not None else [pair_of_merge(merge, i) for i, merge in enumerate(merges)]
    refuse_ordinary(listed, pairs, whole_pieces, processing)
    tokens = {} if spelled is not None else read_vocab(text for text in vocab if text not in added_tokens)
    if "template" in processing:
        known = {*vocab.values(), *added_tokens.values()}
        for token_id in template_ids(processing):
            if token_id not in known:
                refuse("post_processor", token_id, "there is no token with this id")
    if spelled is not None:
        vocabulary = spelled.vocabulary(whole_pieces)
    else:
        ids = {token: vocab[text] for text, token in tokens.items()}
        vocabulary = vocabulary_from_merges(ids, read_merges(pairs, tokens), whole_pieces)
    return Parts(vocabulary, pattern, added_tokens, processing, kind="HuggingFaceTokenizer")


def refuse_other_models(model: dict[str, Any]) -> None:
    """ValueError for a model of another kind than BPE, which files of early versions tell by its fields alone."""
    if model.get("type", "BPE") != "BPE":
        refuse("model.type", model["type"], "only BPE is supported")
    if "merges" not in model and isinstance(model.get("vocab"), list):
        raise ValueError("model is Unigram, whose tokens have scores: only BPE is supported")
    if "merges" not in model and "max_input_chars_per_word" in model:
        raise ValueError("model is WordPiece, as BERT's: only BPE is supported")


def is_over_characters(content: dict[str, Any]) -> bool:
    """Whether the model of a file is over characters: it falls back to bytes, or spaces are shown as marks."""
    steps = [*steps_in([content.get(name) for name in ("normalizer", "pre_tokenizer", "decoder")])]
    kinds = {step["type"] for step in steps}
    if "ByteLevel" in kinds:
        return False
    shows_marks = any(MARK in (step.get("content"), step.get("prepend")) for step in steps)
    model = content["model"]
    falls_back = isinstance(model, dict) and model.get("byte_fallback") is True
    return shows_marks or falls_back or not kinds.isdisjoint(("Metaspace", "ByteFallback"))


def steps_in(value: object) -> Iterator[dict[str, Any]]:
    """All steps in a part of a file, whatever it is."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            if isinstance(one.get("type"), str):
                yield one
            waiting.extend(one.get(name) for name in ("normalizers", "pretokenizers", "decoders"))


def is_over_words(content: dict[str, Any]) -> bool:
    """Whether the tokens of a file are marked at the borders of words, or are of characters, not bytes."""
    model = content["model"]
    if isinstance(model, dict) and any(model.get(name) not in (None, "") for name in AFFIXES):
        return True
    return not any(kind == "ByteLevel" for part, name in SPLITTING for kind in kinds_in(content.get(part), part, name))


def read_over_words(content: dict[str, Any]) -> Parts:
    """The parts of a file whose model is over words."""
    from cbpe.formats.hugging_face.words.reading import read_words, vocabulary_over_words

    processing: dict[str, Any] = {}
    normalizer = read_normalizer(content.get("normalizer"))
    if normalizer is not None:
        processing["normalizer"] = normalizer
    model = fields(content["model"], "model", ("vocab", "merges"), MODEL_FIELDS)
    pattern, splitting, affixes = read_words(content)
    processing.update(splitting)
    # What has been read of the model by now is not asked about again.
    rest = {"unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None}
    vocab, listed, _ = read_model({**model, **rest})
    processing.update(read_post_processor(content.get("post_processor")))
    added_tokens, flags = read_added_tokens(content.get("added_tokens", []), vocab)
    processing.update(flags)
    refuse_taken_space(processing)
    vocabulary = vocabulary_over_words(vocab, listed, added_tokens, affixes, processing["words"])
    return Parts(vocabulary, pattern, added_tokens, processing, kind="WordTokenizer")


def read_over_characters(content: dict[str, Any]) -> Parts:
    """The parts of a file whose model is over characters."""
    from cbpe.formats.hugging_face.characters.reading import (
        read_characters,
        refuse_missed,
        refuse_unclear_spaces,
        refuse_unmade_marks,
        vocabulary_over_characters,
    )

    processing: dict[str, Any] = {}
    steps, settings = read_characters(content)
    # What has been read of the model by now is not asked about again.
    vocab, merges, _ = read_model({**content["model"], "unk_token": None, "byte_fallback": False})
    normalizer = read_normalizer({"type": "Sequence", "normalizers": [step for _, step in steps]})
    if normalizer is not None:
        processing["normalizer"] = normalizer
    processing.update(read_post_processor(content.get("post_processor")))
    added_tokens, flags = read_added_tokens(content.get("added_tokens", []), vocab)
    processing.update(flags)
    processing["characters"] = settings
    refuse_unclear_spaces(content, processing)
    refuse_unmade_marks(vocab, added_tokens, settings)
    refuse_missed(vocab, merges, added_tokens, processing)
    vocabulary = vocabulary_over_characters(vocab, merges, added_tokens, settings)
    return Parts(vocabulary, None, added_tokens, processing, kind="SentencePieceTokenizer")
