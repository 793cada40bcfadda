"""A store with two versions of one name, for tests of what the command line says of stored models."""

import json

from command_line import TEXT, run

import cbpe
from store import ModelStore


def save_books(models: ModelStore):
    """Two versions of "book": the second goes on from the first."""
    models.save(trained(270), "book", aliases=["prod"], tags={"language": "en", "final": ""}, notes="the first")
    models.save(trained(280), "book", parent="book@1")


def trained(size):
    return cbpe.train(TEXT, size, special_tokens=["<|end|>"])


def rows(*arguments):
    return json.loads(run("models", *arguments, "--json").stdout)
