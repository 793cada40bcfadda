"""Draws docs/compression.svg: the curve of the training that the tutorial's "How many tokens" shows.

    python docs/draw_compression.py docs/compression.svg

The text comes with Python, and another version of Python has another one.
"""

import pydoc_data.topics
import sys

import cbpe

TOKENS = 8192


def main(path):
    text = "\n".join(pydoc_data.topics.topics.values())
    cbpe.train(text, TOKENS).training.plot(path)


if __name__ == "__main__":
    main(sys.argv[1])
