from array import array
from collections.abc import Iterable, Sequence
from typing import Final, Protocol, SupportsIndex

from typing_extensions import Buffer

from cbpe._core.arrow.exported import ArrowColumn
from cbpe._core.calls.stream import StreamDecoder
from cbpe._core.splitting.split import Splitter
from cbpe._core.text.special import SpecialTokens
from cbpe._core.vocabulary.vocabulary import Vocabulary

DEFAULT_CACHE_BYTES: Final[int]

class PythonSplitter(Protocol):
    """A splitter that is written in Python. For type checkers alone."""

    @property
    def native(self) -> bool: ...
    @property
    def pattern(self) -> str | None: ...
    def split(self, text: str) -> list[str]: ...
    def spans(self, text: str) -> list[tuple[int, int]]: ...

class Encoder:
    """Encodes and decodes with one model: the base of Tokenizer. Until _install is called, all raises RuntimeError."""

    def _install(
        self,
        vocabulary: Vocabulary,
        splitter: Splitter | PythonSplitter,
        special_tokens: dict[str, int],
        cache_bytes: int = ...,
    ) -> None: ...
    def _tell_places(self, tells_places: bool) -> None: ...
    @property
    def _vocabulary(self) -> Vocabulary: ...
    @property
    def _splitter(self) -> Splitter | PythonSplitter: ...
    @property
    def _special(self) -> SpecialTokens: ...
    def encode_ordinary(self, text: str, *, workers: int | None = 1) -> list[int]: ...
    def _encode(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None, workers: int | None = 1
    ) -> list[int]: ...
    def _encode_refusing(self, text: str, workers: int | None = 1) -> list[int]: ...
    def _holds_special(self, text: str, tokens: SpecialTokens) -> bool: ...
    def _refuse_special(self, text: str, forbidden: SpecialTokens) -> None: ...
    def _count(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None, workers: int | None = 1
    ) -> int: ...
    def _count_refusing(self, text: str, workers: int | None = 1) -> int: ...
    def _encode_buffer_after_space(
        self, text: str, special: SpecialTokens | None, spaces: str | None
    ) -> Buffer | None: ...
    def _encode_buffer(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None, workers: int | None = 1
    ) -> Buffer: ...
    def _encode_batch(
        self,
        texts: Iterable[str],
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        workers: int | None = None,
        share_bytes: int | None = None,
    ) -> list[list[int]]: ...
    def _encode_flat(
        self,
        texts: Iterable[str],
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        workers: int | None = None,
        share_bytes: int | None = None,
    ) -> tuple[Buffer, array[int]]: ...
    def _count_parts(
        self, text: str, spans: list[tuple[int, int]], allowed: SpecialTokens | None, workers: int | None = None
    ) -> array[int]: ...
    def _encode_arrow(
        self,
        column: object,
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        workers: int | None,
        around: tuple[Sequence[int], Sequence[int]],
        dtype: str,
    ) -> ArrowColumn: ...
    def _count_arrow(
        self,
        column: object,
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        workers: int | None,
        more: int,
    ) -> ArrowColumn: ...
    def _decode_arrow(self, column: object, errors: str, skip_special_tokens: bool) -> ArrowColumn: ...
    def _encode_dropping(
        self,
        text: str,
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        probability: float,
        seed: int,
    ) -> list[int]: ...
    def _encode_with_offsets(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> tuple[list[int], list[tuple[int, int]]]: ...
    def _encode_buffer_with_offsets(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> tuple[Buffer, bytearray]: ...
    def _truncate(
        self, text: str, max_tokens: int, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> str: ...
    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]: ...
    def _without_special(self, ids: Iterable[SupportsIndex]) -> list[SupportsIndex]: ...
    def decode_bytes_batch(
        self,
        batch: Iterable[Iterable[SupportsIndex]],
        *,
        num_threads: int | None = None,
        skip_special_tokens: bool = False,
    ) -> list[bytes]: ...
    def decode_batch(
        self,
        batch: Iterable[Iterable[SupportsIndex]],
        *,
        errors: str = "replace",
        num_threads: int | None = None,
        skip_special_tokens: bool = False,
    ) -> list[str]: ...
    def decode_bytes(self, tokens: Iterable[SupportsIndex], *, skip_special_tokens: bool = False) -> bytes: ...
    def decode(
        self, tokens: Iterable[SupportsIndex], errors: str = "replace", *, skip_special_tokens: bool = False
    ) -> str: ...
    def decode_with_offsets(self, tokens: Iterable[SupportsIndex]) -> tuple[str, list[int]]: ...
    def stream_decoder(self, errors: str = "replace", *, skip_special_tokens: bool = False) -> StreamDecoder: ...

def decode(
    self: Encoder,
    ids: Iterable[SupportsIndex] = ...,
    errors: str = "replace",
    *,
    skip_special_tokens: bool = False,
    tokens: Iterable[SupportsIndex] = ...,
) -> str: ...
