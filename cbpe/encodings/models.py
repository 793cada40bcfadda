"""Which encoding OpenAI's models have: the names that tiktoken 0.14 knows."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than loading some vocabularies
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING", "encoding_of_model", "meant_encoding"]


def _by_name(names: dict[str, str]) -> dict[str, str]:
    """The encoding of each name: {"gpt2": "gpt2 gpt-2"} -> {"gpt2": "gpt2", "gpt-2": "gpt2"}"""
    return {name: encoding for encoding, listed in names.items() for name in listed.split()}


MODEL_TO_ENCODING = _by_name(
    {
        "o200k_base": "gpt-5 gpt-4.1 gpt-4o o1 o3 o4-mini",
        "cl100k_base": """gpt-4 gpt-3.5 gpt-3.5-turbo gpt-35-turbo davinci-002 babbage-002
            text-embedding-3-large text-embedding-3-small text-embedding-ada-002""",
        "p50k_base": """text-davinci-002 text-davinci-003 code-davinci-001 code-davinci-002 code-cushman-001
            code-cushman-002 davinci-codex cushman-codex""",
        "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
        "r50k_base": """ada babbage curie davinci text-ada-001 text-babbage-001 text-curie-001 text-davinci-001
            text-similarity-ada-001 text-similarity-babbage-001 text-similarity-curie-001 text-similarity-davinci-001
            text-search-ada-doc-001 text-search-babbage-doc-001 text-search-curie-doc-001 text-search-davinci-doc-001
            code-search-ada-code-001 code-search-babbage-code-001""",
        "gpt2": "gpt2 gpt-2",
    }
)

# Of models whose names go on with a date, a size or whatever else: the longest that a name begins with counts.
MODEL_PREFIX_TO_ENCODING = _by_name(
    {
        "o200k_harmony": "gpt-oss-",
        "o200k_base": "gpt-5 gpt-4.5- gpt-4.1- gpt-4o- chatgpt-4o- o1- o3- o4-mini- ft:gpt-4o",
        "cl100k_base": """gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002
            ft:babbage-002""",
    }
)


def encoding_of_model(name: str) -> str | None:
    """ "gpt-4-0613" -> "cl100k_base"; None for a model that is not known."""
    if name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[name]
    beginnings = [prefix for prefix in MODEL_PREFIX_TO_ENCODING if name.startswith(prefix)]
    return MODEL_PREFIX_TO_ENCODING[max(beginnings, key=len)] if beginnings else None


def meant_encoding(given: str, encodings: Iterable[str]) -> str:
    """The end of a message about a name that no encoding has: the encoding or the model that may have been meant.

    >>> meant_encoding("gpt4o", ["gpt2"])
    ": did you mean the model 'gpt-4o', whose encoding is o200k_base?"
    """
    from cbpe.common.wording import closest  # which a program that makes no mistake never loads

    encodings = list(encodings)
    name = closest(given, [*MODEL_TO_ENCODING, *encodings])
    if name is None:
        return ""
    if name in encodings:
        return f": did you mean {name!r}?"
    return f": did you mean the model {name!r}, whose encoding is {MODEL_TO_ENCODING[name]}?"
