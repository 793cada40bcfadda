"""The calls of the core: Python objects in and out, several threads, signals."""
