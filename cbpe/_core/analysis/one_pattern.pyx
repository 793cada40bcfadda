"""One split pattern that finds the pieces of several steps, each of which splits every piece of the step before alone.

This can be written where all steps but the last cut runs of one class of characters off: numbers, say, or the
characters of a script. No match of the last pattern may then go on from one kind of characters to the other: its
classes are made smaller, and to what it looks ahead for, the border is the end of the text. If the last pattern leaves
text between its matches that is to be kept, an alternative is added that finds this text.

Patterns are syntax trees here, as in splitting/pattern.pxd, with the sets themselves in place of their numbers:
(SET, classes as bits, text, looks), where the looks are assertions that have made the set smaller; and (LOOK, classes,
text, is_negative).
"""

from cbpe._core.splitting.classes cimport Classes, classify
from cbpe._core.splitting.pattern cimport (
    CHOICE, END, LAZY, LOOK, REPEAT, SEQUENCE, SET, Pattern, parse
)
from cbpe._core.splitting.sets cimport ALL_CATEGORIES, CATEGORY_BITS, WHITE_SPACE

cdef int MAX_PAIRS = 3      # alternatives that may match or not at a character that nothing else matches
cdef str ANY = r"[\s\S]"
cdef tuple NOTHING = (SEQUENCE, [])


class NotOne(Exception):
    """There is no one pattern, or none is found."""


def one_pattern(list steps not None, str last):
    """The pattern that finds the pieces of all steps, or None. A step is (pattern, whether its matches in a row are one
    piece); the text between its matches is kept. `last` is a pattern of which the matches alone are pieces, None for
    none.

    Patterns are ones that run natively; PatternNotSupported for others.

    >>> one_pattern([("[0-9]", False)], " ?[a-z]+|[^a-z]")
    '[0-9]| ?[a-z]+|(?:(?![0-9])[^a-z])'
    """
    cdef list patterns = [pattern for pattern, _ in steps] + ([] if last is None else [last])
    cdef list trees
    cdef object everything
    try:
        trees, everything = parsed(patterns)
        found = alternatives(trees.pop())
        if last is None:
            found = with_gaps(found, everything, steps[len(steps) - 1][1])
        elif covered(found) != everything:
            return None
        for tree, (_, is_joined) in reversed(list(zip(trees, steps))):
            found = cut_off(tree, is_joined, found, everything)
        return "|".join([written(tree) for tree in found])
    except NotOne:
        return None


cdef tuple parsed(list patterns):
    """The trees of the patterns, and all classes of characters, which they share."""
    cdef list roots = [], sets = []
    cdef Pattern pattern
    cdef Classes classes
    for text in patterns:
        pattern = parse(text)
        roots.append((pattern.root, len(sets)))
        sets += pattern.sets
    classes = classify(sets)
    cdef object one = 1     # no C integer: there may be more classes than it has bits
    cdef list texts = [text_of_set(a_set[0], a_set[1], a_set[2]) for a_set in map(by_ranges, sets)]
    return [with_sets(root, first, classes.masks, texts) for root, first in roots], (one << classes.count) - 1


def by_ranges(tuple a_set not None):
    """A set of a parsed pattern that need not be one of stretches, as (categories, ranges, is_negated)."""
    cdef list ranges = []
    cdef Py_ssize_t i
    if len(a_set) != 1:
        return a_set
    cdef tuple stretches = a_set[0]
    for i, (first, categories) in enumerate(stretches):
        if categories == ALL_CATEGORIES:
            ranges.append((first, stretches[i + 1][0] - 1 if i + 1 < len(stretches) else 0x10FFFF))
        elif categories != 0:
            raise NotOne
    if not ranges:
        raise NotOne
    return 0, tuple(ranges), False


cdef tuple with_sets(tuple tree, Py_ssize_t first, list masks, list texts):
    cdef int kind = tree[0]
    if kind == SET:
        return (SET, masks[first + tree[1]], texts[first + tree[1]], "")
    if kind == LOOK:
        return (LOOK, masks[first + tree[1]], texts[first + tree[1]], tree[2])
    if kind == SEQUENCE or kind == CHOICE:
        return (kind, [with_sets(inside, first, masks, texts) for inside in tree[1]])
    if kind == REPEAT:
        # A possessive repeat that runs natively never differs from a greedy one.
        return (REPEAT, with_sets(tree[1], first, masks, texts), tree[2], tree[3], tree[4] == LAZY)
    return tree


# ---- What a step does to the pattern after it


