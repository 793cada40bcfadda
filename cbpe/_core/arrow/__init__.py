"""Columns of Arrow's: texts and token ids read from others' memory, and columns handed out."""
