"""Where the first piece of each prefix of a text ends."""

from libc.stdint cimport uint8_t, uint64_t

from cbpe._core.splitting.split cimport SplitTables


# The first piece, or a character that the pattern drops.
cdef struct First:
    Py_ssize_t end      # where it ends
    Py_ssize_t seen     # it is so in every prefix that is at least so long
    bint dropped        # it is one character that is in no piece


# Prefixes text[:first] to text[:last] whose first piece ends at the same place, which is before their own end.
cdef struct PrefixRun:
    Py_ssize_t first
    Py_ssize_t last
    Py_ssize_t end
    bint dropped


# What prefix_ends finds. The owner sets all to 0 at first, and calls free_prefix_ends.
cdef struct PrefixEnds:
    uint64_t *whole     # bit k - start: text[start:k] is one piece
    Py_ssize_t n_words
    PrefixRun *runs     # of the other prefixes, by rising length
    Py_ssize_t n_runs
    Py_ssize_t capacity


# Find what text[start:size] begins with, and from which prefix on it does so however the text goes on. False where that
# takes more than text[:size] to tell.
cdef bint settle_first(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t size, Py_ssize_t start, First *found
) noexcept nogil

# Find, for each prefix text[:k], start < k <= size, that ends with a character, where the first piece from `start` on
# ends. settle_first has found nothing in text[:size]. False where there is no memory.
cdef bint prefix_ends(
    const SplitTables *tables, const uint8_t *text, Py_ssize_t size, Py_ssize_t start, PrefixEnds *found
) noexcept nogil

cdef void free_prefix_ends(PrefixEnds *found) noexcept nogil
