"""Split patterns: parsed, compiled to an automaton, and run."""
