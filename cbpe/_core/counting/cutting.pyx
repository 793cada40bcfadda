"""Cuts counted pieces into partitions by a hash of their bytes, and puts pieces into another order.

The hash has a fixed seed and goes by bytes alone: every machine puts a piece into the same partition.
"""

from array import array

from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from cbpe._core.c.hashing cimport cbpe_hash

cdef uint64_t SEED = 0x6362706543757473     # any number will do, and changes which partition a piece is in


cdef object starts_of(const uint8_t[::1] data, const int64_t[::1] lengths):
    """Where each piece begins in the data, and where the last ends, as array("q")."""
    cdef:
        Py_ssize_t i, n = lengths.shape[0]
        int64_t begin = 0
        int64_t[::1] starts
    found = array("q", bytes(8 * (n + 1)))
    starts = found
    for i in range(n):
        if lengths[i] < 1 or lengths[i] > data.shape[0] - begin:
            raise ValueError(f"piece {i} of length {lengths[i]} does not lie inside {data.shape[0]} bytes of data")
        begin += lengths[i]
        starts[i + 1] = begin
    if begin != data.shape[0]:
        raise ValueError(f"the lengths add up to {begin} bytes, but data holds {data.shape[0]}")
    return found


def cut_by_hash(const uint8_t[::1] data not None, const int64_t[::1] lengths not None, int64_t n_partitions):
    """Pieces by their partitions -> (order, ends), each as array("q"): the pieces of partition p are those whose
    numbers stand in order[ends[p - 1]:ends[p]], from the first to the last.

    >>> cut_by_hash(b"tobeor", array("q", [2, 2, 2]), 1)
    (array('q', [0, 1, 2]), array('q', [3]))
    """
    cdef:
        Py_ssize_t i, n = lengths.shape[0]
        int64_t p, before = 0, size
        int64_t[::1] starts = starts_of(data, lengths)
        int64_t[::1] order, ends, partition
    if n_partitions < 1:
        raise ValueError(f"there are {n_partitions} partitions; there must be at least 1")
    found = array("q", bytes(8 * n)), array("q", bytes(8 * n_partitions))
    order, ends = found
    partition = array("q", bytes(8 * n))
    with nogil:
        for i in range(n):
            size = starts[i + 1] - starts[i]
            p = <int64_t>(cbpe_hash(&data[starts[i]], <size_t>size, SEED) % <uint64_t>n_partitions)
            partition[i] = p
            ends[p] += 1
        for p in range(n_partitions):       # first where each begins; it ends where the last of its pieces was put
            size = ends[p]
            ends[p] = before
            before += size
        for i in range(n):
            p = partition[i]
            order[ends[p]] = i
            ends[p] += 1
    return found


def in_order(const uint8_t[::1] data not None, const int64_t[::1] lengths not None, const int64_t[::1] order not None):
    """The bytes of these pieces, one after the other.

    >>> in_order(b"tobeor", array("q", [2, 2, 2]), array("q", [2, 0]))
    bytearray(b'orto')
    """
    cdef:
        Py_ssize_t i, n = order.shape[0]
        int64_t[::1] starts = starts_of(data, lengths)
        int64_t size, total = 0, at = 0
        uint8_t[::1] target
    for i in range(n):
        if not 0 <= order[i] < lengths.shape[0]:
            raise IndexError(f"there is no piece {order[i]} of {lengths.shape[0]}")
        if lengths[order[i]] > INT64_MAX - total:
            raise MemoryError
        total += lengths[order[i]]
    taken = bytearray(total)
    if total:
        target = taken
        with nogil:
            for i in range(n):
                size = starts[order[i] + 1] - starts[order[i]]
                memcpy(&target[at], &data[starts[order[i]]], <size_t>size)
                at += size
    return taken
