"""Vocabularies over characters, as SentencePiece and Hugging Face make them: text begins as characters, not as bytes.

The core merges bytes. So the first merges of such a vocabulary spell its characters, byte by byte: since the smallest
merge comes first, all characters stand before any two of them are merged, and what follows is merging of characters.
The text is valid UTF-8, in which no character begins within another one, so that nothing else is spelled.
"""

import array

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from cbpe._core.conversion.last_parts cimport LastParts, shortest_first
from cbpe._core.vocabulary.tables cimport NONE
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

from cbpe._core.conversion.merge_lists import checked_merges


cdef class Spellings:
    """The merges that come before all others: those that spell characters, and more that are joined. (left, right) of
    each, and what it makes."""

    def __init__(self, characters):
        cdef bytes character
        cdef Py_ssize_t i
        self.symbols = {bytes([byte]): byte for byte in range(256)}
        self.lefts, self.rights, self.made = [], [], []
        for character in characters:
            for i in range(1, len(character)):
                self.join(character[:i], character[i:i + 1])

    cdef int join(self, bytes left, bytes right) except -1:
        if left + right not in self.symbols:
            self.symbols[left + right] = 256 + len(self.made)
            self.lefts.append(self.symbols[left])
            self.rights.append(self.symbols[right])
            self.made.append(left + right)
        return 0


cdef LastParts known_of(Spellings spellings, Py_ssize_t n_more):
    """What is known before the first merge of characters, with room for n_more merges."""
    cdef LastParts known = LastParts(len(spellings.made) + n_more)
    cdef uint32_t i
    for i in range(len(spellings.made)):
        known.add(spellings.lefts[i], spellings.rights[i], 256 + i)
    return known


cdef list merges_by_rank(Spellings spellings, list ordered):
    """As merges_that_happen, where whatever spells a token is merged, those that come first in `ordered` first."""
    cdef Py_ssize_t n = len(ordered), at
    cdef uint32_t first = 256 + len(spellings.made), left = 0, right = 0, n_made = 0
    cdef LastParts known = known_of(spellings, n)
    cdef bytes token
    cdef list happen = []
    cdef uint32_t *lefts = <uint32_t *>malloc(3 * <size_t>(n + 1) * sizeof(uint32_t))
    cdef uint32_t *rights = lefts + n
    cdef uint32_t *symbols = rights + n     # of what each token is made of, in the end
    if lefts == NULL:
        raise MemoryError
    memset(lefts, 0xFF, n * sizeof(uint32_t))
    try:
        for at in shortest_first(ordered):
            token = ordered[at]
            if known.find(token, &left, &right):
                known.add(left, right, first + <uint32_t>at)
                lefts[at], rights[at] = left, right
        for at in range(n):
            symbols[at] = first + n_made
            n_made += lefts[at] != NONE
        for at in range(n):
            if lefts[at] != NONE:
                left, right = lefts[at], rights[at]
                left = symbols[left - first] if left >= first else left
                right = symbols[right - first] if right >= first else right
                happen.append((at, left, right, ordered[at]))
        return happen
    finally:
        free(lefts)


cdef list merges_that_happen(Spellings spellings, list tokens, dict numbers):
    """(number, left symbol, right symbol, token) of the tokens that merging makes, by rising number of the merge;
    merge_lists.pyx and ranks.pyx say why there is one pair for each token."""
    cdef Py_ssize_t first = 256 + len(spellings.made)
    cdef LastParts known = known_of(spellings, len(numbers))
    cdef uint32_t left, right
    cdef dict spelled = {symbol: token for token, symbol in spellings.symbols.items()}
    cdef list happen = []
    for at in shortest_first(tokens):
        token = tokens[at]
        if token in spellings.symbols or not known.find(token, &left, &right):
            continue
        number = numbers.get((spelled[left], spelled[right]))
        if number is not None:
            known.add(left, right, first + <uint32_t>number)
            spelled[first + number] = token
            happen.append((number, left, right, token))
    happen.sort()
    symbols = {first + number: first + i for i, (number, _, _, _) in enumerate(happen)}
    return [
        (number, symbols.get(left_symbol, left_symbol), symbols.get(right_symbol, right_symbol), token)
        for number, left_symbol, right_symbol, token in happen
    ]


def vocabulary_of_characters(
    dict ids not None, merges=None, byte_ids=None, unknown=None, bint fuses_unknown=False, ranks=None
):
    """The Vocabulary over characters with these tokens: dict[bytes, int] from UTF-8 to ids.

    merges: (left, right) as bytes, the first of which is merged first; None: two neighbours are merged if their bytes
    are a token, the one with the smallest id first, or with the smallest of `ranks`: dict[bytes, int]. byte_ids: the
    ids of the 256 bytes, which characters without a token become, or None. unknown and fuses_unknown are as for
    Vocabulary. ValueError as for vocabulary_from_merges.
    """
    cdef list characters = [], tokens = [], by_byte = [NONE] * 256, more = []
    cdef Spellings spellings
    for token in ids:
        PyErr_CheckSignals()
        n_characters = len(token.decode())
        if n_characters == 1 and len(token) > 1:
            characters.append(token)
        elif n_characters > 1:
            tokens.append(token)
        elif not token:
            raise ValueError(f"the token {ids[token]} has no characters")
    for byte in range(256):
        own = ids.get(bytes([byte])) if byte < 128 else None
        fallback = byte_ids[byte] if byte_ids is not None else None
        if own is not None and fallback is not None:
            more.append((fallback, bytes([byte])))
        if own is not None or fallback is not None:
            by_byte[byte] = own if own is not None else fallback
    characters.sort()
    spellings = Spellings(characters)
    if merges is None:
        happen = merges_by_rank(spellings, sorted(tokens, key=(ids if ranks is None else ranks).__getitem__))
    else:
        happen = merges_that_happen(spellings, tokens, checked_merges(ids, merges))
    merged = {token for _, _, _, token in happen}
    more += [(ids[token], token) for token in tokens if token not in merged]
    more.sort()
    return Vocabulary(
        array.array("I", [*spellings.lefts, *(left for _, left, _, _ in happen)]),
        array.array("I", [*spellings.rights, *(right for _, _, right, _ in happen)]),
        array.array("I", [
            *by_byte,
            *(ids.get(token, NONE) for token in spellings.made),
            *(ids[token] for _, _, _, token in happen),
            *(token_id for token_id, _ in more),
        ]),
        [token for _, token in more],
        characters=True,
        unknown=unknown,
        fuses_unknown=fuses_unknown,
    )
