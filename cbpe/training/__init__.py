"""Counts of pieces to merges: the loop around the compiled trainer, its checkpoints and its record."""
