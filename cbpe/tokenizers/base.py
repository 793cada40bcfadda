"""TokenizerBase: what a tokenizer is made of, and what is made of that in turn. Tokenizer is what it does."""

from __future__ import annotations

from cbpe._core.calls.encoder import Encoder
from cbpe.formats.parts import Parts
from cbpe.text.special_tokens import END_OF_TEXT, SpecialChoices

TYPE_CHECKING = False  # importing typing takes longer than loading some vocabularies
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Literal, TypeVar

    from cbpe._core.calls.encoder import PythonSplitter
    from cbpe._core.splitting.split import Splitter
    from cbpe._core.vocabulary.vocabulary import Vocabulary
    from cbpe.text.templates import Template

    K = TypeVar("K")
    T = TypeVar("T")
    V = TypeVar("V")

__all__ = ["NoPlacesError", "TokenizerBase"]

SPECIAL_SHOWN = 10  # tokens, in a notebook
OTHER_ENDS = (
    "<|end_of_text|>",
    "<eos>",
    "</s>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
)  # as others have it


class NoPlacesError(ValueError):
    """Where in a text its tokens are is not known."""


class TokenizerBase(Encoder):
    """A vocabulary, a split pattern and special tokens: what can be asked of them, and what classes with steps of their
    own declare. It has no public methods, which errors of Python's would call this class's."""

    # What is made anew for a copy. Slots, as Python finds these sooner than what is in the dict of an object.
    __slots__ = ("_special_sets", "_tables", "_template")
    _all_are_allowed = False  # the special tokens in a text, unless something else is said

    _cache_bytes: int
    _template: Template | None  # what is put around every text

    @property
    def cache_bytes(self) -> int:
        """The most memory that its caches of pieces take together, in bytes."""
        return self._cache_bytes

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
        """How text is merged. "pairs": pairs of ids, as trained (minbpe, Hugging Face). "ranks": a piece
        that is a token is that token, others by the rank of the joined bytes (tiktoken), or by pairs where the file of
        a HuggingFaceTokenizer says so (ignore_merges)."""
        return "ranks" if self._vocabulary.whole_pieces else "pairs"

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens and their ids. To change it is a TypeError: register_special_tokens takes others."""
        return self._table("special tokens", lambda: read_only(dict(self._special.ids)))

    @property
    def merges(self) -> dict[tuple[int, int], int]:
        """The merges in the order in which they apply: (left id, right id) -> id. ValueError where one is made of a
        byte that has no token, and so no id. To change it is a TypeError: dict(tok.merges) is a copy."""
        return self._table("merges", lambda: read_only(self._vocabulary.merges()))

    @property
    def vocab(self) -> dict[int, bytes]:
        """The bytes of every id, special tokens included. To change it is a TypeError: dict(tok.vocab) is a copy."""
        return self._table("vocab", lambda: read_only(self._spell_all()))

    @property
    def max_token_value(self) -> int:
        """The largest id of a token, special tokens included."""
        return max(self._vocabulary.max_id, *self._special.ids.values(), 0)

    @property
    def n_vocab(self) -> int:
        """One more than the largest id, special tokens included: the rows that a model's table of embeddings needs. Not
        each of these ids need have a token. (tiktoken's name.)"""
        return self.max_token_value + 1

    @property
    def vocab_size(self) -> int:
        """How many tokens the vocabulary has: as the model store, the record of a training and all tables count them.
        Special tokens are left out, but for those of a vocabulary over characters that are tokens of it, too. (Hugging
        Face's name.)"""
        return len(self._vocabulary)

    def __len__(self) -> int:
        """How many tokens there are, special tokens included: as many as `vocab` has ids."""
        vocabulary = self._vocabulary
        return len(vocabulary) + len({each for each in self._special.ids.values() if each not in vocabulary})

    def __bool__(self) -> bool:
        """True: a tokenizer always is one, however many tokens it has."""
        return True

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`. KeyError where there is no such special token."""
        found = self._special.ids.get(END_OF_TEXT)
        if found is None:
            near = next((token for token in OTHER_ENDS if token in self._special.ids), None)
            known = "special_tokens are those it has"
            if near is not None:
                known = f"if {near!r} is meant, special_tokens[{near!r}] is its id"
            raise KeyError(
                f"this tokenizer has no special token {END_OF_TEXT!r}: {known}; {self._way_to_register(END_OF_TEXT)}"
            )
        return found

    def _way_to_register(self, token: str) -> str:
        """What messages say of how this special token is added."""
        return f"register this one with register_special_tokens({{**tok.special_tokens, {token!r}: {self.n_vocab}}})"

    @property
    def special_tokens_set(self) -> set[str]:
        """The special tokens."""
        return set(self._special.ids)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._vocabulary):,} tokens, {len(self._special.ids):,} special>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from cbpe.views.html import block, pairs
        from cbpe.views.inspected import as_shown, special_counted, steps_in_words

        about: list[tuple[str, object]] = [
            ("tokens", len(self._vocabulary)),
            ("merges", self._vocabulary.n_merges),
            ("merged by", self.semantics),
            ("split pattern", "none" if self.pattern is None else self.pattern),
            ("special tokens", special_counted(len(self._special.ids), self.vocab_size, len(self))),
            *((as_shown(token), str(token_id)) for token, token_id in list(self._special.ids.items())[:SPECIAL_SHOWN]),
        ]
        if len(self._special.ids) > SPECIAL_SHOWN:
            about.append(("", f"and {len(self._special.ids) - SPECIAL_SHOWN:,} more"))
        return block(pairs(repr(self), [*about, *steps_in_words(self._processing())]))

    # ---- Private

    def _parts(self) -> Parts:
        name = getattr(self, "name", None)
        processing = self._processing()
        return Parts(
            self._vocabulary, self.pattern, self.special_tokens, processing, kind=type(self).__name__, name=name
        )

    def _processing(self) -> dict[str, Any]:
        """What is done to text before it is split and to ids after it is encoded, as JSON can hold it: here nothing."""
        return {}

    def _set_processing(self, processing: Mapping[str, Any]) -> None:
        """Do this before and after. ValueError for what this class does not do."""
        if processing:
            raise ValueError(f"a {type(self).__name__} does no {', '.join(sorted(processing))}")

    def _takes_whole_texts(self) -> bool:
        """Whether something is done to text before it is split that looks at all of it, or at all between two special
        tokens: here nothing is."""
        return False

    def _normal_characters(self) -> Callable[[str], str] | None:
        """What makes something else of each character that no text has when it is split, as far as is known; None where
        nothing is done to texts before."""
        return None

    def _table(self, name: str, make: Callable[[], T]) -> T:
        """What is made of the vocabulary and special tokens in use, when it is first asked for."""
        tables = self._tables  # bound before the vocabulary is read, as another thread may put another in place
        if name not in tables:
            tables[name] = make()
        table: T = tables[name]
        return table

    def _skipped_ids(self) -> frozenset[int]:
        """The ids that decoding leaves out with skip_special_tokens: the added tokens of a tokenizer.json that it does
        not call special stay, as in `tokenizers`."""

        def make() -> frozenset[int]:
            ids, ordinary = self._special.ids, frozenset(self._processing().get("ordinary", ()))
            return frozenset(ids[token] for token in ids if token not in ordinary)

        return self._table("skipped ids", make)

    def _found_always(self) -> frozenset[str]:
        """The added tokens that a tokenizer.json does not call special: they are found in every text, as `tokenizers`
        finds them also where special tokens are ordinary text."""
        return self._table(
            "found always", lambda: frozenset(self._special.ids.keys() & self._processing().get("ordinary", ()))
        )

    def _ids_beside_vocabulary(self) -> list[int]:
        """The ids that ordinary text gives, of no token of the vocabulary: that of <unk> where it is a special one."""
        unknown = self._vocabulary.unknown
        return [unknown] if unknown is not None and unknown in self._special.ids.values() else []

    def _sorted_tokens(self) -> list[bytes]:
        return self._table("sorted", lambda: sorted(self._vocabulary.tokens().values()))

    def _spell_all(self) -> dict[int, bytes]:
        tokens = self._vocabulary.tokens()
        for token, token_id in self._special.ids.items():
            tokens[token_id] = token.encode("utf-8", "surrogatepass")
        return tokens

    def _use(self, vocabulary: Vocabulary, splitter: Splitter | PythonSplitter, special_tokens: dict[str, int]) -> None:
        self._install(vocabulary, splitter, dict(special_tokens), self._cache_bytes)
        # Made when first asked for, from the vocabulary and special tokens in use.
        self._tables: dict[str, Any] = {}
        # From (allowed_special, disallowed_special) to the special tokens that are encoded as such, and those that are
        # an error.
        self._special_sets = SpecialChoices(self._special, all_are_allowed=self._all_are_allowed).sets


def read_only(table: dict[K, V]) -> dict[K, V]:
    """The same as a dict that nobody changes, as all who ask for it have the same one."""
    from cbpe.common.read_only import ReadOnlyDict  # which a program that only encodes never loads

    return ReadOnlyDict(table)
