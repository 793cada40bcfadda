"""Splits text into pieces by a split pattern, on Unicode 16.0, without any regular-expression engine.

A pattern is parsed (pattern.pyx), its sets of characters become a few classes (classes.pyx), and both become an
automaton (automaton.pyx). Here is the loop that runs the automaton over UTF-8, and the class that owns its tables.
"""

from cpython.buffer cimport PyBUF_SIMPLE, Py_buffer, PyBuffer_Release, PyObject_GetBuffer
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from cbpe._core.c.bits cimport cbpe_count_bits, cbpe_highest_bit, cbpe_lowest_bit
from cbpe._core.c.instructions cimport Instructions, choose_instructions
from cbpe._core.c.loads cimport cbpe_load64, cbpe_prefetch
from cbpe._core.c.spans cimport SPANS_AT_ONCE
from cbpe._core.splitting.automaton cimport BOUNDARY, FLAGS, MARK, START, STATE_SHIFT, STOP, Automaton, compile_pattern
from cbpe._core.splitting.blocks cimport AT_SPACES, last_piece_starts, piece_starts
from cbpe._core.splitting.bonds cimport Bonds, may_cut_at, next_place, places_in_block
from cbpe._core.splitting.categories cimport CBPE_CATEGORY_NAMES, CBPE_UNICODE_VERSION, category_of
from cbpe._core.splitting.classes cimport END_OF_TEXT, Classes, classify
from cbpe._core.splitting.long_pieces cimport Stay, begin_attempt, fails_from, find_stays, note_failure, stay
from cbpe._core.splitting.pattern cimport Pattern, parse
from cbpe._core.splitting.tables cimport ascii_rows, classes_below, sure_borders
from cbpe._core.text.utf8 cimport character_size, character_start, is_of_three, read_character, three_bytes

from cbpe._core.splitting.characters import PatternNotSupported

__all__ = ["UNICODE_VERSION", "PatternNotSupported", "Splitter", "category", "refuse_unportable"]

UNICODE_VERSION = CBPE_UNICODE_VERSION.decode("ascii")

cdef enum:
    STATE = 0xFFFF & ~FLAGS
    START_ENTRY = START << STATE_SHIFT
    SPANS = 512
    BLOCK = 64
    LEAST_REST = 6  # what is shorter, the automaton reads as fast as wide instructions split a block
    # Bytes that the automaton reads before the caller has its turn, be it within one piece, in vain, or again: patterns
    # such as (?:ab)+c read on from each place of a run.
    MAX_STEPS = 1 << 24

cdef enum Pause:
    NONE
    TOOK_LONG  # it is time to look at the signals
    UNDECIDED  # whether or where the piece ends depends on text that is not there yet


cdef inline bint block_ahead(const uint8_t *text, Py_ssize_t left, bint failed) noexcept nogil:
    """Whether it looks as if a block began here: of letters of two bytes at most, or of mere ASCII where the last block
    has failed."""
    cdef uint64_t beyond, other
    if left < BLOCK:
        return False
    beyond = cbpe_load64(text)
    other = cbpe_load64(text + 8)
    if failed:
        beyond |= other
    else:
        # The top bit of bytes from E0 on.
        beyond = beyond & beyond << 1 & beyond << 2 | other & other << 1 & other << 2
    return beyond & <uint64_t> 0x8080808080808080 == 0


cdef inline Py_ssize_t put_spans(
    const SplitTables *tables, uint64_t ends, Py_ssize_t *position, Span *spans, Py_ssize_t capacity
) noexcept nogil:
    """Put the pieces that follow one another from a position on, whose ends are the bits of `ends` (one or more), and
    move the position to the end of the last. Returns how many there was room for."""
    cdef Py_ssize_t base = position[0], start = base, end, count = 0, n = cbpe_count_bits(ends)
    # Known before the pieces are written, so that the processor goes on there meanwhile.
    position[0] = base + cbpe_highest_bit(ends)
    if n + SPANS_AT_ONCE <= capacity:
        tables.write_spans(ends, n, base, <Py_ssize_t *> spans)
        return n
    while ends and count < capacity:
        end = base + cbpe_lowest_bit(ends)
        ends &= ends - 1
        spans[count] = Span(start, end)
        count += 1
        start = end
    position[0] = start
    return count


cdef inline bint may_be_known(uint8_t lead) noexcept nogil:
    """Whether a block may get past the character that begins with this byte."""
    return lead < 0xE3


