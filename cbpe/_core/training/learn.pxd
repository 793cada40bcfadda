"""Merging, for the trainer."""

from libc.stdint cimport uint32_t

from cbpe._core.training.candidates cimport State


# What fails raises, and leaves a state that can only be freed.
cdef int reserve_ids(State *state, size_t n_ids) except -1 nogil
cdef int apply_merge(State *state, uint32_t left, uint32_t right) except -1 nogil
cdef int learn(State *state, size_t n_merges) except -1 nogil
cdef int find_reason(const State *state) noexcept nogil
cdef void free_state(State *state) noexcept nogil
