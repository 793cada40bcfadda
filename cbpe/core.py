"""tiktoken.core, for programs that import this package in its place: the module that Encoding is in."""

from cbpe.tokenizers.tiktoken import Encoding

__all__ = ["Encoding"]
