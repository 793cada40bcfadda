"""The command line: every command is the twin of a function or method, with the same nouns and verbs."""
