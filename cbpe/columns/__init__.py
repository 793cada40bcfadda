"""Around tables and columns of Arrow's: the texts in them, functions from batch to batch, and columns of tokenizers
that change texts."""
