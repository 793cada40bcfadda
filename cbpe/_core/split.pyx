"""Splits text into pieces by a split pattern, on Unicode 16.0, without any regular-expression engine.

A pattern is parsed (pattern.pyx), its sets of characters become a few classes (classes.pyx), and both become an
automaton (automaton.pyx). Here is the loop that runs the automaton over UTF-8, and the class that owns its tables.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from .automaton cimport BOUNDARY, FLAGS, MARK, START, STATE_SHIFT, STOP, Automaton, compile_pattern
from .blocks cimport cbpe_classify_by_name, cbpe_lowest_bit, piece_starts
from .categories cimport CBPE_CATEGORY_NAMES, CBPE_UNICODE_VERSION, category_of
from .classes cimport END_OF_TEXT, MAX_CLASSES, Classes, classify
from .pattern cimport parse

from .blocks import instruction_sets
from .pattern import PatternNotSupported

cdef extern from "bits.h" nogil:
    uint64_t cbpe_load64(const uint8_t *p)
    void cbpe_prefetch(const void *p)

__all__ = ["UNICODE_VERSION", "PatternNotSupported", "Splitter", "category"]

UNICODE_VERSION = CBPE_UNICODE_VERSION.decode("ascii")

cdef enum:
    STATE = 0xFFFF & ~FLAGS
    START_ENTRY = START << STATE_SHIFT
    SPANS = 512
    # Bytes that may be looked at in vain, or again, before the caller has its turn: patterns such as a*b try each place
    # of a run to its end.
    MAX_STEPS = 1 << 24
    # Stands for a byte that is not part of valid UTF-8, so that the walk stays inside of the text and the tables
    # whatever it is given.
    REPLACEMENT_CHARACTER = 0xFFFD


cdef inline uint32_t decode(const uint8_t *text, Py_ssize_t left, int *length) noexcept nogil:
    """The character that begins at text[0] >= 128, and its length: from one to `left` bytes, whatever they are."""
    cdef uint32_t lead = text[0]
    if lead < 0xE0:
        if lead >= 0xC0 and left >= 2:
            length[0] = 2
            return (lead & 0x1F) << 6 | (text[1] & 0x3F)
    elif lead < 0xF0:
        if left >= 3:
            length[0] = 3
            return (lead & 0x0F) << 12 | (text[1] & 0x3F) << 6 | (text[2] & 0x3F)
    elif left >= 4:
        length[0] = 4
        return (lead & 0x07) << 18 | (text[1] & 0x3F) << 12 | (text[2] & 0x3F) << 6 | (text[3] & 0x3F)
    length[0] = 1
    return REPLACEMENT_CHARACTER


cdef inline bint block_ahead(const uint8_t *text, Py_ssize_t left) noexcept nogil:
    """Whether it looks as if a block of ASCII began here."""
    return left >= 64 and (cbpe_load64(text) | cbpe_load64(text + 8)) & <uint64_t> 0x8080808080808080 == 0


cdef Py_ssize_t take_blocks(
    const SplitTables *tables,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t *position,
    Span *spans,
    Py_ssize_t capacity,
) noexcept nogil:
    """Split blocks of 64 bytes of ASCII (blocks.pyx) as long as each finishes a piece."""
    cdef:
        Py_ssize_t base = position[0], start = base, end, count = 0
        uint64_t starts
    while size - base >= 64 and count < capacity:
        cbpe_prefetch(text + base + 1024)
        starts = piece_starts(text + base, tables.rules, tables.classify)
        starts &= starts - 1
        if starts == 0:
            break
        while starts and count < capacity:
            end = base + cbpe_lowest_bit(starts)
            starts &= starts - 1
            spans[count].start = start
            spans[count].end = end
            count += 1
            start = end
        base = start
    position[0] = base
    return count


cdef Py_ssize_t walk(
    const SplitTables *tables,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t *position,
    Span *spans,
    Py_ssize_t capacity,
    bint *in_time,
) noexcept nogil:
    """Run the automaton from position[0] on: to the end, or over at least one piece to where blocks may do it faster.

    The common case has no branch that depends on the text: a boundary moves the end of the array of spans by one. Only
    a piece whose end is known later than one character behind it, or a character that nothing matches, takes a turn
    through the slow part.
    """
    cdef:
        const uint16_t *ascii_rows = tables.ascii_rows
        const uint16_t *class_rows = tables.class_rows
        const uint16_t *block_of = tables.block_of
        const uint8_t *blocks = tables.blocks
        uint32_t rules = tables.rules
        Py_ssize_t start = position[0], at = start, mark = start, count = 0, steps = 0
        uint32_t entry = START_ENTRY, code_point, of_class
        uint8_t byte
        int length
    while count < capacity:
        if at < size:
            byte = text[at]
            if byte < 128:
                length = 1
                entry = ascii_rows[(entry & <uint32_t> STATE) + byte]
            else:
                code_point = decode(text + at, size - at, &length)
                of_class = blocks[(<uint32_t> block_of[code_point >> 8] << 8) + (code_point & 255)]
                entry = class_rows[((entry & <uint32_t> STATE) >> 1) + of_class]
        elif start >= size:
            break
        else:
            length = 0
            entry = class_rows[((entry & <uint32_t> STATE) >> 1) + END_OF_TEXT]
        spans[count].start = start
        spans[count].end = at
        count += entry & BOUNDARY
        start = at if entry & BOUNDARY else start
        if entry & BOUNDARY and rules and block_ahead(text + at, size - at):
            break
        if entry & (MARK | STOP):
            if entry & MARK:
                mark = at
            if entry & STOP:
                steps += at - start
                if mark > start:
                    spans[count].end = mark
                    count += 1
                    start = mark
                elif text[start] < 128:
                    start += 1
                else:
                    decode(text + start, size - start, &length)
                    start += length
                at = mark = start
                entry = START_ENTRY
                if steps > MAX_STEPS or rules and block_ahead(text + start, size - start):
                    break
                continue
        at += length
    position[0] = start
    in_time[0] = steps <= MAX_STEPS
    return count


cdef Py_ssize_t find_pieces(
    const SplitTables *tables,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t *position,
    Span *spans,
    Py_ssize_t capacity,
) noexcept nogil:
    cdef Py_ssize_t count = 0
    cdef bint in_time = True
    if tables.ascii_rows == NULL:
        if position[0] >= size or capacity == 0:
            return 0
        spans[0] = Span(position[0], size)
        position[0] = size
        return 1
    while in_time and count < capacity and position[0] < size:
        if tables.rules:
            count += take_blocks(tables, text, size, position, spans + count, capacity - count)
        if count < capacity:
            count += walk(tables, text, size, position, spans + count, capacity - count, &in_time)
    return count


cdef class Splitter:
    """A split pattern, compiled; without one (None), a text is one piece. Never changes, so threads may share it.

    `rules` are the AsciiRules that say the same of ASCII as the pattern does, 0 if none do; `instructions` is one of
    instruction_sets(), the fastest by default. Neither changes a piece.

    Raises PatternNotSupported where the native splitter does not understand the pattern.

    >>> Splitter(r"\\s?\\p{L}+").split("Hello, new world")
    ['Hello', ' new', ' world']
    """

    def __cinit__(self, pattern, uint32_t rules=0, str instructions=None):
        cdef Automaton automaton
        cdef Classes classes
        if pattern is not None and not isinstance(pattern, str):
            raise TypeError(f"a split pattern is a str or None, not {type(pattern).__name__}")
        if instructions is None:
            instructions = instruction_sets()[0]
        self.tables.classify = cbpe_classify_by_name(instructions.encode())
        if self.tables.classify == NULL:
            raise ValueError(f"no instruction set {instructions!r} here: there are {', '.join(instruction_sets())}")
        self.tables.rules = rules
        self.pattern = pattern
        if pattern is None:
            return
        parsed = parse(pattern)
        classes = classify(parsed.sets)
        automaton = compile_pattern(parsed, classes)
        self.class_rows = automaton.transitions
        self.block_of = classes.block_of
        self.blocks = classes.blocks
        self.ascii_rows = ascii_rows(automaton, classes)
        self.tables.ascii_rows = <const uint16_t *> <const char *> self.ascii_rows
        self.tables.class_rows = <const uint16_t *> <const char *> self.class_rows
        self.tables.block_of = <const uint16_t *> <const char *> self.block_of
        self.tables.blocks = <const uint8_t *> <const char *> self.blocks

    @property
    def native(self):
        """True: the splitters that are not compiled are in Python."""
        return True

    def __reduce__(self):
        return Splitter, (self.pattern, self.tables.rules)

    def __repr__(self):
        return f"Splitter({self.pattern!r})"

    def split(self, str text not None):
        """The pieces of a text: what findall gives, without empty pieces. UnicodeEncodeError for a lone surrogate."""
        cdef bytes encoded = text.encode()
        return [encoded[start:end].decode() for start, end in self.spans(encoded)]

    def spans(self, bytes text not None, Py_ssize_t capacity=SPANS):
        """The pieces of UTF-8 as (start, end) in bytes, found at most `capacity` at a time (which makes no
        difference)."""
        cdef Span found[SPANS]
        cdef const uint8_t *data = <const uint8_t *> <const char *> text
        cdef Py_ssize_t size = len(text), position = 0, count, i
        cdef list pieces = []
        if not 0 < capacity <= SPANS:
            raise ValueError(f"capacity must be from 1 to {SPANS}, not {capacity}")
        while position < size:
            with nogil:
                count = find_pieces(&self.tables, data, size, &position, found, capacity)
            for i in range(count):
                pieces.append((found[i].start, found[i].end))
            PyErr_CheckSignals()
        return pieces


cdef bytes ascii_rows(Automaton automaton, Classes classes):
    """The transitions by byte instead of by class, which saves the lookup of the class."""
    cdef bytes rows = bytes(128 * sizeof(uint16_t) * automaton.n_states)
    cdef uint16_t *target = <uint16_t *> <char *> rows
    cdef const uint16_t *by_class = <const uint16_t *> <const char *> automaton.transitions
    cdef const uint8_t *class_of = <const uint8_t *> <const char *> classes.blocks
    cdef int state, byte
    class_of += 256 * (<const uint16_t *> <const char *> classes.block_of)[0]
    for state in range(automaton.n_states):
        for byte in range(128):
            target[128 * state + byte] = by_class[MAX_CLASSES * state + class_of[byte]]
    return rows


def category(int code_point):
    """The general category of a code point in Unicode 16.0: 65 -> 'Lu', 10 -> 'Cc'; 'Cn' if it is not assigned."""
    if not 0 <= code_point < 0x110000:
        raise ValueError(f"not a code point: {code_point}")
    return CBPE_CATEGORY_NAMES[category_of(code_point)].decode("ascii")
