"""The group of commands, in which the other modules register theirs."""

from cbpe.cli.registering import new_app

__all__ = ["app"]

app = new_app(
    name="models",
    add_completion=False,
    help="Keep tokenizers as versions under names: the model store.\n\n"
    "REF is a version in the store: name (its newest version), name@3, name@alias, name@latest, or sha256: and at "
    "least 8 digits of a digest.",
)
