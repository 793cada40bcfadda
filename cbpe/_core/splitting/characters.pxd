"""What a split pattern says of single characters, read from where the reader stands."""


cdef enum:
    MAX_DEPTH = 50  # deeper patterns would need too much of the C stack, here and in the automaton


cdef object unsupported(str what)


cdef class CharacterReader:
    cdef str pattern
    cdef Py_ssize_t position
    cdef int depth
    cdef bint portable
    cdef bint has_operations  # on sets: the pattern begins with (?V1)
    cdef dict set_numbers  # a set, as in Pattern.sets -> its place there

    cdef object refusal(self, Py_ssize_t start, str what)
    cdef bint looking_at(self, str text)
    cdef bint skip(self, str text)
    cdef bint looking_at_one_of(self, str characters)
    cdef int character_class(self, bint ignore_case) except -1
    cdef int refuse_letters(self, Py_ssize_t start, long long categories, tuple others) except -1
    cdef tuple set_of_class(self)
    cdef tuple operands(self, int level)
    cdef tuple members(self)
    cdef bint at_operation(self)
    cdef tuple plain_member(self)
    cdef tuple class_member(self, Py_ssize_t start, bint ignore_case, bint may_be_hyphen)
    cdef tuple escape(self, bint ignore_case)
    cdef tuple named_property(self, bint is_complement, bint ignore_case)
    cdef long long category(self, bint is_complement, bint ignore_case) except -1
    cdef int number_of_set(
        self, Py_ssize_t start, long long categories, list ranges, bint negated, bint ignore_case
    ) except -1
    cdef int number_of_stretches(self, tuple stretches) except -1
    cdef set folded(self, Py_ssize_t start, list ranges, bint ignore_case)
