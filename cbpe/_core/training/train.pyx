"""Training as Python sees it: checked arguments in, arrays of merges out. The work is done in learn.pyx."""

import time
from array import array

cimport cython
from libc.stdint cimport INT64_MAX, UINT32_MAX, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc

from cbpe._core.training.candidates cimport (
    LONGEST, Merge, Pair, State, TieBreak, WordStarts, best_pair, build_pairs, out_of_memory
)
from cbpe._core.training.layout cimport lay_out, lay_out_tokens, n_symbols, trace_merges
from cbpe._core.training.learn cimport find_reason, free_state, learn, reserve_ids
from cbpe._core.training.spelling cimport Spellings, open_spellings, refuse_spelling
from cbpe._core.vocabulary.vocabulary cimport MAX_LEARNED_BYTES, MAX_TOKENS, Vocabulary

from cbpe._core.text.shown import shown

cdef enum:
    VOCABULARY_FULL = 3     # a reason to stop besides those of find_reason
    CODE_POINTS = 1 << 21   # that UTF-8 has room for

TIE_BREAKS = ("first", "largest", "smallest", "shortest")   # in the order of the enum in candidates.pxd


cdef int check_options(
    str tie_break, int64_t min_count, int64_t max_token_length, str alphabet, Vocabulary initial
) except -1:
    if tie_break not in TIE_BREAKS:
        raise ValueError(f"tie_break is {shown(tie_break)}; it must be one of {', '.join(map(repr, TIE_BREAKS))}")
    if alphabet is None and tie_break == "shortest":
        raise ValueError('tie_break "shortest" is for training over characters')
    if alphabet is not None and initial is not None:
        raise ValueError("over characters, training goes on from no vocabulary")
    if min_count < 1:
        raise ValueError(f"min_count is {min_count}; it must be at least 1")
    if max_token_length < 0 or max_token_length == 1:
        raise ValueError(f"max_token_length is {max_token_length}; it must be at least 2, or 0 for any length")
    return 0


cdef int64_t tokens_with(int64_t tokens, int64_t n_here, int64_t count, size_t word) except -1:
    """The tokens of all words, and of one more of n_here symbols."""
    if n_here < 0:
        raise ValueError(f"word {word} has a character that the alphabet lacks")
    if n_here and count > (INT64_MAX - tokens) // n_here:
        raise OverflowError("the words have more than 2^63 - 1 bytes with repetitions; lower the counts")
    return tokens + n_here * count


