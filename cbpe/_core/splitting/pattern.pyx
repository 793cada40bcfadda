"""Parses a split pattern, the part of regular expressions that the automaton can run, into a syntax tree.

In a portable pattern, everything that is not certain to mean the same in Python's `regex` and in Rust's engines is
refused with PatternNotSupported. What else is known means what it means to `regex`: \\w, \\b, \\h, scripts and other
properties, looking back by a fixed number of characters, atomic groups, and after (?V1) operations on sets.
Whether a pattern is an expression at all is not decided here. Two meanings are chosen: `$` is the very end of the text
(Rust's; not also before a last newline), and the flag `i` folds what Unicode folds, so that (?i:s) is also U+017F, the
long s, and (?i:k) is U+212A, the Kelvin sign. (`regex` folds i to U+0130 and I to U+0131 on top, which neither Unicode
nor Rust does.)
"""

from cbpe._core.splitting.sets cimport (
    ALL_CATEGORIES, BLANK, CATEGORY_BITS, LONG_NAMES, WHITE_SPACE, WORD, complement, in_one_alone, intersected,
    property_set, stretches_of, united, without
)


# Deeper patterns would need too much of the C stack, here and in the automaton.
cdef int MAX_DEPTH = 50
cdef int MAX_REPEATS = 1000
cdef int MAX_LENGTH = 10_000
cdef int MAX_BEHIND = 16  # characters to look back at

cdef int LONG_S = 0x17F
cdef int KELVIN_SIGN = 0x212A


class PatternNotSupported(ValueError):
    """A split pattern that may be valid, but holds something that the native splitter does not understand."""


cdef object unsupported(str what):
    """The exception, to be raised."""
    return PatternNotSupported(f"not supported in a native split pattern: {what}")


cdef long long DIGITS = CATEGORY_BITS["Nd"]
# Categories whose characters have no case, or have both cases in the same category.
cdef frozenset UNCASED = frozenset("N Nd Nl No P Pc Pd Pe Pf Pi Po Ps Z Zl Zp Zs".split())
cdef dict CONTROL_ESCAPES = {"r": 13, "n": 10, "t": 9, "f": 12, "v": 11}
cdef dict HEX_ESCAPES = {"x": 2, "u": 4, "U": 8}
cdef dict SET_ESCAPES = {
    "s": WHITE_SPACE, "S": ALL_CATEGORIES & ~WHITE_SPACE, "d": DIGITS, "D": ALL_CATEGORIES & ~DIGITS,
}
cdef dict EXTENDED_SETS = {"w": WORD, "W": complement(WORD), "h": BLANK}
# What may follow a backslash to stand for itself; \< and \> are word boundaries in Rust.
cdef frozenset ESCAPED_PUNCTUATION = frozenset(" !\"#$%&'()*+,-./:;=?@[\\]^_`{|}~")


cdef class Pattern:
    """A parsed split pattern: the syntax tree and the sets of characters that it names."""


