"""What every room may use: checks of arguments, words for messages, reports of progress, files written whole."""
