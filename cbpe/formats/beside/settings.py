"""What transformers' files say beside a tokenizer that is whole without them: GPT-2's pair, SentencePiece's model, a
tokenizer.json. What of it changes ids, and is left aside, is told; a class that splits otherwise is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cbpe.common.wording import listed, shown
from cbpe.formats.beside.config import CONFIG, class_named, settings_in, unread

__all__ = ["damaged_in", "left_aside", "left_aside_of_json", "refuse_other_class", "splits_special_tokens"]

ADDED_TOKENS = "added_tokens.json"
MODEL_CONFIG = "config.json"
# The classes that make a tokenizer of vocab.json and merges.txt as GPT-2's does, without "Fast"; those with True put
# tokens of a template around each text.
SPLIT_AS_GPT2 = {
    "GPT2Tokenizer": False,
    "CodeGenTokenizer": False,
    "RobertaTokenizer": True,
    "BartTokenizer": True,
    "LongformerTokenizer": True,
    "LEDTokenizer": True,
    "DebertaTokenizer": True,
    "WhisperTokenizer": True,
}
SPLIT_OTHERWISE = ("clip", "deepseek", "llama", "qwen")  # beginnings of the model types of others with such a pair
AROUND = ("add_bos_token", "add_eos_token")
OPTIONS = ("add_prefix_space", *AROUND)  # each puts something before or behind a text
NAMED = 3  # added tokens


def refuse_other_class(folder: str) -> None:
    """ValueError where a tokenizer_config.json names a class that is not known to split GPT-2's pair as GPT-2 does, or
    may do so, as it cannot be read."""
    settings = settings_in(folder)
    name, given = class_named(settings), settings.get("tokenizer_class")
    problem = unread(folder, CONFIG)
    if name is None and given is not None:
        problem = f"the class that it names is {shown(given)}"
    if problem is not None:
        raise ValueError(
            f"the {CONFIG} beside it, which says how the text is split, cannot be read: {problem}. Put it right; "
            "cbpe.GPT2Tokenizer.from_files takes the two as GPT-2's"
        )
    model_type = settings_in(folder, MODEL_CONFIG).get("model_type") if name is None else None
    if isinstance(model_type, str) and model_type.startswith(SPLIT_OTHERWISE):
        beside, name = MODEL_CONFIG, model_type
    elif name is not None and plain(name) not in SPLIT_AS_GPT2:
        beside = CONFIG
    else:
        return
    raise ValueError(
        f"the {beside} beside it names {shown(name)}, which is not known to split as GPT-2 does, and the two files "
        "hold no split pattern: load a tokenizer.json, as save_pretrained of transformers writes; "
        "cbpe.GPT2Tokenizer.from_files takes the two as GPT-2's"
    )


def left_aside(folder: str, *, id_of: Callable[[str], int | None]) -> list[str]:
    """What the files of a folder say besides a tokenizer that is read without them, in words. id_of: of a text, the id
    that it is to the tokenizer."""
    settings = settings_in(folder)
    damaged = [f"all of {name}, which cannot be read" for name in damaged_in(folder)]
    told = [*damaged, *lacking(folder, settings, id_of)]
    options = [option for option in OPTIONS if settings.get(option) is True]
    if options:
        told.append(listed(options, len(options)))
    name = class_named(settings)
    if name is not None and SPLIT_AS_GPT2.get(plain(name)):
        told.append(f"what {name} puts around a text")
    return told


def left_aside_of_json(
    folder: str, *, id_of: Callable[[str], int | None], around: tuple[Sequence[int], Sequence[int]]
) -> list[str]:
    """The same of a folder with a tokenizer.json, which is whole without those; nothing of what damaged_in names.
    around: the tokens that its template puts before a text, and behind."""
    settings = settings_in(folder)
    told = lacking(folder, settings, id_of)
    for option, name, ids in zip(AROUND, ("bos_token", "eos_token"), around, strict=True):
        token = settings.get(name)
        text = token.get("content") if isinstance(token, dict) else token
        if settings.get(option) is True and isinstance(text, str) and id_of(text) not in ids:
            told.append(option)
    return told


def damaged_in(folder: str) -> list[str]:
    """The names of the files of which nothing can be read."""
    return [name for name in (CONFIG, ADDED_TOKENS) if unread(folder, name) is not None]


def lacking(folder: str, settings: dict[str, Any], id_of: Callable[[str], int | None]) -> list[str]:
    """The added tokens that the tokenizer has not, or with another id."""
    others = [text for text, token_id in added_tokens(folder, settings).items() if id_of(text) != token_id]
    return [f"added tokens ({listed(map(shown, others), NAMED)})"] if others else []


def added_tokens(folder: str, settings: dict[str, Any]) -> dict[str, int]:
    """The added tokens that the files name, and their ids; what is no such is passed over."""
    found: dict[str, Any] = dict(settings_in(folder, ADDED_TOKENS))
    decoder = settings.get("added_tokens_decoder")
    for token_id, token in decoder.items() if isinstance(decoder, dict) else ():
        if isinstance(token, dict) and isinstance(token.get("content"), str) and token_id.isdecimal():
            found[token["content"]] = int(token_id[:20])
    return {text: token_id for text, token_id in found.items() if type(token_id) is int}


def splits_special_tokens(folder: str) -> bool:
    """Whether the tokenizer is to take text of special tokens for ordinary text."""
    return settings_in(folder).get("split_special_tokens") is True


def plain(name: str) -> str:
    """The name of a class without its module, and of a fast one that of the other."""
    return name.rpartition(".")[2].removesuffix("Fast")
