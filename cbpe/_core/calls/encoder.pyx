"""Encoder: encoding and decoding for Python, over an Engine. The handle that Python's classes derive from: training or
loading gives it another Engine."""

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_DecodeUTF8, PyUnicode_FromObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc

from cbpe._core.calls.batch cimport Batch
from cbpe._core.calls.engine cimport (
    NO_SPACES, SPACE_BEFORE_EACH, SPACE_BEFORE_FIRST, SPACE_BEFORE_OTHERS, Engine, Spaces, refuse_special
)
from cbpe._core.calls.join cimport join_tokens
from cbpe._core.calls.offsets cimport Location, locate_ids, to_tuples, undo_joining
from cbpe._core.decoding.decode cimport ByteBuffer
from cbpe._core.encoding.pieces cimport encode_piece
from cbpe._core.encoding.places cimport Jumps
from cbpe._core.encoding.workspace cimport EncodeStatus, Workspace
from cbpe._core.merging.dropout cimport Dropout, close_dropout, open_dropout
from cbpe._core.text.special cimport SpecialTokens, next_special
from cbpe._core.text.utf8 cimport (
    Utf8, Utf8Texts, encodable, exact_bytes, read_after_space, read_parts, read_utf8, utf8_of
)
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

from cbpe._core.calls.engine import DEFAULT_CACHE_BYTES
from cbpe._core.calls.join import join_batch, without_ids
from cbpe._core.calls.offsets import decode_with_offsets

cdef enum:
    BETWEEN_SIGNALS = 1 << 22   # tokens

cdef dict SPACES = {"each": SPACE_BEFORE_EACH, "always": SPACE_BEFORE_OTHERS, "first": SPACE_BEFORE_FIRST}


@cython.final
cdef class TokenBuffer:
    """Owns uint32 token ids and shows them through the buffer protocol."""

    cdef uint32_t *ids
    cdef Py_ssize_t n
    cdef Py_ssize_t shape[1]

    def __dealloc__(self):
        free(self.ids)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        self.shape[0] = self.n
        buffer.buf = self.ids
        buffer.obj = self
        buffer.len = self.n * sizeof(uint32_t)
        buffer.itemsize = sizeof(uint32_t)
        buffer.readonly = 0
        buffer.ndim = 1
        buffer.format = b"I"
        buffer.shape = self.shape
        buffer.strides = NULL
        buffer.suboffsets = NULL
        buffer.internal = NULL


cdef bint is_skipping(skip_special_tokens) except -1:
    """The flag, True or False, numpy's too. TypeError for anything else: "no" is as true as "yes"."""
    if skip_special_tokens is False or skip_special_tokens is True:
        return skip_special_tokens
    kind = type(skip_special_tokens)
    if kind.__module__ == "numpy" and kind.__name__ in ("bool", "bool_"):
        return bool(skip_special_tokens)
    shown = repr(skip_special_tokens[:80]) if isinstance(skip_special_tokens, str) else f"a {kind.__name__}"
    raise TypeError(f"skip_special_tokens must be True or False, not {shown}")


cdef TokenBuffer take_ids(Workspace *work):
    """The ids of a workspace, handed over with their memory."""
    cdef TokenBuffer buffer = TokenBuffer()
    buffer.ids = <uint32_t *>realloc(work.ids, (work.n_ids + 1) * sizeof(uint32_t))
    if buffer.ids == NULL:
        raise MemoryError
    buffer.n = work.n_ids
    work.ids = NULL
    work.n_ids = work.capacity = 0
    return buffer


cdef Workspace *encoded(
    Engine engine,
    text,
    SpecialTokens allowed,
    SpecialTokens forbidden,
    bint counting=False,
    Dropout *dropout=NULL,
    Jumps *jumps=NULL,
) except NULL:
    """A workspace that holds the ids of a text, or their number. The caller releases it."""
    cdef Workspace *work = NULL
    cdef Utf8 utf8
    cdef bint done = False
    text = read_utf8(text, engine.instructions.write_utf8, &engine.last_text, &utf8)
    try:
        if forbidden is not None:
            refuse_special(&utf8, forbidden)
        work = engine.acquire()
        work.counting = counting
        work.dropout = dropout
        work.jumps = jumps
        engine.encode_text(work, &utf8, allowed)
        done = True
    finally:    # an except clause would save the exception that is being handled, in every call
        if utf8.owned != NULL:
            free(utf8.owned)
        if not done and work != NULL:
            engine.release(work)
    return work


