"""Merging a piece to symbols, and where a long piece may be cut before."""
