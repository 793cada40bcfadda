"""HuggingFaceTokenizer: what Hugging Face's tokenizers do around byte-level BPE, with their defaults.

A tokenizer.json may ask for these steps, in this order: find added tokens in the text as it is; normalize (NFC) the
stretches between them; find the other added tokens in those; put a space before each stretch that is left; split and
merge it, as every Tokenizer does; and put the template's tokens around all of it. Most texts are changed by none of the
steps: a look at such a text tells so, and it is encoded at once.
"""

from __future__ import annotations

import sys
import unicodedata
from array import array
from itertools import chain
from typing import TYPE_CHECKING

from cbpe._core.calls.encoder import DEFAULT_CACHE_BYTES
from cbpe.common.checks import checked_int
from cbpe.common.public import public
from cbpe.formats.hugging_face.processing import around, checked_processing, template_ids
from cbpe.formats.hugging_face.reading import loads
from cbpe.text.added_tokens import Finders, cut
from cbpe.text.special_tokens import MAX_SUBSETS
from cbpe.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer, Self

    from cbpe._core.text.special import SpecialTokens
    from cbpe._core.vocabulary.vocabulary import Vocabulary
    from cbpe.text.special_tokens import SpecialChoice

__all__ = ["HuggingFaceTokenizer"]

# The steps that look at a whole text, or at all that is between two special tokens.
WHOLE_TEXT_STEPS = frozenset({"normalizer", "normalized", "prefix_space"})
NOTHING_AROUND: tuple[list[int], list[int]] = ([], [])
Stretches = list[tuple[str, int | None]]  # a text, with the id of each stretch that is an added token


