"""Truncating a text to a number of tokens, without reading much more of it than is kept.

A longer prefix may have fewer tokens than a shorter one ("hell" two, "hello" one), and a piece may end elsewhere when
the text ends within it, so that cutting the list of ids does not give the longest prefix. What can be relied on: pieces
that are sure whatever follows are in every longer prefix. As soon as these have too many tokens, every longer prefix
has; the shorter ones are then tried from there downwards.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_GET_LENGTH, PyUnicode_READ_CHAR, PyUnicode_Substring
from libc.stdint cimport uint8_t, uint32_t

from cbpe._core.calls.engine cimport Engine, refuse_special
from cbpe._core.calls.prefix_search cimport PrefixSearch, counts_prefixes, limits_text, most_text
from cbpe._core.calls.python_prefixes cimport truncate_by_python
from cbpe._core.encoding.encode cimport encode_slice
from cbpe._core.encoding.workspace cimport MORE, EncodeStatus, Workspace, tidy_workspace
from cbpe._core.splitting.split cimport Reading, start_reading
from cbpe._core.text.special cimport SpecialTokens, next_special
from cbpe._core.text.utf8 cimport Utf8, character_start, encodable, utf8_of

from cbpe._core.analysis.coverage import covers_all_text

cdef enum:
    WINDOW = 1 << 10            # bytes that are looked at closely
    MORE_TEXT = -2              # it takes more of the text to tell


cdef Py_ssize_t count_pieces(
    Engine engine, Workspace *work, const uint8_t *text, Py_ssize_t size, bint goes_on, Py_ssize_t *position
) except -1:
    """The tokens of text[position[0]:size]. If the text goes on, only those of the pieces that are sure: position[0]
    becomes the end of the last of them."""
    cdef bint undecided = False
    cdef Reading reading
    cdef EncodeStatus status
    start_reading(&reading, position[0])
    tidy_workspace(work)
    work.counting = True
    while True:
        with nogil:
            status = encode_slice(
                &engine.vocabulary.tables, engine.split, work, text, size, size, &reading,
                &undecided if goes_on else NULL,
            )
        PyErr_CheckSignals()
        if status != MORE:
            engine.check(status, work)
            position[0] = reading.position
            return work.n_counted


cdef dict COVERING = {}     # pattern -> whether all of a text is in its pieces
cdef int MOST_KNOWN = 64    # patterns


cdef bint covers_all(pattern) except -1:
    if pattern is None:
        return True
    covers = COVERING.get(pattern)
    if covers is None:
        if len(COVERING) >= MOST_KNOWN:
            COVERING.clear()
        covers = COVERING[pattern] = covers_all_text(pattern, False)
    return covers


cdef class Truncation:
    """The search in one stretch of text: text[:size] in which nothing is special, and which more may follow.

    `known` lists places where a piece begins for certain, in every prefix that is at least so long, with the number of
    tokens before it: (place, length of prefix, tokens).
    """

    cdef Engine engine
    cdef Workspace *work
    cdef const uint8_t *text
    cdef Py_ssize_t size
    cdef bint goes_on
    cdef Py_ssize_t budget
    cdef list known
    cdef Py_ssize_t n_tokens    # of the whole stretch, if it is within the budget

    cdef Py_ssize_t count(self, Py_ssize_t start, Py_ssize_t size, bint goes_on, Py_ssize_t *position) except -1:
        position[0] = start
        return count_pieces(self.engine, self.work, self.text, size, goes_on, position)

    cdef Py_ssize_t find(self) except -3:
        """The size of the longest prefix that is within the budget, or MORE_TEXT."""
        cdef Py_ssize_t position = 0, used = 0, n, limit, reached, window = max(WINDOW, 2 * self.budget)
        cdef Py_ssize_t longest = most_text(&self.engine.vocabulary.tables)
        cdef bint goes_on, halving = True, covers = covers_all(self.engine.splitter.pattern)
        covers = covers and limits_text(&self.engine.vocabulary.tables)
        self.known = [(0, 0, 0)]
        while True:
            limit = character_start(self.text, self.size, min(self.size, position + window))
            goes_on = self.goes_on or limit < self.size
            if not halving and not goes_on and counts_prefixes(&self.engine.vocabulary.tables):
                # A long piece, or what may be one, to the end of the text: no need to merge all of it.
                n = self.search(self.size + 1)
                if n == self.size:
                    self.n_tokens = used + self.count(position, limit, False, &reached)
                return n
            n = self.count(position, limit, goes_on, &reached)
            if used + n <= self.budget:
                if not goes_on:
                    self.n_tokens = used + n
                    return self.size
                if reached > position:
                    position, used, halving = reached, used + n, True
                    self.known.append((position, limit, used))
                    window = max(WINDOW, 2 * (self.budget - used))
                    continue
                # Nothing is sure yet. But if all bytes are in pieces, so many are more tokens than there may be.
                if not covers or limit - position <= (self.budget - used) * longest:
                    if limit == self.size:
                        return MORE_TEXT
                    window *= 2
                    halving = False
                    continue
            elif halving and window > WINDOW:
                window = max(WINDOW, window // 2)
                continue
            return self.search(limit)

    cdef Py_ssize_t search(self, Py_ssize_t high) except -1:
        """The longest prefix within the budget, which is shorter than text[:high]."""
        cdef Py_ssize_t start, shortest, used, found
        cdef PrefixSearch prefixes = PrefixSearch.__new__(PrefixSearch)
        prefixes.engine, prefixes.work, prefixes.text, prefixes.size = self.engine, self.work, self.text, self.size
        while self.known:
            start, shortest, used = self.known.pop()
            found = prefixes.longest(start, shortest, high, self.budget - used)
            if found >= 0:
                return found
            high = min(high, shortest)
        return 0


cdef Py_ssize_t truncate_utf8(
    Engine engine,
    Workspace *work,
    const uint8_t *text,
    Py_ssize_t size,
    bint goes_on,
    Py_ssize_t budget,
    SpecialTokens allowed,
) except -3:
    """The size of the longest prefix of text[:size] with at most `budget` tokens, or MORE_TEXT."""
    cdef Py_ssize_t start = 0, at = -1, kept, end, length
    cdef uint32_t which
    cdef Truncation stretch = Truncation.__new__(Truncation)
    stretch.engine, stretch.work = engine, work
    while True:
        if allowed is not None:
            at = next_special(&allowed.tables, text, size, start, &which)
        end = at
        if at < 0:
            end = size
            if goes_on and allowed is not None:
                # A special token may begin here whose end is not to be seen.
                end = character_start(text, size, max(start, size - allowed.tables.longest))
        stretch.text, stretch.size, stretch.goes_on = text + start, end - start, goes_on and at < 0
        stretch.budget = budget
        kept = stretch.find()
        if kept == MORE_TEXT or at < 0:
            return kept if kept == MORE_TEXT else start + kept
        length = allowed.tables.offsets[which + 1] - allowed.tables.offsets[which]
        if kept == end - start and stretch.n_tokens < budget:
            if goes_on and size - at < <Py_ssize_t>allowed.tables.longest:
                return MORE_TEXT    # it may be the beginning of a longer one
            budget -= stretch.n_tokens + 1
            start = at + length
        else:
            # No prefix with the special token is within the budget. One that ends in it has the token's text.
            size = character_start(text, size, at + length - 1)
            goes_on = False


def truncate_text(Engine engine not None, text, Py_ssize_t max_tokens, SpecialTokens allowed, SpecialTokens forbidden):
    """The longest prefix of a text that has at most max_tokens tokens: str."""
    cdef Py_ssize_t kept, n, n_characters
    cdef Utf8 utf8
    cdef Workspace *work
    cdef str part
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, not {type(text).__name__}")
    n_characters = PyUnicode_GET_LENGTH(text)
    max_tokens = min(max_tokens, 4 * n_characters + 1)  # no text has more
    n = 8 * max_tokens + 64
    work = engine.acquire()
    try:
        while True:
            if engine.split == NULL:
                n = n_characters
            while n < n_characters and 0xD800 <= PyUnicode_READ_CHAR(text, n - 1) < 0xDC00:
                n += 1          # the two halves of a character stay together
            part = encodable(PyUnicode_Substring(text, 0, n))
            if engine.split == NULL:
                part = part[:truncate_by_python(engine, work, part, max_tokens, allowed)]
                break
            utf8 = utf8_of(part)
            kept = truncate_utf8(engine, work, utf8.bytes, utf8.size, n < n_characters, max_tokens, allowed)
            if kept != MORE_TEXT:
                part = part if kept == utf8.size else (<const char *>utf8.bytes)[:kept].decode()
                break
            n *= 4
    finally:
        engine.release(work)
    if forbidden is not None:
        utf8 = utf8_of(part)
        refuse_special(&utf8, forbidden)
    return part
