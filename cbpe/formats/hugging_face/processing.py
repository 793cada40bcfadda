"""What a tokenizer does besides splitting and merging, as HuggingFaceTokenizer has it: the normalizer, the space
before a text, the template around it, and how added tokens are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cbpe.formats.hugging_face.post_processors import checked_template
from cbpe.formats.hugging_face.values import as_list, fields, refuse
from cbpe.text.added_tokens import FLAGS

__all__ = ["checked_processing"]


def checked_processing(processing: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of what is done before and after, if it is what this format knows. ValueError names what is not."""
    fields(dict(processing), "the processing", (), ("normalizer", "prefix_space", "template", *FLAGS))
    checked = {**processing}
    if checked.get("normalizer", "NFC") != "NFC":
        refuse("normalizer", checked["normalizer"], "only NFC is supported")
    if checked.get("prefix_space", True) is not True:
        refuse("prefix_space", checked["prefix_space"], "true should be here, or nothing")
    if "template" in checked:
        checked["template"] = checked_template(checked["template"], "template")
    for name in FLAGS:
        if name in checked:
            checked[name] = sorted(as_list(checked[name], name))
            if not all(isinstance(text, str) for text in checked[name]):
                refuse(name, checked[name], "a list of added tokens should be here")
    return checked
