"""The classes of tokenizers over characters."""
