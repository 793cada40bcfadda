"""Cuts the code points into the few classes that a split pattern can tell apart, and makes the table of them.

Atoms first: every category is one, and so is, within each stretch of code points that the pattern names, every category
that occurs there. Atoms that are members of the same sets of the pattern are one class.
"""

from libc.stdint cimport uint16_t
from libc.string cimport memcpy, memset

from cbpe._core.splitting.categories cimport CBPE_BLOCK_OF, CBPE_BLOCKS, CBPE_N_BLOCKS, CBPE_N_CATEGORIES, category_of
from cbpe._core.splitting.pattern cimport unsupported

cdef enum:
    MAX_STRETCHES = 1000
    MAX_SETS = 200
    # 0x200000 code points are more than there are; whatever four bytes spell, the table can be asked.
    N_BLOCKS_OF_CODE_POINTS = 0x2000

cdef bytes CATEGORY_BLOCKS = (<const char *> &CBPE_BLOCKS[0][0])[: CBPE_N_BLOCKS * 256]
cdef bytes CATEGORY_BLOCK_OF = (<const char *> &CBPE_BLOCK_OF[0])[: 2 * 0x1100]


cdef class Classes:
    """The classes of a pattern, its sets as sets of classes, and the table from code point to class."""


cdef object bit(object number):
    """A set of sets with this one in it. A Python object, for there may be more sets than a C integer has bits."""
    return 1 << number


cdef list stretches(list sets):
    """Cut at the ends of all ranges: [a-z], [m] -> [(a, l, {0}), (m, m, {0, 1}), (n, z, {0})], with the sets as bits"""
    cdef set starts = set()
    for _, ranges, _ in sets:
        for first, last in ranges:
            starts.add(first)
            starts.add(last + 1)
    if len(starts) > MAX_STRETCHES:
        raise unsupported(f"more than {MAX_STRETCHES} different code points")
    cdef list cuts = sorted(starts)
    cdef dict place = {start: i for i, start in enumerate(cuts)}
    cdef list members = [0] * len(cuts)
    cdef Py_ssize_t i
    for number, (_, ranges, _) in enumerate(sets):
        for first, last in ranges:
            for i in range(place[first], place[last + 1]):
                members[i] |= bit(number)
    return [(cuts[i], cuts[i + 1] - 1, members[i]) for i in range(len(cuts) - 1) if members[i]]


cdef set categories_in(int first, int last):
    cdef bint found[256]
    cdef int code_point, category
    for category in range(CBPE_N_CATEGORIES):
        found[category] = False
    for code_point in range(first, last + 1):
        found[category_of(code_point)] = True
    return {category for category in range(CBPE_N_CATEGORIES) if found[category]}


cdef class TableBuilder:
    """The two-level table: the categories' blocks renamed to classes, and new blocks for what a pattern names."""

    cdef bytearray blocks
    cdef uint16_t block_of[N_BLOCKS_OF_CODE_POINTS]
    cdef dict renamed

    def __cinit__(self, bytes class_of_category):
        self.blocks = bytearray(CATEGORY_BLOCKS.translate(class_of_category))
        memset(self.block_of, 0, sizeof(self.block_of))
        memcpy(self.block_of, <const char *> CATEGORY_BLOCK_OF, <size_t> len(CATEGORY_BLOCK_OF))
        self.renamed = {}

    cdef int add(self, bytes block) except -1:
        """The number of a new block."""
        cdef Py_ssize_t number = len(self.blocks) // 256
        if number > 0xFFFF:
            raise unsupported("too many different code points")
        self.blocks += block
        return <int> number

    cdef int name_stretch(self, int first, int last, bytes class_of_category) except -1:
        """Give the code points of a stretch their classes. Blocks that it covers whole are shared."""
        cdef int high, low, start, stop, old
        cdef bytes block
        for high in range(first >> 8, (last >> 8) + 1):
            start = first & 255 if high == first >> 8 else 0
            stop = (last & 255) + 1 if high == last >> 8 else 256
            old = CBPE_BLOCK_OF[high]
            block = CATEGORY_BLOCKS[256 * old : 256 * old + 256].translate(class_of_category)
            if start == 0 and stop == 256:
                key = (old, class_of_category)
                if key not in self.renamed:
                    self.renamed[key] = self.add(block)
                self.block_of[high] = <uint16_t> self.renamed[key]
                continue
            # A block that is not the category's own any more belongs to this stretch of code points alone.
            if self.block_of[high] == old:
                self.block_of[high] = <uint16_t> self.add(bytes(self.blocks[256 * old : 256 * old + 256]))
            low = 256 * <int> self.block_of[high]
            self.blocks[low + start : low + stop] = block[start:stop]
        return 0


cdef Classes classify(list sets):
    """The classes of the sets of a parsed pattern; PatternNotSupported if there are too many."""
    cdef Classes result = Classes.__new__(Classes)
    cdef dict class_of = {}  # the sets that an atom is a member of, as bits -> its class
    cdef int category
    if len(sets) > MAX_SETS:
        raise unsupported(f"more than {MAX_SETS} different classes of characters")
    negated = sum([bit(number) for number, (_, _, is_negated) in enumerate(sets) if is_negated])
    cdef list by_category = [
        sum([bit(number) for number, (bits, _, _) in enumerate(sets) if bits >> category & 1])
        for category in range(CBPE_N_CATEGORIES)
    ]
    cdef bytearray classes = bytearray(256)
    for category in range(CBPE_N_CATEGORIES):
        classes[category] = class_of.setdefault(by_category[category] ^ negated, len(class_of))
    cdef TableBuilder table = TableBuilder.__new__(TableBuilder, bytes(classes))
    for first, last, members in stretches(sets):
        for category in categories_in(first, last):
            classes[category] = class_of.setdefault((by_category[category] | members) ^ negated, len(class_of))
            if len(class_of) >= END_OF_TEXT:
                raise unsupported(f"more than {END_OF_TEXT} kinds of characters")
        table.name_stretch(first, last, bytes(classes))
    result.count = <int> len(class_of)
    result.masks = [
        sum([bit(number) for members, number in class_of.items() if members >> of_set & 1])
        for of_set in range(len(sets))
    ]
    result.block_of = (<const char *> table.block_of)[: sizeof(table.block_of)]
    result.blocks = bytes(table.blocks)
    return result
