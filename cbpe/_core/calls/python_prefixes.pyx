"""The longest prefix of a text that is within a number of tokens, where the splitter is Python's.

The text is split up to the first piece with which there are too many tokens. With most patterns, the pieces before it
are those of every prefix that ends within it, and no longer prefix is within the budget. So what is tried are prefixes
from where that piece begins. If it is short, all of them are tried, the longest first. In a long one, halving finds a
prefix that is within the budget while the next one is not, and then the longer ones near it are tried: not all, which
would take the square of the length.

A pattern that looks ahead, or at the end of the text, may split all of a text in another way if it ends elsewhere. Then
each try takes the whole prefix, and some prefixes beyond the piece are tried, too. To be certain that no longer one is
within the budget would take as many tries as there are characters.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t

from cbpe._core.encoding.pieces cimport encode_piece
from cbpe._core.encoding.workspace cimport tidy_workspace
from cbpe._core.text.special cimport next_special
from cbpe._core.text.utf8 cimport Utf8, utf8_of

cdef enum:
    FEW = 200       # characters in which all prefixes are tried
    NEAR = 32       # prefixes that are tried beyond the first guess


cdef class Tries:
    """Prefixes of a stretch in which nothing is special, and the tokens that they may have."""

    cdef Engine engine
    cdef Workspace *work
    cdef str stretch
    cdef Py_ssize_t budget
    cdef bint looks_ahead
    # The first piece that is too much, and the tokens before it.
    cdef Py_ssize_t start
    cdef Py_ssize_t end
    cdef Py_ssize_t before

    cdef Py_ssize_t add_up(self, spans, Py_ssize_t tokens) except -1:
        """The tokens of pieces and those before; where they are more than the budget, the first of these pieces is
        noted."""
        cdef Py_ssize_t start, end, before
        cdef bytes piece
        for start, end in spans:
            piece = self.stretch[start:end].encode()
            before = tokens
            tidy_workspace(self.work)
            self.engine.check(encode_piece(&self.engine.vocabulary.tables, self.work, piece, len(piece)), self.work)
            tokens += self.work.n_ids
            if tokens > self.budget:
                self.start, self.end, self.before = start, end, before
                break
        return tokens

    cdef bint fits(self, Py_ssize_t end, Py_ssize_t start, Py_ssize_t before) except -1:
        """Whether the prefix is within the budget. A piece begins at `start`, with so many tokens before."""
        PyErr_CheckSignals()
        if self.looks_ahead:
            return self.add_up(self.engine.splitter.spans(self.stretch[:end]), 0) <= self.budget
        return self.add_up(self.engine.splitter.spans(self.stretch, start, end), before) <= self.budget

    cdef Py_ssize_t longest(self) except -1:
        """The size of the longest prefix that is found, when the whole stretch is too much."""
        cdef Py_ssize_t start = self.start, before = self.before, low = self.start, high = self.end, middle, step = 1
        if self.looks_ahead:
            high = min(<Py_ssize_t>len(self.stretch), self.end + NEAR)
            while low > 0 and not self.fits(low, start, before):
                low = max(0, low - step)
                step *= 2
            while high < len(self.stretch) and self.fits(high, start, before):
                low = high
                high = min(<Py_ssize_t>len(self.stretch), high + step)
                step *= 2
        if high - low > FEW:
            middle = high
            while middle - low > 1:
                if self.fits((low + middle) // 2, start, before):
                    low = (low + middle) // 2
                else:
                    middle = (low + middle) // 2
            high = min(high, low + NEAR)
        while high > low and not self.fits(high, start, before):
            high -= 1
        return high


cdef Py_ssize_t truncate_by_python(
    Engine engine, Workspace *work, str text, Py_ssize_t budget, SpecialTokens allowed
) except -1:
    cdef Utf8 utf8 = utf8_of(text)
    cdef Py_ssize_t start = 0, at, characters = 0, tokens, kept, end, beyond
    cdef uint32_t which
    cdef Tries tries = Tries.__new__(Tries)
    tries.engine, tries.work, tries.budget = engine, work, budget
    # A splitter that says nothing of it may look anywhere.
    tries.looks_ahead = getattr(engine.splitter, "looks_ahead", True)
    while True:
        at = -1 if allowed is None else next_special(&allowed.tables, utf8.bytes, utf8.size, start, &which)
        tries.stretch = (<const char *>utf8.bytes)[start : utf8.size if at < 0 else at].decode()
        tokens = tries.add_up(engine.splitter.spans(tries.stretch), 0)
        if tokens > tries.budget:
            if at >= 0 and tries.looks_ahead:
                # One that ends within the special token has its text, with which the pieces before may be others.
                start = at + allowed.tables.offsets[which + 1] - allowed.tables.offsets[which]
                end = characters + len(tries.stretch)
                beyond = end + len((<const char *>utf8.bytes)[at:start].decode())
                kept = longest_of(engine, work, text, end, beyond, budget, allowed)
                if kept:
                    return kept
            return characters + tries.longest()
        if at < 0:
            return len(text)
        start = at + allowed.tables.offsets[which + 1] - allowed.tables.offsets[which]
        characters += len(tries.stretch) + len((<const char *>utf8.bytes)[at:start].decode())
        tries.budget -= tokens + 1
        if tries.budget < 0:
            break
    # The special token is too much. A prefix that ends within it has its text, which may be part of a piece.
    return longest_of(engine, work, text, 0, characters, budget, allowed)


cdef Py_ssize_t longest_of(
    Engine engine, Workspace *work, str text, Py_ssize_t low, Py_ssize_t high, Py_ssize_t budget, SpecialTokens allowed
) except -1:
    """The longest prefix within the budget, of more than `low` characters and less than `high`; 0 if there is none."""
    high -= 1
    while high > low:
        if count_text(engine, work, text[:high], allowed) <= budget:
            return high
        high -= 1
    return 0


cdef Py_ssize_t count_text(Engine engine, Workspace *work, str text, SpecialTokens allowed) except -1:
    cdef Utf8 utf8 = utf8_of(text)
    tidy_workspace(work)
    work.counting = True
    engine.encode_text(work, &utf8, allowed)
    return work.n_counted + work.n_ids
