"""From a list of merges of tokens (GPT-2's and Hugging Face's form of a vocabulary) to merges that can happen.

Such a list may merge two pairs to the same token: converters from ranks write down every way to cut a token in two. But
a merge happens somewhere only if it is the last one when the bytes of its own result are merged (last_parts.pyx says
why), and of several merges to one token at most one is. The others are left out, which changes no result.
"""

import array

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t

from cbpe._core.conversion.last_parts cimport LastParts, shortest_first
from cbpe._core.vocabulary.tables cimport NONE
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

from cbpe._core.text.shown import shown


def checked_merges(dict ids, merges):
    """The merges as {(left, right): number}. ValueError where one is given twice, or is not of tokens to a token,
    and for an id that is out of range."""
    cdef dict numbers = {}
    for token, token_id in ids.items():
        if not 0 <= token_id < NONE:
            named = f"the id {shown(token_id)} of {shown(token)}"
            raise ValueError(f"{named} is out of range: ids are from 0 to {NONE - 1}")
    for number, (left, right) in enumerate(merges):
        PyErr_CheckSignals()
        for token in (left, right, left + right):
            if token not in ids:
                both = f"{shown(left)} and {shown(right)}"
                raise ValueError(f"merge {number} is of {both}, and there is no token {shown(token)}")
        if numbers.setdefault((left, right), number) != number:
            first = numbers[left, right]
            raise ValueError(f"the merge of {shown(left)} and {shown(right)} is given twice, as {first} and {number}")
    return numbers


def merges_that_happen(dict numbers not None):
    """Of merges {(left, right): number}, the merge with the lowest number first, those that can happen, by rising
    number: a list of (number, left symbol, right symbol). Merge i of the list makes the symbol 256 + i."""
    cdef LastParts known = LastParts(len(numbers))
    cdef uint32_t left, right
    cdef dict spelled = {byte: bytes([byte]) for byte in range(256)}    # 256 + the number of a merge -> what it makes
    cdef dict pairs = {}
    cdef list tokens = list(dict.fromkeys([first + second for first, second in numbers]))
    for at in shortest_first(tokens):
        if not known.find(tokens[at], &left, &right):
            continue
        number = numbers.get((spelled[left], spelled[right]))
        if number is not None:
            known.add(left, right, 256 + <uint32_t>number)
            spelled[256 + number] = tokens[at]
            pairs[number] = (left, right)
    symbols = {256 + number: 256 + i for i, number in enumerate(sorted(pairs))}
    return [(number, *(symbols.get(part, part) for part in pairs[number])) for number in sorted(pairs)]


def vocabulary_from_merges(dict ids not None, merges, bint whole_pieces=False):
    """The Vocabulary of tokens and their ids, dict[bytes, int], and a list of merges, (left, right) as bytes, the first
    of which is merged first. With whole_pieces, a piece that is a token is that token before any merge applies.

    Tokens that no merge ever makes are unmerged ones. ValueError for a merge that is given twice or is not of tokens to
    a token, and for what a Vocabulary refuses.
    """
    cdef dict numbers = checked_merges(ids, merges)
    cdef list listed = list(numbers)
    cdef list happen = merges_that_happen(numbers)
    cdef list made = [listed[number][0] + listed[number][1] for number, _, _ in happen]
    cdef set merged = {*made, *(bytes([byte]) for byte in range(256))}
    unmerged = sorted((ids[token], token) for token in ids if token not in merged)
    return Vocabulary(
        array.array("I", [left for _, left, _ in happen]),
        array.array("I", [right for _, _, right in happen]),
        array.array("I", [
            *(ids.get(bytes([byte]), NONE) for byte in range(256)),
            *(ids[token] for token in made),
            *(token_id for token_id, _ in unmerged),
        ]),
        [token for _, token in unmerged],
        whole_pieces=whole_pieces,
        merges_happen=True,
    )
