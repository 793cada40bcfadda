"""Parses a split pattern, the part of regular expressions that the automaton can run, into a syntax tree.

In a portable pattern, everything that is not certain to mean the same in Python's `regex` and in Rust's engines is
refused with PatternNotSupported. What else is known means what it means to `regex`: \\w, \\b, \\h, scripts and other
properties, looking back by a fixed number of characters, atomic groups, and after (?V1) operations on sets. There,
ignoring case is refused wherever `regex` may take several characters for one that folds to them.
Whether a pattern is an expression at all is not decided here. Two meanings are chosen: `$` is the very end of the text
(Rust's; not also before a last newline), and the flag `i` folds what Unicode folds, so that (?i:s) is also U+017F, the
long s, and (?i:k) is U+212A, the Kelvin sign. (`regex` folds i to U+0130 and I to U+0131 on top, which neither Unicode
nor Rust does.)
"""

from cbpe._core.splitting.characters cimport MAX_DEPTH, CharacterReader, unsupported
from cbpe._core.splitting.sets cimport WORD


cdef int MAX_REPEATS = 1000
cdef int MAX_LENGTH = 10_000
cdef int MAX_BEHIND = 16  # characters to look back at
# Letters of ASCII that the full folding of a single character has side by side: of the sharp s, and of ligatures.
cdef frozenset FOLDED_TOGETHER = frozenset(["ss", "ff", "fi", "fl", "st"])


cdef class Pattern:
    """A parsed split pattern: the syntax tree and the sets of characters that it names."""


