"""Vocabularies with other tokens where a word begins or ends than within it: "##ing", "ing</w>".

The core merges BEGIN and END with each piece (tables.pxd). So the first merges of such a vocabulary join them to the
first and to the last character, or byte, behind those that spell characters (characters.pyx). All that can stand there
is joined, also what has no token there: such a character is unknown.
"""

import array

from cbpe._core.conversion.characters cimport Spellings, merges_that_happen
from cbpe._core.vocabulary.tables cimport BEGIN, END, NONE
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

from cbpe._core.conversion.merge_lists import checked_merges

BEGIN_MARK = bytes([BEGIN])
END_MARK = bytes([END])


cdef Spellings first_merges(list characters, bint begins, bint ends):
    cdef Spellings first = Spellings(characters)
    cdef bytes character
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
    cdef Spellings before = first_merges(sorted(characters), bool(prefix), bool(suffix))
    cdef list happen = merges_that_happen(before, list(dict.fromkeys([one + other for one, other in numbers])), numbers)
    merged = {token for _, _, _, token in happen}
    more = sorted((ids[token], token) for token in ids if token not in merged and token not in before.symbols)
    return Vocabulary(
        array.array("I", [*before.lefts, *(left for _, left, _, _ in happen)]),
        array.array("I", [*before.rights, *(right for _, _, right, _ in happen)]),
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
