"""The syntax tree of a split pattern."""

# A node is a tuple that begins with one of these.
cdef enum NodeKind:
    SET  # (SET, set): one character out of a set
    LOOK  # (LOOK, set, is_negative): the next character is out of the set; or it is not, or there is none
    BEHIND  # (BEHIND, [[sets], ..], is_negative): the characters before are of one of these rows of sets; or of none
    END  # (END,): the end of the text
    SEQUENCE  # (SEQUENCE, [nodes]): one after the other; an empty list matches the empty string
    CHOICE  # (CHOICE, [nodes]): the first that lets the whole match
    REPEAT  # (REPEAT, node, least, most or -1, Greed)

cdef enum Greed:
    GREEDY
    LAZY
    POSSESSIVE


cdef class Pattern:
    cdef tuple root
    # Nodes name a set of characters by its place here. It is (categories as bits, ((first, last), ..), is_negated),
    # the ranges in code points; or (stretches,), as sets.pxd has them.
    cdef list sets


# A portable pattern means the same in Python's `regex`, in Rust's engines and, but for what oniguruma.py knows, in
# Oniguruma. Others are to mean what they mean to `regex`.
cdef Pattern parse(str pattern, bint portable=*)
