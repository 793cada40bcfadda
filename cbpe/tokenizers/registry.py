"""Encodings by name: those that are built in, those of plug-ins, and those of OpenAI's models."""

from __future__ import annotations

from cbpe.common.public import public
from cbpe.common.wording import meant, shown
from cbpe.encodings.named import SPECS, load_vocabulary
from cbpe.formats.parts import Parts
from cbpe.tokenizers.tiktoken import Encoding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["encoding_for_model", "encoding_name_for_model", "get_encoding", "list_encoding_names", "model_names"]

_shared: dict[str, Encoding] = {}


@public
def get_encoding(encoding_name: str, *, cache_bytes: int | None = None) -> Encoding:
    """The encoding of this name, made once: gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base or
    o200k_harmony, which are built in and take no network, or one of a plug-in.

    With cache_bytes, the most that its caches of pieces may take (see Tokenizer), it is one of your own, made by each
    call; all of a name share their vocabulary.

    Plug-ins are modules of the namespace package `tiktoken_ext`, as tiktoken knows them. They are imported when a name
    is asked for that is not built in. Raises ValueError for a name that nobody knows, what is no str, and a plug-in
    that is none, and whatever a plug-in raises.

    >>> get_encoding("cl100k_base").encode("hello world")
    [15339, 1917]
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"the name of an encoding is a str, not {type(encoding_name).__name__}")
    if encoding_name in SPECS:
        return _built_in(encoding_name, cache_bytes)
    shared = _from_plugin(encoding_name)
    if cache_bytes is None:
        return shared
    return Encoding._of(shared._parts(), cache_bytes=cache_bytes)


@public
def list_encoding_names() -> list[str]:
    """The names that get_encoding knows: the built-in ones first, then those of plug-ins. Raises what it raises for
    plug-ins."""
    from cbpe.encodings.plugins import constructors

    return [*SPECS, *constructors()]


@public
def encoding_name_for_model(model_name: str) -> str:
    """The name of the encoding of a model of OpenAI's. KeyError where none is known; a name that begins as those of a
    family of models do is taken for one of them.

    >>> encoding_name_for_model("gpt-4o-2024-05-13")
    'o200k_base'
    """
    from cbpe.encodings.models import encoding_of_model

    if not isinstance(model_name, str):
        raise TypeError(f"the name of a model is a str, not {type(model_name).__name__}: {shown(model_name)}")
    found = encoding_of_model(model_name)
    if found is None:
        from cbpe.encodings.models import MODEL_TO_ENCODING

        if model_name in SPECS:
            raise KeyError(f"{shown(model_name)} is no model, but an encoding, which get_encoding gives by this name")
        problem = f"no encoding is known for the model {shown(model_name)}: name one, with get_encoding"
        raise KeyError(problem + meant(model_name, MODEL_TO_ENCODING))
    return found


@public
def encoding_for_model(model_name: str) -> Encoding:
    """The encoding of a model of OpenAI's. KeyError where none is known.

    >>> encoding_for_model("gpt-4o").name
    'o200k_base'
    """
    return get_encoding(encoding_name_for_model(model_name))


def model_names(encoding_name: str) -> list[str]:
    """The models of OpenAI's that have this encoding; a "*" stands for any end of a name.

    >>> model_names("p50k_edit")
    ['text-davinci-edit-001', 'code-davinci-edit-001']
    """
    from cbpe.encodings.models import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING

    names = [name for name, encoding in MODEL_TO_ENCODING.items() if encoding == encoding_name]
    return names + [f"{name}*" for name, encoding in MODEL_PREFIX_TO_ENCODING.items() if encoding == encoding_name]


def _built_in(name: str, cache_bytes: int | None) -> Encoding:
    if cache_bytes is None and name in _shared:
        return _shared[name]
    spec = SPECS[name]
    parts = Parts(load_vocabulary(spec.vocabulary), spec.pattern, spec.special_tokens, name=name)
    if cache_bytes is not None:
        return Encoding._of(parts, cache_bytes=cache_bytes)
    return _share(name, Encoding._of(parts))


def _share(name: str, encoding: Encoding) -> Encoding:
    """The encoding that everyone gets for this name from now on: this one, or one that another thread made before."""
    if encoding.name == name:  # which a plug-in may not see to; it is then pickled by content
        encoding._found_by = (get_encoding, (name,))
    return _shared.setdefault(name, encoding)


def _from_plugin(name: str) -> Encoding:
    if name in _shared:
        return _shared[name]
    from cbpe.encodings.plugins import LOCK, constructors

    with LOCK:
        known = constructors()
        if name not in known:
            raise ValueError(f"unknown encoding {shown(name)}: " + _meant(name, known))
        if name not in _shared:
            return _share(name, Encoding(**known[name]()))
        return _shared[name]


def _meant(name: str, plugins: Iterable[str]) -> str:
    """What to ask for instead of the name of an encoding that there is not."""
    from cbpe.encodings.models import encoding_of_model, meant_encoding

    of_model = encoding_of_model(name)
    if of_model is None:
        names = [*SPECS, *plugins]
        return f"the known ones are {', '.join(names)}{meant_encoding(name, names)}"
    return f"this is a model, and its encoding is {of_model!r}; encoding_for_model({shown(name)}) knows that"