cdef list cut_off(tuple tree, bint is_joined, list rest, everything):
    """The alternatives that cut off what a step finds, and split all else by others."""
    cdef object most = 1
    cdef tuple of_class = tree
    if tree[0] == REPEAT and tree[2] == 1 and not tree[4]:
        of_class, most = tree[1], tree[3]
    if of_class[0] != SET or of_class[3]:
        raise NotOne
    mask, text = of_class[1], of_class[2]
    if mask == 0:
        return rest
    inside = all_within(rest, mask, text, True)
    if is_joined or most == -1:
        found = inside
    elif most == 1 or is_whole(inside, mask):
        found = [(REPEAT, of_class, 1, most, False) if most > 1 else of_class]
    else:
        raise NotOne
    return found + (all_within(rest, mask, text, False) if mask != everything else [])


cdef list all_within(list trees, mask, str text, bint inside):
    return [found for found in [within(tree, mask, text, inside) for tree in trees] if found is not None]


cdef tuple within(tuple tree, mask, str text, bint inside):
    """What a tree matches where the text ends at the first character that is not of a class, or, if not `inside`, that
    is of it; None for nothing."""
    cdef int kind = tree[0]
    # Whether that character comes next, or may as well be the end of the text.
    cdef tuple ends = (LOOK, mask, text, inside)
    if kind == SET or kind == LOOK:
        left = tree[1] & (mask if inside else ~mask)
        if left == tree[1]:
            return tree
        if kind == SET:
            return (SET, left, tree[2], f"{tree[3]}(?{'=' if inside else '!'}{text})") if left else None
        if not left:
            return NOTHING if tree[3] else None
        return (CHOICE, [tree, ends]) if tree[3] else (SEQUENCE, [(LOOK, mask, text, not inside), tree])
    if kind == END:
        return (CHOICE, [tree, ends])
    if kind == SEQUENCE:
        inner = [within(part, mask, text, inside) for part in tree[1]]
        return None if None in inner else in_row(inner)
    if kind == CHOICE:
        inner = all_within(tree[1], mask, text, inside)
        return None if not inner else inner[0] if len(inner) == 1 else (CHOICE, inner)
    part = within(tree[1], mask, text, inside)
    if part is None:
        return NOTHING if tree[2] == 0 else None
    return (REPEAT, part, tree[2], tree[3], tree[4])


cdef tuple in_row(list trees):
    trees = [tree for tree in trees if tree != NOTHING]
    return trees[0] if len(trees) == 1 else (SEQUENCE, trees)


cdef bint is_whole(list trees, mask):
    """Whether a text of these characters alone is one match of the first alternative."""
    if not trees or trees[0][0] != REPEAT or trees[0][2] != 1 or trees[0][3] != -1 or trees[0][4]:
        return False
    inner = trees[0][1]
    sets = inner[1] if inner[0] == CHOICE else [inner]
    found = 0
    for tree in sets:
        if tree[0] != SET:
            return False
        found |= tree[1]
    return found & mask == mask


# ---- What lies between matches


cdef list alternatives(tuple tree):
    return list(tree[1]) if tree[0] == CHOICE else [tree]


cdef list with_gaps(list trees, everything, bint is_joined):
    """The alternatives of a pattern, and one for the text between its matches."""
    if is_joined:
        if len(trees) != 1 or trees[0][0] != SET:
            raise NotOne
        trees = [(REPEAT, trees[0], 1, -1, False)]
    certain_sets = [a_set for a_set in [required(tree) for tree in trees] if a_set is not None]
    rest = everything & ~covered(trees)
    if not rest:
        return trees
    looks = "".join([f"(?!{text})" for text in dict.fromkeys([text for _, _, text, _ in certain_sets])])
    pairs = [pair_of(tree) for tree in trees if first_of(tree) & rest]
    if len(pairs) > MAX_PAIRS:
        raise NotOne
    ways = [(rest, looks, [])]
    for first, second in pairs:
        # A character that may begin a match does not where the second one of the match does not follow.
        ways = [
            way
            for mask, before, after in ways
            for way in (
                (mask & ~first[1], f"{before}(?!{first[2]})", after),
                (mask & first[1], f"{before}(?={first[2]})", [*after, (LOOK, second[1], second[2], True)]),
            )
            if way[0]
        ]
    found = [in_row([(SET, mask, ANY, before), *after]) for mask, before, after in ways]
    return [*trees, (REPEAT, found[0] if len(found) == 1 else (CHOICE, found), 1, -1, False)]


cdef object covered(list trees):
    """The classes at each of which some alternative matches, whatever comes before and after."""
    found = 0
    for tree in trees:
        a_set = required(tree)
        if a_set is not None:
            found |= a_set[1]
    return found


