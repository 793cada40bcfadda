"""Vocabularies with other tokens where a word begins or ends than within it: "##ing", "ing</w>".

The core merges BEGIN and END with each piece (tables.pxd). So the first merges of such a vocabulary join them to the
first and to the last character, or byte, behind those that spell characters (characters.pyx). All that can stand there
is joined, also what has no token there: such a character is unknown.
"""

import array

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t

from cbpe._core.conversion.last_parts cimport LastParts, shortest_first
from cbpe._core.vocabulary.tables cimport BEGIN, END, NONE
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

from cbpe._core.conversion.merge_lists import checked_merges

BEGIN_MARK = bytes([BEGIN])
END_MARK = bytes([END])


cdef class FirstMerges:
    """The merges that come before all others: (left, right) of each, and what it makes."""

    cdef dict symbols       # bytes -> symbol, single bytes included
    cdef list lefts, rights, made

    def __init__(self):
        self.symbols = {bytes([byte]): byte for byte in range(256)}
        self.lefts, self.rights, self.made = [], [], []

    cdef void join(self, bytes left, bytes right):
        if left + right not in self.symbols:
            self.symbols[left + right] = 256 + len(self.made)
            self.lefts.append(self.symbols[left])
            self.rights.append(self.symbols[right])
            self.made.append(left + right)


cdef FirstMerges first_merges(list characters, bint begins, bint ends):
    cdef FirstMerges first = FirstMerges()
    cdef bytes character
    cdef Py_ssize_t i
    for character in characters:
        for i in range(1, len(character)):
            first.join(character[:i], character[i:i + 1])
    if begins:
        for character in characters:
            first.join(BEGIN_MARK, character)
    if ends:
        for character in characters:
            if begins:
                first.join(BEGIN_MARK + character, END_MARK)
            first.join(character, END_MARK)
    return first


def vocabulary_of_words(
    dict ids not None,
    merges,
    characters,
    bytes prefix=b"",
    bytes suffix=b"",
    bint over_characters=False,
    unknown=None,
    bint fuses_unknown=False,
):
    """The Vocabulary with these tokens: dict[bytes, int], where 0xFE stands before tokens that begin a word, if there
    is a prefix, and 0xFF behind those that end one, if there is a suffix.

    merges: (left, right) as such bytes, the first of which is merged first. characters: the bytes of each character
    that a word may have, or the single bytes. The others are as for Vocabulary. ValueError as for
    vocabulary_from_merges.
    """
    cdef dict numbers = checked_merges(ids, merges)
    cdef FirstMerges before = first_merges(sorted(characters), bool(prefix), bool(suffix))
    cdef uint32_t left, right, first = 256 + len(before.made), i
    cdef LastParts known = LastParts(len(before.made) + len(numbers))
    cdef dict spelled = {symbol: token for token, symbol in before.symbols.items()}
    cdef list happen = [], tokens = list(dict.fromkeys([one + other for one, other in numbers]))
    for i in range(len(before.made)):
        known.add(before.lefts[i], before.rights[i], 256 + i)
    for at in shortest_first(tokens):
        PyErr_CheckSignals()
        token = tokens[at]
        if token in before.symbols or not known.find(token, &left, &right):
            continue
        number = numbers.get((spelled[left], spelled[right]))
        if number is not None:
            known.add(left, right, first + <uint32_t>number)
            spelled[first + number] = token
            happen.append((number, left, right, token))
    happen.sort()
    places = {first + number: first + i for i, (number, _, _, _) in enumerate(happen)}
    merged = {token for _, _, _, token in happen}
    more = sorted((ids[token], token) for token in ids if token not in merged and token not in before.symbols)
    return Vocabulary(
        array.array("I", [*before.lefts, *(places.get(part, part) for _, part, _, _ in happen)]),
        array.array("I", [*before.rights, *(places.get(part, part) for _, _, part, _ in happen)]),
        array.array("I", [
            *(ids.get(bytes([byte]), NONE) for byte in range(256)),
            *(ids.get(token, NONE) for token in before.made),
            *(ids[token] for _, _, _, token in happen),
            *(token_id for token_id, _ in more),
        ]),
        [token for _, token in more],
        characters=over_characters,
        unknown=unknown,
        fuses_unknown=fuses_unknown,
        prefix=prefix,
        suffix=suffix,
    )
