"""The longest prefix of a stretch of text that is within a number of tokens.

A longer prefix may have fewer tokens than a shorter one ("hell" has two, "hello" one), and its last pieces may be
others than those of the whole text. So the search divides the prefixes by where their first piece ends. Those that are
so long that this is settled go on from there with what is left of the budget, as one task; the shorter ones, which end
within the text that settles it, are another. The search does the tasks of the longest prefixes first, and the first
prefix that it finds is the answer. It tries few prefixes, as most tasks end where the budget does.

Where the first piece may be long, such as a run of one character, one pass of the automaton tells where it ends for
each prefix (splitting/prefixes.pyx), and one pass of the counter how many tokens it has (merging/prefixes.pyx). The
counter's tables would take too much memory for vocabularies whose tokens have more than 16 MB together, and it does not
know the other tokens that a vocabulary may have where a word ends: there the search tries one prefix after the other.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t
from libc.stdlib cimport free, realloc

from cbpe._core.encoding.encode cimport encode_slice
from cbpe._core.encoding.pieces cimport encode_piece
from cbpe._core.encoding.workspace cimport MORE, EncodeStatus, tidy_workspace
from cbpe._core.merging.merge cimport check_merged
from cbpe._core.merging.prefixes cimport count_prefixes, free_prefix_counts
from cbpe._core.splitting.prefixes cimport First, PrefixRun, free_prefix_ends, prefix_ends, settle_first
from cbpe._core.splitting.split cimport Reading, start_reading
from cbpe._core.text.utf8 cimport character_start
from cbpe._core.vocabulary.tables cimport NONE, VocabTables
from cbpe._core.vocabulary.words cimport find_word

cdef enum:
    FEW = 48        # bytes in which all prefixes are tried
    LONG = 1 << 10  # bytes of a token from which on it is no small matter to look it up


cdef class PrefixSearch:
    """The tasks that are left, and the memory for doing them."""

    def __dealloc__(self):
        free(self.tasks)
        free_prefix_ends(&self.ends)
        free_prefix_counts(&self.counts)

    cdef Py_ssize_t longest(self, Py_ssize_t start, Py_ssize_t low, Py_ssize_t high, Py_ssize_t budget) except -2:
        cdef Task task
        self.n_tasks = 0
        self.push(OPEN, start, low, high, budget)
        while self.n_tasks:
            PyErr_CheckSignals()
            self.n_tasks -= 1
            task = self.tasks[self.n_tasks]
            if task.kind == FOUND:
                return task.low
            if task.kind == OPEN:
                self.open(&task)
            else:
                self.settle(&task)
        return -1

    cdef int push(
        self, TaskKind kind, Py_ssize_t start, Py_ssize_t low, Py_ssize_t high, Py_ssize_t budget
    ) except -1:
        """Put a task on top, if there is anything to it."""
        cdef void *grown
        cdef Py_ssize_t capacity
        if budget < 0 or low >= high:
            return 0
        if self.n_tasks == self.capacity:
            capacity = 2 * self.capacity + 64
            grown = realloc(self.tasks, <size_t>capacity * sizeof(Task))
            if grown == NULL:
                raise MemoryError
            self.tasks = <Task *>grown
            self.capacity = capacity
        self.tasks[self.n_tasks] = Task(kind, start, low, high, budget)
        self.n_tasks += 1
        return 0

    cdef Py_ssize_t count(self, Py_ssize_t start, Py_ssize_t end) except -1:
        """The tokens of text[start:end], where the text ends there."""
        cdef Reading reading
        cdef EncodeStatus status = MORE
        start_reading(&reading, start)
        tidy_workspace(self.work)
        self.work.counting = True
        while status == MORE:
            with nogil:
                status = encode_slice(
                    &self.engine.vocabulary.tables, self.engine.split, self.work, self.text, end, end, &reading, NULL
                )
            PyErr_CheckSignals()
        self.engine.check(status, self.work)
        return self.work.n_counted

    cdef Py_ssize_t count_piece(self, Py_ssize_t start, Py_ssize_t end) except -1:
        """The tokens of the piece text[start:end]."""
        cdef EncodeStatus status
        tidy_workspace(self.work)
        with nogil:
            status = encode_piece(&self.engine.vocabulary.tables, self.work, self.text + start, end - start)
        self.engine.check(status, self.work)
        return self.work.n_ids

    cdef int open(self, Task *task) except -1:
        cdef First first
        cdef Py_ssize_t start = task.start, low = task.low, largest
        cdef Py_ssize_t used = 0
        cdef bint settled
        if low <= start:
            self.push(FOUND, start, start, start + 1, task.budget)
            low = start + 1
        largest = character_start(self.text, self.size, task.high - 1) if task.high <= self.size else self.size
        if largest < low:
            return 0
        with nogil:
            settled = settle_first(self.engine.split, self.text, largest, start, &first)
        if not settled:
            return self.push(UNSETTLED, start, low, largest + 1, task.budget)
        self.push(UNSETTLED, start, low, min(largest + 1, first.seen), task.budget)
        if not first.dropped:
            used = self.count_piece(start, first.end)
        return self.push(OPEN, first.end, max(low, first.seen), largest + 1, task.budget - used)

    cdef int settle(self, Task *task) except -1:
        cdef Py_ssize_t largest = character_start(self.text, self.size, task.high - 1)
        cdef bint done
        if task.high > self.size:
            largest = self.size
        if largest - task.start <= FEW:
            while largest >= task.low:
                if self.count(task.start, largest) <= task.budget:
                    return self.push(FOUND, task.start, largest, largest + 1, task.budget)
                largest = character_start(self.text, self.size, largest - 1)
            return 0
        with nogil:
            done = prefix_ends(self.engine.split, self.text, largest, task.start, &self.ends)
        if not done:
            raise MemoryError
        self.counts.first, self.counts.last = 1, 0      # nothing is counted
        return self.push_runs(task, self.longest_piece(task, largest))

    cdef bint is_token(self, Py_ssize_t start, Py_ssize_t end) except -1:
        """Whether text[start:end] is a token, also one that merging does not make. To ask of all prefixes of a piece
        takes no longer than to read the vocabulary."""
        cdef const VocabTables *v = &self.engine.vocabulary.tables
        cdef Py_ssize_t size = end - start
        cdef uint32_t i
        if size > <Py_ssize_t>v.longest:
            return False
        if v.longest > LONG:
            if self.sizes is None:
                self.sizes = bytearray(v.longest + 1)
                for i in range(v.n_tokens):
                    self.sizes[v.offsets[i + 1] - v.offsets[i]] = 1
            if not self.sizes[size]:
                return False
        return find_word(v, v.words, self.text + start, size) != NONE

    cdef bint is_whole(self, Task *task, Py_ssize_t end) noexcept:
        """Whether text[start:end] is one piece, where the text ends there."""
        cdef Py_ssize_t place = end - task.start
        return self.ends.whole[place >> 6] >> (place & 63) & 1

    cdef Py_ssize_t longest_piece(self, Task *task, Py_ssize_t largest) except -2:
        """The longest prefix of a task that is one piece from the start on and within the budget; -1 if there is none.
        """
        cdef const VocabTables *v = &self.engine.vocabulary.tables
        cdef Py_ssize_t k = largest, most = largest
        while not self.is_whole(task, k):
            k -= 1
            if k < task.low:
                return -1
        if counts_prefixes(v):
            return self.longest_counted(task, largest)
        if limits_text(v):
            most = min(largest, task.start + task.budget * most_text(v))
        for k in range(most, task.low - 1, -1):
            if self.is_whole(task, k):
                if self.count_piece(task.start, k) <= task.budget:
                    return k
                PyErr_CheckSignals()
        return -1

    cdef Py_ssize_t longest_counted(self, Task *task, Py_ssize_t largest) except -2:
        """As longest_piece, with the counts of all prefixes near the end of the budget, which `counts` then has."""
        cdef const VocabTables *v = &self.engine.vocabulary.tables
        cdef Py_ssize_t start = task.start, longest = <Py_ssize_t>v.longest, reach = 4 * longest + 64
        cdef Py_ssize_t status, k, found = -1, most = largest
        while True:
            tidy_workspace(self.work)
            with nogil:
                status = count_prefixes(
                    v, self.text + start, most - start, task.budget, reach, &self.work.room, &self.counts
                )
            check_merged(status)
            k = start + self.counts.last
            while k >= task.low and k >= start + self.counts.first and found < 0:
                if self.is_whole(task, k):
                    if self.counts.counts[k - start - self.counts.base] <= task.budget:
                        found = k
                k -= 1
            while found < 0 and k >= task.low and not self.is_whole(task, k):
                k -= 1
            if found >= 0 or k < task.low:
                break
            # What is left are shorter prefixes than were counted.
            if k < start + self.counts.base:
                most = k
            else:
                reach *= 8
        if most < largest:
            self.counts.first, self.counts.last = 1, 0
        # A piece that is a token may be one that merging does not make.
        if v.looks_up and task.budget > 0:
            for k in range(min(largest, start + longest), max(task.low, found + 1) - 1, -1):
                if self.is_whole(task, k):
                    if self.is_token(start, k):
                        return k
        return found

    cdef Py_ssize_t tokens_before(self, Task *task, Py_ssize_t end) except -1:
        """The tokens of the piece text[start:end]; more than the budget where it is known to be beyond that."""
        cdef const VocabTables *v = &self.engine.vocabulary.tables
        cdef Py_ssize_t place = end - task.start
        if v.looks_up and self.is_token(task.start, end):
            return 1
        if self.counts.first <= self.counts.last:
            if place > self.counts.last:
                return task.budget + 1
            if place >= self.counts.first:
                return self.counts.counts[place - self.counts.base]
        return self.count_piece(task.start, end)

    cdef int push_runs(self, Task *task, Py_ssize_t found) except -1:
        """The tasks of prefixes whose first piece ends before they do, and that are longer than the one that was found.
        """
        cdef Py_ssize_t i, low, used
        cdef PrefixRun run
        if found >= 0:
            self.push(FOUND, task.start, found, found + 1, task.budget)
        for i in range(self.ends.n_runs):
            run = self.ends.runs[i]
            low = max(task.low, run.first, found + 1)
            if low <= run.last:
                used = 0 if run.dropped else self.tokens_before(task, run.end)
                self.push(OPEN, run.end, low, run.last + 1, task.budget - used)
        return 0
