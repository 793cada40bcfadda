"""Settings that hold for a whole call of the program."""

from dataclasses import dataclass

__all__ = ["Settings", "settings"]


@dataclass
class Settings:
    """Set before a command runs."""

    debug: bool = False  # show tracebacks
    bars: bool = True  # draw them, where they can be seen
    store: str | None = None  # a path or URL; None: CBPE_STORE, or a file in the user's data folder
    keys: list[str] | None = None  # PEM files: a tokenizer has to be of a published copy that one of them has signed
    keys_are_used: bool = False  # a tokenizer was taken by one of them


settings = Settings()
