"""tiktoken.registry, for programs that import this package in its place: encodings by name."""

from cbpe.tokenizers.registry import get_encoding, list_encoding_names

__all__ = ["get_encoding", "list_encoding_names"]
