"""Generated words and the options of training, and what the trainer and the reference make of them."""

import reference
from hypothesis import strategies as st

from cbpe._core.counting.count import PieceCounter
from cbpe._core.training.train import Trainer

tie_breaks = st.sampled_from(["first", "largest", "smallest"])
min_counts = st.integers(1, 4)
max_lengths = st.none() | st.integers(2, 6)


def words(letters, max_size):
    return st.lists(st.sampled_from(letters), max_size=max_size).map(bytes)


# Few letters, so that there are ties and runs everywhere.
few_letters = st.sampled_from([b"a", b"ab", b"abc"])
sequences = few_letters.flatmap(lambda letters: words(letters, 80))
word_lists = few_letters.flatmap(lambda letters: st.lists(words(letters, 12), max_size=20))


def trainer_of(pieces, **options):
    counter = PieceCounter()
    counter.add_pieces(pieces)
    return Trainer(counter.data(), counter.lengths(), counter.counts(), **options)


def results(trainer):
    """As reference.train returns them: merges in order, counts, tokens remaining."""
    left, right, counts, tokens = trainer.results()
    return list(zip(left, right, strict=True)), list(counts), list(tokens)


def expected_results(pieces, n_merges, *options):
    merges, counts, tokens = reference.train(pieces, n_merges, *options)
    return list(merges), counts, tokens


def trained(pieces, n_merges, tie_break="first", min_count=1, max_token_length=None):
    trainer = trainer_of(pieces, tie_break=tie_break, min_count=min_count, max_token_length=max_token_length or 0)
    trainer.run(n_merges)
    return results(trainer)
