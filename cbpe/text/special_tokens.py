"""Checks special tokens: texts that are not empty, with ids that no other token has."""

from __future__ import annotations

import operator
from collections.abc import Mapping

from cbpe.common.checks import is_int
from cbpe.common.public import public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cbpe._core.vocabulary.vocabulary import Vocabulary


END_OF_TEXT = "<|endoftext|>"  # the one that nearly every vocabulary has


@public
class SpecialChoiceError(ValueError, TypeError):
    """A choice of special tokens is a str that means nothing. A ValueError in minbpe, a TypeError in tiktoken."""


@public
class TokenTypeError(TypeError, AssertionError):
    """What should be a token id is no int. An AssertionError in tiktoken."""


def checked_special_tokens(special_tokens: Mapping[str, int], vocabulary: Vocabulary) -> dict[str, int]:
    """A copy of special tokens that fit a vocabulary. TypeError or ValueError for those that do not; it names the
    token."""
    if not isinstance(special_tokens, Mapping):
        raise TypeError(f"special tokens are a dict of texts and their ids, not {type(special_tokens).__name__}")
    for token, token_id in special_tokens.items():
        if not isinstance(token, str):
            raise TypeError(f"a special token is a str, not {type(token).__name__}: {token!r}")
        if not is_int(token_id):
            kind = type(token_id).__name__
            raise TypeError(f"the id of the special token {token!r} is an int, not {kind}: {token_id!r}")
        if not token:
            raise ValueError(f"the special token with id {token_id} is empty")
        if not 0 <= token_id < 2**32 - 1:
            raise ValueError(f"the id {token_id} of the special token {token!r} is not from 0 to {2**32 - 2}")
        if token_id in vocabulary:
            raise ValueError(f"the id {token_id} of the special token {token!r} is in use for another token")
    return {token: operator.index(token_id) for token, token_id in special_tokens.items()}


def refuse_shared_ids(special_tokens: Mapping[str, int]) -> None:
    """ValueError if two special tokens have one id."""
    tokens = {token_id: token for token, token_id in special_tokens.items()}
    for token, token_id in special_tokens.items():
        if tokens[token_id] != token:
            raise ValueError(f"the special tokens {token!r} and {tokens[token_id]!r} have the same id {token_id}")
