"""Runs of cbpe.tokenize on a small corpus, which is cut into many tasks."""

import cbpe

N = 60  # documents


def tokenize(corpus, tok, out, format_name="megatron", **options):
    options = {"field": "text", "task_bytes": 150, "verify": options.get("task") is None, **options}
    return cbpe.tokenize(corpus, tok, out, format_name, **options)


def bytes_of(folder):
    """What each file of a finished run holds, the manifest aside."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "manifest.json"}
