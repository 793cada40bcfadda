"""tokenizer.json for BPE over characters, as SentencePiece's models are converted to it."""
