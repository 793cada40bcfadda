"""What a file or a tokenizer holds, as names and values for people: the steps around splitting and merging in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cbpe.common.wording import listed

__all__ = [
    "ADDED_TOKENS",
    "as_shown",
    "inspected",
    "listed_texts",
    "moved_listed",
    "moved_shown",
    "normalized_by",
    "over_characters",
    "over_words",
    "shown_template",
    "special_listed",
    "splitting",
    "steps_in_words",
]

SHOWN = 8  # of the items of a long list

# What HuggingFaceTokenizer does with added tokens, by its names for that.
ADDED_TOKENS = {
    "ordinary": "not special",
    "normalized": "found after normalizing",
    "lstrip": "with space before",
    "rstrip": "with space after",
    "single_word": "never in a word",
}
# What SentencePieceTokenizer does about spaces.
PUT_BEFORE = {
    "each": "one before each stretch between added tokens",
    "always": "one before each stretch between added tokens that begins with none",
    "first": "one before a text that begins with none",
    "never": "none is put before a text",
    None: "as they are, without a mark for them",
}
DROPPED = {
    "one": "decoding drops one at the beginning",
    "spaces": "decoding drops those of the first token",
    None: "decoding drops none",
}
DONE_TO_PIECES = {
    "Removed": "is left out",
    "Isolated": "is a piece",
    "MergedWithPrevious": "ends the piece before",
    "MergedWithNext": "begins the piece after",
    "Contiguous": "is a piece, with those beside it",
}
NORMALIZERS = {"Lowercase": "lower case", "StripAccents": "without accents"}


def inspected(found: Any) -> Iterator[tuple[str, object]]:
    """What a cbpe.Inspection holds. A name that is "" goes with the line before."""
    yield "file", found.path
    yield "bytes", found.size
    yield "format", found.format or "unknown"
    for name, value in found.found.items():
        yield name, str(value).lower() if isinstance(value, bool) else "''" if value == "" else value
    if found.refused is not None:
        yield "refused", found.refused
        return
    yield "class", found.kind
    yield "tokens", found.vocab_size
    yield "merges", found.n_merges
    yield "merged by", found.semantics
    yield "split pattern", "none" if found.pattern is None else found.pattern
    if not found.splits_natively:
        yield "split by", "several steps" if "splits" in found.processing else "the regex module, slowly"
    special = found.special_tokens
    yield "special tokens", special_counted(len(special), found.vocab_size, found.all_tokens)
    if special:
        yield "", special_listed(special)
    yield from steps_in_words(found.processing)


def special_listed(special_tokens: Mapping[str, int]) -> str:
    """The first special tokens, with their ids."""
    return listed((f"{as_shown(text)} ({token_id})" for text, token_id in special_tokens.items()), SHOWN)


def moved_listed(moved: Mapping[str, tuple[int, int]]) -> str:
    """The first special tokens that have other ids than before."""
    return listed((moved_shown(token, *ids) for token, ids in moved.items()), SHOWN)


def special_counted(special: int, tokens: int, together: int) -> int | str:
    """How many special tokens there are, and how many of them are counted already, as their ids are those of other
    tokens: (3, 300, 302) -> 3, of which 1 has the id of another token"""
    shared = tokens + special - together
    if not shared:
        return special
    return f"{special:,}, of which {shared:,} {'has' if shared == 1 else 'have'} the id of another token"


def as_shown(text: str) -> str:
    """A token or a word, in quotes where it would not be seen."""
    return json.dumps(text, ensure_ascii=False) if text.strip() != text or not text.isprintable() else text


def moved_shown(token: str, before: int, now: int) -> str:
    """What is said of a special token that has another id than before."""
    return f"{as_shown(token)} ({now}, which was {before})"


def listed_texts(texts: Iterable[str]) -> str:
    """The first of some texts, in quotes."""
    return listed((json.dumps(text, ensure_ascii=False) for text in texts), SHOWN)


def steps_in_words(processing: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is done before splitting and after merging; processing: as HuggingFaceTokenizer and its kinds have it."""
    if "normalizer" in processing:
        yield "normalized by", normalized_by(processing["normalizer"])
    if processing.get("prefix_space"):
        yield "space", "one before each piece that begins with none"
    for step in processing.get("splits", ()):
        yield "split first", splitting(step)
    if "template" in processing:
        yield "template", shown_template(processing["template"])
    if "trim_offsets" in processing:
        yield "offsets", "without white space in tokenizers, of whole tokens here"
    for name, said in ADDED_TOKENS.items():
        if processing.get(name):
            yield said, listed_texts(processing[name])
    if "characters" in processing:
        yield from over_characters(processing["characters"])
    if "words" in processing:
        yield from over_words(processing["words"])


