"""Splitting 64 bytes at once, with shifts and masks instead of a step of the automaton for each: ASCII, and letters and
punctuation of two and three bytes.

Whether a piece begins at a character depends on little: what it, its neighbours and the runs that they belong to are.
Everything here is relative to a place where a piece is known to begin, so nothing is carried from one block of 64 bytes
to the next: the next block begins with the last piece that this one could not finish.
"""

from libc.string cimport memcpy, memset

from cbpe._core.c.ascii cimport cbpe_masks
from cbpe._core.c.bits cimport cbpe_count_bits, cbpe_highest_bit, cbpe_lowest_bit
from cbpe._core.c.loads cimport cbpe_load64
from cbpe._core.splitting.categories cimport CBPE_CATEGORY_NAMES, category_of

cdef enum:
    LONG_S = 0x17F
    NEXT_LINE = 0x85            # white space, though its category is that of control characters


cdef inline int contraction(const uint8_t *text, int left, uint32_t rules) noexcept nogil:
    """The length of the contraction that begins with the apostrophe text[0]: 0 for none, -1 if the `left` bytes do not
    tell."""
    cdef uint8_t first, second, fold = 0x20 if rules & ANY_CASE else 0
    if left < 2:
        return -1
    first = text[1] | fold
    if first == c's' or first == c'd' or first == c'm' or first == c't':
        return 2
    if first != c'l' and first != c'v' and first != c'r':
        return 0
    if left < 3:
        return -1
    second = text[2] | fold
    return 3 if second == (c'l' if first == c'l' else c'e') else 0


cdef inline uint64_t begin_tails(uint64_t blanks, uint64_t newlines, uint64_t gaps) noexcept nogil:
    """Where the rest of a run of white space begins after its last line break. `gaps`: the white space that is no
    line break."""
    cdef uint64_t begins = gaps & (blanks & newlines) << 1
    cdef uint64_t left = begins, bit
    if (gaps + begins) & ~gaps & blanks:
        # A stretch of gaps is followed by one more line break: take out where it begins.
        while left:
            bit = left & (0 - left)
            left ^= bit
            if (gaps + bit) & ~gaps & blanks:
                begins ^= bit
    return begins


# A bit for each character of two and three bytes, 64 in each item: the letters, and the capitals and small letters
# among them. OTHERS are no letters, no numbers and no white space; MARKS (accents and the like) are some of these.
cdef uint64_t LETTERS[1024]
cdef uint64_t CAPITALS[1024]
cdef uint64_t SMALL[1024]
cdef uint64_t OTHERS[1024]
cdef uint64_t MARKS[1024]


cdef void fill_characters() noexcept nogil:
    cdef uint32_t character
    cdef uint64_t bit
    cdef const char *category
    for character in range(128, 0x10000):
        category = CBPE_CATEGORY_NAMES[category_of(character)]
        bit = <uint64_t>1 << (character & 63)
        if category[0] == c'L':
            # The long s is the s of a contraction where case does not matter.
            if character != LONG_S:
                LETTERS[character >> 6] |= bit
                if category[1] == c'u':
                    CAPITALS[character >> 6] |= bit
                elif category[1] == c'l':
                    SMALL[character >> 6] |= bit
        elif category[0] != c'N' and category[0] != c'Z' and character != NEXT_LINE:
            OTHERS[character >> 6] |= bit
            if category[0] == c'M':
                MARKS[character >> 6] |= bit


fill_characters()


cdef uint64_t add_wide(const uint8_t *text, uint32_t rules, cbpe_masks *m) noexcept nogil:
    """Make letters of two and three bytes letters in the masks, and characters that are punctuation to the patterns no
    longer unknown, up to the first other character that is not ASCII. What the rules say of ASCII holds for them.
    Returns the bytes of this punctuation but the first of each.

    With CASES, it also stops at a letter that is neither capital nor small, and at most marks.
    """
    cdef uint64_t left = m.beyond, whole, small, tails = 0
    cdef uint32_t block
    cdef uint8_t byte, bit
    cdef int i, length
    while left:
        i = cbpe_lowest_bit(left)
        byte = text[i]
        if 0xC2 <= byte < 0xE0:
            length = 2
            block = byte & 31
        elif 0xE0 <= byte < 0xE3:
            length = 3
            block = (byte & 15) << 6 | text[i + 1] & 63 if i < 63 else 0
        else:
            break
        if i + length > 64:
            break
        bit = text[i + length - 1] & 63
        whole = ((<uint64_t>1 << length) - 1) << i
        if LETTERS[block] >> bit & 1:
            if rules & CASES:
                if CAPITALS[block] >> bit & 1:
                    m.upper |= whole
                elif not SMALL[block] >> bit & 1:
                    break
            m.letter |= whole
        elif rules & CASES and MARKS[block] >> bit & 1:
            # A mark after a small letter counts as a small letter, unless that letter may end a contraction (of two
            # letters at most).
            small = m.letter & ~m.upper & ~(m.apostrophe << 1 | m.apostrophe << 2)
            if not small << 1 >> i & 1:
                break
            m.letter |= whole
        elif OTHERS[block] >> bit & 1:
            tails |= whole & whole << 1
        else:
            break
        left &= ~whole
    m.beyond = left
    return tails