@cython.final
cdef class Trainer:
    """Learns merges from words that each occur a number of times.

    data: the bytes of all words, one after the other. lengths, counts: int64 buffers, the length in bytes of each word
    and how often it occurs (at least once). The order of the words is that of the text, for tie_break "first".
    tie_break: of several pairs with the highest count, "first" takes the one that occurs first, "largest" and
    "smallest" the one with the largest or smallest (left id, right id). Pairs with counts below min_count are never
    merged, nor are those that would make a token of more than max_token_length bytes (0: any length). initial: a
    monotone vocabulary whose merges come first, whatever min_count and max_token_length say; only its merges count, not
    its ids.

    alphabet: the characters of all words, for training over characters: symbol i is alphabet[i], and merge i makes
    symbol len(alphabet) + i. Lengths of tokens are then in characters. No merge makes what another one has made, nor
    one of the texts in `refused`, of characters of the alphabet, nor what has characters of two scripts: `scripts` has
    a number for each character of the alphabet, 0 for any script, 1 for that of the character before it. tie_break
    "shortest" takes the pair of the fewest characters, of several the one that sorts first by `alphabet`, then the one
    with the shorter left token.

    Raises OverflowError when the words have more than 2^32 - 2 bytes (one more counted for each word), or more than
    2^63 - 1 with repetitions.
    """

    def __cinit__(
        self,
        const uint8_t[::1] data,
        const int64_t[::1] lengths,
        const int64_t[::1] counts,
        *,
        str tie_break = "first",
        int64_t min_count = 1,
        int64_t max_token_length = 0,
        Vocabulary initial = None,
        str alphabet = None,
        refused = (),
        const uint8_t[::1] scripts = None,
    ):
        cdef:
            State *state = &self.state
            size_t n_words = lengths.shape[0], n_kept = 0, n_slots = 1, n_bytes = 0
            int64_t tokens = 0, n_here
            bint same = True
            size_t i
            uint32_t *numbers = NULL
        check_options(tie_break, min_count, max_token_length, alphabet, initial)
        if <size_t>counts.shape[0] != n_words:
            raise ValueError(f"there are {n_words} lengths and {counts.shape[0]} counts; each word needs one of both")
        state.n_start = 256 if alphabet is None else len(alphabet)
        if alphabet is not None:
            self.spell(alphabet, refused, scripts)
            numbers = self.numbers
        for i in range(n_words):
            if lengths[i] < 0 or <size_t>lengths[i] > <size_t>data.shape[0] - n_bytes:
                raise ValueError(f"word {i} of length {lengths[i]} does not lie inside {data.shape[0]} bytes of data")
            if counts[i] < 1:
                raise ValueError(f"word {i} has the count {counts[i]}; counts must be at least 1")
            n_here = n_symbols(&data[0] + n_bytes, lengths[i], numbers) if lengths[i] else 0
            n_bytes += lengths[i]
            tokens = tokens_with(tokens, n_here, counts[i], i)
            if n_here > 1:
                same = same and (n_kept == 0 or counts[i] == state.one_weight)
                state.one_weight = counts[i]
                n_kept += 1
                n_slots += n_here + 1
        if n_bytes != <size_t>data.shape[0]:
            raise ValueError(f"the lengths add up to {n_bytes} bytes, but data holds {data.shape[0]}")
        if n_slots > UINT32_MAX:
            raise OverflowError(f"{n_bytes} bytes of distinct words are more than 2^32 - 2; train on less text")
        state.n_slots = n_slots
        state.tokens = self.tokens_at_start = tokens
        state.min_count = min_count
        state.cutoff = INT64_MAX
        state.max_length = <uint32_t>min(max_token_length, LONGEST) if max_token_length else LONGEST
        state.tie_break = <TieBreak><int>TIE_BREAKS.index(tie_break)
        self.number_ids(initial)
        self.allocate(0 if same else n_kept)
        if n_words == 0 or n_bytes == 0:
            return
        with nogil:
            lay_out(state, &data[0], &lengths[0], &counts[0], n_words, numbers)
            if initial is not None:
                lay_out_tokens(state, &initial.tables)
                trace_merges(state)

    cdef int spell(self, str alphabet, refused, const uint8_t[::1] scripts) except -1:
        """Number the characters of an alphabet, and refuse what no merge may make."""
        cdef:
            Spellings *spellings = &self.state.spellings
            uint32_t[::1] symbols
            uint32_t character, n = 0
        self.numbers = <uint32_t *>calloc(CODE_POINTS, sizeof(uint32_t))
        if self.numbers == NULL or open_spellings(spellings, <uint32_t>len(alphabet)) < 0:
            out_of_memory()
        for character in alphabet:
            n += 1
            if self.numbers[character]:
                raise ValueError(f"the alphabet has the character {shown(chr(character))} twice")
            self.numbers[character] = n
        for text in refused:
            if not text or any(character not in alphabet for character in text):
                raise ValueError(f"the refused text {shown(text)} is not of characters of the alphabet")
            symbols = array("I", [alphabet.index(character) for character in text])
            if refuse_spelling(spellings, &symbols[0], len(text)) < 0:
                out_of_memory()
        return 0 if scripts is None else self.note_scripts(scripts)

    cdef int note_scripts(self, const uint8_t[::1] scripts) except -1:
        cdef size_t n = scripts.shape[0], i
        if n != self.state.n_start:
            raise ValueError(f"there are {n} scripts for {self.state.n_start} characters")
        self.state.spellings.scripts = <uint8_t *>malloc(n + 1)
        if self.state.spellings.scripts == NULL:
            out_of_memory()
        for i in range(n):
            self.state.spellings.scripts[i] = scripts[i]
        return 0

    cdef int allocate(self, size_t n_weights) except -1:
        """Take memory for the symbols, and for so many weights of words, if any."""
        cdef State *state = &self.state
        state.symbols = <uint32_t *>malloc(state.n_slots * sizeof(uint32_t))
        if state.symbols == NULL:
            out_of_memory()
        if n_weights:
            state.starts = <WordStarts *>calloc(state.n_slots // 64 + 1, sizeof(WordStarts))
            state.weights = <int64_t *>malloc(n_weights * sizeof(int64_t))
            if state.starts == NULL or state.weights == NULL:
                out_of_memory()
        return 0

    def __dealloc__(self):
        free_state(&self.state)
        free(self.numbers)

    def __len__(self):
        """The number of merges so far, the initial ones included."""
        return self.state.n_ids - self.state.n_start

    @property
    def tokens(self):
        """How many tokens the text has now, repeated words included."""
        return self.state.tokens

    cdef int number_ids(self, Vocabulary initial) except -1:
        """Make the ids of the bytes and of the initial merges known."""
        cdef:
            State *state = &self.state
            uint32_t i
        state.n_ids = state.n_bytes = state.n_start
        reserve_ids(state, max(state.n_start, <size_t>1024))
        for i in range(state.n_start):
            state.lengths[i] = 1
        if initial is None:
            return 0
        if not initial.tables.monotone:
            raise ValueError("training cannot go on from a vocabulary with a merge that is made of a later one")
        state.n_ids = initial.tables.n_symbols
        reserve_ids(state, state.n_ids)
        for i in range(256, initial.tables.n_symbols):
            state.lengths[i] = initial.tables.offsets[i + 1] - initial.tables.offsets[i]
            state.n_bytes += state.lengths[i]
            state.merges[i - 256].left = initial.tables.left[i - 256]
            state.merges[i - 256].right = initial.tables.right[i - 256]
            state.merges[i - 256].tokens = self.tokens_at_start
        return 0

    def run(self, size_t n_merges, double seconds = 0.0):
        """Learn up to n_merges more merges, or for about that many seconds (0: as long as it takes) -> how many.

        Fewer than n_merges before the time is over mean that nothing is left to merge: `stopped` then says why. The
        GIL is released; signals are handled all the while. After an exception the trainer can do nothing but tell its
        merges().
        """
        cdef:
            State *state = &self.state
            size_t before = state.n_ids
            int done = 0, reason = VOCABULARY_FULL
        self.enter()
        self.refuse_broken()
        self.broken = True
        if n_merges > LONGEST - state.n_ids:
            n_merges = LONGEST - state.n_ids
        state.expired = False
        state.deadline = time.monotonic() + seconds if seconds > 0 else 0
        try:
            if self.stopped is None:
                with nogil:
                    done = learn(state, n_merges)
                    if done == 1:
                        reason = find_reason(state)
            self.broken = False
        finally:
            self.leave()
        if done:
            self.stopped = self.describe(reason)
        return state.n_ids - before

    def next_count(self, size_t n_merges):
        """How often the pair occurs that run(n_merges) would merge first; 0 where nothing is left. Over bytes alone."""
        cdef:
            State *state = &self.state
            const Pair *pair
        if self.numbers != NULL:
            raise ValueError("over characters, the next pair may be one that is not merged")
        self.enter()
        self.refuse_broken()
        self.broken = True
        if n_merges > LONGEST - state.n_ids:
            n_merges = LONGEST - state.n_ids
        state.ids_wanted = state.n_ids + n_merges
        state.expired = False
        state.deadline = 0
        try:
            with nogil:
                pair = best_pair(state)
                while pair == NULL and state.cutoff > state.min_count:
                    build_pairs(state, 2 * n_merges)
                    pair = best_pair(state)
            self.broken = False
        finally:
            self.leave()
        return 0 if pair == NULL else pair.count

    cdef int enter(self) except -1:
        with cython.critical_section(self):
            if self.running:
                raise RuntimeError("this trainer is running in another thread")
            self.running = True
        return 0

    cdef int leave(self) except -1:
        with cython.critical_section(self):
            self.running = False
        return 0

    cdef int refuse_broken(self) except -1:
        if self.broken:
            self.leave()
            raise RuntimeError("this trainer was stopped by an exception; make a new one")
        return 0

    cdef str describe(self, int reason):
        if reason == VOCABULARY_FULL:
            return (
                f"a training makes at most {MAX_TOKENS - 1:,} tokens, of {MAX_LEARNED_BYTES:,} bytes together, so that "
                "they can be saved"
            )
        if reason == 0:
            return "no pair of neighbouring tokens is left"
        if self.numbers != NULL:
            return self.describe_characters()
        rare = f"no pair occurs min_count = {self.state.min_count} times"
        if reason == 1:
            return rare
        return f"every pair left would make a token of more than max_token_length = {self.state.max_length} bytes" + (
            f", or is too rare for min_count = {self.state.min_count}" if self.state.min_count > 1 else "")

    cdef str describe_characters(self):
        return (
            f"every pair left would make a token that is there already, or of more than max_token_length = "
            f"{self.state.max_length} characters"
        ) + (f", or is too rare for min_count = {self.state.min_count}" if self.state.min_count > 1 else "")

    def results(self, size_t start = 0):
        """The merges from number `start` on: four arrays of one length, (left, right, counts, tokens).

        left and right are the ids merged, array("I"); counts says how often each pair occurred, tokens how many tokens
        remained after each merge, array("q"). The count of an initial merge is how often it was applied, which is less
        for a token that follows itself: merging "aaa" once takes one of two occurrences.
        """
        cdef:
            size_t i, n
            uint32_t[::1] left, right
            int64_t[::1] counts, tokens
            const Merge *merge
        self.enter()
        self.refuse_broken()
        try:
            n = self.state.n_ids - self.state.n_start
            if start > n:
                raise IndexError(f"there are {n} merges, none from number {start} on")
            arrays = array("I"), array("I"), array("q"), array("q")
            for items in arrays:
                items.frombytes(bytes((n - start) * items.itemsize))
            left, right, counts, tokens = arrays
            for i in range(n - start):
                merge = &self.state.merges[start + i]
                left[i] = merge.left
                right[i] = merge.right
                counts[i] = merge.count
                tokens[i] = merge.tokens
            return arrays
        finally:
            self.leave()

    def merges(self):
        """The ids that each merge joins, the initial ones included: (left, right), array("I") each.

        Works after an exception too: what was learned until then is a part of what would have been learned.
        """
        cdef:
            size_t i, n
            uint32_t[::1] left, right
        self.enter()
        try:
            n = self.state.n_ids - self.state.n_start
            arrays = array("I", bytes(4 * n)), array("I", bytes(4 * n))
            left, right = arrays
            for i in range(n):
                left[i] = self.state.merges[i].left
                right[i] = self.state.merges[i].right
            return arrays
        finally:
            self.leave()
