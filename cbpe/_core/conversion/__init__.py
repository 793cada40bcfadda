"""Vocabularies made from ranks, and from lists of merges."""
