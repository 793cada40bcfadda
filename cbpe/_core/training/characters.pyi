from array import array

from typing_extensions import Buffer

CLASSES: dict[str, int]
FIRST_SCRIPT_CLASS: int

class Pieces:
    """Distinct pieces of text, cut to what training over characters learns from."""

    def __init__(self, data: Buffer, lengths: Buffer, counts: Buffer, adds_space: bool) -> None: ...
    def count_characters(self) -> dict[str, int]: ...
    def begin_to_cut(self, classes: dict[str, int]) -> None: ...
    def cut(self) -> tuple[bytes, array[int], array[int]] | None: ...
