"""What the command line is given: files, references to tokenizers, labels, settings."""
