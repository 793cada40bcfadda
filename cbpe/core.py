"""tiktoken.core, for programs that import this package in its place: the module that Encoding is in."""

from cbpe.tiktoken_encoding import Encoding

__all__ = ["Encoding"]
