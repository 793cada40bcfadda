"""What other compiled modules may use of truncating."""

from cbpe._core.calls.engine cimport Engine
from cbpe._core.text.special cimport SpecialTokens


# The longest prefix of a text that has at most max_tokens tokens.
cdef str truncate_text(Engine engine, text, Py_ssize_t max_tokens, SpecialTokens allowed, SpecialTokens forbidden)
