"""The page in a browser, and the same over JSON: how a text is cut into tokens, served to this machine alone."""
