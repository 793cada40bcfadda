"""How many members the objects in JSON have: in its text, and in the value that was made of it. Of two members with one
key a value keeps one, so that the two numbers tell whether a key is there twice."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t


def scan(bytes data not None):
    """The number of members in the text of JSON, and the most digits that stand side by side outside of strings. For
    what is no JSON, two numbers that mean nothing."""
    cdef const uint8_t *p = <const uint8_t *>PyBytes_AS_STRING(data)
    cdef const uint8_t *end = p + PyBytes_GET_SIZE(data)
    cdef Py_ssize_t members = 0, digits = 0, longest = 0
    with nogil:
        while p < end:
            if c"0" <= p[0] <= c"9":
                digits += 1
                longest = max(longest, digits)
                p += 1
                continue
            digits = 0
            if p[0] == c":":
                members += 1
            elif p[0] == c'"':
                p += 1
                while p < end and p[0] != c'"':
                    p += 2 if p[0] == c"\\" else 1
            p += 1
    return members, longest


def count_members(value):
    """The number of members in all objects of a value that json.loads has made."""
    cdef list waiting = [value]
    cdef Py_ssize_t members = 0
    while waiting:
        inner = waiting.pop()
        if type(inner) is dict:
            members += len(<dict>inner)
            for one in (<dict>inner).values():
                if type(one) is dict or type(one) is list:
                    waiting.append(one)
        elif type(inner) is list:
            for one in <list>inner:
                if type(one) is dict or type(one) is list:
                    waiting.append(one)
    return members
