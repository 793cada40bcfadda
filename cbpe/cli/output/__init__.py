"""What the command line prints: tables, JSON, coloured tokens."""
