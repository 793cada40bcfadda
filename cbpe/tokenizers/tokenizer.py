"""Tokenizer, the class that all others are of: minbpe's are in minbpe.py, tiktoken's in tiktoken.py, and that of
Hugging Face's files in hugging_face.py.

They differ by data: which vocabulary, which split pattern, which special tokens, which template around a text. How text
becomes tokens is the same for all, and is done by the compiled core: a text is split into pieces, and within each piece
neighbouring tokens are merged, the merge that was learned first first. So the options of encoding are declared here
alone; other classes take copies of these methods with other defaults.
"""

from __future__ import annotations

import operator
import sys

from cbpe._core.calls.encoder import DEFAULT_CACHE_BYTES
from cbpe._core.calls.join import refuse_no_sequence
from cbpe._core.calls.parallel import checked_workers
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.columns.texts import missing, only_column, texts_in
from cbpe.common.checks import checked_dropout, checked_flag, checked_ids_dtype, checked_int, refuse_unknown_handler
from cbpe.common.public import public
from cbpe.common.wording import shown
from cbpe.formats.parts import Parts
from cbpe.text.spaces import told_of_marks
from cbpe.text.special_tokens import TokenTypeError, checked_special_tokens, refuse_shared_ids
from cbpe.text.splitting import make_splitter
from cbpe.text.surrogates import without_surrogates
from cbpe.tokenizers.base import NoPlacesError, TokenizerBase

TYPE_CHECKING = False  # importing typing takes longer than loading some vocabularies
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, Literal, SupportsIndex

    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from cbpe._core.arrow.exported import ArrowColumn
    from cbpe.analysis.texts import TextStatistics, TextTally
    from cbpe.analysis.vocabulary import VocabularyAnalysis
    from cbpe.columns.functions import ArrowFunction
    from cbpe.corpus.sources import Source
    from cbpe.text.special_tokens import DisallowedChoice, SpecialChoice
    from cbpe.text.templates import Template
    from cbpe.training.record import TrainingRecord
    from cbpe.views.tokens import ShownText

__all__ = ["Tokenizer"]


