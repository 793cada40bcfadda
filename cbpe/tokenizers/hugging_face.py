"""HuggingFaceTokenizer: what Hugging Face's tokenizers do around byte-level BPE, with their defaults.

A tokenizer.json may ask for these steps, in this order: find added tokens in the text as it is; normalize the stretches
between them; find the other added tokens in those; split what is left by one step after another, and put a space before
each piece; split these by a pattern and merge, as every Tokenizer does; and put the template's tokens around all of it.
Most texts are changed by none of the steps: a look at such a text tells so, and it is encoded at once.
"""

from __future__ import annotations

import os
from array import array

from cbpe._core.calls.encoder import DEFAULT_CACHE_BYTES
from cbpe.common.public import public, with_defaults
from cbpe.common.warning import warn
from cbpe.common.wording import listed as listed_texts
from cbpe.common.wording import of_another_library, shown
from cbpe.formats.hugging_face.normalizers import normalizer_of
from cbpe.formats.hugging_face.post_processors import around, template_ids
from cbpe.formats.hugging_face.pre_tokenizers import steps_of
from cbpe.formats.hugging_face.processing import checked_processing, refuse_in_taken_space
from cbpe.formats.hugging_face.reading import loads
from cbpe.text.added_tokens import FLAGS, Finders
from cbpe.text.chains import ChainSplitter
from cbpe.text.special_tokens import MAX_SUBSETS, NAMED, OLD_ONES_TOO, checked_special_tokens
from cbpe.text.splitting import make_splitter
from cbpe.text.surrogates import without_surrogates
from cbpe.text.templates import Template
from cbpe.tokenizers.base import NoPlacesError
from cbpe.tokenizers.tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from typing_extensions import Buffer, Self

    from cbpe._core.arrow.exported import ArrowColumn
    from cbpe._core.calls.encoder import PythonSplitter
    from cbpe._core.splitting.split import Splitter
    from cbpe._core.text.special import SpecialTokens
    from cbpe._core.vocabulary.vocabulary import Vocabulary
    from cbpe.text.normalizing import Normalizer

__all__ = ["HuggingFaceTokenizer"]

LONGEST_NAME = 4096  # of a file, which is the most that Linux takes
# Added tokens count as such wherever they stand.
HUGGING_FACES_DEFAULTS = {"allowed_special": "all"}
# The steps that look at a whole text, or at all that is between two special tokens.
WHOLE_TEXT_STEPS = frozenset({"normalizer", "prefix_space", *FLAGS}) - {"ordinary"}
MODELS_OF = ("characters", "words")  # the parts of processing that say what else than bytes is merged
Stretches = list[tuple[str, int | None]]  # a text, with the id of each stretch that is an added token


