"""UTF-8 text to token ids, with a cache of pieces."""
