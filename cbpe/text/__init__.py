"""What happens to a text around the core: split patterns, special and added tokens, templates, streams."""