cdef Py_ssize_t take_blocks(
    const SplitTables *tables,
    const uint8_t *text,
    Py_ssize_t size,
    Py_ssize_t *position,
    Span *spans,
    Py_ssize_t capacity,
    bint goes_on,
) noexcept nogil:
    """Split blocks of 64 bytes (blocks.pyx) as long as each finishes a piece, and what is left of a text that ends."""
    cdef Py_ssize_t base = position[0], count = 0, left
    cdef uint64_t starts
    while count < capacity:
        left = size - base
        if left >= BLOCK:
            cbpe_prefetch(text + base + 1024)
            starts = piece_starts(text + base, tables.rules, tables.classify)
        elif not goes_on and left >= tables.least_rest and may_be_known(text[base]):
            starts = last_piece_starts(text + base, <int> left, tables.rules, tables.classify)
        else:
            break
        starts &= starts - 1
        if starts == 0:
            break
        count += put_spans(tables, starts, &base, spans + count, capacity - count)
    position[0] = base
    return count


cdef inline uint32_t read_class(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t left, int *length
) noexcept nogil:
    cdef uint32_t character = read_character(text, left, length)
    if character < 1 << 16:
        return tables.below[character]
    return tables.blocks[(<uint32_t> tables.block_of[character >> 8] << 8) + (character & 255)]


cdef uint32_t class_at(const SplitTables *tables, const uint8_t *text, Py_ssize_t left, int *length) noexcept nogil:
    return read_class(tables, text, left, length)


cdef inline uint32_t next_entry(
    const SplitTables *tables, uint32_t entry, const uint8_t *text, Py_ssize_t left, int *length
) noexcept nogil:
    """What the first character of a text leads to from an entry, and its length."""
    cdef uint32_t character = text[0], of_class
    if character < 128:
        length[0] = 1
        return tables.ascii_rows[(entry & <uint32_t> STATE) + character]
    of_class = read_class(tables, text, left, length)
    return tables.class_rows[((entry & <uint32_t> STATE) >> 1) + of_class]


cdef inline Py_ssize_t end_piece(
    const uint8_t *text, Py_ssize_t size, Py_ssize_t start, Py_ssize_t mark, Span *span, Py_ssize_t *count,
    Failures *failures,
) noexcept nogil:
    """Put the piece that ends at the mark; if the mark is at its start, there is none. Returns where the next piece
    begins."""
    cdef Py_ssize_t next = mark
    cdef int length = 1
    note_failure(failures, max(start, mark))
    if mark > start:
        span.end = mark
        count[0] += 1
    else:
        if text[start] >= 128:
            read_character(text + start, size - start, &length)
        next = start + length
    begin_attempt(failures, next)
    return next


cdef inline Py_ssize_t read_staying(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t at, Py_ssize_t end, uint32_t *entry, Py_ssize_t *mark
) noexcept nogil:
    """Read what leaves the automaton in its state: characters of the sets that do, or one over and over, which has come
    before. Returns how far it has read."""
    cdef const Stay *state = tables.stays + (entry[0] >> STATE_SHIFT)
    cdef Py_ssize_t reached = stay(state, tables.classify, text, at, end)
    cdef uint32_t next = state.entry
    if reached == at and text[at] == text[at - 1] < 128:
        next = tables.ascii_rows[(entry[0] & <uint32_t> STATE) + text[at]]
        if next & (BOUNDARY | STOP) or (next ^ entry[0]) & <uint32_t> STATE:
            return at
        while reached < end and text[reached] == text[at]:
            reached += 1
    if reached > at:
        entry[0] = next
        mark[0] = reached - 1 if next & MARK else mark[0]
    return reached


cdef inline Py_ssize_t read_threes(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t at, Py_ssize_t end, uint32_t *entry, Py_ssize_t *mark
) noexcept nogil:
    """Read characters of three bytes of the same class as the one before text[at], which is of three, as long as they
    leave the automaton in its state: most of a Chinese text. Returns how far it has read."""
    cdef Py_ssize_t reached = at
    cdef uint32_t of_class = tables.below[three_bytes(text + at - 3)]
    cdef uint32_t next = tables.class_rows[((entry[0] & <uint32_t> STATE) >> 1) + of_class]
    if next & (BOUNDARY | STOP) or (next ^ entry[0]) & <uint32_t> STATE:
        return at
    while end - reached >= 3 and is_of_three(text[reached]) and tables.below[three_bytes(text + reached)] == of_class:
        reached += 3
    if reached > at:
        entry[0] = next
        mark[0] = reached - 3 if next & MARK else mark[0]
    return reached


