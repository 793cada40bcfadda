"""Byte-pair-encoding tokenizers: train, encode and decode on a compiled core."""

__version__ = "0.1.0"
