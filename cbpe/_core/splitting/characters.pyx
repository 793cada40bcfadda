"""Reads what a split pattern says of single characters: escapes, properties, and classes, with and without operations
on sets. Each set that it comes upon gets a number.

What is not certain to mean the same in Python's `regex` and in Rust's engines is refused in a portable pattern; what
else is known means what it means to `regex`.
"""

from cbpe._core.splitting.sets cimport (
    ALL_CATEGORIES, BLANK, CATEGORY_BITS, LONG_NAMES, WHITE_SPACE, WORD, complement, in_one_alone, intersected,
    property_set, stretches_of, united, without
)


cdef int LONG_S = 0x17F
cdef int KELVIN_SIGN = 0x212A


class PatternNotSupported(ValueError):
    """A split pattern that may be valid, but holds something that the native splitter does not understand."""


cdef object unsupported(str what):
    """The exception, to be raised."""
    return PatternNotSupported(f"not compiled: {what}")


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


cdef class CharacterReader:
    """Stands at a position of a pattern, and reads on from there."""

    def __cinit__(self, str pattern, bint portable):
        self.pattern = pattern
        self.portable = portable
        self.set_numbers = {}

    cdef object refusal(self, Py_ssize_t start, str what):
        """The exception that names a part of the pattern."""
        from cbpe._core.text.shown import shown      # messages alone take it

        cdef str part = self.pattern[start : max(self.position, start + 1)]
        # As the pattern has it, with its backslashes as they are.
        return unsupported(f"{what}, {shown(part).replace(chr(92) * 2, chr(92))} at {start}")

    cdef bint looking_at(self, str text):
        return self.pattern.startswith(text, self.position)

    cdef bint skip(self, str text):
        """Step over the text if it comes next."""
        if not self.looking_at(text):
            return False
        self.position += len(text)
        return True

    cdef bint looking_at_one_of(self, str characters):
        return self.position < len(self.pattern) and self.pattern[self.position] in characters

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
        if ignore_case:
            self.refuse_letters(start, ~categories if negated else categories, others)
        if others is None:
            return self.number_of_set(start, categories, ranges, negated, ignore_case)
        others = united(others, stretches_of(categories, self.folded(start, ranges, ignore_case)))
        return self.number_of_stretches(complement(others) if negated else others)

    # Classes with operations, the weakest first, as `regex` reads them after (?V1).

    cdef int refuse_letters(self, Py_ssize_t start, long long categories, tuple others) except -1:
        """Where `regex` ignores case after (?V1), a set of letters may also match the several characters to which one
        of them folds. Which of the sets do depends on what stands beside them."""
        cdef long long letters = CATEGORY_BITS["L"]
        cdef bint has_letters = categories & letters != 0
        if others is not None:
            has_letters = has_letters or any([<long long> bits & letters != 0 for _, bits in others])
        if has_letters and self.has_operations:
            raise self.refusal(start, "ignoring case after (?V1) where other letters may match than those of ASCII")
        return 0

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
        if (c == "p" or c == "P") and self.looking_at("{"):
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
        """What follows \\p or \\P: {Lu}, {Greek}, {Alphabetic}, .. and, where not all engines need to take it,
        {Script=Greek} and {^Lu} -> as escape"""
        cdef Py_ssize_t start = self.position - 2, end = self.pattern.find("}", self.position)
        cdef str name = self.pattern[self.position + 1 : end] if end > 0 else "", kind = ""
        cdef tuple found
        cdef long long bits
        self.position = end + 1 if end > 0 else self.position
        if name.startswith("^") and not self.portable:
            is_complement, name = not is_complement, name[1:]
        for separator in "" if self.portable else "=:":
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
        """The letter that follows \\p or \\P -> the categories as bits"""
        cdef Py_ssize_t start = self.position - 2
        cdef str name = self.pattern[self.position : self.position + 1]
        self.position += 1
        if name not in CATEGORY_BITS:
            raise self.refusal(start, "the property")
        if ignore_case and name not in UNCASED:
            raise self.refusal(start, "a property that ignores case")
        cdef long long bits = CATEGORY_BITS[name]
        return ALL_CATEGORIES & ~bits if is_complement else bits

    cdef int number_of_set(
        self, Py_ssize_t start, long long categories, list ranges, bint negated, bint ignore_case
    ) except -1:
        """The number of the set that the pattern has from start on. Sets are kept once;
        (0, [(115, 115)], False) while ignoring case is also (83, 83) and the long s."""
        cdef tuple key = (categories, tuple(sorted(self.folded(start, ranges, ignore_case))), negated)
        return self.set_numbers.setdefault(key, len(self.set_numbers))

    cdef int number_of_stretches(self, tuple stretches) except -1:
        cdef tuple key = (stretches,)
        return self.set_numbers.setdefault(key, len(self.set_numbers))

    cdef set folded(self, Py_ssize_t start, list ranges, bint ignore_case):
        """The ranges of what the pattern has from start on, and if case is ignored those of the other case."""
        for first, last in ranges:
            # A lone surrogate is in no text that can be encoded.
            if last > 0x10FFFF or (first <= 0xDFFF and last >= 0xD800 and not (first < 0xD800 and last > 0xDFFF)):
                raise self.refusal(start, f"a code point in U+{first:04X} to U+{last:04X}")
        cdef set folded = set(ranges)
        if ignore_case:
            for first, last in ranges:
                if last > 127:
                    raise self.refusal(start, f"ignoring the case of U+{last:04X}")
                for code_point in range(first, last + 1):
                    folded.update(cases(code_point))
        return folded


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
