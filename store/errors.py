"""What a store raises. Each is a StoreError, and a built-in exception that says the same."""

# ruff: noqa: N818  (each is named for what it says, as LookupError's KeyError is not)


class StoreError(Exception):
    """Something that the store cannot do, and why."""


class CannotOpen(StoreError, OSError):
    """No store can be opened or made there."""


class Outdated(CannotOpen):
    """The store is of an older schema, which is not changed in order to read it: to open it for writing migrates it."""


class NotAStore(StoreError, ValueError):
    """What is there is no store, is cut short, or is of a newer version of cbpe."""


class NotFound(StoreError, LookupError):
    """No version, name, alias or tag is called that."""


class Ambiguous(StoreError, LookupError):
    """A digest's first digits that several models share; the message lists them."""


class Refused(StoreError, ValueError):
    """A change that would lose something, or contradicts what is there."""


class ReadOnly(StoreError, PermissionError):
    """A change to a store that was opened for reading."""


class Damaged(StoreError, ValueError):
    """What is stored is not what was saved."""


class Busy(StoreError, TimeoutError):
    """Others kept the store locked for too long."""


class Failed(StoreError, OSError):
    """The database could not do it, as on a full disk; the store is as before."""


class Closed(StoreError, ValueError):
    """The store was closed: open it again."""
