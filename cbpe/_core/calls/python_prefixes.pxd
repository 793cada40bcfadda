"""The longest prefix of a text that is within a number of tokens, where the splitter is Python's."""

from cbpe._core.calls.engine cimport Engine
from cbpe._core.encoding.workspace cimport Workspace
from cbpe._core.text.special cimport SpecialTokens


# The number of characters in it.
cdef Py_ssize_t truncate_by_python(
    Engine engine, Workspace *work, str text, Py_ssize_t budget, SpecialTokens allowed
) except -1