def normalized_by(steps: str | Sequence[Mapping[str, Any]]) -> str:
    """All steps of a normalizer."""
    return steps if isinstance(steps, str) else ", then ".join(map(normalizing, steps))


def normalizing(step: Mapping[str, Any]) -> str:
    """One step of a normalizer: {"type": "Lowercase"} -> lower case"""
    kind = step["type"]
    if kind == "Replace":
        return f"{sought(step['pattern'])} becomes {quoted(step['content'])}"
    if kind == "Prepend":
        return f"{quoted(step['prepend'])} before the text"
    if kind == "Strip":
        sides = [side for side, name in (("before", "strip_left"), ("after", "strip_right")) if step[name]]
        return f"without white space {' and '.join(sides)} the text"
    if kind == "BertNormalizer":
        done = [name.replace("_", " ") for name in step if step[name] is True]
        return f"BERT's ({', '.join(done)})" if done else "BERT's (nothing)"
    if kind == "SentencePiece":
        return "SentencePiece's table of replacements"
    return NORMALIZERS.get(kind, str(kind))


def splitting(step: Mapping[str, Any]) -> str:
    """One step that splits before the pattern does: {"type": "Digits", "individual_digits": True} -> each digit is a
    piece"""
    kind = step["type"]
    if kind == "Digits":
        return f"{'each digit' if step['individual_digits'] else 'each run of digits'} is a piece"
    if kind == "Punctuation":
        return f"each punctuation mark {DONE_TO_PIECES[step['behavior']]}"
    if kind == "Split":
        which = "what is no " if step["invert"] else "each "
        return f"{which}{sought(step['pattern'])} {DONE_TO_PIECES[step['behavior']]}"
    return {
        "Whitespace": "into words and runs of what is neither a word nor white space, without white space",
        "WhitespaceSplit": "at white space, which is left out",
        "BertPreTokenizer": "at white space, which is left out, and punctuation marks, each of which is a piece",
    }[kind]


def sought(pattern: Mapping[str, str]) -> str:
    """What a step looks for: {"String": " "} -> " "; {"Regex": "a+"} -> match of a+"""
    return quoted(pattern["String"]) if "String" in pattern else f"match of {pattern['Regex']}"


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def shown_template(template: Mapping[str, Any]) -> str:
    """The tokens around one text, and around two: <s> $A </s>; for two texts: <s> $A </s> $B </s>"""
    forms = [[part(item) for item in template[form]] for form in ("single", "pair") if template.get(form)]
    return "; for two texts: ".join(map(" ".join, forms))


def part(item: Mapping[str, Any]) -> str:
    """What stands at one place of a template: a special token, or $A or $B for a text."""
    return str(item["SpecialToken"]["id"]) if "SpecialToken" in item else f"${item['Sequence']['id']}"


def over_characters(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What SentencePieceTokenizer does besides."""
    yield "merges join", "characters" + (", within words" if settings["split"] else "")
    yield "spaces", f"{PUT_BEFORE[settings['spaces']]}; {DROPPED[settings['strip']]}"
    others = "become the tokens of their bytes" if settings["byte_fallback"] else unknown(settings)
    yield "unknown ones", others
    of_owner = settings.get("sentencepiece")
    if of_owner:
        yield "never in text", listed_texts(of_owner["controls"])
        yield "unknown decoded", quoted(of_owner["unk_surface"])
        if of_owner.get("removes_spaces"):
            yield "", "decoding drops all spaces at the beginning"


def over_words(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What WordTokenizer does besides."""
    yield "merges join", f"{settings['alphabet']}, within words"
    yield "unknown ones", unknown(settings)
    decoder = settings["decoder"]
    yield "decoded by", "spaces between tokens" if decoder is None else decoding(decoder)


def unknown(settings: Mapping[str, Any]) -> str:
    """What becomes of what has no token."""
    if settings["unk_token"] is None:
        return "are refused"
    return f"become {settings['unk_token']}, " + ("one for all in a row" if settings["fuse_unk"] else "one for each")


def decoding(decoder: Mapping[str, Any]) -> str:
    """A decoder by its name, and what it looks for: {"type": "BPEDecoder", "suffix": "</w>"} -> BPEDecoder, "</w>" """
    return ", ".join([decoder["type"], *(quoted(value) for value in decoder.values() if value != decoder["type"])])
