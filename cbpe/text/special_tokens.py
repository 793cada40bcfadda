"""Special tokens: texts that are not empty, with ids that no other token has; and choices among them."""

from __future__ import annotations

import operator

from cbpe._core.text.special import SpecialTokens
from cbpe.common.checks import is_int
from cbpe.common.public import public
from cbpe.common.wording import listed, shown
from cbpe.text.spaces import with_spaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Set
    from typing import Literal, Protocol, TypeGuard

    from cbpe._core.vocabulary.vocabulary import Vocabulary

    class Texts(Protocol):
        """Any Collection of texts but a str, which is one too: it is asked for its own characters alone, and a wrong
        word would be taken for several texts."""

        def __contains__(self, item: object, /) -> bool: ...
        def __iter__(self) -> Iterator[str]: ...
        def __len__(self) -> int: ...

    SpecialChoice = Texts | Literal["all", "none", "none_raise"]
    DisallowedChoice = Texts | Literal["all", ""]

END_OF_TEXT = "<|endoftext|>"  # the one that nearly every vocabulary has
NAMED = 3  # in a message
OLD_ONES_TOO = "to keep the old ones, pass them as well: register_special_tokens({**tok.special_tokens, ...})"
MAY_BE_ALLOWED = "'all', 'none', 'none_raise' or a set of special tokens"
MAY_BE_DISALLOWED = "'all' or a set of special tokens"
OF_IDS = "It is found in no text, whatever is allowed: to have it, put its id between those of the texts."
AS_TEXT = "allowed_special='none', or a set and a disallowed_special without it."  # what to pass
SETS: tuple[type, ...] = (set, frozenset)
MAX_SUBSETS = 64  # choices of allowed or disallowed special tokens that are kept ready


@public
class SpecialChoiceError(ValueError, TypeError):
    """A choice of special tokens is a str that means nothing. A ValueError in minbpe, a TypeError in tiktoken."""


@public
class TokenTypeError(TypeError, AssertionError):
    """What should be a token id is no int. An AssertionError in tiktoken."""


def is_mapping(value: object) -> TypeGuard[Mapping[str, int]]:
    # Here alone: it takes a tenth of the time in which an encoding is loaded, and most special tokens are in dicts.
    from collections.abc import Mapping

    return isinstance(value, Mapping)


def checked_special_tokens(special_tokens: Mapping[str, int], vocabulary: Vocabulary) -> dict[str, int]:
    """A copy of special tokens that fit a vocabulary. TypeError or ValueError for those that do not; it names the
    token."""
    if not isinstance(special_tokens, dict) and not is_mapping(special_tokens):
        kind = type(special_tokens).__name__
        way = "give each its id, as {'<|end|>': ID}; a tokenizer's n_vocab is the first after all"
        raise TypeError(f"special tokens are a dict of texts and their ids, not {kind}: {way}")
    checked: dict[str, int] = {}
    for given, given_id in special_tokens.items():
        if not isinstance(given, str):
            raise TypeError(f"a special token is a str, not {type(given).__name__}: {shown(given)}")
        token = str.__str__(given)  # an exact one of a subclass, and so is the id
        if not is_int(given_id):
            kind = type(given_id).__name__
            raise TypeError(f"the id of the special token {shown(token)} is an int, not {kind}: {shown(given_id)}")
        token_id = operator.index(given_id)
        if not token:
            raise ValueError(f"the special token with id {shown(token_id)} is empty")
        in_range = 0 <= token_id < 2**32 - 1
        if not in_range or (token_id in vocabulary and not is_token_too(token, token_id, vocabulary)):
            problem = "in use for another token" if in_range else f"not from 0 to {2**32 - 2}"
            raise ValueError(f"the id {shown(token_id)} of the special token {shown(token)} is {problem}")
        checked[token] = token_id
    return checked


def is_token_too(text: str, token_id: int, vocabulary: Vocabulary) -> bool:
    """Whether a text is also the token with this id, over characters, where a space may stand for what is seen as
    one. Other texts may then become the token by merging."""
    if not vocabulary.characters:
        return False
    return vocabulary.token(token_id) in (text.encode("utf-8", "replace"), with_spaces(text).encode("utf-8", "replace"))


def refuse_shared_ids(special_tokens: Mapping[str, int], what: str = "") -> None:
    """ValueError if two special tokens have one id. what: the format that cannot hold them, for the message."""
    tokens = {token_id: token for token, token_id in special_tokens.items()}
    for token, token_id in special_tokens.items():
        if tokens[token_id] != token:
            way = f", which {what} cannot hold: keep it in a model store" if what else ""
            names = f"{shown(token)} and {shown(tokens[token_id])}"
            raise ValueError(f"the special tokens {names} have the same id {shown(token_id)}{way}")


def checked_choice(name: str, tokens: Collection[str], expected: str) -> Set[str]:
    """The texts that an argument of this name chooses, as a set. TypeError for what chooses none."""
    if isinstance(tokens, (set, frozenset)) and {*map(type, tokens)} <= {str}:  # the usual case
        return tokens
    try:
        items = None if isinstance(tokens, (bytes, bytearray)) else [*tokens]
    except TypeError:
        items = None
    if items is None:
        raise TypeError(f"{name} is {shown(tokens)}, of type {type(tokens).__name__}: it may be {expected}")
    for item in items:
        if not isinstance(item, str):
            raise TypeError(f"{name} holds {shown(item)}: a special token is a str, not {type(item).__name__}")
    return frozenset(items)