cdef inline uint64_t last_bytes(uint64_t firsts, uint64_t tails) noexcept nogil:
    """The last bytes of the characters whose first ones are given."""
    cdef uint64_t second = firsts << 1 & tails
    return (firsts | second) & ~(tails >> 1) | second << 1 & tails


cdef inline uint64_t number_starts(uint64_t digits, uint64_t spaces, uint32_t rules) noexcept nogil:
    """Where numbers begin, each of which may be only a part of a run of digits."""
    cdef uint64_t starts = digits & ~(digits << 1), group
    if rules & DIGITS_BY_ONE:
        return digits
    if rules & DIGIT_PREFIX:
        starts &= ~(spaces << 1)
    if rules & DIGITS_BY_THREE:
        group = starts << 3 & digits & digits << 1 & digits << 2
        while group:
            starts |= group
            group = group << 3 & digits & digits << 1 & digits << 2
    return starts


cdef inline uint64_t fit_contractions(
    const uint8_t *text, int size, uint32_t rules, uint64_t apostrophes, uint64_t *starts
) noexcept nogil:
    """Let pieces begin and end as contractions do, each of which begins with one of these apostrophes. Returns where
    the starts are certain: not from a contraction on that the text, of `size` bytes, cuts off."""
    cdef uint64_t bit
    cdef int i, length
    while apostrophes:
        i = cbpe_lowest_bit(apostrophes)
        bit = <uint64_t>1 << i
        apostrophes ^= bit
        length = contraction(text + i, size - i, rules)
        if length < 0:
            return bit - 1 if rules & SUFFIXES else 2 * bit - 1
        if length == 0:
            continue
        if rules & SUFFIXES:
            starts[0] &= ~bit
            # An apostrophe right after it begins a piece as well, and is no suffix.
            apostrophes &= ~(bit << length)
        # Nothing begins within the contraction, and something right after it.
        starts[0] &= ~((bit << length) - 2 * bit)
        starts[0] |= bit << length
    return ~<uint64_t>0


cdef inline uint64_t contractions_at(
    uint64_t apostrophes, uint64_t letters, uint64_t marks, int size, uint32_t rules
) noexcept nogil:
    """The apostrophes that a contraction may begin with: before a letter, and at the end of what is known."""
    if rules & WITHOUT_CONTRACTIONS:
        return 0
    return apostrophes & (letters >> 1 & (letters << 1 if rules & SUFFIXES else marks) | <uint64_t>1 << (size - 1))


cdef inline bint has_controls(const uint8_t *text, int n, const cbpe_masks *m) noexcept nogil:
    """Whether there are control characters that are no white space among n bytes, after which zeros follow up to 64."""
    cdef uint64_t eight, low, deleted = 0
    cdef uint64_t sevens = 0x7F7F7F7F7F7F7F7F, tops = <uint64_t>0x8080808080808080
    cdef uint64_t spaces = 0x6060606060606060  # added to a byte from 0x20 on, this carries to its top bit
    cdef int i, count = 0
    for i in range(8):
        eight = cbpe_load64(text + 8 * i)
        low = ((eight & sevens) + spaces | eight) & tops    # the top bits of bytes from 0x20 on
        count += 8 - cbpe_count_bits(low)
        eight ^= sevens
        deleted |= ~((eight & sevens) + sevens | eight) & tops          # of bytes that are 0x7F
    return deleted != 0 or count != 64 - n + cbpe_count_bits(m.blank & ~m.space)


