"""Sources of text to counts of words: files, batches, counting in several threads."""
