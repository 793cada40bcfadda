"""The vocabulary: tokens, merges, and the look-up of a token by its bytes."""
