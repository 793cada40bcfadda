"""Tokenizer, the one class that users meet, and tiktoken's Encoding; minbpe's classes are in minbpe_tokenizers.py.

They differ by data: which vocabulary, which split pattern, which special tokens. How text becomes tokens is the same
for all, and is done by the compiled core: a text is split into pieces, and within each piece neighbouring tokens are
merged, the merge that was learned first first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from cbpe._core.engine import DEFAULT_CACHE_BYTES, Encoder
from cbpe._core.ranks import vocabulary_from_ranks
from cbpe._core.special import SpecialTokens
from cbpe._core.split import Splitter
from cbpe._core.vocab import Vocabulary
from cbpe.encodings import END_OF_TEXT, SPECS, load_vocabulary
from cbpe.special_tokens import checked_special_tokens, refuse_shared_ids
from cbpe.splitting import RegexSplitter, make_splitter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from cbpe.training import TrainingRecord

__all__ = [
    "Encoding",
    "Tokenizer",
    "get_encoding",
    "list_encoding_names",
]

SpecialChoice = Collection[str] | Literal["all", "none", "none_raise"]

MAX_SUBSETS = 64  # choices of allowed or disallowed special tokens that are kept ready
_DERIVED = {"_merges", "_vocab", "_subsets"}  # attributes that are made anew for a copy


class Tokenizer(Encoder):
    """Encodes text to token ids and decodes them, with one vocabulary, split pattern and set of special tokens.

    Safe to use from many threads at once. Its caches of pieces together take at most `cache_bytes` of memory (0: none;
    encoding then merges every piece anew), which change how long a call takes and never what it returns.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        pattern: str | None,
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        *,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        self.training: TrainingRecord | None = None  # how it was trained, if it was trained here
        self._cache_bytes = cache_bytes
        # Made when first asked for, from the vocabulary and special tokens in use.
        self._merges: dict[tuple[int, int], int] | None = None
        self._vocab: dict[int, bytes] | None = None
        self._subsets: dict[frozenset[str], SpecialTokens] = {}
        self._use(vocabulary, make_splitter(pattern), checked_special_tokens(special_tokens, vocabulary))

    # ---- Encoding

    def encode(
        self, text: str, allowed_special: SpecialChoice = "none_raise", disallowed_special: SpecialChoice = ()
    ) -> list[int]:
        """Encode text: str -> list[int]. allowed_special says what the special tokens in the text are:

        "all": special tokens, "none": ordinary text, "none_raise": an error (ValueError), or a set of those that are
        special tokens. With "all" or a set, disallowed_special makes others an error: a set of them, or "all" that are
        not allowed; the rest is ordinary text. Where several could begin at one place, the longest is taken. A lone
        surrogate is encoded as U+FFFD.

        >>> tok.encode("hello<|endoftext|>", allowed_special="all")
        [104, 101, 108, 108, 111, 100257]
        """
        return self._encode(text, *self._special_sets(allowed_special, disallowed_special))

    def count(
        self, text: str, allowed_special: SpecialChoice = "none_raise", disallowed_special: SpecialChoice = ()
    ) -> int:
        """The number of tokens of text, as len(self.encode(...)) but without building the list."""
        return self._count(text, *self._special_sets(allowed_special, disallowed_special))

    def encode_to_numpy(
        self, text: str, allowed_special: SpecialChoice = "none_raise", disallowed_special: SpecialChoice = ()
    ) -> npt.NDArray[np.uint32]:
        """Encode text to an array of uint32[n], where n is the number of tokens."""
        import numpy as np

        buffer = self._encode_buffer(text, *self._special_sets(allowed_special, disallowed_special))
        return np.frombuffer(memoryview(buffer), dtype=np.uint32)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of the token with this text or these bytes; failing that, of such a special token. KeyError if
        neither."""
        token = text_or_bytes.encode("utf-8", "surrogatepass") if isinstance(text_or_bytes, str) else text_or_bytes
        token_id = self._vocabulary.find(token)
        if token_id is None:
            token_id = self._special.ids.get(token.decode("utf-8", "surrogateescape"))
        if token_id is None:
            raise KeyError(f"{text_or_bytes!r} is no token of this vocabulary")
        return token_id

    # ---- Decoding: decode, decode_bytes and encode_ordinary are in the compiled base

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one token. KeyError if there is no such id."""
        return self.decode_bytes([token])

    # ---- What it is made of

    @property
    def pattern(self) -> str | None:
        """The split pattern; None if text is not split."""
        return self._splitter.pattern

    @property
    def splits_natively(self) -> bool:
        """Whether the split pattern runs on the compiled splitter; if not, on the `regex` module, slowly, and by its
        Unicode version."""
        return self._splitter.native

    @property
    def semantics(self) -> Literal["pairs", "ranks"]:
        """How text is merged. "pairs": pairs of ids, as trained (minbpe, Hugging Face). "ranks": by the rank of the
        joined bytes, a piece that is a token being that token (tiktoken)."""
        return "ranks" if self._vocabulary.whole_pieces else "pairs"

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids."""
        return dict(self._special.ids)

    @property
    def merges(self) -> dict[tuple[int, int], int]:
        """The merges in the order in which they apply: (left id, right id) -> id.

        Raises ValueError where one is made of a byte that has no token, and so no id.
        """
        if self._merges is None:
            self._merges = self._vocabulary.merges()
        return self._merges

    @property
    def vocab(self) -> dict[int, bytes]:
        """The bytes of every id, special tokens included."""
        if self._vocab is None:
            tokens = self._vocabulary.tokens()
            for token, token_id in self._special.ids.items():
                tokens[token_id] = token.encode("utf-8", "surrogatepass")
            self._vocab = tokens
        return self._vocab

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> None:
        """Make these the special tokens, in place of those there were: text -> id.

        Raises ValueError for one that is empty, or whose id is taken, TypeError for what is no str or no int; nothing
        is changed then.
        """
        checked = checked_special_tokens(special_tokens, self._vocabulary)
        refuse_shared_ids(checked)
        self._use(self._vocabulary, self._splitter, checked)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._vocabulary)} tokens, {len(self._special.ids)} special>"

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: value for name, value in vars(self).items() if name not in _DERIVED}
        return restore, (type(self), self._vocabulary.pack(), self.pattern, self.special_tokens, state)

    # ---- Private

    def _use(self, vocabulary: Vocabulary, splitter: Splitter | RegexSplitter, special_tokens: dict[str, int]) -> None:
        self._install(vocabulary, splitter, special_tokens, self._cache_bytes)
        self._merges = None
        self._vocab = None
        self._subsets = {}

    def _special_sets(
        self, allowed: SpecialChoice, disallowed: SpecialChoice
    ) -> tuple[SpecialTokens | None, SpecialTokens | None]:
        """The special tokens that are encoded as such, and those that are an error; None for none."""
        special = self._special
        if allowed == "none_raise":
            return None, special
        if allowed == "none":
            return None, None
        if allowed == "all":
            allowed = special.ids.keys()
        elif isinstance(allowed, str):
            expected = "'all', 'none', 'none_raise' or a set of special tokens"
            raise ValueError(f"allowed_special is {allowed!r}: it may be {expected}")
        if disallowed == "all":
            disallowed = special.ids.keys() - allowed
        elif isinstance(disallowed, str):
            raise ValueError(f"disallowed_special is {disallowed!r}: it may be 'all' or a set of special tokens")
        return self._subset(special.ids.keys() & allowed), self._subset(frozenset(disallowed))

    def _subset(self, tokens: Set[str]) -> SpecialTokens | None:
        """These tokens, ready to be searched for; those that are no special tokens too, which tiktoken forbids as
        well."""
        if not tokens:
            return None
        # Bound before the special tokens are read: another thread may put others in place, with a new dict here.
        subsets = self._subsets
        special = self._special
        if tokens == special.ids.keys():
            return special
        key = frozenset(tokens)
        subset = subsets.get(key)
        if subset is None:
            subset = SpecialTokens({token: special.ids.get(token, 0) for token in sorted(key)})
            if len(subsets) >= MAX_SUBSETS:
                subsets.clear()
            subsets[key] = subset
        return subset


class Encoding(Tokenizer):
    """tiktoken's Encoding: a vocabulary by ranks, with tiktoken's names and defaults.

    mergeable_ranks: dict[bytes, int], the rank of each token, which is its id. Raises ValueError or TypeError for what
    is no such vocabulary, and where explicit_n_vocab, the number of tokens of all kinds, is not what there is.
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: dict[bytes, int],
        special_tokens: dict[str, int],
        explicit_n_vocab: int | None = None,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        super().__init__(vocabulary_from_ranks(mergeable_ranks), pat_str, special_tokens, cache_bytes=cache_bytes)
        self.name = name
        if explicit_n_vocab is not None:
            found = len(mergeable_ranks) + len(special_tokens)
            if found != explicit_n_vocab or self.max_token_value != explicit_n_vocab - 1:
                raise ValueError(
                    f"{found} tokens up to id {self.max_token_value} are not the explicit_n_vocab of {explicit_n_vocab}"
                )

    def encode(
        self, text: str, allowed_special: SpecialChoice = frozenset(), disallowed_special: SpecialChoice = "all"
    ) -> list[int]:
        """Encode text: str -> list[int]. Text of a special token is an error (ValueError) unless one of the two
        arguments says otherwise:

        allowed_special are those encoded as special tokens ("all", or a set), disallowed_special those that are an
        error ("all": those not allowed); what is in neither is ordinary text.

        >>> enc.encode("<|endoftext|>hello world", allowed_special="all")
        [100257, 15339, 1917]
        """
        if not allowed_special and disallowed_special == "all":
            return self._encode(text, None, self._special)
        return self._encode(text, *self._special_sets(allowed_special, disallowed_special))

    def count(
        self, text: str, allowed_special: SpecialChoice = frozenset(), disallowed_special: SpecialChoice = "all"
    ) -> int:
        """The number of tokens of text, as len(self.encode(...)) but without building the list."""
        return super().count(text, allowed_special, disallowed_special)

    def encode_to_numpy(
        self, text: str, allowed_special: SpecialChoice = frozenset(), disallowed_special: SpecialChoice = "all"
    ) -> npt.NDArray[np.uint32]:
        """Encode text to an array of uint32[n], where n is the number of tokens."""
        return super().encode_to_numpy(text, allowed_special, disallowed_special)

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> NoReturn:
        """An Encoding is shared by all who ask for it by name, and does not change: NotImplementedError."""
        raise NotImplementedError(
            "an Encoding does not change: make another one, with Encoding(..., special_tokens=...)"
        )

    @property
    def max_token_value(self) -> int:
        """The largest id of a token, special tokens included."""
        return max(self._vocabulary.max_id, *self._special.ids.values(), 0)

    @property
    def n_vocab(self) -> int:
        """One more than the largest id."""
        return self.max_token_value + 1

    @property
    def eot_token(self) -> int:
        """The id of <|endoftext|>. KeyError where there is no such special token."""
        return self._special.ids[END_OF_TEXT]

    @property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special.ids)

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all tokens that are not special, in the order of bytes."""
        return sorted(self._vocabulary.tokens().values())

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"


_named: dict[str, Encoding] = {}


def get_encoding(encoding_name: str) -> Encoding:
    """The encoding of this name, made once: gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base or
    o200k_harmony. No network.

    >>> get_encoding("cl100k_base").encode("hello world")
    [15339, 1917]
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"the name of an encoding is a str, not {type(encoding_name).__name__}")
    if encoding_name not in _named:
        if encoding_name not in SPECS:
            raise ValueError(f"unknown encoding {encoding_name!r}: the known ones are {', '.join(SPECS)}")
        spec = SPECS[encoding_name]
        encoding = Encoding.__new__(Encoding)
        Tokenizer.__init__(encoding, load_vocabulary(spec.vocabulary), spec.pattern, spec.special_tokens)
        encoding.name = encoding_name
        _named.setdefault(encoding_name, encoding)
    return _named[encoding_name]


def list_encoding_names() -> list[str]:
    """The names that get_encoding knows."""
    return list(SPECS)


def restore(
    cls: type[Tokenizer], packed: bytes, pattern: str | None, special_tokens: dict[str, int], state: dict[str, Any]
) -> Tokenizer:
    """The tokenizer that was pickled or copied."""
    tok = cls.__new__(cls)
    Tokenizer.__init__(tok, Vocabulary.unpack(packed), pattern, special_tokens, cache_bytes=state["_cache_bytes"])
    vars(tok).update(state)
    return tok
