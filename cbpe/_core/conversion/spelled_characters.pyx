"""From the tokens and merges of a tokenizer.json over characters to a vocabulary: what characters.pyx does, with no
Python object for a merge, as spelled.pyx does for bytes."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from cbpe._core.conversion.characters cimport Spellings
from cbpe._core.conversion.listed cimport ListedMerges, ListedTokens
from cbpe._core.conversion.spelled cimport Spelled
from cbpe._core.text.utf8 cimport character_size
from cbpe._core.vocabulary.tables cimport NONE

cdef enum:
    SPACE = 0x20
    MARK_LEAD = 0xE2            # the UTF-8 of the mark that stands for a space, U+2581
    MARK_MIDDLE = 0x96
    MARK_LAST = 0x81


cdef class SpelledCharacters(Spelled):
    """Tokens as their UTF-8, with their ids, and merges as the numbers of tokens."""

    cdef bint marks             # they have marks for spaces

    cdef Py_ssize_t spell(self, const uint8_t *text, uint64_t size, uint8_t *into) noexcept nogil:
        cdef uint64_t i = 0
        cdef Py_ssize_t n = 0
        if not self.marks:
            memcpy(into, text, size)
            return size
        while i < size:
            if text[i] == SPACE:
                return -1
            if text[i] == MARK_LEAD and i + 2 < size and text[i + 1] == MARK_MIDDLE and text[i + 2] == MARK_LAST:
                into[n] = SPACE
                i += 3
            else:
                into[n] = text[i]
                i += 1
            n += 1
        return n

    cdef bint leave_out(self, added, str unknown) except -1:
        """Leave out the added tokens that no merge takes or makes. Returns whether the unknown token is none of
        merges."""
        cdef uint32_t number
        cdef uint8_t *used = <uint8_t *>calloc(<size_t>self.n_tokens + 1, 1)
        if used == NULL:
            raise MemoryError
        try:
            for number in range(self.n_merges):
                used[self.left[number]] = used[self.right[number]] = used[self.joined[number]] = True
            for text in added:
                number = self.tokens.row_of(text)
                if number != NONE and not used[number]:
                    self.left_out[number] = True
            number = NONE if unknown is None else self.tokens.row_of(unknown)
            return number == NONE or not used[number]
        finally:
            free(used)

    cdef bint is_character(self, uint32_t number) noexcept nogil:
        cdef uint64_t size = self.offsets[number + 1] - self.offsets[number]
        return size > 0 and size == <uint64_t>character_size(self.data[self.offsets[number]])

    cdef Spellings spellings(self):
        """The merges that spell the characters."""
        cdef uint32_t number, i
        cdef bytes character
        cdef list characters = []
        for number in range(self.n_tokens):
            if self.left_out[number] or not self.is_character(number):
                continue
            if self.data[self.offsets[number]] >= 0x80:
                characters.append((self.token(number), number))
            else:
                self.singles[self.data[self.offsets[number]]] = number
        characters.sort()
        cdef Spellings found = Spellings([character for character, _ in characters])
        self.whole = <uint32_t *>malloc((len(found.made) + <size_t>1) * sizeof(uint32_t))
        if self.whole == NULL:
            raise MemoryError
        memset(self.whole, 0xFF, (len(found.made) + <size_t>1) * sizeof(uint32_t))
        for character, number in characters:
            i = <uint32_t>found.symbols[character] - 256
            self.whole[i] = number
        return found

    def vocabulary_of_characters(self, byte_ids, unknown, bint fuses_unknown):
        """The Vocabulary; the arguments are those of vocabulary_of_characters in characters.pyx."""
        cdef Spellings spelled
        cdef uint32_t i
        memset(self.singles, 0xFF, sizeof(self.singles))
        spelled = self.spellings()
        self.settle(spelled.lefts, spelled.rights)
        ids, more = self.ids_of_first(), self.unmerged()
        for i in range(256 if byte_ids is not None else 0):
            if ids[i] == NONE:
                ids[i] = byte_ids[i]
            else:       # of a character of ASCII, and then the token of the byte is one more
                more.append((byte_ids[i], bytes([i])))
        options = {"characters": True, "unknown": unknown, "fuses_unknown": fuses_unknown}
        return self.vocabulary_with(ids, more, options)


def resolve_characters(vocab not None, merges not None, bint marks, added not None, str unknown, apart=()):
    """The tokens of {text: id} and the merges, as resolve in spelled.pyx. `marks`: "▁" stands for a space. `added` are
    tokens that are none of the vocabulary's unless merges take or make them. None where a token has no characters, or a
    space where marks stand for them, where a merge is not of two tokens to a token, or is given twice, where one takes
    or makes the unknown token, and where a dict and a list are nothing for ListedTokens and ListedMerges."""
    cdef ListedTokens tokens = vocab if type(vocab) is ListedTokens else ListedTokens.of(vocab)
    cdef ListedMerges listed = merges if type(merges) is ListedMerges else ListedMerges.of(merges)
    if tokens is None or listed is None:
        return None
    cdef SpelledCharacters spelled = SpelledCharacters(tokens, listed)
    spelled.marks = marks
    if not spelled.take_tokens(apart, added) or not spelled.take_merges() or not spelled.leave_out(added, unknown):
        return None
    return spelled
