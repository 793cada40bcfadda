class SpecialTokens:
    """Special tokens and their ids, ready to be searched for. Immutable."""

    def __init__(self, ids: dict[str, int]) -> None: ...
    @property
    def ids(self) -> dict[str, int]: ...
    advice: dict[str, str]
