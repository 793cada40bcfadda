"""The syntax tree of a split pattern."""

# A node is a tuple that begins with one of these:
cdef enum NodeKind:
    SET  # (SET, set)                                    one character out of a set
    LOOK  # (LOOK, set, is_negative)                      the next character is, or is not, out of a set; a negative one holds at the end
    END  # (END,)                                        the end of the text
    SEQUENCE  # (SEQUENCE, [nodes])                           one after the other; an empty list matches the empty string
    CHOICE  # (CHOICE, [nodes])                             the first that lets the whole match
    REPEAT  # (REPEAT, node, least, most or -1, Greed)

cdef enum Greed:
    GREEDY
    LAZY
    POSSESSIVE


cdef class Pattern:
    cdef readonly tuple root
    # Each set of characters is (categories as bits, ((first, last), ..) code points, is_negated); nodes name a set by its place here.
    cdef readonly list sets


cdef Pattern parse(str pattern)