@public
class HuggingFaceTokenizer(Tokenizer):
    """The tokenizer in a tokenizer.json of Hugging Face's, for byte-level BPE: the ids of `tokenizers`.

    Its special tokens are the added tokens, and text of theirs is taken as such unless allowed_special says otherwise.
    With add_special_tokens, the tokens of the file's template (such as those for the beginning and the end of a text)
    are put around. `processing` holds what is done before and after, each only if it is done: "normalizer": "NFC";
    "prefix_space": True; "template", as the file has it; "ordinary", the added tokens that the file does not call
    special; and "normalized", those that are looked for after normalization.

    Decoding keeps special tokens (skip_special_tokens=False). NFC goes by the Unicode version of Python's unicodedata;
    texts of characters that are in all of these versions have one NFC. A lone surrogate is encoded as U+FFFD.
    """

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
    def from_json(cls, data: bytes) -> Self:
        """The tokenizer in the content of a tokenizer.json. ValueError names the part that is wrong, or that cannot be
        honoured exactly."""
        return cls._of(loads(data))

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer, processing: Mapping[str, Any] | None = None) -> Self:
        """A tokenizer with the vocabulary, the split pattern and the special tokens of another one, and with what is to
        be done before and after."""
        return cls(tokenizer._vocabulary, tokenizer.pattern, tokenizer.special_tokens, processing=processing)

    # ---- Encoding

    def encode(
        self,
        text: str,
        allowed_special: SpecialChoice = "all",
        disallowed_special: SpecialChoice = (),
        *,
        add_special_tokens: bool = True,
        workers: int | None = 1,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> list[int]:
        """Encode text: str -> list[int], as `tokenizers` does.

        add_special_tokens says whether the template's tokens are put around; the rest is as for Tokenizer.encode.
        """
        before, after = self._around(add_special_tokens)
        ids = super().encode(text, allowed_special, disallowed_special, workers=workers, dropout=dropout, seed=seed)
        return before + ids + after

    def encode_with_offsets(
        self,
        text: str,
        allowed_special: SpecialChoice = "all",
        disallowed_special: SpecialChoice = (),
        *,
        add_special_tokens: bool = True,
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Encode text, and tell where in it each token is, as Tokenizer.encode_with_offsets does. The template's tokens
        are at no character: at (0, 0) and at (len(text), len(text)).

        ValueError for a text that is changed before it is encoded, by NFC or a space before it: the places would be in
        another text.
        """
        before, after = self._around(add_special_tokens)
        ids, spans = super().encode_with_offsets(text, allowed_special, disallowed_special)
        spans = [(0, 0)] * len(before) + spans + [(len(text), len(text))] * len(after)
        return before + ids + after, spans

    def encode_to_numpy_with_offsets(
        self,
        text: str,
        allowed_special: SpecialChoice = "all",
        disallowed_special: SpecialChoice = (),
        *,
        add_special_tokens: bool = True,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """As encode_with_offsets, to arrays: uint32[n], and int64[n, 2] of starts and ends."""
        import numpy as np

        before, after = self._around(add_special_tokens)
        ids, spans = super().encode_to_numpy_with_offsets(text, allowed_special, disallowed_special)
        ids = np.concatenate([np.array(before, np.uint32), ids, np.array(after, np.uint32)])
        ends = [np.full((len(before), 2), 0, np.int64), spans, np.full((len(after), 2), len(text), np.int64)]
        return ids, np.concatenate(ends)

    def encode_ordinary(self, text: str, *, workers: int | None = 1) -> list[int]:
        """Encode text in which no added token counts as such, without a template: str -> list[int]."""
        return self._encode(text, None, None, workers)

    def count(
        self,
        text: str,
        allowed_special: SpecialChoice = "all",
        disallowed_special: SpecialChoice = (),
        *,
        add_special_tokens: bool = True,
        workers: int | None = 1,
    ) -> int:
        """The number of tokens of text, as len(self.encode(...))."""
        n = super().count(text, allowed_special, disallowed_special, workers=workers)
        return n + sum(map(len, self._around(add_special_tokens)))

    def truncate(
        self,
        text: str,
        max_tokens: int,
        allowed_special: SpecialChoice = "all",
        disallowed_special: SpecialChoice = (),
        *,
        add_special_tokens: bool = True,
    ) -> str:
        """The longest prefix of the normalized text that has at most max_tokens tokens, the template's included.

        ValueError if max_tokens is negative or less than the template's tokens, and for a text whose normalization, or
        space before it, depends on the added tokens in it; otherwise as Tokenizer.truncate.
        """
        around = sum(map(len, self._around(add_special_tokens)))
        why = " (what the template adds)" if around else ""
        budget = checked_int("max_tokens", max_tokens, around, why, most=sys.maxsize) - around
        return super().truncate(text, budget, allowed_special, disallowed_special)

    def encode_to_numpy(
        self,
        text: str,
        allowed_special: SpecialChoice = "all",
        disallowed_special: SpecialChoice = (),
        *,
        add_special_tokens: bool = True,
        workers: int | None = 1,
    ) -> npt.NDArray[np.uint32]:
        """Encode text to an array of uint32[n], where n is the number of tokens; otherwise as encode."""
        import numpy as np

        ids = super().encode_to_numpy(text, allowed_special, disallowed_special, workers=workers)
        before, after = self._around(add_special_tokens)
        return (
            np.concatenate([np.array(before, np.uint32), ids, np.array(after, np.uint32)]) if before or after else ids
        )

    def encode_batch(
        self,
        texts: Iterable[str],
        *,
        num_threads: int | None = None,
        allowed_special: SpecialChoice = "all",
        disallowed_special: SpecialChoice = (),
        add_special_tokens: bool = True,
    ) -> list[list[int]]:
        """Encode several texts in parallel: as [self.encode(text, ...) for text in texts]. num_threads is as for
        Tokenizer.encode_batch."""
        before, after = self._around(add_special_tokens)
        found = super().encode_batch(
            texts, num_threads=num_threads, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        return [before + ids + after for ids in found] if before or after else found

    def encode_batch_flat(
        self,
        texts: Iterable[str],
        *,
        num_threads: int | None = None,
        allowed_special: SpecialChoice = "all",
        disallowed_special: SpecialChoice = (),
        add_special_tokens: bool = True,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """Encode several texts in parallel to one array, as Tokenizer.encode_batch_flat does."""
        import numpy as np

        before, after = self._around(add_special_tokens)
        tokens, offsets = super().encode_batch_flat(
            texts, num_threads=num_threads, allowed_special=allowed_special, disallowed_special=disallowed_special
        )
        if before or after:
            places = [np.repeat(offsets[:-1, None], len(before), 1), np.repeat(offsets[1:, None], len(after), 1)]
            template = np.array(before + after, np.uint32)
            tokens = np.insert(tokens, np.hstack(places).ravel(), np.tile(template, len(offsets) - 1))
            offsets = offsets + np.arange(len(offsets)) * len(template)
        return tokens, offsets

    def encode_stream(
        self,
        chunks: Iterable[str],
        allowed_special: SpecialChoice = "all",
        disallowed_special: SpecialChoice = (),
        *,
        add_special_tokens: bool = True,
    ) -> Iterator[list[int]]:
        """Encode a text that comes in chunks, as Tokenizer.encode_stream does. It is held whole where it is normalized,
        or gets a space before it."""
        before, after = self._around(add_special_tokens)
        found = super().encode_stream(chunks, allowed_special, disallowed_special)
        return chain([before] if before else [], found, [after] if after else [])

    def count_stream(
        self,
        chunks: Iterable[str],
        allowed_special: SpecialChoice = "all",
        disallowed_special: SpecialChoice = (),
        *,
        add_special_tokens: bool = True,
        workers: int | None = 1,
    ) -> int:
        """The number of tokens of a text that comes in chunks, as encode_stream takes them."""
        n = super().count_stream(chunks, allowed_special, disallowed_special, workers=workers)
        return n + sum(map(len, self._around(add_special_tokens)))

    # ---- What it is made of

    @property
    def processing(self) -> dict[str, Any]:
        """What is done before and after splitting and merging."""
        return self._processing()

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> None:
        """Make these the added tokens, in place of those there were. ValueError, and nothing is changed, where the
        template needs another one; otherwise as Tokenizer.register_special_tokens."""
        self._refuse_contradictions(self._steps, special_tokens)
        super().register_special_tokens(special_tokens)

    # ---- Private: what the methods of Tokenizer are made of, with the steps around

    # Until they are set.
    _steps: Mapping[str, Any] = {}
    _around_text = NOTHING_AROUND
    _changes_nothing = True  # of the text that is encoded

    def _processing(self) -> dict[str, Any]:
        return {**self._steps}

    def _takes_whole_texts(self) -> bool:
        return not WHOLE_TEXT_STEPS.isdisjoint(self._steps)

    def _set_processing(self, processing: Mapping[str, Any]) -> None:
        checked = checked_processing(processing)
        self._refuse_contradictions(checked, self.special_tokens)
        self._steps = checked
        self._around_text = around(checked)
        self._changes_nothing = checked.keys() <= {"ordinary", "template"}
        self._tables.pop("finders", None)

    def _refuse_contradictions(self, processing: Mapping[str, Any], special_tokens: Mapping[str, int]) -> None:
        """ValueError where the special tokens are not what the processing needs."""
        for token_id in template_ids(processing):
            if token_id not in self._vocabulary and token_id not in special_tokens.values():
                raise ValueError(f"the template puts the token {token_id} around texts, and there is no such token")
        if "normalizer" in processing:
            for token in processing.get("normalized", ()):
                if not unicodedata.is_normalized("NFC", token):
                    raise ValueError(f"the added token {token!r} is never found in normalized text, as it is not NFC")

    def _around(self, add_special_tokens: bool) -> tuple[list[int], list[int]]:
        """The tokens that the template puts before a text and after it."""
        return self._around_text if add_special_tokens else NOTHING_AROUND

    def _prepared(self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None) -> str | Stretches:
        """A text that gives the ids of this one without the steps. Where there is no such text, its stretches."""
        if self._changes_nothing:
            return text
        finders = self._finders(allowed)
        changes = "prefix_space" in self._steps or finders.in_two_steps
        if not isinstance(text, str) or not text or not (changes or not self._is_normalized(text)):
            return text
        if forbidden is not None:
            super()._count(text, None, forbidden)  # or it is refused
        stretches = list(self._stretches(text, finders))
        if len(stretches) == 1 and finders.both.search(stretches[0][0]) is None:
            return stretches[0][0]
        return stretches

    def _is_normalized(self, text: str) -> bool:
        return "normalizer" not in self._steps or unicodedata.is_normalized("NFC", text)

    def _stretches(self, text: str, finders: Finders) -> Iterator[tuple[str, int | None]]:
        """The added tokens in a text, with their ids, and the stretches between them, as they are encoded."""
        for stretch, token_id in cut(text, finders.as_it_is, finders.ids):
            if token_id is not None:
                yield stretch, token_id
                continue
            if "normalizer" in self._steps:
                stretch = unicodedata.normalize("NFC", stretch)
            for inner, inner_id in cut(stretch, finders.normalized, finders.ids):
                if inner_id is None and "prefix_space" in self._steps and not inner.startswith(" "):
                    inner = " " + inner
                yield inner, inner_id

    def _finders(self, allowed: SpecialTokens | None) -> Finders:
        """What finds these tokens."""
        ids = {} if allowed is None else allowed.ids
        # Kept with what is made anew when other special tokens are put in place.
        found: dict[frozenset[str], Finders] = self._tables.setdefault("finders", {})
        key = frozenset(ids)
        if key not in found:
            if len(found) >= MAX_SUBSETS:
                found.clear()
            found[key] = Finders(ids, self._steps.get("normalized", ()))
        return found[key]

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
        return self._encode(text, None, self._special, workers)

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
        if isinstance(text, str) and "".join(stretch for stretch, _ in stretches) != text:
            raise ValueError("NFC or a space before it changes this text: there are no places in it for its tokens")
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

    def _encode_buffer(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None, workers: int | None = 1
    ) -> Buffer:
        prepared = self._prepared(text, allowed, forbidden)
        if isinstance(prepared, str):
            return super()._encode_buffer(prepared, allowed, forbidden, workers)
        return array("I", self._encode(text, allowed, forbidden, workers))

    def _encode_batch(
        self,
        texts: Iterable[str],
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        workers: int | None = None,
        part_bytes: int | None = None,
    ) -> list[list[int]]:
        given = listed(texts)
        prepared = [self._prepared(text, allowed, forbidden) for text in given]
        whole = [text for text in prepared if isinstance(text, str)]
        if len(whole) < len(given):
            return [self._encode(text, allowed, forbidden, workers) for text in given]
        return super()._encode_batch(whole, allowed, forbidden, workers, part_bytes)

    def _encode_flat(
        self,
        texts: Iterable[str],
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        workers: int | None = None,
        part_bytes: int | None = None,
    ) -> tuple[Buffer, array[int]]:
        given = listed(texts)
        prepared = [self._prepared(text, allowed, forbidden) for text in given]
        whole = [text for text in prepared if isinstance(text, str)]
        if len(whole) == len(given):
            return super()._encode_flat(whole, allowed, forbidden, workers, part_bytes)
        tokens, offsets = array("I"), array("q", [0])
        for text in given:
            tokens.extend(self._encode(text, allowed, forbidden, workers))
            offsets.append(len(tokens))
        return tokens, offsets

    def _truncate(
        self, text: str, max_tokens: int, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> str:
        prepared = self._prepared(text, allowed, None)
        if not isinstance(prepared, str):
            stretches, finders = prepared, self._finders(allowed)
            prepared = "".join(stretch for stretch, _ in stretches)
            # Its prefixes are encoded as they stand if its own stretches are those of the text.
            if (
                "prefix_space" in self._steps
                or finders.in_two_steps
                or not self._is_normalized(prepared)
                or list(self._stretches(prepared, finders)) != stretches
            ):
                raise ValueError(
                    "what is done to this text depends on the added tokens in it, so that its prefixes are not known: "
                    "truncate what is between them"
                )
        found = super()._truncate(prepared, max_tokens, allowed, forbidden)
        if "prefix_space" in self._steps and found and not text.startswith(" "):
            found = found[1:]
        return found


def listed(texts: Iterable[str]) -> list[str]:
    """The texts as a list. TypeError for one text, which would be taken for its characters."""
    if isinstance(texts, str):
        raise TypeError("texts must be several texts, not a str")
    return list(texts)
