"""What happens to a text before the core encodes it: split patterns, special and added tokens, streams."""
