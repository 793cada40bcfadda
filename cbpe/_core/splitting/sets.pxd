"""Sets of characters that operations make of others: by stretches of code points, in each of which the set has those of
some categories.

Such a set is a tuple of (first code point, categories as bits); a stretch ends where the next one begins, and the first
begins at 0.
"""


# The bits of all one- and two-letter categories, the long names of these ("uppercaseletter" -> "Lu"), and sets of them.
cdef dict CATEGORY_BITS
cdef dict LONG_NAMES
cdef long long ALL_CATEGORIES
cdef long long WHITE_SPACE

# Sets as stretches: what is part of a word, and horizontal space.
cdef tuple WORD
cdef tuple BLANK


# The set of some categories and ranges, as a Pattern has it.
cdef tuple stretches_of(long long categories, ranges)

# What is in one set or the other, in both, in the first alone, in just one; and what is not in a set.
cdef tuple united(tuple first, tuple second)
cdef tuple intersected(tuple first, tuple second)
cdef tuple without(tuple first, tuple second)
cdef tuple in_one_alone(tuple first, tuple second)
cdef tuple complement(tuple of)

# The set of a property by its name: a script, "Alphabetic", "Emoji", ..; with "script" alone, of a script. None for
# another name.
cdef tuple property_set(str name, bint script)
