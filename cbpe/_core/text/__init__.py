"""UTF-8 text in the core, the special tokens in it, and where it may be cut into chunks."""