@public
class Tokenizer(TokenizerBase):
    """Encodes text to token ids and decodes them, with one vocabulary, split pattern and set of special tokens.

    Safe to use from many threads at once. Its caches of pieces together take at most `cache_bytes` of memory (0: none;
    encoding then merges every piece anew), which change how long a call takes and never what it returns.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        pattern: str | None,
        special_tokens: Mapping[str, int] | None = None,
        *,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        self.training: TrainingRecord | None = None  # how it was trained, if it was trained here
        self._template = None
        self._cache_bytes = checked_int("cache_bytes", cache_bytes, 0)
        special = {} if special_tokens is None else special_tokens
        self._use(vocabulary, make_splitter(pattern), checked_special_tokens(special, vocabulary))

    # ---- Encoding

    def encode(
        self,
        text: str,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        *,
        add_special_tokens: bool = True,
        workers: int | None = 1,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> list[int]:
        """Encode text: str -> list[int]. allowed_special says what the special tokens in the text are:

        "all": special tokens, "none": ordinary text, "none_raise": an error (ValueError), or a set of those that are
        special tokens. disallowed_special makes others an error: a set of them, or "all" that are not allowed, which
        changes nothing with "none"; the rest is ordinary text. None: all with "none_raise", else none of them. Where
        several could begin at one place, the longest is taken. A lone surrogate is encoded as U+FFFD.

        add_special_tokens: whether the tokens of a template, such as those for the beginning and the end of a text, are
        put around; a tokenizer without a template has none.

        workers: threads that share a text of more than some 100 KB, None for as many as there are cores; the result is
        the same. TypeError for what is no str, ValueError for what the arguments do not allow.

        dropout: the probability with which each possible merge is dropped at each step (BPE-dropout, arXiv 1910.13267),
        so that the same text is encoded in different ways, for training a model on. With 1 all tokens are bytes; with
        None or 0 nothing is random. seed, from 0 to 2**64 - 1, makes it the same tokens in every run and on every
        machine; None: others each time. One thread does it. Special tokens are not dropped.

        >>> tok.encode("hello<|endoftext|>", allowed_special="all")
        [104, 101, 108, 108, 111, 100257]
        """
        if dropout is not None or seed is not None:
            probability, number = checked_dropout(dropout, seed)
            checked_workers(workers)
            if probability:
                sets = self._special_sets(allowed_special, disallowed_special)
                ids = self._encode_dropping(text, *sets, probability, number)
                template = self._template_to_add(add_special_tokens)
                return ids if template is None else template.around(ids)
        # The defaults of this class, and those of an Encoding, ask for the same, which takes no sets of tokens, and
        # no look at the template.
        if allowed_special:
            if allowed_special == "none_raise" and disallowed_special is None and add_special_tokens is True:
                return self._encode_refusing(text, workers)
        elif disallowed_special == "all" and add_special_tokens is True and allowed_special is not None:
            return self._encode_refusing(text, workers)
        template = self._template_to_add(add_special_tokens)
        ids = self._encode(text, *self._special_sets(allowed_special, disallowed_special), workers)
        return ids if template is None else template.around(ids)

    def _template_to_add(self, wanted: bool) -> Template | None:
        """The template whose tokens are put around a text, if there is one and it is asked for."""
        is_asked_for = wanted is True or checked_flag("add_special_tokens", wanted)
        return self._template if is_asked_for else None

    def encode_with_offsets(
        self,
        text: str,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        *,
        add_special_tokens: bool = True,
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """Encode text, and tell where in it each token is: (list[int], list[(start, end)]), in characters.

        text[start:end] is the characters that the token's bytes are of. Where a character is divided between tokens,
        each of them has the whole of it, so that neighbours may overlap by one. A template's tokens are at no
        character: at (0, 0) and at (len(text), len(text)). Otherwise as encode; text that the split pattern does not
        match is in no token.

        >>> enc.encode_with_offsets("hello world")
        ([15339, 1917], [(0, 5), (5, 11)])
        """
        sets, template = (
            self._special_sets(allowed_special, disallowed_special),
            self._template_to_add(add_special_tokens),
        )
        ids, spans = self._encode_with_offsets(text, *sets)
        return (ids, spans) if template is None else (template.around(ids), template.around_spans(spans, len(text)))

    def encode_to_numpy_with_offsets(
        self,
        text: str,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        *,
        add_special_tokens: bool = True,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """As encode_with_offsets, to arrays: uint32[n], and int64[n, 2] of starts and ends."""
        import numpy as np

        sets, template = (
            self._special_sets(allowed_special, disallowed_special),
            self._template_to_add(add_special_tokens),
        )
        tokens, places = self._encode_buffer_with_offsets(text, *sets)
        ids = np.frombuffer(memoryview(tokens), dtype=np.uint32)
        spans = np.frombuffer(places, dtype=np.int64).reshape(-1, 2)
        if template is not None:
            return template.around_array(ids), template.around_array_of_spans(spans, len(text))
        return ids, spans

    def count(
        self,
        text: str,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        *,
        add_special_tokens: bool = True,
        workers: int | None = 1,
    ) -> int:
        """The number of tokens of text, as len(self.encode(...)) but without building the list."""
        if allowed_special:  # as in encode
            if allowed_special == "none_raise" and disallowed_special is None and add_special_tokens is True:
                return self._count_refusing(text, workers)
        elif disallowed_special == "all" and add_special_tokens is True and allowed_special is not None:
            return self._count_refusing(text, workers)
        template = self._template_to_add(add_special_tokens)
        n = self._count(text, *self._special_sets(allowed_special, disallowed_special), workers)
        return n if template is None else n + len(template)

    def truncate(
        self,
        text: str,
        max_tokens: int,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        *,
        add_special_tokens: bool = True,
        side: Literal["right", "left"] = "right",
    ) -> str:
        """The longest prefix of text that has at most max_tokens tokens when it is encoded alone, a template's
        included.

        No more of the text is read than it takes to tell. A lone surrogate in it is U+FFFD; a special token that is not
        allowed is an error only if it is in the prefix. The prefix may end within the text of a special token, which
        then is ordinary text. ValueError if max_tokens is negative, or less than the template's tokens.

        Where the split pattern runs on the `regex` module (`splits_natively` is False), the text is split as far as it
        goes, and within a piece of more than 200 characters halving finds a prefix within max_tokens while the next one
        is not, and up to 32 longer ones are tried. If the pattern looks ahead or at the end of the text, longer
        prefixes may be split in other ways: 32 beyond the first piece that is too much are tried.

        side="left" takes from the beginning, as side="right" does from the end: what is left begins with one of the
        last max_tokens tokens of the text, the first of them from which on it has at most max_tokens when it is encoded
        alone. All of the text is read for that. ValueError where encode_with_offsets refuses the text.

        >>> enc.truncate("hello world", 1)
        'hello'
        >>> enc.truncate("hello world", 1, side="left")
        ' world'
        """
        if side not in ("left", "right"):
            raise ValueError(f"side is {shown(side)}; it must be 'left' or 'right'")
        template = self._template_to_add(add_special_tokens)
        if template is not None:
            budget = template.budget(max_tokens)
        else:
            budget = checked_int("max_tokens", max_tokens, 0, most=sys.maxsize)
        sets = self._special_sets(allowed_special, disallowed_special)
        return self._truncate(text, budget, *sets) if side == "right" else self._last(text, budget, *sets)

    def split(
        self,
        text: str,
        max_tokens: int,
        overlap: int = 0,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        *,
        add_special_tokens: bool = True,
    ) -> list[tuple[int, int]]:
        """Cut a text into chunks, each of which has at most max_tokens tokens when it is encoded alone, a template's
        included: (start, end) in characters, in order; together they are the whole text.

        A chunk ends with the last paragraph, else sentence, else line, that ends in the second half of what fits; else
        before white space; else between two graphemes, which are never cut, nor are special tokens that are allowed.
        overlap: how many tokens a chunk may share with the one before it, encoded alone; it begins behind a sentence or
        before a word, and the second half is that of what is new in it. The special tokens are as for encode.

        ValueError for a max_tokens that is below 1 or below the template's tokens and 1, for an overlap that is not
        below max_tokens, and for a single grapheme or special token that has more than max_tokens.

        >>> text = "One cat sat. Two dogs ran."
        >>> [text[start:end] for start, end in enc.split(text, 5)]
        ['One cat sat.', ' Two dogs ran.']
        """
        from cbpe.chunking.split import checked_budget, split_text

        template = self._template_to_add(add_special_tokens)
        budget, overlap = checked_budget(text, max_tokens, overlap, 0 if template is None else len(template))
        allowed, forbidden = self._special_sets(allowed_special, disallowed_special)
        if forbidden is not None:
            self._refuse_special(text, forbidden)
        lengths = self._table("lengths", self._lengths_of_tokens)
        return split_text(self, str.__str__(text), budget, overlap, allowed, lengths)

    def encode_to_numpy(
        self,
        text: str,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        *,
        add_special_tokens: bool = True,
        workers: int | None = 1,
    ) -> npt.NDArray[np.uint32]:
        """Encode text to an array of uint32[n], where n is the number of tokens; otherwise as encode."""
        import numpy as np

        template = self._template_to_add(add_special_tokens)
        buffer = self._encode_buffer(text, *self._special_sets(allowed_special, disallowed_special), workers)
        ids = np.frombuffer(memoryview(buffer), dtype=np.uint32)
        return ids if template is None else template.around_array(ids)

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int | None = None,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        add_special_tokens: bool = True,
    ) -> list[list[int]]:
        """Encode several texts in parallel: as [self.encode(one, ...) for one in text].

        text: an iterable of texts, such as a column of pandas, polars or Arrow; TypeError for a table and a dict, which
        give names. num_threads: how many threads share the work at most; None: as many as there are cores, which is
        also the most that run. What is refused is so before anything is encoded.

        >>> enc.encode_batch(["hello world", "hello"])
        [[15339, 1917], [15339]]
        """
        workers = checked_workers(num_threads, "num_threads")
        template = self._template_to_add(add_special_tokens)
        lists = self._encode_texts(text, *self._special_sets(allowed_special, disallowed_special), workers)
        return lists if template is None else [template.around(ids) for ids in lists]

    def encode_batch_fast(self, text: Iterable[str], **options: Any) -> list[list[int]]:
        """encode_batch, by the name that it has in `tokenizers`, where it leaves out the offsets."""
        return self.encode_batch(text, **options)

    def encode_ordinary_batch(self, text: Iterable[str], *, num_threads: int | None = None) -> list[list[int]]:
        """Encode several texts in parallel, none of which has special tokens: as [self.encode_ordinary(text) for text
        in texts]."""
        return self._encode_texts(text, None, None, checked_workers(num_threads, "num_threads"))

    def encode_batch_flat(
        self,
        texts: Iterable[str],
        *,
        num_threads: int | None = None,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        add_special_tokens: bool = True,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """Encode several texts in parallel to one array -> (tokens, offsets): text i is
        tokens[offsets[i]:offsets[i + 1]].

        tokens: uint32[number of all tokens]; offsets: int64[number of texts + 1]. Otherwise as encode_batch.

        >>> enc.encode_batch_flat(["hello world", "hello"])
        (array([15339,  1917, 15339], dtype=uint32), array([0, 2, 3]))
        """
        import numpy as np

        sets = self._special_sets(allowed_special, disallowed_special)
        template = self._template_to_add(add_special_tokens)
        workers, texts = checked_workers(num_threads, "num_threads"), listed_texts(texts)
        try:
            tokens, starts = self._encode_flat(texts, *sets, workers)
        except (TypeError, ValueError, KeyError) as error:
            raise self._of_batch(error, texts, *sets) from None
        ids, offsets = np.frombuffer(memoryview(tokens), dtype=np.uint32), np.frombuffer(starts, dtype=np.int64)
        return (ids, offsets) if template is None else template.around_flat(ids, offsets)

    def count_batch(
        self,
        texts: Iterable[str],
        *,
        num_threads: int | None = None,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        add_special_tokens: bool = True,
    ) -> list[int]:
        """The number of tokens of each text, counted in parallel. Otherwise as encode_batch.

        >>> enc.count_batch(["hello world", "hello"])
        [2, 1]
        """
        _, offsets = self.encode_batch_flat(
            texts, num_threads=num_threads, allowed_special=allowed_special, disallowed_special=disallowed_special,
            add_special_tokens=add_special_tokens,
        )  # fmt: skip
        numbers: list[int] = (offsets[1:] - offsets[:-1]).tolist()
        return numbers

    def encode_arrow(
        self,
        column: Any,
        *,
        num_threads: int | None = None,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        add_special_tokens: bool = True,
        dtype: Literal["int32", "uint32"] = "int32",
    ) -> ArrowColumn:
        """Encode a column of Arrow's in parallel, reading its UTF-8 where it is: a column of lists of ids, which
        pyarrow.array, polars.Series and others take without copying.

        column: any object with `__arrow_c_stream__` or `__arrow_c_array__`, of texts (utf8, large_utf8, utf8_view, or a
        dictionary of these), or a table of one such column. A row that is null is null in the result. The lists are
        large_list if there are more than 2**31 - 1 ids. Otherwise as encode_batch. TypeError for what holds no texts,
        ValueError for a row that is no UTF-8 and for a damaged column.

        >>> pyarrow.array(enc.encode_arrow(pyarrow.array(["hello world", None]))).to_pylist()
        [[15339, 1917], None]
        """
        checked_ids_dtype(dtype, self.max_token_value)
        column = only_column(column)
        sets = self._special_sets(allowed_special, disallowed_special)
        template = self._template_to_add(add_special_tokens)
        around = ((), ()) if template is None else (template.before, template.after)
        workers = checked_workers(num_threads, "num_threads")
        try:
            return self._encode_arrow(column, *sets, workers, around, dtype)
        except (ValueError, KeyError) as error:
            raise self._of_column(error, column, *sets) from None

    def count_arrow(
        self,
        column: Any,
        *,
        num_threads: int | None = None,
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        add_special_tokens: bool = True,
    ) -> ArrowColumn:
        """The number of tokens of each text in a column of Arrow's, as encode_arrow reads it: a column of int64, null
        where the text is.

        >>> pyarrow.array(enc.count_arrow(pyarrow.array(["hello world", None]))).to_pylist()
        [2, None]
        """
        column = only_column(column)
        sets = self._special_sets(allowed_special, disallowed_special)
        template = self._template_to_add(add_special_tokens)
        workers = checked_workers(num_threads, "num_threads")
        try:
            return self._count_arrow(column, *sets, workers, 0 if template is None else len(template))
        except (ValueError, KeyError) as error:
            raise self._of_column(error, column, *sets) from None

    def arrow_udf(self, text: str, out: str = "input_ids", **options: Any) -> ArrowFunction:
        """A function from batch to batch, which can be pickled: given a table of pyarrow or polars, it gives one with
        the column `out` more, the ids of the column `text`; given a column, that of its ids; given an iterator of
        batches, an iterator. The options are those of encode_arrow.

        It is what Ray Data's map_batches, Spark's mapInArrow, map of `datasets`, polars' map_batches and DuckDB's
        functions call. Options that are wrong are an error at once. ValueError if a batch has no column `text`, or one
        called `out`.

        >>> dataset.map_batches(enc.arrow_udf("text"), batch_format="pyarrow")
        """
        from cbpe.columns.functions import ArrowFunction

        return ArrowFunction(self, text, out, options)

    def encode_stream(
        self,
        chunks: Iterable[str],
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        *,
        add_special_tokens: bool = True,
    ) -> Iterator[list[int]]:
        """Encode a text that comes in chunks, cut anywhere, such as a pipe of any length: lists of ids, as they become
        known. One after another they are what encode returns for the whole text.

        No more of the text is held than a chunk and what cannot be cut there: without a split pattern, or with one that
        runs on the `regex` module, all that is between two special tokens. Raises what encode raises, when the text has
        come so far.

        >>> [token for ids in enc.encode_stream(["hel", "lo wor", "ld"]) for token in ids]
        [15339, 1917]
        """
        from cbpe.text.streams import encode_stream

        sets, template = (
            self._special_sets(allowed_special, disallowed_special),
            self._template_to_add(add_special_tokens),
        )
        lists = encode_stream(self, texts_in(chunks), *sets, whole=self._takes_whole_texts())
        return lists if template is None else template.around_stream(lists)

    def count_stream(
        self,
        chunks: Iterable[str],
        allowed_special: SpecialChoice = "none_raise",
        disallowed_special: DisallowedChoice | None = None,
        *,
        add_special_tokens: bool = True,
        workers: int | None = 1,
    ) -> int:
        """The number of tokens of a text that comes in chunks, as encode_stream takes them; `workers` threads share
        each part of more than some 100 KB."""
        from cbpe.text.streams import count_stream

        sets, template = (
            self._special_sets(allowed_special, disallowed_special),
            self._template_to_add(add_special_tokens),
        )
        n = count_stream(self, texts_in(chunks), *sets, workers, whole=self._takes_whole_texts())
        return n if template is None else n + len(template)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of the token with this text or these bytes; failing that, of such a special token. KeyError if
        neither."""
        token = text_or_bytes.encode("utf-8", "surrogatepass") if isinstance(text_or_bytes, str) else text_or_bytes
        if not isinstance(token, bytes):
            raise TypeError(f"a token is a str or bytes, not {type(token).__name__}: {shown(token)}")
        token_id = self._vocabulary.find(token)
        if token_id is None:
            token_id = self._special.ids.get(token.decode("utf-8", "surrogateescape"))
        if token_id is None:
            marks = told_of_marks(text_or_bytes) if isinstance(text_or_bytes, str) else ""
            raise KeyError(f"{shown(text_or_bytes)} is no token of this vocabulary{marks}")
        return token_id

    def token_to_id(self, token: str | bytes) -> int | None:
        """What encode_single_token gives, or None where there is no such token. (Hugging Face's name; the token is the
        text itself here, with a space where `tokenizers` writes "\u0120".)"""
        try:
            return self.encode_single_token(token)
        except KeyError:
            return None

    def id_to_token(self, token_id: int) -> str | bytes | None:
        """The text of one token, or its bytes where they alone are no UTF-8; None if there is no such id.

        >>> enc.id_to_token(1917), enc.id_to_token(160), enc.id_to_token(10**9)
        (' world', b'\\xe4', None)
        """
        try:
            token = self.decode_single_token_bytes(token_id)
        except (KeyError, OverflowError):
            return None
        try:
            return token.decode("utf-8")
        except UnicodeDecodeError:
            return token

    # ---- Decoding: decode, decode_bytes, their batches and encode_ordinary are in the compiled base

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one token. KeyError if there is no such id."""
        return self.decode_bytes([token])

    def decode_tokens_bytes(self, tokens: Iterable[SupportsIndex]) -> list[bytes]:
        """The bytes of each token. Raises as decode_bytes does.

        >>> enc.decode_tokens_bytes([15339, 1917])
        [b'hello', b' world']
        """
        refuse_no_sequence(tokens)
        return [self.decode_bytes((token,)) for token in tokens]

    def decode_arrow(self, column: Any, *, errors: str = "replace", skip_special_tokens: bool = False) -> ArrowColumn:
        """Decode a column of lists of token ids, of any integers, to a column of texts: the way back of encode_arrow.

        The texts are utf8, large_utf8 if they have more than 2**31 - 1 bytes; a row that is null stays so. `errors` and
        skip_special_tokens are as for decode, but for what Arrow's texts cannot hold. Raises what decode raises, and
        names the row; TypeError for another column.

        >>> pyarrow.array(enc.decode_arrow(pyarrow.array([[15339, 1917], None]))).to_pylist()
        ['hello world', None]
        """
        refuse_unknown_handler(errors)
        return self._decode_arrow(only_column(column), errors, skip_special_tokens)

    # ---- What it is made of: see TokenizerBase, too

    def is_special_token(self, token: int) -> bool:
        """Whether an id is that of a special token. TypeError, which is an AssertionError too, for what is no int."""
        try:
            token_id = operator.index(token) if type(token) is not bool else None
        except TypeError:  # which an array raises although it has __index__, for the sake of its only item
            token_id = None
        if token_id is None:
            raise TokenTypeError(f"a token id is an int, not {type(token).__name__}: {shown(token)}")
        return token_id in self._table("special ids", lambda: frozenset(self._special.ids.values()))

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all tokens that are not special, in the order of bytes."""
        return list(self._sorted_tokens())

    def analyze(self) -> VocabularyAnalysis:
        """Which tokens no text can produce, and why, which are no UTF-8 alone, and which have the same bytes."""
        from cbpe.analysis.vocabulary import analyze, copied

        def make() -> VocabularyAnalysis:
            return analyze(self._vocabulary, self._splitter, self.vocab, self._normal_characters())

        return copied(self._table("analysis", make))

    def show(self, text: str, *, special: bool = False) -> ShownText:
        """The tokens of a text for a notebook, which shows them in colours with their ids; their bytes show when one
        points at them. A character that is divided between tokens is shown as one.

        special: whether special tokens in the text are such; otherwise they are ordinary text, but for added tokens of
        a tokenizer.json that are not special: these are found in every text. What a template puts around texts is not
        shown, but counted apart.

        >>> tok.show("hello world")
        <2 tokens: 'hello' ' world'>
        """
        from cbpe.views.tokens import ShownText

        special = checked_flag("special", special)
        allowed: SpecialChoice = "all" if special else self._found_always() or "none"
        ids = self._encode(text, *self._special_sets(allowed, ()))
        vocab = self.vocab
        n_bytes = len(text.encode("utf-8", "surrogatepass"))
        covered = n_bytes if self._covered_lengths() is None else sum(len(vocab[token_id]) for token_id in ids)
        return ShownText(ids, vocab, frozenset(self._special.ids.values()), n_bytes, covered, template=self.count(""))

    def pieces(self, text: str) -> list[str]:
        """The pieces of a text, in order: what the split pattern cuts out of it, and what merging makes tokens of, so
        that no token reaches over the end of one.

        Special tokens are ordinary text, as for encode_ordinary. What the pattern leaves out is in no piece; without a
        pattern the text is one. The pieces are those of the normalized text, where a tokenizer normalizes; over
        characters they are cut wherever no merge reaches across. A lone surrogate is U+FFFD. TypeError for what is no
        str.

        >>> enc.pieces("It's 2026")
        ['It', "'s", ' ', '202', '6']
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        return [piece for stretch in self._ordinary_stretches(text) for piece in self._splitter.split(stretch)]

    def merge_steps(self, text: str) -> list[list[list[bytes]]]:
        """How merging makes the tokens of a text: for each of its pieces the tokens before merging, which are its bytes
        (over characters, its characters), and after each merge. A step is one merge at one place: of the pairs of
        neighbours that a merge joins, the one whose merge was learned first, and of several the first in the text.

        Special tokens are ordinary text, as for encode_ordinary, whose tokens are the last of each piece. It is for
        looking at words: ValueError for a piece of more than 1,000 bytes, and where a tokenizer does more than merging.
        KeyError for a byte or a character without a token; TypeError for what is no str.

        >>> enc.merge_steps("low")
        [[[b'l', b'o', b'w'], [b'l', b'ow'], [b'low']]]
        """
        vocab = self.vocab
        return [[[vocab[token_id] for token_id in ids] for ids in steps] for steps in self._merge_steps(text)]

    def _merge_steps(self, text: str) -> list[list[list[int]]]:
        """The same as ids."""
        from cbpe.analysis.steps import Merges, merge_steps

        def make() -> Merges:
            parts = enumerate(self._vocabulary.merge_parts())
            return {(left, right): (rank, made) for rank, (left, right, made) in parts if min(left, right) >= 0}

        encoded = self.encode_ordinary(text)
        return merge_steps(self._vocabulary, self._table("ranked merges", make), self.pieces(text), encoded)

    def _ordinary_stretches(self, text: str) -> list[str]:
        """What is split, of a text whose special tokens are ordinary text."""
        return [without_surrogates(str.__str__(text))]

    def statistics(
        self, source: Source, *, field: str | None = None, errors: str = "strict", missing: str = "error"
    ) -> TextStatistics:
        """Bytes per token, tokens per word and the share of the vocabulary used, in a text or several; special tokens
        in them are ordinary text, and a template adds nothing. Bytes that the split pattern leaves out count in `bytes`
        and not in `covered_bytes`, from which bytes per token come: a UserWarning tells of them, of `unknown_tokens`,
        which stand for characters without a token, of added tokens that are not special, which are ordinary text as
        well, of files that are tables or JSON and are read as plain text, and of a source without text.

        source, field, errors, missing and what is raised: as for cbpe.count_words. What is held in memory is as for
        encode_stream.

        >>> tok.statistics(["hello world"]).tokens_per_word
        1.0
        """
        from cbpe.analysis.texts import EMPTY, told_of_measures
        from cbpe.common.warning import warn
        from cbpe.corpus.describing import tell_of_plain_text
        from cbpe.corpus.sources import Reader
        from cbpe.corpus.word_counts import WordCounts

        if isinstance(source, WordCounts):
            raise TypeError("WordCounts hold words, and no texts: statistics takes the texts themselves")
        tell_of_plain_text(source, field=field)
        tally = self.tally()
        tally.add(Reader(source, field=field, errors=errors, missing=missing))
        found = tally.statistics()
        if not found.bytes:
            warn(f"the source {EMPTY}")
        sizes = found.bytes, found.covered_bytes, found.tokens, found.unknown_tokens, found.added_as_text
        for told in told_of_measures("this tokenizer", "this text", *sizes):
            warn(told)
        return found

    def tally(self) -> TextTally:
        """An empty tally of texts, from which `statistics` comes: for sources that are read one by one and added up."""
        from cbpe.analysis.texts import TextTally
        from cbpe.text.added_tokens import Sighting

        beside = self._ids_beside_vocabulary()
        whole = self._takes_whole_texts()
        added = Sighting(self._found_always())
        return TextTally(self, whole_texts=whole, lengths=self._covered_lengths(), beside=beside, added=added)

    def shrink(self, vocab_size: int) -> Self:
        """The tokenizer with the first vocab_size - 256 merges of this one: exactly what training to that size gives,
        record included.

        Special tokens whose ids follow the merges one after another follow the fewer ones, as training has it; others
        keep their ids, and so do all of a tokenizer that has steps around merging. An Encoding gets the size into its
        name. ValueError for a vocabulary that is no sequence of merges over bytes, and for a size below 256 or above
        what it has.

        >>> cbpe.train("low lower lowest", 259).shrink(258).vocab[257]
        b'low'
        """
        return self._shrunk(vocab_size, shown(self))

    def _shrunk(self, vocab_size: int, what: str) -> Self:
        """The same. what: what messages call this tokenizer."""
        from cbpe.training.shrinking import shrunk, shrunk_record

        parts = shrunk(self._parts(), vocab_size, what)
        smaller = self._of(parts, cache_bytes=self.cache_bytes)
        if self.training is not None:
            smaller.training = shrunk_record(self.training, smaller.vocab_size, parts.special_tokens)
        return smaller

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> None:
        """Make these the special tokens, in place of those there were (as in minbpe): text -> id. To add to them, give
        the old ones as well.

        Raises ValueError for one that is empty, or whose id is taken, TypeError for what is no str or no int; nothing
        is changed then.

        >>> tok.register_special_tokens({**tok.special_tokens, "<|tool|>": tok.n_vocab})
        """
        checked = checked_special_tokens(special_tokens, self._vocabulary)
        refuse_shared_ids(checked)
        self._use(self._vocabulary, self._splitter, checked)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tokenizer to a file, in the format that the end of its name says.

        .json: Hugging Face's tokenizer.json. .model or .vocab: minbpe's, both files; over characters, SentencePiece's
        .model. .tiktoken: tiktoken's ranks and nothing else. gpt2_tokenizer.bin: llm.c's. tekken.json: Mistral's.
        encoder.json or vocab.bpe, vocab.json or merges.txt: GPT-2's two files. A file that is there is replaced,
        whatever it holds.

        ValueError, and nothing is written, where the format cannot hold what gives the same results, or the name has
        another end. A UserWarning names what a file does not hold: the split pattern, special tokens, a template, and
        special tokens whose text SentencePiece and Hugging Face take in different ways.

        >>> enc.save("cl100k_base.json")
        """
        from cbpe.formats.files import save_and_warn

        save_and_warn(self._parts(), path)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self._vocabulary.pack(), self.pattern, self.special_tokens, self._processing()
        return _restore, (type(self), *parts, {**vars(self)})

    # ---- Private

    def _encode_texts(self, texts: Iterable[str], allowed: Any, forbidden: Any, workers: int) -> list[list[int]]:
        """The ids of each text; an error says which text it is of."""
        texts = listed_texts(texts)
        try:
            lists: list[list[int]] = self._encode_batch(texts, allowed, forbidden, workers)
        except (TypeError, ValueError, KeyError) as error:
            raise self._of_batch(error, texts, allowed, forbidden) from None
        return lists

    def _of_batch(self, error: Exception, texts: Any, allowed: Any, forbidden: Any) -> Exception:
        """The error, with the number of the first text of a batch that is wrong, if one is found to be."""
        if type(error) not in (TypeError, ValueError, KeyError) or not isinstance(texts, list):
            return error
        if isinstance(error, TypeError):
            wrong = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
            if wrong is None:
                return error
            return TypeError(f"{error} (text {wrong} of the batch, counted from 0){missing(texts[wrong])}")
        found = self._first_refused(type(error), texts, allowed, forbidden)
        return error if found is None else type(error)(f"text {found[0]} of the batch (counted from 0): {found[1]}")

    def _of_column(self, error: Exception, column: Any, allowed: Any, forbidden: Any) -> Exception:
        """The error, with the number of the first row that holds what is refused; of a column that can be read only
        once, as it is."""
        if type(error) not in (ValueError, KeyError) or not hasattr(column, "__len__"):
            return error
        from cbpe._core.arrow.texts import text_column

        found = self._first_refused(type(error), text_column(column).as_strings(), allowed, forbidden)
        return error if found is None else type(error)(f"row {found[0]} of the column (counted from 0): {found[1]}")

    def _first_refused(
        self, kind: type[Exception], texts: Iterable[object], allowed: Any = None, forbidden: Any = None
    ) -> tuple[int, str] | None:
        """The number of the first text for which there is an error of this kind, and what it says."""
        for i, text in enumerate(texts):
            found = self._refusal(kind, text, allowed, forbidden) if isinstance(text, str) else None
            if found is not None:
                return i, found
        return None

    def _refusal(self, kind: type[Exception], text: str, allowed: Any, forbidden: Any) -> str | None:
        """What an error of this kind says of a text: ValueError of a special token that is forbidden, KeyError of a
        byte without a token."""
        try:
            if kind is KeyError:
                self._encode(text, allowed, None)
            elif kind is ValueError and forbidden is not None:
                self._refuse_special(text, forbidden)
        except kind as found:
            return str(found.args[0])
        return None

    def _lengths_of_tokens(self) -> npt.NDArray[np.int64]:
        """How many bytes each token has, by id, as far as ids go that are no special token's; 0 where there is none."""
        import numpy as np

        lengths = np.zeros(self._vocabulary.max_id + 1, dtype=np.int64)
        tokens = self._vocabulary.tokens()
        lengths[list(tokens)] = [len(token) for token in tokens.values()]
        return lengths

    def _covered_lengths(self) -> npt.NDArray[np.int64] | None:
        """How many bytes of a text each token is, by id. None where the tokens need not be the text's own bytes: over
        characters, and where texts are changed before they are split."""
        if self._vocabulary.characters or self._takes_whole_texts():
            return None
        return self._table("lengths", self._lengths_of_tokens)

    def _last(self, text: str, budget: int, allowed: Any, forbidden: Any) -> str:
        """The end of a text that has at most `budget` tokens, from the beginning of one on."""
        from cbpe.analysis.left_out import may_leave_out
        from cbpe.chunking.ends import end_of_text

        found = None
        if not may_leave_out(self._splitter) and self._covered_lengths() is not None and isinstance(text, str):
            clean = without_surrogates(str.__str__(text))
            ids = memoryview(self._encode_buffer(clean, allowed, forbidden)).cast("B").cast("I")
            if len(ids) <= budget:
                return clean
            found = end_of_text(clean, self.decode_tokens_bytes(ids[len(ids) - budget :].tolist()))
        # Otherwise the tokens are not the text's own bytes, and the places of all are found, which takes more memory.
        text, starts = (text, self._last_places(text, budget, allowed, forbidden)) if found is None else found
        for start in starts:
            rest = without_surrogates(text[start:])
            if self._count(rest, allowed, forbidden) <= budget:
                return rest
        return ""

    def _last_places(self, text: str, budget: int, allowed: Any, forbidden: Any) -> list[int]:
        """Where in a text its last `budget` tokens begin; only its beginning, if it has no more."""
        try:
            _, buffer = self._encode_buffer_with_offsets(text, allowed, forbidden)
        except NoPlacesError as error:
            raise ValueError(
                f"side is 'left', for which it has to be known where in the text its last tokens begin: {error}. "
                "Cut the text by split, or keep the last of its ids"
            ) from None
        places = memoryview(buffer).cast("B").cast("q")  # the start and the end of each token
        first = len(places) // 2 - budget
        return [0] if first <= 0 else places[2 * first :: 2].tolist()

    @classmethod
    def _of(cls, parts: Parts, *, cache_bytes: int = DEFAULT_CACHE_BYTES) -> Self:
        """The tokenizer of this class that has these parts; the constructors of most classes take something else."""
        tok = cls.__new__(cls)
        Tokenizer.__init__(tok, parts.vocabulary, parts.pattern, parts.special_tokens, cache_bytes=cache_bytes)
        if parts.name is not None:
            vars(tok)["name"] = parts.name
        tok._set_processing(parts.processing)
        return tok


@public
def _restore(
    cls: type[Tokenizer],
    packed: bytes,
    pattern: str | None,
    special_tokens: dict[str, int],
    processing: dict[str, Any],
    state: dict[str, Any],
) -> Tokenizer:
    """The tokenizer that was pickled or copied."""
    parts = Parts(Vocabulary.unpack(packed), pattern, special_tokens, processing)
    tok = cls._of(parts, cache_bytes=state["_cache_bytes"])
    vars(tok).update(state)
    return tok


def listed_texts(texts: Iterable[str]) -> Any:
    """The texts of a batch as a list, so that an error can say which one is wrong; one text alone is as it is, to be
    refused. TypeError for what gives no texts."""
    found = texts_in(texts)
    if isinstance(found, (str, bytes)):
        return found
    if not hasattr(found, "__iter__") and not hasattr(found, "__getitem__"):
        raise TypeError(f"a batch is several texts, such as a list of str, not {type(found).__name__}")
    return list(found)
