"""What a tokenizer does besides splitting and merging, as HuggingFaceTokenizer has it: the normalizer, the steps
that split before the pattern, the space before a text, the template around it, and how added tokens are found."""

from __future__ import annotations

from cbpe._core.text.shown import shown
from cbpe.formats.hugging_face.normalizers import checked_normalizer
from cbpe.formats.hugging_face.post_processors import checked_template, checked_trims
from cbpe.formats.hugging_face.pre_tokenizers import checked_splits
from cbpe.formats.hugging_face.values import as_list, fields, refuse
from cbpe.text.added_tokens import FLAGS
from cbpe.text.unicode_versions import WHITE_SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["checked_processing", "refuse_in_taken_space", "refuse_taken_space"]


def checked_processing(processing: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of what is done before and after, in one form for what does the same, if it is what this format knows.
    ValueError names what is not."""
    known = ("normalizer", "prefix_space", "splits", "template", "trim_offsets", *FLAGS)
    fields(dict(processing), "the processing", (), known)
    checked = {**processing}
    if "normalizer" in checked:
        checked["normalizer"] = checked_normalizer(checked["normalizer"])
        if checked["normalizer"] is None:
            del checked["normalizer"]
    if checked.get("prefix_space", True) is not True:
        refuse("prefix_space", checked["prefix_space"], "true should be here, or nothing")
    if "splits" in checked:
        checked["splits"] = checked_splits(checked["splits"])
    if "template" in checked:
        checked["template"] = checked_template(checked["template"], "template")
    if "trim_offsets" in checked:
        checked["trim_offsets"] = checked_trims(checked["trim_offsets"])
    for name in FLAGS:
        if name in checked:
            if not all(isinstance(text, str) for text in as_list(checked[name], name)):
                refuse(name, checked[name], "a list of added tokens should be here")
            checked[name] = sorted(set(checked[name]))
    refuse_taken_space(checked)
    return {name: value for name, value in checked.items() if value != []}


def refuse_taken_space(processing: Mapping[str, Any]) -> None:
    """ValueError for an added token that is white space that another one takes, and takes some itself: which of the two
    has it, `tokenizers` does not know either."""
    for token in processing.get("lstrip", ()):
        refuse_in_taken_space(token, token, processing)


def refuse_in_taken_space(token: str, form: str, processing: Mapping[str, Any]) -> None:
    """The same for one added token. form: what of it is looked for, which a normalizer may make white space."""
    if not form.strip(WHITE_SPACE) and token in processing.get("lstrip", ()) and processing.get("rstrip"):
        raise ValueError(
            f"the added token {shown(token)} with lstrip may stand within the white space that another one takes, "
            f"{shown(processing['rstrip'][0])} with rstrip"
        )
