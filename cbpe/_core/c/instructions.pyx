"""Chooses the instructions that the core works with; instructions.h says which there are."""

import os

cdef extern from "instructions.h" nogil:
    const char *cbpe_name_of_row(int row)
    unsigned cbpe_machine_has()
    bint cbpe_find_instructions(const char *name, unsigned has, Instructions *found)

# Asked once: in a virtual machine each question to the processor takes some 10 microseconds.
cdef unsigned HAS = cbpe_machine_has()


def instruction_sets():
    """The names of the instruction sets that this machine has, the widest first. All give the same results."""
    cdef Instructions found
    cdef list names = []
    cdef int row = 0
    while cbpe_name_of_row(row) != NULL:
        name = cbpe_name_of_row(row).decode()
        if name not in names and cbpe_find_instructions(cbpe_name_of_row(row), HAS, &found):
            names.insert(0, name)
        row += 1
    return tuple(names)


cdef Instructions choose_instructions(str name) except *:
    cdef Instructions found
    cdef bytes encoded
    names = instruction_sets()
    if name is None:
        name = os.environ.get("CBPE_INSTRUCTIONS") or names[0]
    if name not in names:
        raise ValueError(f"no instruction set {name[:80]!r} here: there are {', '.join(names)}")
    encoded = name.encode()
    cbpe_find_instructions(encoded, HAS, &found)
    return found
