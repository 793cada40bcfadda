"""From the tokens and merges of a tokenizer.json over words to a vocabulary: what words.pyx does, with no Python object
for a merge, as spelled.pyx does for bytes. Vocabularies with a prefix are left to words.pyx."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport malloc
from libc.string cimport memcmp, memcpy, memset

from cbpe._core.conversion.characters cimport Spellings
from cbpe._core.conversion.listed cimport ListedMerges, ListedTokens
from cbpe._core.conversion.spelled cimport Coming, Spelled, SpelledBytes
from cbpe._core.conversion.words cimport first_merges
from cbpe._core.text.utf8 cimport character_size
from cbpe._core.vocabulary.tables cimport END, NONE

cdef enum:
    TEXT_BYTES = 0xF5           # all that may be in UTF-8 are below


cdef class SpelledWords(SpelledBytes):
    """Tokens as the bytes that they spell, END behind those that end a word."""

    cdef bytes suffix
    cdef const uint8_t *ending      # its bytes
    cdef uint64_t n_ending
    cdef bint over_characters

    cdef bint ends(self, const uint8_t *text, uint64_t size) noexcept nogil:
        """Whether a token is for the last part of a word."""
        cdef uint64_t n = self.n_ending
        return n > 0 and size > n and memcmp(text + size - n, self.ending, n) == 0

    cdef Py_ssize_t spell(self, const uint8_t *text, uint64_t size, uint8_t *into) noexcept nogil:
        cdef bint ends = self.ends(text, size)
        cdef Py_ssize_t n
        if ends:
            size -= self.n_ending
        if self.over_characters:
            memcpy(into, text, size)
            n = size
        else:
            n = SpelledBytes.spell(self, text, size, into)
        if n <= 0 or (n > 1 and self.n_ending and into[n - 1] == END):
            return -1
        if ends:
            into[n] = END
        return n + ends

    cdef bint take_merge(self, uint32_t number, const Coming *one) except -1:
        cdef uint64_t left, right, joined, size
        if self.ends(one.both, one.left):   # so that it never happens
            self.left[number] = self.tokens.find(one.both, one.left)
            self.right[number] = self.tokens.find(one.both + one.left, one.right)
            self.joined[number] = NONE
            if self.left[number] == NONE or self.right[number] == NONE:
                return False
            return not (self.left_out[self.left[number]] or self.left_out[self.right[number]])
        if not Spelled.take_merge(self, number, one):
            return False
        left, right = self.offsets[self.left[number]], self.offsets[self.right[number]]
        joined = self.offsets[self.joined[number]]
        size = self.offsets[self.left[number] + 1] - left
        # "a</w>" may be an "a" that ends a word, and these five characters.
        return (
            self.offsets[self.joined[number] + 1] - joined == size + self.offsets[self.right[number] + 1] - right
            and memcmp(self.data + joined, self.data + left, size) == 0
            and memcmp(self.data + joined + size, self.data + right, self.offsets[self.right[number] + 1] - right) == 0
        )

    cdef bint is_used(self, str text) except -1:
        """Whether merges take or make a token."""
        cdef uint32_t number = self.tokens.row_of(text), i
        for i in range(self.n_merges):
            if number in (self.left[i], self.right[i], self.joined[i]):
                return True
        return False

    cdef bint is_single(self, uint32_t number) noexcept nogil:
        """Whether a token is one character, or one byte, which may end a word."""
        cdef uint64_t size = self.offsets[number + 1] - self.offsets[number]
        cdef const uint8_t *token = self.data + self.offsets[number]
        if size > 1 and self.n_ending and token[size - 1] == END:
            size -= 1
        return size > 0 and size == <uint64_t>(character_size(token[0]) if self.over_characters else 1)

    cdef Spellings take_first(self):
        """The first merges, and the tokens that they make."""
        cdef uint32_t number
        cdef list singles = [
            (self.token(number), number) for number in range(self.n_tokens) if self.is_single(number)
        ]
        characters = {token.rstrip(bytes([END])) for token, _ in singles}   # a byte that is in no UTF-8
        if not self.over_characters:
            characters = {bytes([byte]) for byte in range(TEXT_BYTES)}
        cdef Spellings first = first_merges(sorted(characters), False, bool(self.suffix))
        self.whole = <uint32_t *>malloc((len(first.made) + <size_t>1) * sizeof(uint32_t))
        if self.whole == NULL:
            raise MemoryError
        memset(self.whole, 0xFF, (len(first.made) + <size_t>1) * sizeof(uint32_t))
        for token, number in singles:
            symbol = first.symbols.get(token, 0)
            if symbol >= 256:
                self.whole[<uint32_t>symbol - 256] = number
        return first

    def vocabulary_of_words(self, unknown, bint fuses_unknown):
        """The Vocabulary. unknown: the id of the unknown token, or None; over bytes it is left aside where it never
        comes up."""
        cdef Spellings first = self.take_first()
        self.settle(first.lefts, first.rights)
        ids = self.ids_of_first()
        if not self.over_characters and NONE not in ids[:TEXT_BYTES] and NONE not in ids[256:]:
            unknown = None
        return self.vocabulary_with(ids, self.unmerged(), {
            "characters": self.over_characters,
            "unknown": unknown,
            "fuses_unknown": fuses_unknown and unknown is not None,
            "suffix": self.suffix,
        })


def resolve_words(vocab not None, merges not None, dict alphabet, str suffix not None, apart, str unknown):
    """The tokens of {text: id} and the merges, as resolve in spelled.pyx, in which tokens with the suffix end a word.
    alphabet: {character: byte}; None: over characters. None where a token spells nothing, where a merge is not of two
    tokens to what they spell together, or is given twice, and where one takes or makes the unknown token."""
    cdef ListedTokens tokens = vocab if type(vocab) is ListedTokens else ListedTokens.of(vocab)
    cdef ListedMerges listed = merges if type(merges) is ListedMerges else ListedMerges.of(merges)
    if tokens is None or listed is None:
        return None
    cdef SpelledWords spelled = SpelledWords(tokens, listed)
    spelled.suffix, spelled.over_characters = suffix.encode(), alphabet is None
    spelled.ending = <const uint8_t *>PyBytes_AS_STRING(spelled.suffix)
    spelled.n_ending = PyBytes_GET_SIZE(spelled.suffix)
    spelled.take_alphabet({} if alphabet is None else alphabet)
    if not spelled.take_tokens(apart, ()) or not spelled.take_merges():
        return None
    return None if unknown is not None and spelled.is_used(unknown) else spelled
