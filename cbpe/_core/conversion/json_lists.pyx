"""Reads the tokens and merges of a tokenizer.json straight from the file's bytes: a JSON library would make an object
of each, which takes longer than all else that loading does.

Only these two parts are read here, and only where they are as nearly all files have them: what is left of the file is
for a JSON library, and so is a whole file with anything else in these parts. So no error is found here. What is taken
is valid: UTF-8, with no control character in a text, no half of a surrogate pair, and no key or id twice.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memmove

from cbpe._core.conversion.listed cimport ListedMerges, ListedTokens
from cbpe._core.text.json_text cimport NO_CHARACTER, Cursor, after_space, escaped, take, write_character
from cbpe._core.text.utf8 cimport character_size, read_character
from cbpe._core.vocabulary.tables cimport NONE

cdef enum:
    SIGNALS = 4095              # how often to look for Ctrl-C: each time that these bits are 0


cdef Py_ssize_t text_size(Cursor *c, bint *plain) noexcept nogil:
    """The size of a text in quotes, as it is written, of which the cursor is behind the first; -1 where there is none.
    `plain`: it is of ASCII, without escape sequences."""
    cdef const uint8_t *p = c.at
    plain[0] = True
    while p < c.end:
        if p[0] == c'"':
            return p - c.at
        if p[0] < 0x20:
            return -1
        if p[0] == c"\\":
            p += 1
            plain[0] = False
        elif p[0] >= 0x80:
            plain[0] = False
        p += 1
    return -1


cdef inline bint is_character(const uint8_t *p, Py_ssize_t left, int size) noexcept nogil:
    """Whether UTF-8 of several bytes, in so many as its first byte says, is valid."""
    cdef int i, read
    cdef uint32_t character
    if size < 2 or size > left or p[0] > 0xF4:
        return False
    for i in range(1, size):
        if p[i] & 0xC0 != 0x80:
            return False
    character = read_character(p, left, &read)
    if size == 2:
        return character >= 0x80
    if size == 3:
        return character >= 0x800 and not 0xD800 <= character < 0xE000
    return 0x10000 <= character < NO_CHARACTER


cdef Py_ssize_t unescape(const uint8_t *text, Py_ssize_t size, uint8_t *into) noexcept nogil:
    """Write the UTF-8 of a text as JSON writes it, which takes no more bytes: its size, or -1 where it is not valid."""
    cdef Py_ssize_t i = 0, n = 0
    cdef uint32_t character
    cdef int step
    while i < size:
        if text[i] == c"\\":
            character = escaped(text + i, size - i, &step)
            if character == NO_CHARACTER:
                return -1
            n += write_character(character, into + n)
        elif text[i] < 0x80:
            into[n] = text[i]
            n += 1
            step = 1
        else:
            step = character_size(text[i])
            if not is_character(text + i, size - i, step):
                return -1
            memcpy(into + n, text + i, step)
            n += step
        i += step
    return n


cdef inline Py_ssize_t take_text(Cursor *c, Py_ssize_t size, bint plain, uint8_t *into) noexcept nogil:
    """Write the UTF-8 of a text, and go behind its last quote: as unescape."""
    cdef Py_ssize_t written = size
    if plain:
        memcpy(into, c.at, size)
    else:
        written = unescape(c.at, size, into)
    c.at += size + 1
    return written


cdef bint take_id(Cursor *c, uint32_t *token_id) noexcept nogil:
    """Whether an id from 0 to 2**32 - 2 is next."""
    cdef uint64_t number = 0
    cdef const uint8_t *start
    after_space(c)
    start = c.at
    while c.at < c.end and c"0" <= c.at[0] <= c"9":
        number = number * 10 + <uint64_t>(c.at[0] - c"0")
        if number >= NONE:
            return False
        c.at += 1
    token_id[0] = <uint32_t>number
    return c.at - start == 1 or (c.at > start and start[0] != c"0")


cdef bint read_tokens(Cursor *c, ListedTokens tokens) except -1:
    """Whether an object of tokens and ids is next."""
    cdef Py_ssize_t size
    cdef uint32_t token_id = 0
    cdef bint plain = True
    cdef uint8_t *room
    if not take(c, c"{"):
        return False
    if take(c, c"}"):
        return True
    while take(c, c'"'):
        size = text_size(c, &plain)
        if size < 0:
            return False
        room = tokens.room(size)
        size = take_text(c, size, plain, room)
        if size < 0 or not take(c, c":") or not take_id(c, &token_id):
            return False
        tokens.take(size, token_id)
        if not take(c, c","):
            return take(c, c"}")
    return False


cdef bint read_pair(Cursor *c, ListedMerges merges) except -1:
    """Whether a merge is next, written as the ones before: "a b", or ["a", "b"]."""
    cdef Py_ssize_t left, right, i
    cdef bint plain = True
    cdef uint8_t *room
    if not merges.are_lists:
        if not take(c, c'"'):
            return False
        left = text_size(c, &plain)
        if left < 0:
            return False
        room = merges.room(left)
        right = take_text(c, left, plain, room)
        left = 0
        for i in range(right):
            if room[i] == c" ":
                if left:
                    return False
                left = i
        if left == 0 or left == right - 1:
            return False
        right -= left + 1
        memmove(room + left, room + left + 1, right)
        merges.add(left, right)
        return True
    if not take(c, c"[") or not take(c, c'"'):
        return False
    left = text_size(c, &plain)
    if left < 0:
        return False
    left = take_text(c, left, plain, merges.room(left))
    if left <= 0 or not take(c, c",") or not take(c, c'"'):
        return False
    right = text_size(c, &plain)
    if right < 0:
        return False
    right = take_text(c, right, plain, merges.room(left + right) + left)
    if right <= 0 or not take(c, c"]"):
        return False
    merges.add(left, right)
    return True


cdef bint read_merges(Cursor *c, ListedMerges merges) except -1:
    """Whether a list of merges is next."""
    if not take(c, c"["):
        return False
    if take(c, c"]"):
        return True
    merges.are_lists = after_space(c) == c"["
    while read_pair(c, merges):
        if not take(c, c","):
            return take(c, c"]")
    return False


cdef bint skip_text(Cursor *c) noexcept nogil:
    """Go behind the last quote of a text."""
    while c.at < c.end:
        if c.at[0] == c'"':
            c.at += 1
            return True
        c.at += 2 if c.at[0] == c"\\" else 1
    return False


cdef bint skip_value(Cursor *c) except -1:
    """Go behind any value, if it is valid: for what is not, anywhere."""
    cdef Py_ssize_t depth = 0
    cdef uint32_t n = 0
    cdef uint8_t first
    while True:
        first = after_space(c)
        if c.at >= c.end:
            return False
        n += 1
        if not n & SIGNALS:
            PyErr_CheckSignals()
        c.at += 1
        if first == c'"':
            if not skip_text(c):
                return False
        elif first == c"{" or first == c"[":
            depth += 1
        elif first == c"}" or first == c"]":
            depth -= 1
        elif first != c"," and first != c":":
            while c.at < c.end and c.at[0] not in (c",", c"}", c"]", c" ", c"\n", c"\r", c"\t"):
                c.at += 1
        if depth <= 0:
            return depth == 0


cdef bint take_key(Cursor *c, bytes key) noexcept:
    """Whether this key is next, of ASCII and written without escape sequences."""
    cdef Py_ssize_t size = PyBytes_GET_SIZE(key)
    if c.end - c.at <= size or memcmp(c.at, PyBytes_AS_STRING(key), size) or c.at[size] != c'"':
        return False
    c.at += size + 1
    return True


def read_lists(bytes data not None):
    """The tokens and merges of {"model": {"vocab": {..}, "merges": [..]}}, as ListedTokens and ListedMerges, and the
    JSON with {} and [] in their place. None where they are not there, or not as nearly all files have them. If what is
    returned of the JSON is valid, the whole of it was."""
    cdef const uint8_t *start = <const uint8_t *>PyBytes_AS_STRING(data)
    cdef Cursor c
    cdef ListedTokens tokens = None
    cdef ListedMerges merges = None
    cdef list parts = []
    cdef Py_ssize_t taken = 0       # of the data, by then
    c.at, c.end = start, start + PyBytes_GET_SIZE(data)
    if data[:3] == b"\xef\xbb\xbf":
        c.at += 3
    if not enter_model(&c):
        return None
    while take(&c, c'"'):
        if tokens is None and take_key(&c, b"vocab"):
            if not take(&c, c":") or after_space(&c) != c"{":
                return None
            parts.append(data[taken:c.at - start] + b"{}")
            tokens = ListedTokens()
            if not read_tokens(&c, tokens):
                return None
            taken = c.at - start
        elif merges is None and take_key(&c, b"merges"):
            if not take(&c, c":") or after_space(&c) != c"[":
                return None
            parts.append(data[taken:c.at - start] + b"[]")
            merges = ListedMerges()
            if not read_merges(&c, merges):
                return None
            taken = c.at - start
        elif not skip_text(&c) or not take(&c, c":") or not skip_value(&c):
            return None
        if not take(&c, c","):
            break
    if tokens is None or merges is None or not tokens.enter():
        return None
    return b"".join([*parts, data[taken:]]), tokens, merges


cdef bint enter_model(Cursor *c) except -1:
    """Go into the object that "model" is in the object of the file, if there is one."""
    if not take(c, c"{"):
        return False
    while take(c, c'"'):
        if take_key(c, b"model"):
            return take(c, c":") and take(c, c"{")
        if not skip_text(c) or not take(c, c":") or not skip_value(c) or not take(c, c","):
            return False
    return False
