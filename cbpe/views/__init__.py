"""What notebooks and reports show: self-contained HTML, escaped, in light and in dark."""