cdef class Parser(CharacterReader):
    """Recursive descent over the pattern; the flags in force are arguments."""

    cdef Pattern parse(self):
        cdef Pattern result = Pattern.__new__(Pattern)
        cdef bint ignore_case = False, dot_all = False
        if len(self.pattern) > MAX_LENGTH:
            raise unsupported(f"more than {MAX_LENGTH} characters")
        self.has_operations = not self.portable and self.skip("(?V1)")
        while self.looking_at("(?i)") or self.looking_at("(?s)"):
            ignore_case |= self.looking_at("(?i)")
            dot_all |= self.looking_at("(?s)")
            self.position += 4
        result.root = self.choice(ignore_case, dot_all)
        if self.position < len(self.pattern):
            raise self.refusal(self.position, "an unmatched parenthesis")
        if self.has_operations:
            self.refuse_long_folding(result.root)
        result.sets = list(self.set_numbers)
        return result

    cdef int refuse_long_folding(self, tuple root) except -1:
        """Where `regex` ignores case after (?V1), some letters side by side are also one character that folds to them:
        "st" is U+FB06 as well."""
        cdef dict letters = {}
        cdef int letter
        for letter in b"filst":
            number = self.set_numbers.get((0, tuple(sorted(self.folded(0, [(letter, letter)], True))), False))
            if number is not None:
                letters[number] = chr(letter)
        ends_of(root, letters)
        return 0

    cdef tuple choice(self, bint ignore_case, bint dot_all):
        cdef list nodes = [self.sequence(ignore_case, dot_all)]
        while self.skip("|"):
            nodes.append(self.sequence(ignore_case, dot_all))
        return (CHOICE, nodes) if len(nodes) > 1 else nodes[0]

    cdef tuple sequence(self, bint ignore_case, bint dot_all):
        cdef list nodes = []
        while self.position < len(self.pattern) and self.pattern[self.position] not in "|)":
            nodes.append(self.repeated(ignore_case, dot_all))
        return nodes[0] if len(nodes) == 1 else (SEQUENCE, nodes)

    cdef tuple repeated(self, bint ignore_case, bint dot_all):
        """One item and the quantifier after it."""
        cdef Py_ssize_t start = self.position
        cdef tuple item = self.item(ignore_case, dot_all)
        cdef int least, most
        cdef Greed greed = GREEDY
        if self.skip("?"):
            least, most = 0, 1
        elif self.skip("*"):
            least, most = 0, -1
        elif self.skip("+"):
            least, most = 1, -1
        elif self.looking_at("{"):
            least, most = self.bounds()
        else:
            return item
        if self.skip("?"):
            greed = LAZY
        elif self.skip("+"):
            greed = POSSESSIVE
        if self.position < len(self.pattern) and self.pattern[self.position] in "?*+{":
            raise self.refusal(start, "a quantifier of a quantifier")
        if item[0] == LOOK or item[0] == BEHIND or item[0] == END:
            raise self.refusal(start, "a quantifier of an assertion")
        return (REPEAT, item, least, most, greed)

    cdef tuple bounds(self):
        """{m}, {m,} or {m,n} -> (least, most or -1)"""
        cdef Py_ssize_t start = self.position
        self.position += 1
        cdef int least = self.number(start), most = least
        if self.skip(","):
            most = -1 if self.looking_at("}") else self.number(start)
        if not self.skip("}") or (most != -1 and most < least):
            raise self.refusal(start, "the repetition")
        return least, most

    cdef int number(self, Py_ssize_t start) except -1:
        cdef int value = 0
        cdef Py_ssize_t first = self.position
        while self.position < len(self.pattern) and "0" <= self.pattern[self.position] <= "9":
            value = value * 10 + <int> self.pattern[self.position] - <int> c"0"
            self.position += 1
            if value > MAX_REPEATS:
                raise self.refusal(start, f"more than {MAX_REPEATS} repetitions")
        if self.position == first:
            raise self.refusal(start, "the repetition")
        return value

    cdef tuple item(self, bint ignore_case, bint dot_all):
        """One character, class, assertion or group."""
        cdef Py_ssize_t start = self.position
        cdef Py_UCS4 c = self.pattern[self.position]
        cdef tuple escape
        if c == c"(":
            return self.group(ignore_case, dot_all)
        if c == c"[" and self.has_operations and not ignore_case:
            self.position += 1
            return (SET, self.number_of_stretches(self.set_of_class()))
        if c == c"[":
            return (SET, self.character_class(ignore_case))
        self.position += 1
        if c == c"\\":
            if self.skip("z"):
                return (END,)
            if not self.portable and self.looking_at_one_of("bBAZ"):
                return self.assertion()
            escape = self.escape(ignore_case)
            if len(escape) == 1:
                if ignore_case:
                    self.refuse_letters(start, 0, escape[0])
                return (SET, self.number_of_stretches(escape[0]))
            if ignore_case:
                self.refuse_letters(start, escape[0], None)
            return (SET, self.number_of_set(start, escape[0], escape[1], False, ignore_case))
        if c == c"^" and not self.portable:
            return self.behind_any(True)
        if c == c"$":
            return (END,)
        if c == c".":
            return (SET, self.number_of_set(start, 0, [] if dot_all else [(10, 10)], True, False))
        if c in "^?*+{}]":
            raise self.refusal(start, "an anchor, or a quantifier or bracket out of place")
        return (SET, self.number_of_set(start, 0, [(<int> c, <int> c)], False, ignore_case))

    cdef tuple assertion(self):
        """What follows a backslash and is no character: b, B, A or Z."""
        cdef str name = self.pattern[self.position]
        cdef int word
        self.position += 1
        if name == "Z":
            return (END,)
        if name == "A":
            return self.behind_any(True)
        word = self.number_of_stretches(WORD)
        return (CHOICE, [
            (SEQUENCE, [(BEHIND, [[word]], is_outside), (LOOK, word, is_outside == (name == "B"))])
            for is_outside in (False, True)
        ])

    cdef tuple behind_any(self, bint negative):
        """Whether there is a character before; or none."""
        return (BEHIND, [[self.number_of_set(self.position, 0, [], True, False)]], negative)

    cdef tuple look_behind(self, bint ignore_case, bint dot_all):
        """(?<=..) and (?<!..), where something of a fixed number of characters stands in them."""
        cdef Py_ssize_t start = self.position
        cdef bint negative = self.looking_at("(?<!")
        cdef tuple inside
        self.position += 4
        inside = self.nested_choice(start, ignore_case, dot_all)
        cdef list rows = rows_of_sets(inside)
        if rows is None or [] in rows:
            raise self.refusal(start, f"looking back at something of no fixed length up to {MAX_BEHIND} characters")
        return (BEHIND, rows, negative)

    cdef tuple nested_choice(self, Py_ssize_t start, bint ignore_case, bint dot_all):
        """What stands in a group from here on, with its parenthesis."""
        cdef tuple inside
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.refusal(self.position, f"groups nested more than {MAX_DEPTH} deep")
        inside = self.choice(ignore_case, dot_all)
        self.depth -= 1
        if not self.skip(")"):
            raise self.refusal(start, "an unmatched parenthesis")
        return inside

    cdef tuple group(self, bint ignore_case, bint dot_all):
        cdef Py_ssize_t start = self.position
        cdef bint negative = self.looking_at("(?!")
        cdef bint look = negative or self.looking_at("(?=")
        cdef tuple inside
        if not self.portable and (self.looking_at("(?<=") or self.looking_at("(?<!")):
            return self.look_behind(ignore_case, dot_all)
        if not self.portable and self.skip("(?>"):
            return (REPEAT, self.nested_choice(start, ignore_case, dot_all), 1, 1, POSSESSIVE)
        self.position += 3 if look else 1
        if not look and self.skip("?"):
            while self.position < len(self.pattern) and self.pattern[self.position] in "is":
                ignore_case |= self.looking_at("i")
                dot_all |= self.looking_at("s")
                self.position += 1
            if not self.skip(":"):
                self.position += 1
                raise self.refusal(start, "a group of this kind")
        inside = self.nested_choice(start, ignore_case, dot_all)
        if not look:
            return inside
        if inside[0] != SET:
            raise self.refusal(start, "looking ahead at more than one character")
        return (LOOK, inside[1], negative)