cdef Py_ssize_t walk(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t size, Reading *reading,
    Span *spans, Py_ssize_t capacity, bint goes_on, bint block_failed, Pause *pause,
) noexcept nogil:
    """Run the automaton from where it is: to the end, or over at least one piece to where blocks may do it faster, or
    until its turn is over.

    If more text follows text[:size], the piece that the automaton is in at the end is not known yet.

    The common case has no branch that depends on the text: a boundary moves the end of the array of spans by one. Only
    a piece whose end is known later than one character after it, or a character that nothing matches, takes a turn
    through the slow part. So does, every 64 bytes or less often, to see whether the state stays the same, and whether
    it is known that no piece ends any more.
    """
    cdef:
        uint32_t rules = tables.rules
        Py_ssize_t start = reading.position, at = start, mark = start, count = 0, steps = 0, wait = BLOCK
        Py_ssize_t turn_end, limit
        Failures *failures = &reading.failures
        uint32_t entry = START_ENTRY
        int length
    if reading.at:
        at, mark, entry = reading.at, reading.mark, reading.entry
        reading.at = 0
    else:
        begin_attempt(failures, start)
    turn_end = size if size - at <= MAX_STEPS else at + MAX_STEPS
    limit = min(turn_end, failures.next, at + wait)
    while count < capacity:
        if at < limit:
            entry = next_entry(tables, entry, text + at, size - at, &length)
        elif failures.next <= at < turn_end and fails_from(failures, entry >> STATE_SHIFT):
            entry = STOP
        elif at < turn_end:
            limit = read_staying(tables, text, at, min(turn_end, failures.next), &entry, &mark)
            wait = BLOCK if limit > at else 2 * wait
            at, limit = limit, min(turn_end, failures.next, limit + wait)
            continue
        elif at < size:
            pause[0] = TOOK_LONG
            if at > start:
                reading.at, reading.mark, reading.entry = at, mark, entry
            break
        elif start >= size:
            break
        elif goes_on:
            pause[0] = UNDECIDED
            break
        else:
            length = 0
            entry = tables.class_rows[((entry & <uint32_t> STATE) >> 1) + END_OF_TEXT]
        spans[count].start = start
        spans[count].end = at
        count += entry & BOUNDARY
        start = at if entry & BOUNDARY else start
        if entry & BOUNDARY and rules and block_ahead(text + at, size - at, block_failed):
            break
        if entry & (MARK | STOP):
            mark = at if entry & MARK else mark
            if entry & STOP:
                steps += at - start
                at = mark = start = end_piece(text, size, start, mark, spans + count, &count, failures)
                entry, wait, limit = START_ENTRY, BLOCK, min(turn_end, at + BLOCK)
                pause[0] = TOOK_LONG if steps > MAX_STEPS else NONE
                if pause[0] != NONE or (rules and block_ahead(text + start, size - start, block_failed)):
                    break
                continue
        at = read_threes(tables, text, at + length, limit, &entry, &mark) if length == 3 else at + length
    reading.position = start
    return count


cdef Py_ssize_t cut_pieces(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t size, Reading *reading,
    Span *spans, Py_ssize_t capacity, bint goes_on, Pause *pause,
) noexcept nogil:
    """Cut the text between characters that have no bond."""
    cdef Py_ssize_t count = 0, start, end, stop, left
    cdef uint64_t ends
    while count < capacity and reading.position < size:
        start, left = reading.position, size - reading.position
        if reading.at == 0:
            ends = places_in_block(tables.bonds, text + start, left)
            if left < BLOCK and not goes_on:
                ends |= <uint64_t> 1 << left
            if ends:
                count += put_spans(tables, ends, &reading.position, spans + count, capacity - count)
                continue
            reading.at = character_start(text, size, start + min(left, BLOCK) - 1)
            reading.at = max(reading.at, start + character_size(text[start]))
        stop = size if size - reading.at <= MAX_STEPS else reading.at + MAX_STEPS
        end = min(size, next_place(tables.bonds, text, size, reading.at, stop))
        if end >= stop and stop < size:
            reading.at = end
            pause[0] = TOOK_LONG
            break
        if end == size and goes_on:
            reading.at = 0
            pause[0] = UNDECIDED
            break
        spans[count] = Span(start, end)
        count += 1
        start_reading(reading, end)
    return count


