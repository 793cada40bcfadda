"""cbpe compare and cbpe sweep, and how a version keeps what they measured."""
