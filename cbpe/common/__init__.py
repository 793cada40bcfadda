"""What every room may use: checked arguments, progress reports, files that are never half written."""