cdef class Parser:
    """Recursive descent over the pattern; the flags in force are arguments."""

    cdef str pattern
    cdef Py_ssize_t position
    cdef int depth
    cdef bint portable
    cdef bint has_operations  # on sets: the pattern begins with (?V1)
    cdef dict set_numbers  # a set, as in Pattern.sets -> its place there

    def __cinit__(self, str pattern, bint portable):
        self.pattern = pattern
        self.portable = portable
        self.set_numbers = {}

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
        self.refuse_long_folding(0, ignore_case)
        result.root = self.choice(ignore_case, dot_all)
        if self.position < len(self.pattern):
            raise self.refusal(self.position, "an unmatched parenthesis")
        result.sets = list(self.set_numbers)
        return result

    cdef int refuse_long_folding(self, Py_ssize_t start, bint ignore_case) except -1:
        """Where `regex` ignores case after (?V1), it takes some characters for several letters, and sets otherwise."""
        if ignore_case and self.has_operations:
            raise self.refusal(start, "ignoring case together with V1")
        return 0

    cdef object refusal(self, Py_ssize_t start, str what):
        """The exception that names a part of the pattern."""
        from cbpe._core.text.shown import shown      # messages alone take it

        cdef str part = self.pattern[start : max(self.position, start + 1)]
        return unsupported(f"{what}, {shown(part)} at {start}")

    cdef bint looking_at(self, str text):
        return self.pattern.startswith(text, self.position)

    cdef bint skip(self, str text):
        """Step over the text if it comes next."""
        if not self.looking_at(text):
            return False
        self.position += len(text)
        return True

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
        if c == c"[" and self.has_operations:
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
                return (SET, self.number_of_stretches(escape[0]))
            return (SET, self.number_of_set(escape[0], escape[1], False, ignore_case))
        if c == c"^" and not self.portable:
            return self.behind_any(True)
        if c == c"$":
            return (END,)
        if c == c".":
            return (SET, self.number_of_set(0, [] if dot_all else [(10, 10)], True, False))
        if c in "^?*+{}]":
            raise self.refusal(start, "an anchor, or a quantifier or bracket out of place")
        return (SET, self.number_of_set(0, [(<int> c, <int> c)], False, ignore_case))

    cdef bint looking_at_one_of(self, str characters):
        return self.position < len(self.pattern) and self.pattern[self.position] in characters

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
        return (BEHIND, [[self.number_of_set(0, [], True, False)]], negative)

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
        self.refuse_long_folding(start, ignore_case)
        inside = self.nested_choice(start, ignore_case, dot_all)
        if not look:
            return inside
        if inside[0] != SET:
            raise self.refusal(start, "looking ahead at more than one character")
        return (LOOK, inside[1], negative)

    cdef int character_class(self, bint ignore_case) except -1:
        """[..] -> the number of its set"""
        cdef Py_ssize_t start = self.position, member
        cdef long long categories = 0
        cdef list ranges = []
        cdef tuple low, high, others = None
        self.position += 1
        cdef bint negated = self.skip("^")
        cdef bint is_first = True
        while is_first or not self.skip("]"):
            member = self.position
            low = self.class_member(start, ignore_case, is_first or self.pattern.startswith("-]", member))
            is_first = False
            if len(low) == 1:
                others = low[0] if others is None else united(others, low[0])
                if self.looking_at("-") and not self.looking_at("-]"):
                    raise self.refusal(member, "the range")
                continue
            categories |= low[0]
            if not self.looking_at("-") or self.looking_at("-]"):
                ranges += low[1]
                continue
            self.position += 1
            high = self.class_member(start, ignore_case, False)
            if low[0] or high[0] or len(high) == 1 or low[1][0][0] > high[1][0][0]:
                raise self.refusal(member, "the range")
            ranges.append((low[1][0][0], high[1][0][0]))
            if self.looking_at("-") and not self.looking_at("-]"):
                raise self.refusal(member, "the range")
        if others is None:
            return self.number_of_set(categories, ranges, negated, ignore_case)
        others = united(others, stretches_of(categories, self.folded(ranges, ignore_case)))
        return self.number_of_stretches(complement(others) if negated else others)

    # Classes with operations, the weakest first, as `regex` reads them after (?V1).

    cdef tuple set_of_class(self):
        """What follows a [, up to the ] after it -> stretches"""
        cdef Py_ssize_t start = self.position - 1
        cdef bint negated = self.skip("^")
        cdef tuple found
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.refusal(start, f"classes nested more than {MAX_DEPTH} deep")
        found = self.operands(0)
        self.depth -= 1
        if not self.skip("]"):
            raise self.refusal(start, "an unmatched bracket")
        return complement(found) if negated else found

    cdef tuple operands(self, int level):
        """Operands of the operation of a level and of those that bind closer -> stretches"""
        cdef tuple found = self.members() if level == 4 else self.operands(level + 1), more
        while level < 4 and self.skip(("||", "~~", "&&", "--")[level]):
            more = self.operands(level + 1)
            if level == 0:
                found = united(found, more)
            elif level == 1:
                found = in_one_alone(found, more)
            elif level == 2:
                found = intersected(found, more)
            else:
                found = without(found, more)
        return found

    cdef tuple members(self):
        """The members that stand side by side -> stretches"""
        cdef Py_ssize_t start = self.position
        cdef tuple found = None, member
        while not self.looking_at("]") and not self.at_operation():
            if self.position >= len(self.pattern) or self.looking_at("[:"):
                raise self.refusal(start, "in a class")
            member = self.set_of_class() if self.skip("[") else self.plain_member()
            found = member if found is None else united(found, member)
        if found is None:
            raise self.refusal(start, "a class without members")
        return found

    cdef bint at_operation(self):
        return self.looking_at("||") or self.looking_at("~~") or self.looking_at("&&") or self.looking_at("--")

    cdef tuple plain_member(self):
        """A character, a range or an escape in a class with operations -> stretches"""
        cdef Py_ssize_t start = self.position
        cdef tuple low = self.class_member(start, False, False), high
        if len(low) == 1:
            return low[0]
        if low[0] or not self.looking_at("-") or self.looking_at("-]") or self.looking_at("--"):
            return stretches_of(low[0], low[1])
        self.position += 1
        high = self.class_member(start, False, False)
        if len(high) == 1 or high[0] or low[1][0][0] > high[1][0][0]:
            raise self.refusal(start, "the range")
        return stretches_of(0, [(low[1][0][0], high[1][0][0])])

    cdef tuple class_member(self, Py_ssize_t start, bint ignore_case, bint may_be_hyphen):
        """One character or escape inside of [..] -> (categories, [range]), of which one is empty"""
        cdef Py_ssize_t member = self.position
        cdef Py_UCS4 c
        if self.position >= len(self.pattern):
            raise self.refusal(start, "an unmatched bracket")
        c = self.pattern[self.position]
        self.position += 1
        if c == c"\\":
            return self.escape(ignore_case)
        # [ and doubled operators are operations on sets in some engines, an early ] is a member of the class in others.
        if c in "[]" or (c in "&|~-" and self.position < len(self.pattern) and self.pattern[self.position] == c):
            raise self.refusal(member, "in a class")
        if c == c"-" and not may_be_hyphen:
            raise self.refusal(member, "a hyphen here")
        return (0, [(<int> c, <int> c)])

    cdef tuple escape(self, bint ignore_case):
        """What follows a backslash -> (categories, [range]), of which one is empty"""
        cdef Py_ssize_t start = self.position - 1
        cdef str c = self.pattern[self.position : self.position + 1]
        cdef str digits
        self.position += 1
        if c in ESCAPED_PUNCTUATION:
            return (0, [(ord(c), ord(c))])
        if c in SET_ESCAPES:
            return (SET_ESCAPES[c], [])
        if not self.portable and c in EXTENDED_SETS:
            return (EXTENDED_SETS[c],)
        if c in CONTROL_ESCAPES:
            return (0, [(CONTROL_ESCAPES[c], CONTROL_ESCAPES[c])])
        if (c == "p" or c == "P") and not self.portable and self.looking_at("{"):
            return self.named_property(c == "P", ignore_case)
        if c == "p" or c == "P":
            return (self.category(c == "P", ignore_case), [])
        if c in HEX_ESCAPES:
            digits = self.pattern[self.position : self.position + <int> HEX_ESCAPES[c]]
            self.position += len(digits)
            if len(digits) == <int> HEX_ESCAPES[c] and all([digit in "0123456789abcdefABCDEF" for digit in digits]):
                return (0, [(int(digits, 16), int(digits, 16))])
        raise self.refusal(start, "the escape")

    cdef tuple named_property(self, bint is_complement, bint ignore_case):
        """What follows \\p or \\P: {Lu}, {Greek}, {Script=Greek}, {^Alphabetic}, .. -> as escape"""
        cdef Py_ssize_t start = self.position - 2, end = self.pattern.find("}", self.position)
        cdef str name = self.pattern[self.position + 1 : end] if end > 0 else "", kind = ""
        cdef tuple found
        cdef long long bits
        self.position = end + 1 if end > 0 else self.position
        if name.startswith("^"):
            is_complement, name = not is_complement, name[1:]
        for separator in "=:":
            if separator in name:
                kind, _, name = name.partition(separator)
                break
        if kind not in ("", "Script", "script", "sc") or not name.replace("_", "").isalpha() or not name.isascii():
            raise self.refusal(start, "the property")
        if kind == "":
            name = LONG_NAMES.get(name.replace("_", "").lower(), name)
        if kind == "" and name in CATEGORY_BITS:
            if ignore_case and name not in UNCASED:
                raise self.refusal(start, "a property that ignores case")
            bits = CATEGORY_BITS[name]
            return (ALL_CATEGORIES & ~bits if is_complement else bits, [])
        found = property_set(name, kind != "")
        if found is None:
            raise self.refusal(start, "the property")
        if ignore_case:
            raise self.refusal(start, "a property that ignores case")
        return (complement(found) if is_complement else found,)

    cdef long long category(self, bint is_complement, bint ignore_case) except -1:
        """What follows \\p or \\P: {Lu}, {L} or L -> the categories as bits"""
        cdef Py_ssize_t start = self.position - 2, end
        cdef str name
        if self.skip("{"):
            end = self.pattern.find("}", self.position, self.position + 3)
            name = self.pattern[self.position : end] if end > 0 else ""
            self.position = end + 1 if end > 0 else self.position
        else:
            name = self.pattern[self.position : self.position + 1]
            self.position += 1
        if name not in CATEGORY_BITS:
            raise self.refusal(start, "the property")
        if ignore_case and name not in UNCASED:
            raise self.refusal(start, "a property that ignores case")
        cdef long long bits = CATEGORY_BITS[name]
        return ALL_CATEGORIES & ~bits if is_complement else bits

    cdef int number_of_set(self, long long categories, list ranges, bint negated, bint ignore_case) except -1:
        """Sets are kept once; (0, [(115, 115)], False) while ignoring case is also (83, 83) and the long s."""
        cdef tuple key = (categories, tuple(sorted(self.folded(ranges, ignore_case))), negated)
        return self.set_numbers.setdefault(key, len(self.set_numbers))

    cdef int number_of_stretches(self, tuple stretches) except -1:
        cdef tuple key = (stretches,)
        return self.set_numbers.setdefault(key, len(self.set_numbers))

    cdef set folded(self, list ranges, bint ignore_case):
        """The ranges, and if case is ignored those of the other case."""
        for first, last in ranges:
            # A lone surrogate is in no text that can be encoded.
            if last > 0x10FFFF or (first <= 0xDFFF and last >= 0xD800 and not (first < 0xD800 and last > 0xDFFF)):
                raise self.refusal(self.position, f"a code point in U+{first:04X} to U+{last:04X}")
        cdef set folded = set(ranges)
        if ignore_case:
            for first, last in ranges:
                if last > 127:
                    raise self.refusal(self.position, f"ignoring the case of U+{last:04X}")
                for code_point in range(first, last + 1):
                    folded.update(cases(code_point))
        return folded


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


cdef list cases(int c):
    """The other case of an ASCII letter, as ranges: s -> [(83, 83), (383, 383)]"""
    if not <int> c"a" <= c | 32 <= <int> c"z":
        return []
    cdef list others = [(c ^ 32, c ^ 32)]
    if c | 32 == <int> c"s":
        others.append((LONG_S, LONG_S))
    if c | 32 == <int> c"k":
        others.append((KELVIN_SIGN, KELVIN_SIGN))
    return others


cdef Pattern parse(str pattern, bint portable=True):
    """The syntax tree; PatternNotSupported names the first part that is not understood."""
    return (<Parser> Parser.__new__(Parser, pattern, portable)).parse()
