"""The compiled core: Cython modules only, which know nothing of the Python packages around them."""
