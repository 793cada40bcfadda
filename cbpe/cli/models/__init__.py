"""cbpe models: every command is the twin of a method of ModelStore."""