cdef bint is_optional(tuple tree):
    return tree[0] == REPEAT and tree[2] == 0


cdef tuple one_of(tuple tree):
    """The set that a part of a sequence begins with for certain and needs no more of; None for another part."""
    if tree[0] == REPEAT and tree[2] == 1:
        tree = tree[1]
    return tree if tree[0] == SET else None


cdef tuple required(tuple tree):
    """The one set that an alternative requires, all else in it being optional; None if there is none."""
    needed = [part for part in (tree[1] if tree[0] == SEQUENCE else [tree]) if not is_optional(part)]
    return one_of(needed[0]) if len(needed) == 1 else None


cdef tuple pair_of(tuple tree):
    """The two sets out of which an alternative needs one character each, or, if the first is optional, none of that."""
    parts = tree[1] if tree[0] == SEQUENCE else [tree]
    if len(parts) < 2 or not all([is_optional(part) for part in parts[2:]]):
        raise NotOne
    first = parts[0]
    if is_optional(first) and first[3] == 1 and not first[4]:
        first = first[1]
    second = one_of(parts[1])
    if first[0] != SET or second is None:
        raise NotOne
    return first, second


cdef object first_of(tuple tree):
    """The classes that a match may begin with, or more."""
    cdef int kind = tree[0]
    if kind == SET:
        return tree[1]
    if kind == CHOICE:
        found = 0
        for inside in tree[1]:
            found |= first_of(inside)
        return found
    if kind == REPEAT:
        return first_of(tree[1])
    if kind == SEQUENCE:
        found = 0
        for part in tree[1]:
            found |= first_of(part)
            if part[0] == SET or (part[0] == REPEAT and part[2] > 0 and part[1][0] == SET):
                break
        return found
    return 0


# ---- Trees to text


cdef str written(tuple tree):
    cdef int kind = tree[0]
    if kind == SET:
        return f"(?:{tree[3]}{tree[2]})" if tree[3] else tree[2]
    if kind == LOOK:
        return f"(?!{tree[2]})" if tree[3] else f"(?={tree[2]})"
    if kind == END:
        return "$"
    if kind == SEQUENCE:
        return "".join([written(inside) for inside in tree[1]])
    if kind == CHOICE:
        return "(?:" + "|".join([written(inside) for inside in tree[1]]) + ")"
    inner, least, most, is_lazy = tree[1:]
    text = written(inner)
    if inner[0] == SEQUENCE or inner[0] == REPEAT:
        text = f"(?:{text})"
    signs = {(0, 1): "?", (0, -1): "*", (1, -1): "+"}
    if (least, most) in signs:
        return text + signs[least, most] + ("?" if is_lazy else "")
    if least == most:
        return f"{text}{{{least}}}"
    return f"{text}{{{least},{'' if most == -1 else most}}}" + ("?" if is_lazy else "")


cdef str text_of_set(categories, ranges, bint is_negated):
    """A set of a parsed pattern as a class: (letters, ((48, 57),), False) -> [\\p{L}0-9]"""
    cdef list names = names_of(categories), joined = []
    for first, last in ranges:  # in their order
        if joined and first <= joined[len(joined) - 1][1] + 1:
            joined[len(joined) - 1][1] = max(last, joined[len(joined) - 1][1])
        else:
            joined.append([first, last])
    if not is_negated and len(names) + len(joined) == 1 and (names or joined[0][0] == joined[0][1]):
        return names[0] if names else written_character(joined[0][0])
    cdef str text = "".join(names)
    for first, last in joined:
        text += written_character(first)
        if last > first:
            text += ("-" if last > first + 1 else "") + written_character(last)
    return f"[{'^' if is_negated else ''}{text}]" if text else ANY


cdef str written_character(int code_point):
    cdef str character = chr(code_point)
    if code_point < 128 and not character.isalnum() and character != " ":
        return f"\\x{code_point:02x}"
    return character


cdef list names_of(categories):
    """Escapes for categories, as few as are found."""
    known = [(bits, f"\\p{{{name}}}") for name, bits in CATEGORY_BITS.items()]
    known += [(ALL_CATEGORIES & ~bits, f"\\P{{{name}}}") for name, bits in CATEGORY_BITS.items()]
    known += [(WHITE_SPACE, r"\s"), (ALL_CATEGORIES & ~WHITE_SPACE, r"\S")]
    found, left = [], categories
    for bits, name in sorted(known, key=lambda item: (-item[0].bit_count(), item[1])):
        if left & bits and not bits & ~categories:
            found.append(name)
            left &= ~bits
    if left:
        raise NotOne
    return found
