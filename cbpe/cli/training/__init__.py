"""cbpe train: its options, where its result goes, and how the training went."""
