"""The syntax tree of a split pattern."""

# A node is a tuple that begins with one of these.
cdef enum NodeKind:
    SET  # (SET, set): one character out of a set
    LOOK  # (LOOK, set, is_negative): the next character is out of the set; or it is not, or there is none
    END  # (END,): the end of the text
    SEQUENCE  # (SEQUENCE, [nodes]): one after the other; an empty list matches the empty string
    CHOICE  # (CHOICE, [nodes]): the first that lets the whole match
    REPEAT  # (REPEAT, node, least, most or -1, Greed)

cdef enum Greed:
    GREEDY
    LAZY
    POSSESSIVE


# The bits of all one- and two-letter categories, and of some sets of them.
cdef dict CATEGORY_BITS
cdef long long ALL_CATEGORIES
cdef long long WHITE_SPACE


cdef class Pattern:
    cdef tuple root
    # Nodes name a set of characters by its place here. It is (categories as bits, ((first, last), ..), is_negated),
    # the ranges in code points.
    cdef list sets


cdef Pattern parse(str pattern)

cdef object unsupported(str what)
