"""cbpe models: every command is the twin of a method of ModelStore."""

from cbpe.cli.models import asking, changing
from cbpe.cli.models.app import app

__all__ = ["app", "asking", "changing"]
