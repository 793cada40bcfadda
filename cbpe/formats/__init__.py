"""File formats of tokenizers, one module each."""
