"""Measures of tokenizers on texts: compared, and against the size of the vocabulary, with tables and charts of them."""
