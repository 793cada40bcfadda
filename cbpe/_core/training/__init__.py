"""Learning merges from counted pieces."""
