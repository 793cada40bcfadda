"""What a store raises. Each is a StoreError, and also the built-in exception that is nearest in meaning."""

# ruff: noqa: N818  (each is named for what it says, as LookupError's KeyError is not)

from cbpe.common.public import public_of


@public_of("store")
class StoreError(Exception):
    """Something that the store cannot do, and why."""


@public_of("store")
class CannotOpen(StoreError, OSError):
    """No store can be opened or made there."""


@public_of("store")
class Outdated(CannotOpen):
    """A change to a store of an older schema, which can be read as it is: ModelStore.migrate brings it up to date."""


@public_of("store")
class NotAStore(StoreError, ValueError):
    """The file is no store, is cut short, or comes from a newer version of cbpe."""


@public_of("store")
class NotFound(StoreError, LookupError):
    """No version, name, alias or tag is called that."""


@public_of("store")
class Ambiguous(StoreError, LookupError):
    """Several contents have a digest with these first digits, or one as several classes. The message lists them."""


@public_of("store")
class Refused(StoreError, ValueError):
    """A change that would lose something, or contradicts what is there."""


@public_of("store")
class ReadOnly(StoreError, PermissionError):
    """A change to a store that was opened for reading."""


@public_of("store")
class Damaged(StoreError, ValueError):
    """What is stored is not what was saved."""


@public_of("store")
class BadSignature(StoreError, ValueError):
    """An exported file is not signed, not by a key that is trusted, or is not the one that was signed."""


@public_of("store")
class Busy(StoreError, TimeoutError):
    """Others kept the store locked for too long."""


@public_of("store")
class Failed(StoreError, OSError):
    """The database could not do it, as on a full disk. The store is as before, unless it is Uncertain."""


@public_of("store")
class Uncertain(Failed):
    """The connection to the database was lost while a change was committed, and could not be made again: the change may
    have been done. `operation` is its token: ModelStore.was_done tells, once the database can be reached."""

    def __init__(self, message: str, operation: str = "") -> None:
        super().__init__(message)
        self.operation = operation


@public_of("store")
class Closed(StoreError, ValueError):
    """The store was closed: open it again."""
