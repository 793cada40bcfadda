"""Counting the distinct pieces of texts."""
