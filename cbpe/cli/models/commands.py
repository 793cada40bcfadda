"""All commands of `cbpe models`: importing this registers them."""

from cbpe.cli.models import asking, changing, histories, keeping, labelling
from cbpe.cli.models.app import app

__all__ = ["app", "asking", "changing", "histories", "keeping", "labelling"]
