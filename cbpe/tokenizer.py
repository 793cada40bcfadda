"""Tokenizer, the one class that users meet, and its small subclasses: minbpe's classes by name and tiktoken's Encoding.

They differ by data: which vocabulary, which split pattern, which special tokens. How text becomes tokens is the same
for all, and is done by the compiled core: a text is split into pieces, and within each piece neighbouring tokens are
merged, the merge that was learned first first.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Iterable, Mapping, Set
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from cbpe._core.engine import DEFAULT_CACHE_BYTES, Encoder
from cbpe._core.ranks import vocabulary_from_ranks
from cbpe._core.special import SpecialTokens
from cbpe._core.split import Splitter
from cbpe._core.vocab import Vocabulary
from cbpe.encodings import END_OF_TEXT, SPECS, load_vocabulary
from cbpe.formats import gpt2, minbpe
from cbpe.patterns import GPT4_SPLIT_PATTERN
from cbpe.special_tokens import checked_special_tokens, refuse_shared_ids
from cbpe.splitting import RegexSplitter, make_splitter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from cbpe.training import TrainingRecord

__all__ = [
    "BasicTokenizer",
    "Encoding",
    "GPT2Tokenizer",
    "GPT4Tokenizer",
    "RegexTokenizer",
    "Tokenizer",
    "get_encoding",
    "list_encoding_names",
    "recover_merges",
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


class BasicTokenizer(Tokenizer):
    """minbpe's BasicTokenizer: no splitting, no special tokens, merges over the whole text."""

    def __init__(self, *, cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        super().__init__(untrained_vocabulary(), None, cache_bytes=cache_bytes)

    def train(self, text: str | Iterable[str], vocab_size: int, verbose: bool = False, **options: Any) -> None:
        """Learn vocab_size - 256 merges from text, a str or an iterable of str. Options as for cbpe.train, except
        pattern and special_tokens.

        The merges are minbpe's, ties included. The tokenizer is unchanged if anything is raised, Ctrl-C included.
        Training that runs out of pairs stops there, with a warning; `self.training` is the record of it.
        """
        from cbpe.training import learn_merges, merges_asked

        n_merges = merges_asked(vocab_size)
        for token, token_id in self.special_tokens.items():
            if token_id < 256 + n_merges:
                raise ValueError(f"the special token {token!r} has the id {token_id}, which training would give away")
        left, right, record = learn_merges(text, n_merges, self._splitter, verbose=verbose, **options)
        self._use(trained_vocabulary(left, right), self._splitter, self.special_tokens)
        self.training = record

    def save(self, file_prefix: str | Path) -> None:
        """Write file_prefix.model, to load, and file_prefix.vocab, to read: minbpe's files.

        Raises ValueError, and writes nothing, where minbpe's format cannot hold the tokenizer. Each file is written
        aside and then put in place, so that none is ever half there.
        """
        merges = self._vocabulary.merges()
        model = minbpe.dumps(minbpe.Model(self.pattern, self.special_tokens, list(merges)))
        vocab = minbpe.dumps_vocab(self._vocabulary.tokens(), merges)
        write_files({f"{file_prefix}.model": model.encode("utf-8"), f"{file_prefix}.vocab": vocab.encode("utf-8")})

    def load(self, model_file: str | Path) -> None:
        """Become the tokenizer in a .model file. Raises ValueError, and changes nothing, where it is no whole and valid
        model. (A file that was cut exactly behind one of its merges is a valid model of fewer.)"""
        if not os.fspath(model_file).endswith(".model"):
            raise ValueError(f"a model file ends in .model: {os.fspath(model_file)!r}")
        try:
            model = minbpe.loads(Path(model_file).read_bytes().decode("utf-8"))
            splitter = make_splitter(self._loaded_pattern(model.pattern))
            left, right = (array("I", [pair[side] for pair in model.merges]) for side in (0, 1))
            vocabulary = trained_vocabulary(left, right)
            special_tokens = checked_special_tokens(model.special_tokens, vocabulary)
            refuse_shared_ids(special_tokens)
        except ValueError as error:
            raise ValueError(f"{model_file}: {error}") from error
        self._use(vocabulary, splitter, special_tokens)
        self.training = None

    def _loaded_pattern(self, pattern: str | None) -> str | None:
        if pattern is not None:
            raise ValueError(f"the model splits text by {pattern!r}: load it with RegexTokenizer")
        return None


class RegexTokenizer(BasicTokenizer):
    """minbpe's RegexTokenizer: text is split by a pattern (GPT-4's by default), merges stay within a piece, special
    tokens are known."""

    def __init__(self, pattern: str | None = None, *, cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        pattern = GPT4_SPLIT_PATTERN if pattern is None else pattern
        Tokenizer.__init__(self, untrained_vocabulary(), pattern, cache_bytes=cache_bytes)

    def _loaded_pattern(self, pattern: str | None) -> str | None:
        return pattern


class _GPTTokenizer(Tokenizer):
    """A tokenizer of OpenAI's behind minbpe's interface. Its ids of single bytes are not the bytes' values: the
    shuffles say which are."""

    _encoding: str

    def __init__(self, *, cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        spec = SPECS[self._encoding]
        super().__init__(load_vocabulary(spec.vocabulary), spec.pattern, spec.special_tokens, cache_bytes=cache_bytes)

    @property
    def byte_shuffle(self) -> dict[int, int]:
        """The id of every byte."""
        return {byte: self.encode_single_token(bytes([byte])) for byte in range(256)}

    @property
    def inverse_byte_shuffle(self) -> dict[int, int]:
        """The byte of every id that is one."""
        return {token_id: byte for byte, token_id in self.byte_shuffle.items()}

    def train(self, text: str, vocab_size: int, verbose: bool = False) -> NoReturn:
        """Not to be trained: NotImplementedError."""
        raise NotImplementedError(f"{type(self).__name__} is trained already; train a RegexTokenizer")


class GPT2Tokenizer(_GPTTokenizer):
    """GPT-2's tokenizer: the ids of its encoder.py and of tiktoken's "gpt2"."""

    _encoding = "gpt2"

    @classmethod
    def from_files(cls, encoder_json: str | Path, vocab_bpe: str | Path) -> Self:
        """The tokenizer in GPT-2's own two files, or in two of the same form. ValueError where they are not what they
        should be."""
        ranks, special_tokens = gpt2.loads(Path(encoder_json).read_bytes(), Path(vocab_bpe).read_bytes())
        tok = cls.__new__(cls)
        Tokenizer.__init__(tok, vocabulary_from_ranks(ranks), SPECS[cls._encoding].pattern, special_tokens)
        return tok


class GPT4Tokenizer(_GPTTokenizer):
    """minbpe's GPT4Tokenizer: the ids of tiktoken's "cl100k_base". Unlike minbpe's, its `vocab` holds the true bytes of
    every id."""

    _encoding = "cl100k_base"


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


def recover_merges(mergeable_ranks: dict[bytes, int]) -> dict[tuple[int, int], int]:
    """The merges that a vocabulary by ranks stands for: (left id, right id) -> id, by rising rank, all ids being ranks.

    Raises ValueError where some tokens cannot be merged from two others.
    """
    vocabulary = vocabulary_from_ranks(mergeable_ranks)
    unmerged = vocabulary.unmerged()
    if unmerged:
        shown = ", ".join(f"{token!r} ({rank})" for rank, token in list(unmerged.items())[:5])
        more = ", ..." if len(unmerged) > 5 else ""
        raise ValueError(f"{len(unmerged)} tokens are never merged from two others: {shown}{more}")
    return vocabulary.merges()


def restore(
    cls: type[Tokenizer], packed: bytes, pattern: str | None, special_tokens: dict[str, int], state: dict[str, Any]
) -> Tokenizer:
    """The tokenizer that was pickled or copied."""
    tok = cls.__new__(cls)
    Tokenizer.__init__(tok, Vocabulary.unpack(packed), pattern, special_tokens, cache_bytes=state["_cache_bytes"])
    vars(tok).update(state)
    return tok


def untrained_vocabulary() -> Vocabulary:
    """The 256 bytes, each its own id, and no merge."""
    return trained_vocabulary(array("I"), array("I"))


def trained_vocabulary(left: array[int], right: array[int]) -> Vocabulary:
    """The 256 bytes and merges of pairs of ids, uint32[n] each, the first of which makes token 256."""
    return Vocabulary(left, right, array("I", range(256 + len(left))))


def write_files(contents: Mapping[str, bytes]) -> None:
    """Write several files, path to content: first all of them aside, then each to its place."""
    aside = {path: f"{path}.{os.getpid()}.part" for path in contents}
    try:
        for path, content in contents.items():
            if os.path.isdir(path):
                raise IsADirectoryError(f"cannot write {path!r}: it is a directory")
            Path(aside[path]).write_bytes(content)
        for path in contents:
            os.replace(aside[path], path)
    finally:
        for path in aside.values():
            Path(path).unlink(missing_ok=True)
