"""UTF-8 text in the core, and the special tokens in it."""