cdef bytearray located(Engine engine, Workspace *work, str text, str exact):
    """Where the tokens of an encodable text are in the text that was given: int64[n, 2]."""
    cdef Utf8 utf8 = utf8_of(exact)
    cdef bytearray buffer = PyByteArray_FromStringAndSize(NULL, 2 * work.n_ids * sizeof(int64_t))
    cdef int64_t *spans = <int64_t *>PyByteArray_AS_STRING(buffer)
    cdef Location location = Location(0, 0, 0, 0)
    cdef Py_ssize_t stop
    while location.n_ids < work.n_ids:
        stop = min(work.n_ids, location.n_ids + BETWEEN_SIGNALS)
        with nogil:
            locate_ids(&engine.table, work.jumps, utf8.bytes, work.ids, stop, &location, spans)
        PyErr_CheckSignals()
    if len(exact) != len(text):
        undo_joining(text, exact, spans, work.n_ids)
    return buffer


cdef tuple encode_located(Engine engine, text, SpecialTokens allowed, SpecialTokens forbidden):
    """The ids of a text and where in it they are, as buffers of uint32[n] and int64[n, 2]."""
    cdef str exact = encodable(text)
    cdef Jumps jumps = Jumps(NULL, 0, 0, 0)
    cdef Workspace *work = NULL
    try:
        work = encoded(engine, exact, allowed, forbidden, False, NULL, &jumps)
        spans = located(engine, work, PyUnicode_FromObject(text), exact)
        return take_ids(work), spans
    finally:
        if work != NULL:
            engine.release(work)
        free(jumps.items)


cdef inline bint is_one(workers):
    return type(workers) is int and workers == 1        # and not True, which is refused as every number of threads


cdef list encode_to_list(Engine engine, text, SpecialTokens allowed, SpecialTokens forbidden, workers):
    cdef Workspace *work
    if not is_one(workers):
        return Batch(engine, [text], allowed, forbidden, workers).lists()[0]
    work = encoded(engine, text, allowed, forbidden)
    try:
        return engine.to_list(work.ids, work.n_ids)
    finally:
        engine.release(work)


cdef tuple encode_flat(
    Engine engine, texts, SpecialTokens allowed, SpecialTokens forbidden, workers, share_bytes
):
    """Encoder._encode_flat: (TokenBuffer, offsets)"""
    cdef Batch batch = Batch(engine, texts, allowed, forbidden, workers, share_bytes)
    cdef TokenBuffer buffer = TokenBuffer()
    offsets = batch.encode()
    buffer.ids = batch.take_ids()
    buffer.n = offsets[len(offsets) - 1]
    return buffer, offsets


cdef object number_of_tokens(Engine engine, text, SpecialTokens allowed, SpecialTokens forbidden, workers):
    cdef Workspace *work
    cdef Py_ssize_t n
    if not is_one(workers):
        return Batch(engine, [text], allowed, forbidden, workers).count()
    work = encoded(engine, text, allowed, forbidden, True)
    n = work.n_counted + work.n_ids
    engine.release(work)
    return n


cdef str decode_to_text(Engine engine, tokens, str errors):
    cdef bytes handler = errors.encode()
    cdef ByteBuffer buffer = join_tokens(engine, tokens)
    try:
        return PyUnicode_DecodeUTF8(<const char *>buffer.bytes, buffer.used, handler)
    finally:
        free(buffer.bytes)