cdef inline Py_ssize_t run(
    const SplitTables *tables,
    const uint8_t *text,
    Py_ssize_t size,
    Reading *reading,
    Span *spans,
    Py_ssize_t capacity,
    bint goes_on,
    Pause *pause,
) noexcept nogil:
    """Blocks where they do it, the automaton elsewhere."""
    cdef Py_ssize_t count = 0, taken = 0
    pause[0] = NONE
    while pause[0] == NONE and count < capacity and reading.position < size:
        if tables.rules and reading.at == 0:
            taken = take_blocks(tables, text, size, &reading.position, spans + count, capacity - count, goes_on)
            count += taken
        if count < capacity and reading.position < size:
            count += walk(
                tables, text, size, reading, spans + count, capacity - count, goes_on, taken == 0, pause
            )
    return count


cdef Py_ssize_t find_pieces(
    const SplitTables *tables,
    const uint8_t *text,
    Py_ssize_t size,
    Reading *reading,
    Span *spans,
    Py_ssize_t capacity,
) noexcept nogil:
    cdef Pause pause = NONE
    if tables.bonds != NULL:
        return cut_pieces(tables, text, size, reading, spans, capacity, False, &pause)
    if tables.ascii_rows == NULL:
        if reading.position >= size or capacity == 0:
            return 0
        spans[0] = Span(reading.position, size)
        reading.position = size
        return 1
    return run(tables, text, size, reading, spans, capacity, False, &pause)


cdef Py_ssize_t find_sure_pieces(
    const SplitTables *tables,
    const uint8_t *text,
    Py_ssize_t size,
    Reading *reading,
    Span *spans,
    Py_ssize_t capacity,
    bint *undecided,
) noexcept nogil:
    cdef Py_ssize_t count
    cdef Pause pause = NONE
    if tables.bonds != NULL:
        count = cut_pieces(tables, text, size, reading, spans, capacity, True, &pause)
    elif tables.ascii_rows == NULL:
        undecided[0] = True
        return 0
    else:
        count = run(tables, text, size, reading, spans, capacity, True, &pause)
    undecided[0] = pause == UNDECIDED or (count < capacity and reading.position >= size)
    return count


cdef Py_ssize_t find_border(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t size, Py_ssize_t *seen
) noexcept nogil:
    cdef:
        Py_ssize_t at = size, border = size, end = size
        uint64_t next_class = 0  # as a bit; none for a character that is not whole
        uint32_t of_class
        int length
        bint follows = False  # a whole character
    while at > 0 and (tables.borders != NULL or tables.bonds != NULL):
        at = character_start(text, size, at - 1)
        if border - at >= character_size(text[at]) and tables.bonds != NULL:
            if follows and may_cut_at(tables.bonds, text, size, border):
                seen[0] = end
                return border
            follows = True
        elif border - at >= character_size(text[at]):
            of_class = class_at(tables, text + at, border - at, &length)
            if tables.borders[of_class] & next_class:
                seen[0] = end
                return border
            next_class = <uint64_t> 1 << of_class
        end = border
        border = at
    return 0


