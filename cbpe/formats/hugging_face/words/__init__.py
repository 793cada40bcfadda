"""tokenizer.json for BPE over words: tokens that are marked where words begin or end, and words over characters."""
