"""Hugging Face's tokenizer.json, for byte-level BPE: reading, writing, and what it does besides merging."""
