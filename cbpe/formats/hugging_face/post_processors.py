"""The post-processor of a tokenizer.json: the template of tokens that it puts around a text, and what it takes out of
offsets."""

from __future__ import annotations

from cbpe._core.text.shown import shown
from cbpe.formats.hugging_face.pre_tokenizers import byte_level, read_byte_level
from cbpe.formats.hugging_face.values import as_list, fields, flag, flattened, is_id, kind_of, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MAX_TEMPLATE_IDS = 10_000  # around one text, or two
MAX_TRIMS = 50
WRAPPING = ("RobertaProcessing", "BertProcessing")

__all__ = [
    "around",
    "checked_template",
    "checked_trims",
    "read_post_processor",
    "template_ids",
    "written_post_processor",
]


def read_post_processor(value: object) -> dict[str, Any]:
    """What of processing it is: "template", if there is one, and "trim_offsets", if some step takes white space out of
    offsets. Several steps that put tokens around are one template."""
    template: dict[str, Any] | None = None
    wrapped: list[dict[str, Any]] = []
    trims: list[bool] = []
    for path, step in flattened(value, "post_processor", "processors"):
        kind = kind_of(step, path)
        if kind == "ByteLevel":  # which changes offsets only
            read_byte_level(step, path)
            trims += trims_of(step)
        elif kind in WRAPPING:
            wrapped.append(checked_wrapping(step, path))
            trims += trims_of(step) if kind == "RobertaProcessing" else []
        elif kind != "TemplateProcessing" or template is not None:
            known = "ByteLevel, RobertaProcessing, BertProcessing and a single TemplateProcessing"
            refuse(path, step, f"only {known} are supported")
        else:
            template = checked_template(step, path)
    if template is not None and wrapped:
        refuse("post_processor", value, "a TemplateProcessing beside another that puts tokens around is not supported")
    if wrapped:
        template = checked_template(template_of(wrapped), "post_processor")
    found = {"template": template, "trim_offsets": trims}
    return {name: value for name, value in found.items() if value}


def trims_of(step: dict[str, Any]) -> list[bool]:
    """If a step takes white space out of offsets: whether it leaves a space before the text in them."""
    return [step.get("add_prefix_space", True)] if step.get("trim_offsets", True) else []


def checked_trims(value: object) -> list[bool]:
    """The steps that processing has for taking white space out of offsets. ValueError for what are none."""
    trims = as_list(value, "trim_offsets")
    if len(trims) > MAX_TRIMS:
        raise ValueError(f"trim_offsets has {len(trims):,} steps: at most {MAX_TRIMS} are supported")
    if not all(isinstance(keeps_space, bool) for keeps_space in trims):
        refuse("trim_offsets", trims, "a list of true and false should be here")
    return [*trims]


def written_post_processor(processing: Mapping[str, Any]) -> dict[str, Any] | None:
    """The post-processor that does what processing says, or None where that is nothing."""
    steps = [byte_level(prefix_space=keeps_space) for keeps_space in processing.get("trim_offsets", ())]
    if "template" in processing:
        steps.append({"type": "TemplateProcessing", **processing["template"]})
    return {"type": "Sequence", "processors": steps} if len(steps) > 1 else next(iter(steps), None)


def checked_wrapping(step: Any, path: str) -> dict[str, Any]:
    """A step that puts one token before a text and one after it."""
    others = ("trim_offsets", "add_prefix_space") if step["type"] == "RobertaProcessing" else ()
    fields(step, path, ("type", "sep", "cls"), others)
    for name in others:
        flag(step, path, name, True)
    for name in ("sep", "cls"):
        token = step[name]
        if not isinstance(token, list) or len(token) != 2 or not isinstance(token[0], str) or not is_id(token[1]):
            refuse(f"{path}.{name}", token, "a token and its id should be here")
    return dict(step)