cdef class Splitter:
    """A split pattern, compiled; without one (None), a text is one piece. Never changes, so threads may share it.

    `rules` are the AsciiRules that say the same of ASCII as the pattern does, 0 if none do; `instructions` is one of
    instruction_sets(), by default what the environment's CBPE_INSTRUCTIONS names, or the widest. Neither changes a
    piece. With `bonds`, text is cut where two characters have none, and a piece of the pattern is one or more of these:
    the pattern still says how the prefixes of a text are split.

    Raises PatternNotSupported where the native splitter does not understand the pattern.

    >>> Splitter(r"\\s?\\p{L}+").split("Hello, new world")
    ['Hello', ' new', ' world']
    """

    def __cinit__(self, pattern, uint32_t rules=0, str instructions=None, Bonds bonds=None):
        cdef Automaton automaton
        cdef Classes classes
        cdef Pattern parsed
        cdef Instructions chosen
        if pattern is not None and not isinstance(pattern, str):
            raise TypeError(f"a split pattern is a str or None, not {type(pattern).__name__}")
        chosen = choose_instructions(instructions)
        self.tables.classify = chosen.classify
        self.tables.write_spans = chosen.write_spans
        # In the portable way a block takes about as long as the automaton takes for 64 bytes.
        self.tables.least_rest = BLOCK if chosen.classify == choose_instructions("portable").classify else LEAST_REST
        if rules & AT_SPACES:
            self.tables.least_rest = BLOCK
        self.tables.rules = rules
        self.pattern = pattern
        self.bonds = bonds
        if bonds is not None:
            self.tables.bonds = &bonds.tables
        if pattern is None:
            return
        parsed = parse(pattern, False)
        classes = classify(parsed.sets)
        automaton = compile_pattern(parsed, classes, False)
        self.class_rows = automaton.transitions
        self.block_of = classes.block_of
        self.blocks = classes.blocks
        self.ascii_rows = ascii_rows(automaton, classes)
        self.tables.ascii_rows = <const uint16_t *> <const char *> self.ascii_rows
        self.tables.class_rows = <const uint16_t *> <const char *> self.class_rows
        self.tables.block_of = <const uint16_t *> <const char *> self.block_of
        self.tables.blocks = <const uint8_t *> <const char *> self.blocks
        self.below = classes_below(classes)
        self.tables.below = <const uint8_t *> <const char *> self.below
        self.borders = sure_borders(automaton, classes)
        self.tables.borders = <const uint64_t *> <const char *> self.borders
        self.stays = find_stays(self.ascii_rows, automaton.n_states)
        self.tables.stays = <const Stay *> <const char *> self.stays

    @property
    def native(self):
        """True: the splitters that are not compiled are in Python."""
        return True

    def __reduce__(self):
        return Splitter, (self.pattern, self.tables.rules, None, self.bonds)

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
        cdef Py_ssize_t size = len(text), count, i
        cdef Reading reading
        cdef list pieces = []
        start_reading(&reading, 0)
        if not 0 < capacity <= SPANS:
            raise ValueError(f"capacity must be from 1 to {SPANS}, not {capacity}")
        while reading.position < size:
            with nogil:
                count = find_pieces(&self.tables, data, size, &reading, found, capacity)
            for i in range(count):
                pieces.append((found[i].start, found[i].end))
            PyErr_CheckSignals()
        return pieces

    def sure_spans(self, bytes text not None):
        """-> (pieces, position): the pieces of UTF-8 that are the same however the text goes on, and the place from
        which on that is not known."""
        cdef Span found[SPANS]
        cdef const uint8_t *data = <const uint8_t *> <const char *> text
        cdef Py_ssize_t size = len(text), count, i
        cdef Reading reading
        cdef bint undecided = False
        cdef list pieces = []
        start_reading(&reading, 0)
        while not undecided:
            with nogil:
                count = find_sure_pieces(&self.tables, data, size, &reading, found, SPANS, &undecided)
            for i in range(count):
                pieces.append((found[i].start, found[i].end))
            PyErr_CheckSignals()
        return pieces, reading.position

    def last_border(self, text):
        """-> (place, end of the character after it), both in bytes: the last place in UTF-8 where one piece ends and
        another begins whatever comes before and after. (0, 0) if there is none; the text may end within a character.

        What is before the place, split by sure_spans together with that character, and what comes after it, split on
        its own, are the pieces of the whole.
        """
        cdef Py_buffer view
        cdef Py_ssize_t seen = 0, border
        PyObject_GetBuffer(text, &view, PyBUF_SIMPLE)
        with nogil:
            border = find_border(&self.tables, <const uint8_t *> view.buf, view.len, &seen)
        PyBuffer_Release(&view)
        return border, seen


def refuse_unportable(str pattern not None):
    """PatternNotSupported for a pattern of which it is not certain that other engines take it as `regex` does."""
    cdef Pattern parsed
    try:
        parsed = parse(pattern)
        compile_pattern(parsed, classify(parsed.sets))
    except PatternNotSupported as error:
        doubt = "not certain to mean the same to all engines: "
        raise PatternNotSupported(str(error).replace("not compiled: ", doubt, 1)) from None


def category(int code_point):
    """The general category of a code point in Unicode 16.0: 65 -> 'Lu', 10 -> 'Cc'; 'Cn' if it is not assigned."""
    if not 0 <= code_point < 0x110000:
        raise ValueError(f"not a code point: {code_point}")
    return CBPE_CATEGORY_NAMES[category_of(code_point)].decode("ascii")
