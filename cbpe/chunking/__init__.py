"""A text cut into chunks within a budget of tokens."""
