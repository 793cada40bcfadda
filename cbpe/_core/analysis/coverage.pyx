"""Whether a split pattern finds all of every text, so that nothing lies between its matches."""

from libc.stdint cimport uint64_t

from cbpe._core.splitting.classes cimport Classes, classify
from cbpe._core.splitting.pattern cimport CHOICE, POSSESSIVE, REPEAT, SEQUENCE, SET, Pattern, parse


cdef bint may_be_empty(tuple node):
    """Whether a part of a pattern may match no character."""
    if node[0] == SET:
        return False
    if node[0] == SEQUENCE:
        return all([may_be_empty(inside) for inside in node[1]])
    if node[0] == CHOICE:
        return any([may_be_empty(inside) for inside in node[1]])
    if node[0] == REPEAT:
        return node[2] == 0 or may_be_empty(node[1])
    return True


cdef uint64_t certain(tuple node, list masks):
    """The classes of characters at each of which a part of a pattern matches, whatever comes before and after: those
    of the one set that it requires, everything else being optional."""
    cdef uint64_t found = 0, taken = 0
    cdef tuple part
    for part in node[1] if node[0] == SEQUENCE else [node]:
        if part[0] == REPEAT and part[2] == 0:
            if found == 0 and part[4] == POSSESSIVE:
                # What it takes, it does not give back to the set that is required.
                if part[1][0] != SET:
                    return 0
                taken |= <uint64_t>masks[part[1][1]]
            continue
        if part[0] == REPEAT and part[2] == 1:
            part = part[1]
        if found or part[0] != SET:
            return 0
        found = <uint64_t>masks[part[1]] & ~taken
        if found == 0:
            return 0
    return found


def may_match_nothing(str pattern not None, bint portable=True):
    """Whether a pattern may match the empty string. PatternNotSupported as of covers_all_text."""
    return may_be_empty(parse(pattern, portable).root)


def covers_all_text(str pattern not None, bint portable=True):
    """Whether the matches of a pattern that runs natively follow one another without a gap in every text. False also
    where that is not easily seen. PatternNotSupported for a pattern that does not run natively, and if `portable` for
    one that may mean something else to other engines than to `regex`.

    >>> covers_all_text(r"\\S+|\\s+(?!\\S)|\\s+"), covers_all_text(r"\\S+|\\s+(?!\\S)")
    (True, False)
    """
    cdef Pattern parsed = parse(pattern, portable)
    cdef Classes classes = classify(parsed.sets)
    cdef uint64_t covered = 0
    cdef list alternatives = parsed.root[1] if parsed.root[0] == CHOICE else [parsed.root]
    for alternative in alternatives:
        if may_be_empty(alternative):
            return False
        covered |= certain(alternative, classes.masks)
    return covered == (<uint64_t>1 << classes.count) - 1
