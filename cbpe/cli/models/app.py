"""The group of commands, in which the other modules register theirs."""

from typing import ClassVar

import typer

from cbpe.cli.input.settings import settings
from cbpe.cli.input.store_option import StoreOption
from cbpe.cli.registering import SuggestingGroup, new_app

__all__ = ["app"]


class ModelCommands(SuggestingGroup):
    called: ClassVar = {
        "ls": ("list", "dir", "names", "all", "search"),
        "show": ("info", "describe", "get", "inspect", "view", "cat"),
        "history": ("versions",),
        "log": ("audit", "audit-log", "changes"),
        "verify": ("check", "fsck"),
        "save": ("add", "put", "push", "register", "store", "create", "new"),
        "rename": ("mv", "move"),
        "rm": ("delete", "del", "remove", "drop", "erase", "unregister"),
        "vacuum": ("gc", "prune", "clean", "compact"),
        "export": ("dump", "download", "write"),
        "import": ("load", "upload", "read"),
        "load-check": ("load",),
        "copy": ("cp", "clone"),
        "migrate": ("upgrade",),
        "remove-alias": ("unalias", "rm-alias", "delete-alias", "alias-rm"),
        "tag": ("label",),
        "untag": ("remove-tag", "rm-tag", "delete-tag"),
        "notes": ("note", "comment"),
        "metrics": ("metric",),
        "set-parent": ("parent",),
    }


app = new_app(
    cls=ModelCommands,
    name="models",
    add_completion=False,
    help="Keep tokenizers as versions under names: the model store.\n\n"
    "REF is a version in the store: name (its newest version), name@3, name@alias, name@latest, or sha256: and at "
    "least 8 digits of a digest.",
)


@app.callback()
def of_all_commands(ctx: typer.Context, store: StoreOption = None) -> None:
    """Take --store before a command as after it."""
    if settings.keys is not None and ctx.invoked_subcommand != "save":
        problem = "it is for the tokenizers of published copies, and this command takes versions of the store"
        raise typer.BadParameter(problem, param_hint="--key")
