"""File formats of tokenizers: table.py lists them, a module for each; bpeasy and rustbpe take over Python objects."""
