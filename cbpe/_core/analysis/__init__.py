"""What can be proved of a vocabulary and a split pattern."""