cdef list rows_of_sets(tuple tree):
    """The rows of sets that a tree matches: (ab|c){2} -> [[a, b, a, b], [a, b, c], [c, a, b], [c, c]]; None where some
    are endless, too long, or too many."""
    cdef int kind = tree[0], _
    cdef list rows = [[]], more
    if kind == SET:
        return [[tree[1]]]
    if kind == CHOICE:
        parts = [rows_of_sets(inside) for inside in tree[1]]
        rows = None if None in parts else [row for part in parts for row in part]
    elif kind == SEQUENCE or (kind == REPEAT and tree[2] == tree[3] and tree[2] <= MAX_BEHIND):
        for inside in tree[1] if kind == SEQUENCE else [tree[1]] * tree[2]:
            more = rows_of_sets(inside)
            if more is None or len(rows) * len(more) > MAX_BEHIND:
                return None
            rows = [row + others for row in rows for others in more]
    else:
        return None
    return None if rows is None or len(rows) > MAX_BEHIND or max(map(len, rows)) > MAX_BEHIND else rows


cdef tuple ends_of(tuple tree, dict letters):
    """-> (the letters that it may begin with, those it may end with, whether it can be empty). letters: the sets that
    are single letters, by their numbers. PatternNotSupported where two that fold to one character may be side by side.
    """
    cdef int kind = tree[0]
    cdef set first = set(), last = set()
    cdef bint is_empty
    if kind == SET:
        first = {letters[tree[1]]} if tree[1] in letters else set()
        return first, first, False
    if kind == REPEAT:
        first, last, is_empty = ends_of(tree[1], letters)
        if tree[3] != 1:
            refuse_together(last, first)
        return first, last, is_empty or tree[2] == 0
    if kind == CHOICE:
        parts = [ends_of(item, letters) for item in <list> tree[1]]
        return (
            set().union(*[part[0] for part in parts]), set().union(*[part[1] for part in parts]),
            any([part[2] for part in parts]),
        )
    if kind == BEHIND:
        for row in <list> tree[1]:
            ends_of((SEQUENCE, [(SET, number) for number in row]), letters)
    is_empty = True
    for item in <list> tree[1] if kind == SEQUENCE else []:
        part = ends_of(item, letters)
        refuse_together(last, part[0])
        first |= part[0] if is_empty else set()
        last = part[1] | (last if part[2] else set())
        is_empty = is_empty and part[2]
    return first, last, is_empty


cdef int refuse_together(set before, set after) except -1:
    for letter in sorted(before):
        for following in sorted(after):
            if letter + following in FOLDED_TOGETHER:
                together = repr(letter + following)
                raise unsupported(f"ignoring the case of {together} after (?V1), to which one character folds as well")
    return 0


cdef Pattern parse(str pattern, bint portable=True):
    """The syntax tree; PatternNotSupported names the first part that is not understood."""
    return (<Parser> Parser.__new__(Parser, pattern, portable)).parse()
