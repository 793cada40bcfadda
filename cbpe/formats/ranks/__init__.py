"""The formats of vocabularies by ranks: the ids, or what they count from, are the order of merging."""
