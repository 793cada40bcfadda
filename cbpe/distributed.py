"""For those who have their texts in a cluster already: word counts of a Dataset of Ray's. Functions that make tokens of
batches are `arrow_udf`'s, and whole runs take executor="ray"."""

from cbpe.counting.datasets import count_words

__all__ = ["count_words"]
