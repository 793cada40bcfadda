"""Counts of words to merges: the loop around the compiled trainer, its checkpoints and the record of it."""
