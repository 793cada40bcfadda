"""The records of a store: versions and what refers to them, labels, the audit log, rows of tokens, export files."""
