from collections.abc import Iterable
from typing import SupportsIndex, final

@final
class StreamDecoder:
    """Decodes token ids as they come, to text in whole characters: what Tokenizer.stream_decoder returns."""

    def push(self, token: SupportsIndex) -> str: ...
    def extend(self, ids: Iterable[SupportsIndex]) -> str: ...
    def flush(self) -> str: ...
