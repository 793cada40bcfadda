"""Splitting 64 bytes at once, of ASCII and of letters and punctuation of two and three bytes: what the splitter uses of
it."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from cbpe._core.c.ascii cimport cbpe_classify


# How a family of split patterns treats ASCII. All but AT_SPACES have runs of letters, of digits, of white space and of
# the other characters ("punctuation"), and all but the last character of white space is left to what follows it.
cdef enum AsciiRules:
    ANY_PREFIX = 1              # a word may begin with any character but a digit or line break; otherwise with a space
    DIGIT_PREFIX = 2            # a number may begin with a space
    DIGITS_BY_THREE = 4         # a number has at most three digits
    DIGITS_BY_ONE = 8           # a number has one digit
    NEWLINES = 16               # white space is cut after its last line break; punctuation takes those that follow
    SLASHES = 32                # ... and slashes among them
    ANY_CASE = 64               # contractions may be in capitals
    SUFFIXES = 128              # contractions end a word, instead of being pieces
    CASES = 256                 # a word is capitals, then small letters: it ends where a capital follows a small one
    BLANKS_BEFORE_DIGITS = 512  # all white space before a number is one piece
    WITHOUT_CONTRACTIONS = 1024
    VISIBLE_ALONE = 2048        # the rules say nothing of control characters, nor of what is not ASCII
    AT_SPACES = 4096            # pieces begin at spaces, marks U+2581 and runs of line feeds alone


# The places in text[0:64], all of which may be read, where pieces begin, given that one begins at 0: a bit for each.
# It reports a place only if neither the bytes after the 64 nor a character that the rules do not cover could change it.
# The next call does the rest.
cdef uint64_t piece_starts(const uint8_t *text, uint32_t rules, cbpe_classify classify) noexcept nogil

# The same for text[0:n], the last n bytes of a text, from 1 to 63; no byte after them is read. Bit n is set if the last
# piece is known to end there: nothing is left to be found. Not for AT_SPACES.
cdef uint64_t last_piece_starts(const uint8_t *text, int n, uint32_t rules, cbpe_classify classify) noexcept nogil
