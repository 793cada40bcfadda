"""C headers, one purpose each, with what Cython is told of them, and the choice of the machine's instructions."""