def template_of(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """The template that is the same as some steps of which each puts its tokens around what the one before has made."""
    tokens: dict[str, int] = {}
    around = {name: [{"Sequence": {"id": name, "type_id": i}}] for i, name in enumerate("AB")}
    for step in steps:
        for text, token_id in (step["cls"], step["sep"]):
            if tokens.setdefault(text, token_id) != token_id:
                refuse("post_processor", text, f"it has the ids {tokens[text]} and {token_id}")
        cls, sep = (step[name][0] for name in ("cls", "sep"))
        around["A"] = [special(cls, 0), *around["A"], special(sep, 0)]
        if step["type"] == "RobertaProcessing":  # to which all is of the first type
            of_first = [{kind: {**inner, "type_id": 0}} for piece in around["B"] for kind, inner in piece.items()]
            around["B"] = [special(sep, 0), *of_first, special(sep, 0)]
        else:
            around["B"] = [*around["B"], special(sep, 1)]
    return {
        "single": around["A"],
        "pair": around["A"] + around["B"],
        "special_tokens": {text: {"id": text, "ids": [tokens[text]], "tokens": [text]} for text in tokens},
    }


def special(text: str, type_id: int) -> dict[str, Any]:
    return {"SpecialToken": {"id": text, "type_id": type_id}}


def checked_template(value: Any, path: str) -> dict[str, Any]:
    """A TemplateProcessing without its type, if it has text A once and known tokens around it."""
    fields(value, path, ("single", "pair", "special_tokens"), ("type",))
    if not isinstance(value["special_tokens"], dict):
        refuse(f"{path}.special_tokens", value["special_tokens"], "an object should be here")
    for name, token in value["special_tokens"].items():
        where = f"{path}.special_tokens[{shown(name)}]"
        fields(token, where, ("id", "ids", "tokens"))
        ids, texts = as_list(token["ids"], f"{where}.ids"), as_list(token["tokens"], f"{where}.tokens")
        if not all(is_id(token_id) for token_id in ids):
            refuse(f"{where}.ids", ids, "a list of ids should be here")
        if token["id"] != name or len(texts) != len(ids) or not all(isinstance(text, str) for text in texts):
            refuse(where, token, "its name, and a token for each of its ids, should be here")
    for form, names in (("single", ["A"]), ("pair", ["A", "B"])):
        pieces = as_list(value[form], f"{path}.{form}")
        found = [piece_of_template(piece, f"{path}.{form}", value["special_tokens"]) for piece in pieces]
        if sorted(name for name in found if name) != names:
            refuse(f"{path}.{form}", pieces, f"each of the texts {names} should be here once")
        special = [piece["SpecialToken"]["id"] for piece in pieces if "SpecialToken" in piece]
        n_ids = sum(len(value["special_tokens"][name]["ids"]) for name in special)
        if n_ids > MAX_TEMPLATE_IDS:
            raise ValueError(
                f"{path}.{form} puts {n_ids:,} ids around a text: at most {MAX_TEMPLATE_IDS:,} are supported"
            )
    return {name: value[name] for name in ("single", "pair", "special_tokens")}


def piece_of_template(piece: Any, path: str, special_tokens: dict[str, Any]) -> str | None:
    """The name of the text that a piece of a template stands for; None for a special token."""
    fields(piece, path, (), ("Sequence", "SpecialToken"))
    if len(piece) != 1:
        refuse(path, piece, "a Sequence or a SpecialToken should be here")
    kind, inner = next(iter(piece.items()))
    name = fields(inner, f"{path}.{kind}", ("id", "type_id"))["id"]
    if not is_id(inner["type_id"]):
        refuse(f"{path}.{kind}.type_id", inner["type_id"], "a number should be here")
    if kind == "Sequence" and name in ("A", "B"):
        return str(name)
    if kind == "Sequence" or not isinstance(name, str) or name not in special_tokens:
        refuse(path, piece, "it stands for nothing that is known")
    return None


def template_ids(processing: Mapping[str, Any]) -> list[int]:
    """The ids that are put around one text."""
    before, after = around(processing)
    return [*before, *after]


def around(processing: Mapping[str, Any]) -> tuple[list[int], list[int]]:
    """The ids that are put before one text and after it."""
    sides: tuple[list[int], list[int]] = ([], [])
    side = 0
    template = processing.get("template", {"single": []})
    for piece in template["single"]:
        if "Sequence" in piece:
            side = 1
        else:
            sides[side].extend(template["special_tokens"][piece["SpecialToken"]["id"]]["ids"])
    return sides
