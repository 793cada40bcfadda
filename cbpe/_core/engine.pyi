from collections.abc import Iterable
from typing import Final, SupportsIndex

from cbpe._core.special import SpecialTokens
from cbpe._core.split import Splitter
from cbpe._core.vocab import Vocabulary
from cbpe.splitting import RegexSplitter

DEFAULT_CACHE_BYTES: Final[int]

class TokenBuffer:
    """Owns token ids and shows them through the buffer protocol, as uint32[n]."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

class Encoder:
    """Encodes and decodes with one model: the base of Tokenizer. Until _install is called, all raises RuntimeError."""

    def _install(
        self,
        vocabulary: Vocabulary,
        splitter: Splitter | RegexSplitter,
        special_tokens: dict[str, int],
        cache_bytes: int = ...,
    ) -> None: ...
    @property
    def _vocabulary(self) -> Vocabulary: ...
    @property
    def _splitter(self) -> Splitter | RegexSplitter: ...
    @property
    def _special(self) -> SpecialTokens: ...
    def encode_ordinary(self, text: str) -> list[int]: ...
    def _encode(self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None) -> list[int]: ...
    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]: ...
    def _count(self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None) -> int: ...
    def _encode_buffer(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> TokenBuffer: ...
    def decode_bytes(self, ids: Iterable[SupportsIndex]) -> bytes: ...
    def decode(self, ids: Iterable[SupportsIndex], errors: str = "replace") -> str: ...