@public
class HuggingFaceTokenizer(Tokenizer):
    """The tokenizer in a tokenizer.json of Hugging Face's, for byte-level BPE: the ids of `tokenizers`.

    Its special tokens are the added tokens, and text of theirs is taken as such unless allowed_special says otherwise.
    With add_special_tokens, the tokens of the file's template (such as those for the beginning and the end of a text)
    are put around. `processing` holds what is done before and after, each only if it is done: "normalizer": "NFC", or
    the list of steps as a file has them; "splits": the steps that split before the pattern does, as a file has them;
    "prefix_space": True; "template", as the file has it; "ordinary", the added tokens that the file does not call
    special; "normalized", those that are looked for after normalization; "lstrip" and "rstrip", those that take the
    white space before or after them; "single_word", those that are none within a word; and "trim_offsets", for each
    step of the file that takes white space out of the offsets of `tokenizers`, whether it leaves a space before the
    text in them. (Those of encode_with_offsets are of all that a token stands for.)

    Decoding keeps special tokens, but with skip_special_tokens. Normalization forms go by Unicode 9.0 and lower case by
    17.0, as in `tokenizers`. A lone surrogate is encoded as U+FFFD.
    """

    __slots__ = ("_before_space", "_changes_nothing", "_normalizer", "_steps")
    _all_are_allowed = True
    _model_of: str | None = None  # one of MODELS_OF

    def __init__(
        self,
        vocabulary: Vocabulary,
        pattern: str | None,
        special_tokens: Mapping[str, int] | None = None,
        *,
        processing: Mapping[str, Any] | None = None,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        super().__init__(vocabulary, pattern, special_tokens, cache_bytes=cache_bytes)
        self._set_processing(processing or {})

    @classmethod
    def from_json(cls, data: bytes | str) -> Self:
        """The tokenizer in the content of a tokenizer.json. ValueError names the part that is wrong, or that cannot be
        honoured exactly, and the class of a tokenizer that is of another one: cbpe.load takes a file of any."""
        if not isinstance(data, (bytes, str)):
            raise TypeError(f"data must be the content of a tokenizer.json, bytes or str, not {type(data).__name__}")
        if len(data) <= LONGEST_NAME and os.path.isfile(data):
            raise ValueError(f"{shown(data)} is a file, and data its content: cbpe.load(path) reads a file")
        parts = loads(data.encode() if isinstance(data, str) else data)
        model_of = next((each for each in MODELS_OF if each in parts.processing), None)
        if model_of != cls._model_of:
            problem = f"the model in this tokenizer.json is over {model_of or 'bytes'}, and not one of a {cls.__name__}"
            raise ValueError(f"{problem}: {parts.kind}.from_json reads it, and cbpe.load a file of any kind")
        return cls._of(parts)

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer, processing: Mapping[str, Any] | None = None) -> Self:
        """A tokenizer with the vocabulary, the split pattern and the special tokens of another one. It does before and
        after what that one does; what `processing` says takes the place of that, and what is None in it is not done.

        Of a SentencePieceTokenizer or a WordTokenizer, HuggingFaceTokenizer.from_tokenizer makes one of the same class.
        TypeError for what is no tokenizer; ValueError for what this class does not do.
        """
        if not isinstance(tokenizer, Tokenizer):
            raise TypeError(f"this must be a tokenizer, as cbpe.load gives, not {of_another_library(tokenizer)}")
        parts = tokenizer._parts()
        done = {**parts.processing, **({} if processing is None else processing)}
        done = {name: value for name, value in done.items() if value is not None}
        kind: type[Any] = cls
        if cls is HuggingFaceTokenizer and isinstance(tokenizer, HuggingFaceTokenizer) and tokenizer._model_of:
            kind = type(tokenizer)
        for model_of in MODELS_OF:
            if (model_of in done) != (kind._model_of == model_of):
                problem = f"a {type(tokenizer).__name__} does not merge what a {kind.__name__} does"
                raise ValueError(f"{problem}: HuggingFaceTokenizer.from_tokenizer makes one of the class that it has")
        made: Self = kind(parts.vocabulary, parts.pattern, parts.special_tokens, processing=done)
        return made

    # ---- Encoding

    encode = with_defaults(
        Tokenizer.encode,
        "HuggingFaceTokenizer",
        HUGGING_FACES_DEFAULTS,
        """Encode text: str -> list[int], as `tokenizers` does.

        add_special_tokens says whether the template's tokens are put around; the rest is as for Tokenizer.encode.
        """,
    )
    encode_with_offsets = with_defaults(
        Tokenizer.encode_with_offsets,
        "HuggingFaceTokenizer",
        HUGGING_FACES_DEFAULTS,
        """Encode text, and tell where in it each token is, as Tokenizer.encode_with_offsets does. The template's tokens
        are at no character: at (0, 0) and at (len(text), len(text)).

        ValueError for a text that is changed before it is encoded, by the normalizer or, over bytes, by a space before
        it: the places would be in another text. ValueError from a tokenizer that may give its unknown token. Over
        characters, a token of nothing but the space that is put before the text is at the first character.
        """,
    )
    truncate = with_defaults(
        Tokenizer.truncate,
        "HuggingFaceTokenizer",
        HUGGING_FACES_DEFAULTS,
        """The longest prefix of the normalized text that has at most max_tokens tokens, the template's included; the
        text as it is, if all of it has.

        ValueError if max_tokens is negative or less than the template's tokens, and for a text whose normalization
        depends on the added tokens in it or on where it ends; otherwise as Tokenizer.truncate.
        """,
    )
    split = with_defaults(Tokenizer.split, "HuggingFaceTokenizer", HUGGING_FACES_DEFAULTS)
    encode_stream = with_defaults(
        Tokenizer.encode_stream,
        "HuggingFaceTokenizer",
        HUGGING_FACES_DEFAULTS,
        """Encode a text that comes in chunks, as Tokenizer.encode_stream does. It is held whole where it is normalized,
        or gets a space before it.""",
    )
    encode_to_numpy = with_defaults(Tokenizer.encode_to_numpy, "HuggingFaceTokenizer", HUGGING_FACES_DEFAULTS)
    encode_to_numpy_with_offsets = with_defaults(
        Tokenizer.encode_to_numpy_with_offsets, "HuggingFaceTokenizer", HUGGING_FACES_DEFAULTS
    )
    encode_batch = with_defaults(Tokenizer.encode_batch, "HuggingFaceTokenizer", HUGGING_FACES_DEFAULTS)
    encode_batch_flat = with_defaults(Tokenizer.encode_batch_flat, "HuggingFaceTokenizer", HUGGING_FACES_DEFAULTS)
    encode_arrow = with_defaults(
        Tokenizer.encode_arrow,
        "HuggingFaceTokenizer",
        HUGGING_FACES_DEFAULTS,
        """Encode a column of Arrow's in parallel, as Tokenizer.encode_arrow does. Where texts may be changed before
        they are encoded, as by a normalizer, each of them becomes a str for that time.""",
    )
    count_arrow = with_defaults(Tokenizer.count_arrow, "HuggingFaceTokenizer", HUGGING_FACES_DEFAULTS)
    count = with_defaults(Tokenizer.count, "HuggingFaceTokenizer", HUGGING_FACES_DEFAULTS)
    count_batch = with_defaults(Tokenizer.count_batch, "HuggingFaceTokenizer", HUGGING_FACES_DEFAULTS)
    count_stream = with_defaults(Tokenizer.count_stream, "HuggingFaceTokenizer", HUGGING_FACES_DEFAULTS)

    def encode_ordinary(self, text: str, *, workers: int | None = 1) -> list[int]:
        """Encode text in which no added token counts as such, without a template: str -> list[int]."""
        return self._encode(text, None, None, workers)

    def token_to_id(self, token: str | bytes) -> int | None:
        """The id of the added token with this text, as in `tokenizers`; failing that, what encode_single_token gives;
        None where there is no such token."""
        found = self._special.ids.get(token) if isinstance(token, str) else None
        return super().token_to_id(token) if found is None else found

    # ---- What it is made of

    @property
    def processing(self) -> dict[str, Any]:
        """What is done before and after splitting and merging."""
        return self._processing()

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> None:
        """Make these the added tokens, in place of those there were, of which a UserWarning names those that are none
        any more. ValueError, and nothing is changed, where the template needs another one, or where the unknown token
        would go or have another id; otherwise as Tokenizer.register_special_tokens.

        >>> tok.register_special_tokens({**tok.special_tokens, "<|tool|>": tok.n_vocab})
        """
        checked = checked_special_tokens(special_tokens, self._vocabulary)
        self._refuse_contradictions(self._steps, self._normalizer, checked)
        old, unknown = self.special_tokens, self._unknown_token()
        if unknown in old and checked.get(unknown) != old[unknown]:
            raise ValueError(
                f"{shown(unknown)}, the unknown token, stands for characters without a token, and keeps its id "
                f"{old[unknown]}: {OLD_ONES_TOO}"
            )
        super().register_special_tokens(checked)
        lost = [token for token in old if token not in checked]
        if lost and checked:
            told = "is no special token" if len(lost) == 1 else "are no special tokens"
            warn(f"{listed_texts(map(shown, lost), NAMED)} {told} any more; {OLD_ONES_TOO}")

    # ---- Private: what the methods of Tokenizer are made of, with the steps around

    _steps: Mapping[str, Any]
    _normalizer: Normalizer
    _before_space: ChainSplitter | None  # what makes the pieces that each get a space before them
    _changes_nothing: bool  # of the text that is encoded

    def _unknown_token(self) -> str | None:
        """What a model over characters or of words has for characters without a token."""
        settings = self._processing()
        unknown: str | None = settings.get("characters", settings.get("words", {})).get("unk_token")
        return unknown

    def _processing(self) -> dict[str, Any]:
        return {**self._steps}

    def _takes_whole_texts(self) -> bool:
        return not WHOLE_TEXT_STEPS.isdisjoint(self._steps)

    def _normal_characters(self) -> Callable[[str], str] | None:
        from cbpe.text.normalizing import ABSENT_AFTERWARDS

        steps = self._normalizer.steps
        return steps[-1][1] if steps and steps[-1][0] in ABSENT_AFTERWARDS else None

    def _set_processing(self, processing: Mapping[str, Any]) -> None:
        checked = checked_processing(processing)
        normalizer = normalizer_of(checked.get("normalizer"))
        self._refuse_contradictions(checked, normalizer, self.special_tokens)
        self._steps = checked
        self._normalizer = normalizer
        self._before_space = None
        if "splits" in checked:
            steps = steps_of(checked["splits"])
            if "prefix_space" in checked:
                self._before_space = ChainSplitter(steps, None)
            else:
                self._use(self._vocabulary, ChainSplitter(steps, self.pattern), self.special_tokens)
        elif isinstance(self._splitter, ChainSplitter):
            self._use(self._vocabulary, make_splitter(self.pattern), self.special_tokens)
        before, after = around(checked)
        self._template = Template(before, after) if before or after else None
        self._changes_nothing = checked.keys() <= {"ordinary", "splits", "template", "trim_offsets"}
        self._tell_places(self._changes_nothing)
        self._tables.pop("finders", None)
        self._tables.pop("skipped ids", None)

    def _use(self, vocabulary: Vocabulary, splitter: Splitter | PythonSplitter, special_tokens: dict[str, int]) -> None:
        super()._use(vocabulary, splitter, special_tokens)
        self._tell_places(getattr(self, "_changes_nothing", True))

    def _refuse_contradictions(
        self, processing: Mapping[str, Any], normalizer: Normalizer, special_tokens: Mapping[str, int]
    ) -> None:
        """ValueError where the special tokens are not what the processing needs."""
        known = set(special_tokens.values())
        for token_id in template_ids(processing):
            if token_id not in self._vocabulary and token_id not in known:
                way = f"; {OLD_ONES_TOO}" if token_id in self.special_tokens.values() else ""
                raise ValueError(
                    f"the template puts the token {token_id} around texts, and there is no such token{way}"
                )
        forms: dict[str, str] = {}
        for token in processing.get("normalized", ()):
            form = self._looked_for(token, normalizer)
            if token not in special_tokens:
                continue
            if not form:
                raise ValueError(f"the added token {shown(token)} is never found, as nothing is left of it normalized")
            refuse_in_taken_space(token, form, processing)
            if forms.setdefault(form, token) != token:
                raise ValueError(f"the added tokens {shown(forms[form])} and {shown(token)} are the same normalized")

    def _prepared(self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None) -> str | Stretches:
        """A text that gives the ids of this one without the steps. Where there is no such text, its stretches."""
        refuse_no_text(text)
        if self._changes_nothing or not text:
            return text
        finders = self._finders(allowed)
        if forbidden is not None:
            self._refuse_other_forms(text, forbidden)
        changes = "prefix_space" in self._steps or finders.in_two_steps or finders.odd.is_in(text)
        if not changes and self._normalizer.leaves_all_parts(text):
            return text
        if forbidden is not None:
            super()._count(text, None, forbidden)  # or it is refused
        stretches = list(self._stretches(text, finders))
        if not stretches:
            return ""
        if len(stretches) == 1 and stretches[0][1] is None and not finders.all.is_in(stretches[0][0]):
            return stretches[0][0]
        return stretches

    def _searched(self, stretch: str, normalizer: Normalizer) -> str:
        """What is between two added tokens, as it is when normalized ones are looked for."""
        return normalizer.normalized(stretch)

    def _looked_for(self, token: str, normalizer: Normalizer) -> str:
        """What is looked for there for such a token."""
        return self._searched(token, normalizer)

    def _refuse_other_forms(self, text: str, forbidden: SpecialTokens) -> None:
        """ValueError for a text that holds a forbidden token in the form in which it is looked for."""
        finders = self._finders(forbidden)
        if finders.has_other_forms:
            for stretch, token_id in self._stretches(text, finders):
                if token_id is not None:
                    raise ValueError(
                        f"the text holds {shown(stretch)}, which stands for the special token {token_id} and is not "
                        "allowed there"
                    )

    def _stretches(self, text: str, finders: Finders) -> Iterator[tuple[str, int | None]]:
        """The added tokens in a text, with their ids, and the stretches between them, as they are encoded."""
        for stretch, token_id in finders.as_it_is.cut(text):
            if token_id is not None:
                yield stretch, token_id
                continue
            for inner, inner_id in finders.normalized.cut(self._searched(stretch, self._normalizer)):
                if inner_id is None and "prefix_space" in self._steps:
                    for piece in self._before_space.split(inner) if self._before_space is not None else [inner]:
                        yield self._merged(piece, False), None
                else:
                    yield inner, inner_id

    def _ordinary_stretches(self, text: str) -> list[str]:
        prepared = self._prepared(str.__str__(text), None, None)
        stretches = [prepared] if isinstance(prepared, str) else [stretch for stretch, _ in prepared]
        return [without_surrogates(stretch) for stretch in stretches]

    def _finders(self, allowed: SpecialTokens | None) -> Finders:
        """What finds these tokens."""
        ids = {} if allowed is None else allowed.ids
        # Kept with what is made anew when other special tokens are put in place.
        found: dict[frozenset[str], Finders] = self._tables.setdefault("finders", {})
        key = frozenset(ids)
        if key not in found:
            if len(found) >= MAX_SUBSETS:
                found.clear()
            found[key] = self._new_finders(ids)
        return found[key]

    def _new_finders(self, ids: Mapping[str, int]) -> Finders:
        return Finders(ids, self._steps, lambda text: self._looked_for(text, self._normalizer))

    def _encode(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None, workers: int | None = 1
    ) -> list[int]:
        prepared = self._prepared(text, allowed, forbidden)
        if isinstance(prepared, str):
            return super()._encode(prepared, allowed, forbidden, workers)
        ids: list[int] = []
        for stretch, token_id in prepared:
            if token_id is None:
                ids += super()._encode(stretch, None, forbidden, workers)
            else:
                ids.append(token_id)
        return ids

    def _encode_refusing(self, text: str, workers: int | None = 1) -> list[int]:
        ids = self._encode(text, None, self._special, workers)
        return ids if self._template is None else self._template.around(ids)

    def _encode_dropping(
        self,
        text: str,
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        probability: float,
        seed: int,
    ) -> list[int]:
        prepared = self._prepared(text, allowed, forbidden)
        if isinstance(prepared, str):
            return super()._encode_dropping(prepared, allowed, forbidden, probability, seed)
        ids: list[int] = []
        for i, (stretch, token_id) in enumerate(prepared):
            if token_id is None:  # each with a seed of its own, or equal stretches would drop the same merges
                ids += super()._encode_dropping(stretch, None, forbidden, probability, (seed + i) % 2**64)
            else:
                ids.append(token_id)
        return ids

    def _encode_with_offsets(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> tuple[list[int], list[tuple[int, int]]]:
        prepared = self._prepared(text, allowed, forbidden)
        stretches: Stretches = [(prepared, None)] if isinstance(prepared, str) else prepared
        if "".join(stretch for stretch, _ in stretches) != text:
            raise NoPlacesError(
                "what is done to this text before it is encoded (the normalizer, a space before it) changes it: there "
                "are no places in it for its tokens"
            )
        if isinstance(prepared, str):
            return super()._encode_with_offsets(prepared, allowed, forbidden)
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        start = 0
        for stretch, token_id in prepared:
            found: tuple[list[int], list[tuple[int, int]]] = ([token_id or 0], [(0, len(stretch))])
            if token_id is None:
                found = super()._encode_with_offsets(stretch, None, forbidden)
            ids += found[0]
            spans += [(start + first, start + last) for first, last in found[1]]
            start += len(stretch)
        return ids, spans

    def _encode_buffer_with_offsets(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> tuple[Buffer, bytearray]:
        if self._prepared(text, allowed, forbidden) is text:
            return super()._encode_buffer_with_offsets(text, allowed, forbidden)
        ids, spans = self._encode_with_offsets(text, allowed, forbidden)
        return array("I", ids), bytearray(array("q", [place for span in spans for place in span]))

    def _count(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None, workers: int | None = 1
    ) -> int:
        prepared = self._prepared(text, allowed, forbidden)
        if isinstance(prepared, str):
            return super()._count(prepared, allowed, forbidden, workers)
        return sum(
            super(HuggingFaceTokenizer, self)._count(stretch, None, forbidden, workers) if token_id is None else 1
            for stretch, token_id in prepared
        )

    def _count_refusing(self, text: str, workers: int | None = 1) -> int:
        n = self._count(text, None, self._special, workers)
        return n if self._template is None else n + len(self._template)

    def _encode_buffer(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None, workers: int | None = 1
    ) -> Buffer:
        prepared = self._prepared(text, allowed, forbidden)
        if isinstance(prepared, str):
            return super()._encode_buffer(prepared, allowed, forbidden, workers)
        ids = array("I")
        for stretch, token_id in prepared:
            if token_id is None:
                ids.frombytes(memoryview(super()._encode_buffer(stretch, None, forbidden, workers)).cast("B"))
            else:
                ids.append(token_id)
        return ids

    def _encode_batch(
        self,
        texts: Iterable[str],
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        workers: int | None = None,
        share_bytes: int | None = None,
    ) -> list[list[int]]:
        given = listed(texts)
        prepared = [self._prepared(text, allowed, forbidden) for text in given]
        whole = [text for text in prepared if isinstance(text, str)]
        if len(whole) < len(given):
            return [self._encode(text, allowed, forbidden, workers) for text in given]
        return super()._encode_batch(whole, allowed, forbidden, workers, share_bytes)

    def _encode_flat(
        self,
        texts: Iterable[str],
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        workers: int | None = None,
        share_bytes: int | None = None,
    ) -> tuple[Buffer, array[int]]:
        given = listed(texts)
        prepared = [self._prepared(text, allowed, forbidden) for text in given]
        whole = [text for text in prepared if isinstance(text, str)]
        if len(whole) == len(given):
            return super()._encode_flat(whole, allowed, forbidden, workers, share_bytes)
        tokens, offsets = array("I"), array("q", [0])
        for text in given:
            tokens.extend(self._encode(text, allowed, forbidden, workers))
            offsets.append(len(tokens))
        return tokens, offsets

    def _count_parts(
        self, text: str, spans: list[tuple[int, int]], allowed: SpecialTokens | None, workers: int | None = None
    ) -> array[int]:
        if self._encodes_as_it_is():
            return super()._count_parts(text, spans, allowed, workers)
        return self._encode_flat([text[start:end] for start, end in spans], allowed, None, workers)[1]

    def _encodes_as_it_is(self) -> bool:
        """Whether any text is encoded as it stands."""
        return self._changes_nothing

    def _encode_arrow(
        self,
        column: Any,
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        workers: int | None,
        around: tuple[Sequence[int], Sequence[int]],
        dtype: str,
    ) -> ArrowColumn:
        if self._encodes_as_it_is():
            return super()._encode_arrow(column, allowed, forbidden, workers, around, dtype)
        from cbpe._core.arrow.texts import text_column
        from cbpe._core.calls.columns import flat_column

        texts = text_column(column)
        tokens, offsets = self._encode_flat(texts.as_strings(), allowed, forbidden, workers)
        return flat_column(texts, tokens, offsets, around, dtype)

    def _count_arrow(
        self,
        column: Any,
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        workers: int | None,
        more: int,
    ) -> ArrowColumn:
        if self._encodes_as_it_is():
            return super()._count_arrow(column, allowed, forbidden, workers, more)
        from cbpe._core.arrow.texts import text_column
        from cbpe._core.calls.columns import numbers_column

        texts = text_column(column)
        counts = (self._count(text, allowed, forbidden, workers) + more for text in texts.as_strings())
        return numbers_column(texts, counts)

    def _truncate(
        self, text: str, max_tokens: int, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> str:
        prepared = self._prepared(text, allowed, None)
        whole = prepared if isinstance(prepared, str) else "".join(stretch for stretch, _ in prepared)
        if not (self._changes_nothing or self._knows_prefixes(whole, prepared, self._finders(allowed))):
            if self._encodes_stretches_alone(text, self._finders(allowed)):
                return self._truncate_between(text, max_tokens, allowed, forbidden)
            problem = "what is done to this text depends on the added tokens in it, or on where it ends, so that its "
            problem += "prefixes are not known: truncate what is between the tokens, or what is normalized"
            text = self._if_it_fits(text, max_tokens, allowed, problem)
            self._prepared(text, allowed, forbidden)  # or it is refused
            return text
        found = super()._truncate(whole, max_tokens, allowed, forbidden)
        if found == without_surrogates(whole):
            return without_surrogates(text)
        if "prefix_space" in self._steps and found and not text.startswith(" "):
            found = found[1:]
        return found

    def _merged(self, stretch: str, is_first: bool) -> str:
        """What is merged of a stretch between two added tokens: with a space before it, if it gets one."""
        adds = "prefix_space" in self._steps and stretch and not stretch.startswith(" ")
        return " " + stretch if adds else stretch

    def _encodes_stretches_alone(self, text: str, finders: Finders) -> bool:
        """Whether each prefix of a text is encoded stretch by stretch, and no step changes any of them but by a space
        before it: the added tokens are looked for in the text as it is, and take no white space."""
        if self._before_space is not None or finders.odd.is_in(text) or not self._normalizer.leaves_all_parts(text):
            return False
        late = finders.normalized.any
        stretches = [text, *(stretch for stretch, token_id in finders.as_it_is.cut(text) if token_id is None)]
        return not any(late.is_in(self._searched(stretch, self._normalizer)) for stretch in stretches)

    def _truncate_between(
        self, text: str, max_tokens: int, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> str:
        from cbpe.chunking.between import longest_prefix

        def count(stretch: str, is_first: bool) -> int:
            return Tokenizer._count(self, self._merged(stretch, is_first), None, None)

        def truncate(stretch: str, is_first: bool, budget: int) -> int:
            merged = self._merged(stretch, is_first)
            found = Tokenizer._truncate(self, merged, budget, None, None)
            return max(len(found) - (len(merged) - len(stretch)), 0)

        finder = self._finders(allowed).as_it_is
        found = longest_prefix(without_surrogates(text), max_tokens, finder, count, truncate)
        self._prepared(found, allowed, forbidden)  # or it is refused
        return found

    def _if_it_fits(self, text: str, max_tokens: int, allowed: SpecialTokens | None, problem: str) -> str:
        """A text whose prefixes are not known, if it has no more tokens than that. ValueError, which says the problem,
        otherwise."""
        if self._count(text, allowed, None) > max_tokens:
            raise ValueError(problem)
        return text

    def _knows_prefixes(self, whole: str, prepared: str | Stretches, finders: Finders) -> bool:
        """Whether the prefixes of a prepared text are encoded as they stand, and are those of the text: no step changes
        any of them, and its own stretches are those of the text."""
        if self._before_space is not None or finders.odd.is_in(whole) or not self._normalizer.leaves_all_parts(whole):
            return False
        if isinstance(prepared, str):
            return True
        depends = "prefix_space" in self._steps or finders.in_two_steps
        return not depends and list(self._stretches(whole, finders)) == prepared


def refuse_no_text(text: object) -> None:
    """TypeError for what is no text: a list of texts and numbers could be taken for the stretches of one."""
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")


def listed(texts: Iterable[str]) -> list[str]:
    """The texts as a list. TypeError for one text, which would be taken for its characters."""
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"a batch is several texts, not one {type(texts).__name__}: put it in a list")
    return list(texts)