cdef class Encoder:
    """Encodes and decodes with one Engine. The base of Tokenizer, which says what its methods promise."""

    cdef Engine engine

    def _install(
        self,
        Vocabulary vocabulary not None,
        splitter,
        dict special_tokens not None,
        Py_ssize_t cache_bytes=DEFAULT_CACHE_BYTES,
    ):
        """Use these tables from now on. Calls in progress go on with the earlier ones."""
        cdef Engine engine = Engine(vocabulary, splitter, SpecialTokens(special_tokens), cache_bytes)
        with cython.critical_section(self):
            self.engine = engine

    def _tell_places(self, bint tells_places):
        """Whether the texts are those that were given, so that errors count their characters."""
        self.installed().tells_places = tells_places

    cdef Engine installed(self):
        cdef Engine engine
        with cython.critical_section(self):     # without a GIL, another thread may put another one in place now
            engine = self.engine
        if engine is None:
            raise RuntimeError(f"this {type(self).__name__} has no vocabulary: its __init__ has not been called")
        return engine

    @property
    def _vocabulary(self):
        return self.installed().vocabulary

    @property
    def _splitter(self):
        return self.installed().splitter

    @property
    def _special(self):
        return self.installed().special_tokens

    def encode_ordinary(self, text, *, workers=1):
        """Encode text in which no special token counts as such: str -> list[int]. `workers` is as for encode.

        >>> enc.encode_ordinary("hello world")
        [15339, 1917]
        """
        return encode_to_list(self.installed(), text, None, None, workers)

    def _encode(self, text, SpecialTokens allowed, SpecialTokens forbidden, workers=1):
        return encode_to_list(self.installed(), text, allowed, forbidden, workers)

    def _encode_refusing(self, text, workers=1):
        """The same where every special token is forbidden: what most calls are, and the quickest."""
        cdef Engine engine = self.installed()
        return encode_to_list(engine, text, None, engine.special_tokens, workers)

    def _holds_special(self, text, SpecialTokens tokens not None):
        """Whether any of some special tokens is in a text."""
        cdef Engine engine = self.installed()
        cdef uint32_t which
        cdef Utf8 utf8
        text = read_utf8(text, engine.instructions.write_utf8, &engine.last_text, &utf8)
        try:
            return next_special(&tokens.tables, utf8.bytes, utf8.size, 0, &which) >= 0
        finally:
            free(utf8.owned)

    def _refuse_special(self, text, SpecialTokens forbidden not None):
        """ValueError if any of some special tokens is in a text."""
        cdef Engine engine = self.installed()
        cdef Utf8 utf8
        text = read_utf8(text, engine.instructions.write_utf8, &engine.last_text, &utf8)
        try:
            refuse_special(&utf8, forbidden)
        finally:
            free(utf8.owned)

    def _count(self, text, SpecialTokens allowed, SpecialTokens forbidden, workers=1):
        return number_of_tokens(self.installed(), text, allowed, forbidden, workers)

    def _count_refusing(self, text, workers=1):
        """The same where every special token is forbidden: what most calls are, and the quickest."""
        cdef Engine engine = self.installed()
        return number_of_tokens(engine, text, None, engine.special_tokens, workers)

    def _encode_buffer(self, text, SpecialTokens allowed, SpecialTokens forbidden, workers=1):
        """The ids as an object that owns them and shows them as a buffer of uint32[n]."""
        cdef Engine engine = self.installed()
        cdef Workspace *work
        if not is_one(workers):
            # Not self._encode_flat: where a class prepares texts, this one has been prepared.
            return encode_flat(engine, [text], allowed, forbidden, workers, None)[0]
        work = encoded(engine, text, allowed, forbidden)
        try:
            return take_ids(work)
        finally:
            engine.release(work)

    def _encode_buffer_after_space(self, str text not None, SpecialTokens special, str spaces):
        """The ids of a space and a text after it, as _encode_buffer gives them; None for a text with a lone surrogate.

        Where the text holds any of the special tokens, the space is before "each" stretch between them that is not
        empty, "always" (each that begins with none) or "first" (the same, at the beginning of the text). With spaces
        None nothing is known of such a text: None.
        """
        cdef Engine engine = self.installed()
        cdef Workspace *work = NULL
        cdef Spaces added = NO_SPACES
        cdef uint32_t which
        cdef Utf8 utf8
        if not read_after_space(text, engine.instructions.write_utf8, &utf8):
            return None
        try:
            if special is not None:
                if next_special(&special.tables, utf8.bytes + 1, utf8.size - 1, 0, &which) >= 0:
                    if spaces is None or engine.split == NULL:
                        return None
                    added = SPACES[spaces]
            work = engine.acquire()
            engine.encode_text(work, &utf8, None if added == NO_SPACES else special, added)
            return take_ids(work)
        finally:
            free(utf8.owned)
            if work != NULL:
                engine.release(work)

    def _encode_dropping(
        self, text, SpecialTokens allowed, SpecialTokens forbidden, double probability, uint64_t seed
    ):
        """The ids, where each possible merge is dropped with a probability at each step."""
        cdef Engine engine = self.installed()
        cdef Dropout dropout
        cdef Workspace *work = NULL
        if engine.table.marked != NULL:
            raise ValueError("no dropout where tokens at the beginning or the end of a word differ: merges tell that")
        open_dropout(&dropout, probability, seed, engine.seed)
        try:
            work = encoded(engine, text, allowed, forbidden, False, &dropout)
            return engine.to_list(work.ids, work.n_ids)
        finally:
            if work != NULL:
                engine.release(work)
            close_dropout(&dropout)

    def _encode_with_offsets(self, text, SpecialTokens allowed, SpecialTokens forbidden):
        """The ids and where in the text each is: list[int], list[tuple[int, int]]."""
        cdef Engine engine = self.installed()
        cdef TokenBuffer buffer
        cdef bytearray spans
        buffer, spans = encode_located(engine, text, allowed, forbidden)
        return engine.to_list(buffer.ids, buffer.n), to_tuples(<int64_t *>PyByteArray_AS_STRING(spans), buffer.n)

    def _encode_buffer_with_offsets(self, text, SpecialTokens allowed, SpecialTokens forbidden):
        """The same as buffers of uint32[n] and int64[n, 2]."""
        return encode_located(self.installed(), text, allowed, forbidden)

    def _encode_batch(self, texts, SpecialTokens allowed, SpecialTokens forbidden, workers=None, share_bytes=None):
        """The ids of each text: list[list[int]]. share_bytes is how much of a text a thread takes, for tests."""
        return Batch(self.installed(), texts, allowed, forbidden, workers, share_bytes).lists()

    def _encode_flat(self, texts, SpecialTokens allowed, SpecialTokens forbidden, workers=None, share_bytes=None):
        """The ids of all texts in a row, as a buffer of uint32[n], and where each text's begin, as a buffer
        of int64[texts + 1]."""
        return encode_flat(self.installed(), texts, allowed, forbidden, workers, share_bytes)

    def _count_parts(self, str text not None, list spans not None, SpecialTokens allowed, workers=None):
        """The offsets that _encode_flat gives for parts of a text, [(start, end)], which begin one after another."""
        cdef Engine engine = self.installed()
        cdef Utf8Texts texts = read_parts(text, spans, engine.instructions.write_utf8, &engine.last_text)
        cdef Batch batch = Batch(engine, texts, allowed, None, workers)
        batch.counting = True
        return batch.encode()

    def _encode_arrow(self, column, SpecialTokens allowed, SpecialTokens forbidden, workers, tuple around, dtype):
        """The ids of each text of an Arrow column, as one; with ids before and behind those of each text."""
        # Few programs have columns: the others start without what they take.
        from cbpe._core.calls.columns import encode_column

        return encode_column(self.installed(), column, allowed, forbidden, workers, around, dtype)

    def _count_arrow(self, column, SpecialTokens allowed, SpecialTokens forbidden, workers, Py_ssize_t more):
        """The number of ids of each text of an Arrow column, and `more`, as one of int64."""
        from cbpe._core.calls.columns import count_column

        return count_column(self.installed(), column, allowed, forbidden, workers, more)

    def _decode_arrow(self, column, str errors not None, skip_special_tokens):
        """The text of each list of ids in an Arrow column, as one."""
        from cbpe._core.calls.columns import decode_column

        skipped = self._skipped_ids() if is_skipping(skip_special_tokens) else frozenset()
        return decode_column(self.installed(), column, errors, skipped)

    def _truncate(self, text, Py_ssize_t max_tokens, SpecialTokens allowed, SpecialTokens forbidden):
        """The longest prefix of a text with at most max_tokens tokens."""
        # Few programs truncate: the others start without what it takes.
        from cbpe._core.calls.truncate import truncate_text

        return truncate_text(self.installed(), text, max_tokens, allowed, forbidden)

    def _encode_single_piece(self, text_or_bytes):
        """Encode a str or bytes as one piece, whatever the split pattern says, without special tokens: list[int]."""
        cdef Engine engine = self.installed()
        cdef bytes piece
        cdef Workspace *work
        cdef EncodeStatus status
        cdef Py_ssize_t size
        cdef const uint8_t *start
        if isinstance(text_or_bytes, bytes):
            piece = exact_bytes(text_or_bytes)
        else:
            piece = encodable(text_or_bytes).encode()
        start, size = <const uint8_t *>PyBytes_AS_STRING(piece), PyBytes_GET_SIZE(piece)
        work = engine.acquire()
        try:
            with nogil:
                status = encode_piece(&engine.vocabulary.tables, work, start, size)
            engine.check(status, work)
            return engine.to_list(work.ids, work.n_ids)
        finally:
            engine.release(work)

    def _without_special(self, ids):
        """Token ids without those of special tokens, which the class knows: list. What is no id stays in it."""
        return without_ids(ids, self._skipped_ids())

    def decode_bytes_batch(self, batch, *, num_threads=None, skip_special_tokens=False):
        """Decode several sequences of token ids to bytes: list[bytes], in parallel. Raises as decode_bytes does,
        and names the sequence."""
        skipped = self._skipped_ids() if is_skipping(skip_special_tokens) else None
        return join_batch(self.installed(), batch, None, num_threads, skipped)

    def decode_batch(self, batch, *, str errors not None="replace", num_threads=None, skip_special_tokens=False):
        """Decode several sequences of token ids to text: list[str], in parallel. Raises as decode does, and names the
        sequence.

        >>> enc.decode_batch([[15339, 1917], [15339]])
        ['hello world', 'hello']
        """
        skipped = self._skipped_ids() if is_skipping(skip_special_tokens) else None
        return join_batch(self.installed(), batch, errors, num_threads, skipped)

    def decode_bytes(self, tokens, *, skip_special_tokens=False):
        """Decode token ids to bytes. Raises KeyError for an id that is not in the vocabulary, which is an OverflowError
        too if it is negative or no 32-bit number, and TypeError for what is no int.

        skip_special_tokens: whether special tokens are left out; a HuggingFaceTokenizer leaves out those that its file
        calls special.

        >>> enc.decode_bytes([15339, 1917])
        b'hello world'
        """
        cdef ByteBuffer buffer
        if is_skipping(skip_special_tokens):
            tokens = self._without_special(tokens)
        buffer = join_tokens(self.installed(), tokens)
        try:
            return PyBytes_FromStringAndSize(<const char *>buffer.bytes, buffer.used)
        finally:
            free(buffer.bytes)

    def decode(self, tokens, str errors not None="replace", *, skip_special_tokens=False):
        """Decode token ids to text; `errors` says what becomes of bytes that are no UTF-8, as for bytes.decode.

        skip_special_tokens, and what is raised: as for decode_bytes.

        >>> enc.decode([15339, 1917])
        'hello world'
        >>> enc.decode([15339, 1917, 100257], skip_special_tokens=True)
        'hello world'
        """
        if is_skipping(skip_special_tokens):
            tokens = self._without_special(tokens)
        return decode_to_text(self.installed(), tokens, errors)

    def decode_with_offsets(self, tokens):
        """Decode token ids to text, and the number of the first character of each: (str, list[int]).

        A token that begins within a character has that character's number. Raises UnicodeDecodeError for bytes that are
        no UTF-8, and what decode raises.

        >>> enc.decode_with_offsets([15339, 1917])
        ('hello world', [0, 5])
        """
        return decode_with_offsets(self.installed(), tokens)

    def stream_decoder(self, errors="replace", *, skip_special_tokens=False):
        """A decoder of ids that come one at a time: `push(id)` returns the text that is whole by now, `flush()` at the
        end what is held back. Together that is what `decode` returns for all ids, with the same `errors`.

        A character that is still coming is held back, at most 3 bytes. LookupError if `errors` is unknown.
        skip_special_tokens: as for decode.

        >>> stream = enc.stream_decoder()
        >>> [stream.push(token) for token in [9468, 239, 233]], stream.flush()
        (['', '', '👋'], '')
        """
        # Few programs take ids one at a time: the others start without what it takes.
        from cbpe._core.calls.stream import StreamDecoder

        skipped = self._skipped_ids() if is_skipping(skip_special_tokens) else frozenset()
        return StreamDecoder(self.installed(), errors, skipped)


@cython.embedsignature(False)     # which the documentation would take for text
def decode(
    Encoder self not None, ids=None, str errors not None="replace", *, skip_special_tokens=False, tokens=None
):
    """Decode token ids to text, as Tokenizer.decode does: ids is minbpe's name of the argument, tokens tiktoken's."""
    if tokens is not None:
        if ids is not None:
            raise TypeError("decode takes token ids once: as ids, or as tokens")
        ids = tokens
    if is_skipping(skip_special_tokens):
        ids = self._without_special(ids)
    return decode_to_text(self.installed(), ids, errors)
