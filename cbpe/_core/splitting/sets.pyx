"""Operations on sets of characters, and the sets of scripts and other properties of Unicode 16.0 (see
cbpe/_unicode/generate_properties.py).
"""

from libc.stdint cimport uint16_t, uint32_t

from cbpe._core.splitting.categories cimport CBPE_CATEGORY_NAMES, CBPE_CC_SPACE, CBPE_N_CATEGORIES


cdef extern from "properties.h" nogil:
    enum:
        CBPE_N_SCRIPTS
        CBPE_N_PROPERTIES
    const char *CBPE_PROPERTY_NAMES[1]
    const uint16_t CBPE_PROPERTY_STARTS[1]
    const uint32_t CBPE_PROPERTY_BOUNDS[1]


cdef dict category_bits():
    """The bits of all one- and two-letter categories: {"L": .., "Lu": .., ..}"""
    cdef dict bits = {}
    cdef int number
    cdef str name
    for number in range(CBPE_N_CATEGORIES):
        name = CBPE_CATEGORY_NAMES[number].decode("ascii")
        bits[name] = bits.get(name, 0) | 1 << number
        bits[name[0]] = bits.get(name[0], 0) | 1 << number
    return bits


CATEGORY_BITS = category_bits()
ALL_CATEGORIES = (<long long> 1 << CBPE_N_CATEGORIES) - 1
WHITE_SPACE = CATEGORY_BITS["Z"] | 1 << CBPE_CC_SPACE
cdef dict LONG_NAMES = {
    "letter": "L", "uppercaseletter": "Lu", "lowercaseletter": "Ll", "titlecaseletter": "Lt", "modifierletter": "Lm",
    "otherletter": "Lo", "mark": "M", "nonspacingmark": "Mn", "spacingmark": "Mc", "enclosingmark": "Me",
    "number": "N", "decimalnumber": "Nd", "letternumber": "Nl", "othernumber": "No", "punctuation": "P",
    "connectorpunctuation": "Pc", "dashpunctuation": "Pd", "openpunctuation": "Ps", "closepunctuation": "Pe",
    "initialpunctuation": "Pi", "finalpunctuation": "Pf", "otherpunctuation": "Po", "symbol": "S", "mathsymbol": "Sm",
    "currencysymbol": "Sc", "modifiersymbol": "Sk", "othersymbol": "So", "separator": "Z", "spaceseparator": "Zs",
    "lineseparator": "Zl", "paragraphseparator": "Zp", "control": "Cc", "format": "Cf", "privateuse": "Co",
}


cdef enum Operation:
    UNITED
    INTERSECTED
    WITHOUT
    IN_ONE_ALONE


cdef tuple stretches_of(long long categories, ranges):
    cdef list found = [(0, categories)]
    cdef int end = -1   # of the ranges so far
    for first, last in sorted(ranges):
        if last <= end:
            continue
        if first > end + 1 or end < 0:
            found.append((first, ALL_CATEGORIES))
        else:
            found.pop()   # the range before goes on
        found.append((last + 1, categories))
        end = last
    return in_order(found)


cdef tuple in_order(list stretches):
    """Stretches of which none is empty, and none has the categories of the one before."""
    cdef list found = []
    for first, categories in stretches:
        if found and found[len(found) - 1][0] == first:
            found.pop()
        if not found or found[len(found) - 1][1] != categories:
            found.append((first, categories))
    return tuple(found)


cdef tuple combined(tuple first, tuple second, Operation operation):
    cdef Py_ssize_t i = 0, j = 0, start
    cdef long long one, other
    cdef list found = []
    while i < len(first) or j < len(second):
        if j == len(second) or (i < len(first) and first[i][0] <= second[j][0]):
            start = first[i][0]
            i += 1
            if j < len(second) and second[j][0] == start:
                j += 1
        else:
            start = second[j][0]
            j += 1
        one, other = first[i - 1][1], second[j - 1][1]
        if operation == UNITED:
            one |= other
        elif operation == INTERSECTED:
            one &= other
        elif operation == WITHOUT:
            one &= ~other
        else:
            one ^= other
        found.append((start, one))
    return in_order(found)


cdef tuple united(tuple first, tuple second):
    return combined(first, second, UNITED)


cdef tuple intersected(tuple first, tuple second):
    return combined(first, second, INTERSECTED)


cdef tuple without(tuple first, tuple second):
    return combined(first, second, WITHOUT)


cdef tuple in_one_alone(tuple first, tuple second):
    return combined(first, second, IN_ONE_ALONE)


cdef tuple complement(tuple of):
    return tuple([(first, ALL_CATEGORIES & ~categories) for first, categories in of])


cdef tuple property_set(str name, bint script):
    cdef str plain = name.replace("_", "").replace("-", "").replace(" ", "").lower()
    cdef int number, i
    for number in range(CBPE_N_SCRIPTS if script else CBPE_N_PROPERTIES):
        if CBPE_PROPERTY_NAMES[number].decode("ascii").replace("_", "").lower() == plain:
            return stretches_of(0, [
                (CBPE_PROPERTY_BOUNDS[i], CBPE_PROPERTY_BOUNDS[i + 1])
                for i in range(CBPE_PROPERTY_STARTS[number], CBPE_PROPERTY_STARTS[number + 1], 2)
            ])
    return None


# \w: Alphabetic, marks, decimal digits, connectors and joiners. Of symbols, letters in circles and boxes are.
cdef long long OF_WORDS = (
    CATEGORY_BITS["L"] | CATEGORY_BITS["M"] | CATEGORY_BITS["Nd"] | CATEGORY_BITS["Nl"] | CATEGORY_BITS["Pc"]
)
cdef tuple OF_WORDS_TOO = (
    (0x200C, 0x200D), (0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189)
)
cdef tuple WORD = stretches_of(OF_WORDS, OF_WORDS_TOO)
cdef tuple BLANK = stretches_of(CATEGORY_BITS["Zs"], [(9, 9)])
