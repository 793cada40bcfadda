"""The hostile trials: what looks for faults of cbpe and store with cases that nobody has thought of."""
