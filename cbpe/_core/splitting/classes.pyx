"""Cuts the code points into the few classes that a split pattern can tell apart, and makes the table of them.

Atoms first: every category is one, and so is, within each stretch of code points that the pattern names, every category
that occurs there. Atoms that are members of the same sets of the pattern are one class.
"""

from libc.stdint cimport uint16_t
from libc.string cimport memcpy, memset

from cbpe._core.splitting.categories cimport CBPE_BLOCK_OF, CBPE_BLOCKS, CBPE_N_BLOCKS, CBPE_N_CATEGORIES, category_of
from cbpe._core.splitting.characters cimport unsupported
from cbpe._core.splitting.sets cimport complement, stretches_of

cdef enum:
    MAX_STRETCHES = 4000
    MAX_MEMBERSHIPS = 400_000  # stretches times sets
    N_CODE_POINTS = 0x110000
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
    """Cut where any set begins a stretch (see sets.pxd): -> [(first, last, the categories of each set there)]

    Where two neighbours have the same ones, they are one.
    """
    cdef set starts = {0} | {first for of_set in sets for first, _ in of_set}
    if len(starts) - 1 > MAX_STRETCHES:  # the first of them is 0
        raise unsupported(f"more than {MAX_STRETCHES} different code points")
    if len(starts) * len(sets) > MAX_MEMBERSHIPS:
        raise unsupported("so many different code points in so many classes")
    cdef list cuts = sorted(starts) + [N_CODE_POINTS]
    cdef list at = [0] * len(sets)  # the stretch of each set
    cdef list found = []
    cdef Py_ssize_t i, number
    for i in range(len(cuts) - 1):
        for number, of_set in enumerate(sets):
            if at[number] + 1 < len(of_set) and of_set[at[number] + 1][0] == cuts[i]:
                at[number] += 1
        found.append((cuts[i], cuts[i + 1] - 1, [of_set[at[number]][1] for number, of_set in enumerate(sets)]))
    return found


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


cdef tuple as_stretches(tuple of_set):
    """A set of a Pattern, of either kind, as stretches."""
    cdef tuple found
    if len(of_set) == 1:
        return of_set[0]
    found = stretches_of(of_set[0], of_set[1])
    return complement(found) if of_set[2] else found


cdef object members_of(list of_sets, int category):
    """The sets, as bits, that have a category, where each has these categories."""
    return sum([bit(number) for number, categories in enumerate(of_sets) if categories >> category & 1])


cdef Classes classify(list sets):
    """The classes of the sets of a parsed pattern; PatternNotSupported if there are too many."""
    cdef Classes result = Classes.__new__(Classes)
    cdef dict class_of = {}  # the sets that an atom is a member of, as bits -> its class
    cdef int category
    if len(sets) > MAX_SETS:
        raise unsupported(f"more than {MAX_SETS} different classes of characters")
    cdef list cut = stretches([as_stretches(of_set) for of_set in sets])
    # Most code points are like the last ones: their table is made first, and what differs named in it.
    cdef list usual = cut[len(cut) - 1][2]
    cdef bytearray classes = bytearray(256)
    for category in range(CBPE_N_CATEGORIES):
        classes[category] = class_of.setdefault(members_of(usual, category), len(class_of))
    cdef TableBuilder table = TableBuilder.__new__(TableBuilder, bytes(classes))
    for first, last, of_sets in cut:
        if of_sets == usual:
            continue
        for category in categories_in(first, last):
            classes[category] = class_of.setdefault(members_of(of_sets, category), len(class_of))
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