def stays_text(never_found: Collection[str]) -> str:
    """What messages say of special tokens that are asked for in a text, and never found in one."""
    named = listed(map(shown, never_found), NAMED)
    return f"text of {named} stays ordinary text: SentencePiece finds its control tokens in no text"


class SpecialChoices:
    """What the options allowed_special and disallowed_special choose among the special tokens of a tokenizer."""

    def __init__(
        self, special: SpecialTokens, never_found: Collection[str] = (), *, all_are_allowed: bool = False
    ) -> None:
        self.special = special
        self.all_are_allowed = all_are_allowed  # unless something else is said
        self.never_found = never_found  # special tokens that are in no text, whatever is allowed
        special.advice = dict.fromkeys(never_found, f"{OF_IDS} To encode it as ordinary text, pass {AS_TEXT}")
        self.subsets: dict[tuple[frozenset[str], frozenset[str] | None], SpecialTokens] = {}

    def sets(
        self, allowed: SpecialChoice, disallowed: DisallowedChoice | None
    ) -> tuple[SpecialTokens | None, SpecialTokens | None]:
        """The special tokens that are encoded as such, and those that are an error; None for none. As disallowed, None
        says what minbpe says: all are an error with "none_raise", and otherwise none."""
        special = self.special
        if allowed == "none_raise":
            if disallowed is None:
                return None, special
            allowed = ()
        elif allowed == "none":
            if disallowed is None or disallowed == "all":  # which is an Encoding's default
                return None, None
            allowed = ()
        elif allowed == "all":
            allowed = special.ids.keys()
            if disallowed == "all" and self.all_are_allowed:
                self.warn_of_nothing_disallowed()
        elif isinstance(allowed, str):
            raise SpecialChoiceError(f"allowed_special is {shown(allowed)}: it may be {MAY_BE_ALLOWED}")
        elif type(allowed) not in SETS or allowed:  # the usual case of many is an empty set
            allowed = checked_choice("allowed_special", allowed, MAY_BE_ALLOWED)
            if not allowed <= special.ids.keys():
                self.warn_of_unknown(allowed)
            if self.never_found:
                self.warn_of_never_found(allowed)
        if disallowed == "all":
            disallowed = special.ids.keys() - allowed
        elif not disallowed:
            disallowed = ()  # tiktoken takes None and "" for that, too
        elif isinstance(disallowed, str):
            raise SpecialChoiceError(f"disallowed_special is {shown(disallowed)}: it may be {MAY_BE_DISALLOWED}")
        else:
            disallowed = checked_choice("disallowed_special", disallowed, MAY_BE_DISALLOWED)
            tokens = frozenset(disallowed)
            return self.subset(special.ids.keys() & allowed), self.subset(tokens, tokens.intersection(allowed))
        return self.subset(special.ids.keys() & allowed), self.subset(frozenset(disallowed))

    def warn_of_nothing_disallowed(self) -> None:
        """A UserWarning for who disallows all special tokens, and may not know that all are allowed."""
        from cbpe.common.warning import warn

        warn(
            "disallowed_special='all' disallows nothing here, where allowed_special is 'all' unless you say otherwise: "
            "pass allowed_special=() as well"
        )

    def warn_of_unknown(self, allowed: Set[str]) -> None:
        """A UserWarning for texts that are allowed and no special tokens: nothing is found of a name that is
        misspelt."""
        from cbpe.common.warning import warn

        ids = self.special.ids
        named = listed(map(shown, sorted(allowed - ids.keys())), NAMED)
        known = listed(map(shown, ids), NAMED) if ids else "none"
        warn(f"allowed_special names {named}, which this tokenizer does not have; its special tokens are {known}")

    def warn_of_never_found(self, allowed: Collection[str]) -> None:
        """A UserWarning for tokens that are asked for and never found; all special tokens together are no such
        question."""
        named = [token for token in self.never_found if token in allowed]
        if named and not self.special.ids.keys() <= {*allowed}:
            from cbpe.common.warning import warn

            warn(f"{stays_text(named)}; put their ids between those of the texts")

    def subset(self, tokens: Set[str], both: frozenset[str] | None = None) -> SpecialTokens | None:
        """These tokens, ready to be searched for. Some may be no special tokens: tiktoken forbids such texts as
        well. both: of tokens that are named as disallowed, those that are allowed as well."""
        if not tokens:
            return None
        special = self.special
        if both is None and tokens == special.ids.keys():
            return special
        key = frozenset(tokens), both
        subset = self.subsets.get(key)
        if subset is None:
            subset = SpecialTokens({token: special.ids.get(token, 0) for token in sorted(tokens)})
            subset.advice = special.advice if both is None else {token: self.advice(token, both) for token in tokens}
            if len(self.subsets) >= MAX_SUBSETS:
                self.subsets.clear()
            self.subsets[key] = subset
        return subset

    def advice(self, token: str, both: frozenset[str]) -> str:
        """What an error says to do about a token in a text that is named as disallowed."""
        if token in self.never_found:
            return f"{OF_IDS} To encode it as ordinary text, leave it out of disallowed_special."
        if token not in self.special.ids:
            return "disallowed_special names it, and it is no special token of this tokenizer: leave it out there."
        if token in both:
            return (
                "allowed_special names it, and disallowed_special as well: leave it out of disallowed_special to "
                "encode it as the special token, and out of both to encode it as ordinary text."
            )
        return (
            "disallowed_special names it: leave it out there to encode it as ordinary text, and name it in "
            "allowed_special as well to encode it as the special token."
        )
