"""From the tokens and merges of a tokenizer.json over characters to a vocabulary: what characters.pyx does, with no
Python object for a merge, as spelled.pyx does for bytes."""

import array

from cpython.unicode cimport PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from cbpe._core.conversion.characters cimport Spellings
from cbpe._core.conversion.last_parts cimport LastParts
from cbpe._core.conversion.spelled cimport Spelled, as_array
from cbpe._core.text.utf8 cimport character_size
from cbpe._core.vocabulary.tables cimport NONE
from cbpe._core.vocabulary.vocabulary cimport Vocabulary

cdef enum:
    SPACE = 0x20
    MARK = 0x2581               # what stands for a space


cdef class SpelledCharacters(Spelled):
    """Tokens as their UTF-8, with their ids, and merges as the numbers of tokens."""

    cdef bint marks             # they have marks for spaces
    cdef object added           # texts that are looked for in the text: tokens only if merges take or make them
    cdef uint8_t *left_out      # token -> whether it is one of these that no merge takes or makes
    cdef uint32_t n_spellings
    cdef uint32_t *whole        # symbol - 256 of a spelling -> the token of the character, or NONE

    def __dealloc__(self):
        free(self.left_out)
        free(self.whole)

    cdef Py_ssize_t unspell(self, str text, Py_ssize_t start, uint8_t *into, uint32_t end) noexcept:
        cdef int kind = PyUnicode_KIND(text)
        cdef void *data = PyUnicode_DATA(text)
        cdef Py_ssize_t i, n = 0
        cdef uint32_t character
        for i in range(start, PyUnicode_GET_LENGTH(text)):
            character = PyUnicode_READ(kind, data, i)
            if character == end:
                self.n_read = i
                break
            if self.marks and character == SPACE or 0xD800 <= character < 0xE000:
                return -1
            if self.marks and character == MARK:
                character = SPACE
            if character < 0x80:
                into[n] = <uint8_t>character
                n += 1
            elif character < 0x800:
                into[n] = <uint8_t>(0xC0 | character >> 6)
                into[n + 1] = <uint8_t>(0x80 | character & 0x3F)
                n += 2
            elif character < 0x10000:
                into[n] = <uint8_t>(0xE0 | character >> 12)
                into[n + 1] = <uint8_t>(0x80 | character >> 6 & 0x3F)
                into[n + 2] = <uint8_t>(0x80 | character & 0x3F)
                n += 3
            else:
                into[n] = <uint8_t>(0xF0 | character >> 18)
                into[n + 1] = <uint8_t>(0x80 | character >> 12 & 0x3F)
                into[n + 2] = <uint8_t>(0x80 | character >> 6 & 0x3F)
                into[n + 3] = <uint8_t>(0x80 | character & 0x3F)
                n += 4
        return n

    cdef uint64_t most_bytes(self, str text) noexcept:
        return <uint64_t>(4 if PyUnicode_KIND(text) == 4 else 3) * PyUnicode_GET_LENGTH(text)

    cdef bint may_spell_nothing(self, str text) except -1:
        return text in self.added

    cdef int leave_out(self, str unknown) except -1:
        """Find the added tokens that no merge takes or makes. Returns whether the unknown token is none of merges."""
        cdef uint32_t number
        cdef Py_ssize_t size
        cdef uint8_t *used = <uint8_t *>calloc(<size_t>self.n_tokens + 1, 1)
        self.left_out = <uint8_t *>calloc(<size_t>self.n_tokens + 1, 1)
        if used == NULL or self.left_out == NULL:
            free(used)
            raise MemoryError
        try:
            for number in range(self.n_merges):
                used[self.left[number]] = used[self.right[number]] = used[self.joined[number]] = True
            for text in self.added:
                self.make_room(self.most_bytes(text))
                size = self.unspell(text, 0, self.room, NONE)
                number = self.find(self.room, size) if size > 0 else NONE
                if number != NONE and not used[number]:
                    self.left_out[number] = True
            if unknown is None:
                return True
            self.make_room(self.most_bytes(unknown))
            size = self.unspell(unknown, 0, self.room, NONE)
            number = self.find(self.room, size) if size > 0 else NONE
            return number == NONE or not used[number]
        finally:
            free(used)

    cdef bint is_character(self, uint32_t number) noexcept nogil:
        return self.offsets[number + 1] - self.offsets[number] == <uint64_t>character_size(
            self.data[self.offsets[number]]
        )

    cdef uint32_t token_of(self, uint32_t symbol) noexcept nogil:
        if symbol < 256:
            return self.singles[symbol]
        if symbol < 256 + self.n_spellings:
            return self.whole[symbol - 256]
        return self.joined[symbol - 256 - self.n_spellings]

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
        self.n_spellings = <uint32_t>len(found.made)
        self.whole = <uint32_t *>malloc((<size_t>self.n_spellings + 1) * sizeof(uint32_t))
        if self.whole == NULL:
            raise MemoryError
        memset(self.whole, 0xFF, (<size_t>self.n_spellings + 1) * sizeof(uint32_t))
        for character, number in characters:
            i = <uint32_t>found.symbols[character] - 256
            self.whole[i] = number
        return found

    cdef list ids_of_bytes(self, byte_ids, list more):
        """The ids of the 256 bytes: of ASCII characters where these have a token, and then the token of the byte is one
        more."""
        cdef uint32_t i, token
        cdef list found = []
        for i in range(256):
            token = self.singles[i]
            fallback = NONE if byte_ids is None else byte_ids[i]
            if token != NONE and byte_ids is not None:
                more.append((fallback, bytes([i])))
            found.append(self.ids[token] if token != NONE else fallback)
        return found

    def vocabulary_of_characters(self, byte_ids, unknown, bint fuses_unknown):
        """The Vocabulary; the arguments are those of vocabulary_of_characters in characters.pyx."""
        cdef size_t n = self.n_merges + <size_t>1
        cdef uint32_t number, n_made = 0, base, token, i
        cdef Spellings spelled
        cdef LastParts known
        cdef list more = []
        cdef uint32_t *lefts = <uint32_t *>malloc(n * sizeof(uint32_t))
        cdef uint32_t *rights = <uint32_t *>malloc(n * sizeof(uint32_t))
        cdef uint32_t *symbols = <uint32_t *>malloc(n * sizeof(uint32_t))
        cdef uint32_t *ids = <uint32_t *>malloc(n * sizeof(uint32_t))
        cdef uint8_t *made = <uint8_t *>calloc(<size_t>self.n_tokens + 1, 1)
        try:
            if lefts == NULL or rights == NULL or symbols == NULL or ids == NULL or made == NULL:
                raise MemoryError
            memset(lefts, 0xFF, n * sizeof(uint32_t))
            memset(self.singles, 0xFF, sizeof(self.singles))
            spelled = self.spellings()
            base = 256 + self.n_spellings
            known = LastParts(self.n_spellings + <Py_ssize_t>self.n_merges)
            for i in range(self.n_spellings):
                known.add(spelled.lefts[i], spelled.rights[i], 256 + i)
            self.find_parts(known, base, lefts, rights)
            for number in range(self.n_merges):
                if lefts[number] != NONE:
                    symbols[number] = base + n_made
                    ids[n_made] = self.ids[self.joined[number]]
                    made[self.joined[number]] = True
                    n_made += 1
            n_made = 0      # and now in place, the numbers of merges as symbols
            for number in range(self.n_merges):
                if lefts[number] != NONE:
                    lefts[n_made] = lefts[number] if lefts[number] < base else symbols[lefts[number] - base]
                    rights[n_made] = rights[number] if rights[number] < base else symbols[rights[number] - base]
                    n_made += 1
            by_byte = self.ids_of_bytes(byte_ids, more)
            for token in range(self.n_tokens):
                if not (made[token] or self.left_out[token] or self.is_character(token)):
                    more.append((self.ids[token], self.token(token)))
            more.sort()
            spelled_ids = [NONE if self.whole[i] == NONE else self.ids[self.whole[i]] for i in range(self.n_spellings)]
            return Vocabulary(
                array.array("I", spelled.lefts) + as_array(lefts, n_made),
                array.array("I", spelled.rights) + as_array(rights, n_made),
                array.array("I", by_byte + spelled_ids) + as_array(ids, n_made)
                + array.array("I", [token_id for token_id, _ in more]),
                [one for _, one in more],
                characters=True,
                unknown=unknown,
                fuses_unknown=fuses_unknown,
            )
        finally:
            free(lefts)
            free(rights)
            free(symbols)
            free(ids)
            free(made)


def resolve_characters(dict vocab not None, list merges not None, bint marks, added not None, str unknown):
    """The tokens of {text: id} and the merges, as resolve in spelled.pyx. `marks`: "▁" stands for a space. `added` are
    tokens that are none of the vocabulary's unless merges take or make them. None where a token is no text, or has a
    space where marks stand for them, where a merge is not of two tokens to a token, or is given twice, and where one
    takes or makes the unknown token."""
    if len(vocab) >= NONE or len(merges) >= NONE:
        return None
    cdef SpelledCharacters spelled = SpelledCharacters(vocab, merges, {})
    spelled.marks, spelled.added = marks, added
    if not spelled.take_tokens(vocab) or not spelled.take_merges(merges) or not spelled.leave_out(unknown):
        return None
    return spelled