cdef inline uint64_t starts_within(
    const uint8_t *text, int n, uint32_t rules, cbpe_classify classify
) noexcept nogil:
    """piece_starts, where n is 64, or last_piece_starts."""
    cdef:
        cbpe_masks m
        uint64_t valid = ~<uint64_t>0       # what is known
        uint64_t trusted = ~<uint64_t>0     # where what is known decides
        uint64_t tails = 0                  # of punctuation that is not ASCII, all but the first bytes
        uint64_t letters, digits, spaces, newlines, blanks, gaps, punctuation, taken
        uint64_t starts, words, marks, prefixes, group, bit
        int size = 64, i
    classify(text, &m)
    if n < 64:
        m.beyond |= ~<uint64_t>0 << n
    if rules & VISIBLE_ALONE:
        if has_controls(text, n, &m):
            return 1
    elif m.beyond:
        tails = add_wide(text, rules, &m)
    if m.beyond:
        size = cbpe_lowest_bit(m.beyond)
        if size == 0:
            return 1
        valid = (<uint64_t>1 << size) - 1
    letters, digits, spaces = m.letter & valid, m.digit & valid, m.space & valid
    newlines, blanks = m.newline & valid, m.blank & valid
    punctuation = valid & ~(letters | digits | blanks)

    if rules & NEWLINES:
        # Line breaks right after punctuation belong to it: the carry of the addition runs through them.
        taken = newlines & ~(newlines + (newlines & punctuation << 1))
        blanks &= ~taken
        if rules & SLASHES and m.slash & taken << 1:
            bit = m.slash & taken << 1
            trusted = (bit & (0 - bit)) - 1
        gaps = blanks & ~newlines
        starts = begin_tails(blanks, newlines, gaps)
    else:
        gaps = blanks
        starts = 0
    # A piece begins at the first and at the last character of each run of white space. The last one joins what
    # follows, or stands alone. (With NEWLINES, none begins at a last one that is a line break.)
    starts |= blanks & ~(blanks << 1) | gaps & ~(blanks >> 1) & ~(digits >> 1 if rules & BLANKS_BEFORE_DIGITS else 0)
    if blanks >> (size - 1) & 1:
        # A run that may go on: nothing is certain but where it begins.
        bit = ~blanks & valid
        i = cbpe_highest_bit(bit) + 1 if bit else 0
        trusted &= (<uint64_t>2 << i) - 1

    marks = punctuation & ~(punctuation << 1)
    prefixes = spaces
    if rules & ANY_PREFIX:
        bit = marks & ~(spaces << 1)
        prefixes = gaps | (last_bytes(bit, tails) if tails else bit) & letters >> 1
    words = letters & ~(letters << 1) & ~(prefixes << 1)
    marks &= ~(spaces << 1)
    if rules & CASES:
        words |= m.upper & (letters & ~m.upper) << 1
    starts |= words | number_starts(digits, spaces, rules) | marks

    group = contractions_at(m.apostrophe, letters, marks, size, rules)
    if group:
        trusted &= fit_contractions(text, size, rules, group, &starts)
    starts = starts & valid & trusted | 1
    if size == n < 64 and valid & ~trusted == 0:
        # All is known and decided: the text's end ends the last piece.
        starts |= <uint64_t>1 << n
    return starts


cdef uint64_t marks_for_spaces(const uint8_t *text) noexcept nogil:
    """Where U+2581 begins: the bytes E2 96 81."""
    cdef uint64_t marks = 0
    cdef uint8_t found = 0
    cdef int i
    for i in range(62):
        found |= (text[i] == 0xE2) & (text[i + 1] == 0x96) & (text[i + 2] == 0x81)
    if found:
        for i in range(62):
            if text[i] == 0xE2 and text[i + 1] == 0x96 and text[i + 2] == 0x81:
                marks |= <uint64_t>1 << i
    return marks


cdef inline uint64_t starts_at_spaces(const uint8_t *text, cbpe_classify classify) noexcept nogil:
    """piece_starts for AT_SPACES. A mark that the block cuts off begins a piece of the next one: the last piece of a
    block is never complete. Line feeds that end a text are in no piece, which the automaton knows."""
    cdef cbpe_masks m
    cdef uint64_t feeds, left
    cdef int i
    classify(text, &m)
    feeds = left = m.newline
    while left:
        i = cbpe_lowest_bit(left)
        left &= left - 1
        if text[i] != c"\n":
            feeds ^= <uint64_t>1 << i
    return m.space | feeds & ~(feeds << 1) | (marks_for_spaces(text) if m.beyond else 0) | 1


cdef uint64_t piece_starts(const uint8_t *text, uint32_t rules, cbpe_classify classify) noexcept nogil:
    return starts_at_spaces(text, classify) if rules & AT_SPACES else starts_within(text, 64, rules, classify)


cdef uint64_t last_piece_starts(const uint8_t *text, int n, uint32_t rules, cbpe_classify classify) noexcept nogil:
    cdef uint8_t block[64]
    memset(block, 0, sizeof(block))
    memcpy(block, text, <size_t>n)
    return starts_within(block, n, rules, classify)


RULES = {
    "ANY_PREFIX": ANY_PREFIX, "DIGIT_PREFIX": DIGIT_PREFIX, "DIGITS_BY_THREE": DIGITS_BY_THREE,
    "DIGITS_BY_ONE": DIGITS_BY_ONE, "NEWLINES": NEWLINES, "SLASHES": SLASHES, "ANY_CASE": ANY_CASE,
    "SUFFIXES": SUFFIXES, "CASES": CASES, "BLANKS_BEFORE_DIGITS": BLANKS_BEFORE_DIGITS,
    "WITHOUT_CONTRACTIONS": WITHOUT_CONTRACTIONS, "VISIBLE_ALONE": VISIBLE_ALONE,
    "AT_SPACES": AT_SPACES,
}


def ascii_rules(*names):
    """These AsciiRules together, as Splitter takes them: ascii_rules("ANY_PREFIX", "NEWLINES") -> 17"""
    return sum(RULES[name] for name in names)
