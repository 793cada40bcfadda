"""tokenizer_config.json, which transformers writes beside a tokenizer: the class that loads it, and its options."""

from __future__ import annotations

import os
from typing import Any

from cbpe.formats.hugging_face.values import refuse
from cbpe.formats.reading import parse_json, read_whole

__all__ = ["CONFIG", "class_named", "config_in", "settings_in", "unread"]

CONFIG = "tokenizer_config.json"
MOST_DIGITS = 100  # of a number: where no length is known, transformers writes a model_max_length of 10**30


def config_in(folder: str) -> dict[str, Any] | None:
    """What the tokenizer_config.json in a folder says; None where there is none. ValueError for what is not valid."""
    path = os.path.join(folder, CONFIG)
    if not os.path.isfile(path):
        return None
    return object_in(folder, CONFIG)


def settings_in(folder: str, name: str = CONFIG) -> dict[str, Any]:
    """The same of a tokenizer that does not need it, or of another such file: nothing, where it cannot be read, which
    `unread` tells."""
    try:
        return object_in(folder, name)
    except (OSError, ValueError):
        return {}


def unread(folder: str, name: str) -> str | None:
    """Why a file that is there cannot be read; None where it can, and where there is none."""
    try:
        object_in(folder, name)
    except ValueError as error:
        return str(error)
    except OSError as error:
        return error.strerror if os.path.isfile(os.path.join(folder, name)) else None
    return None


def object_in(folder: str, name: str) -> dict[str, Any]:
    """What a file of transformers' says. OSError where it cannot be read, ValueError for what is no object."""
    settings: dict[str, Any] = parse_json(read_whole(os.path.join(folder, name)), name, MOST_DIGITS)
    if not isinstance(settings, dict):
        refuse(name, settings, "an object should be here")
    return settings


def class_named(config: dict[str, Any]) -> str | None:
    """The class that a tokenizer_config.json names: a program of the model's own if there is one."""
    own = config.get("auto_map")
    own = own.get("AutoTokenizer") if isinstance(own, dict) else own
    own = own[0] if isinstance(own, list) and own else own
    name = own if isinstance(own, str) else config.get("tokenizer_class")
    return name.rpartition("--")[2] if isinstance(name, str) else None  # "owner/model--module.Class"
