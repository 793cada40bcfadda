"""Byte tokens: what a vocabulary over characters has for the bytes of characters that have no token ("<0xE2>"), and how
Hugging Face and SentencePiece decode them."""

from __future__ import annotations

import operator
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import SupportsIndex

__all__ = ["IdDecoder", "PieceDecoder", "RunDecoder", "SkippingDecoder", "byte_of", "byte_token"]

BYTE_TOKEN = re.compile("<0x([0-9A-F]{2})>")


def byte_token(byte: int) -> str:
    """10 -> "<0x0A>" """
    return f"<0x{byte:02X}>"


def byte_of(token: str) -> int | None:
    """The inverse: "<0x0A>" -> 10; None for any other token."""
    found = BYTE_TOKEN.fullmatch(token)
    return int(found[1], 16) if found else None


def decode_run(run: bytes | bytearray) -> str:
    """A run of byte tokens that is UTF-8 is that text; of one that is not, each is U+FFFD, as `tokenizers` has it."""
    try:
        return run.decode()
    except UnicodeDecodeError:
        return "\ufffd" * len(run)


def decode_characters(run: bytes | bytearray) -> str:
    """The characters in a run of bytes, and one U+FFFD for each byte that is part of none, as SentencePiece has it."""
    parts: list[str] = []
    while run:
        try:
            parts.append(run.decode())
            break
        except UnicodeDecodeError as error:
            parts.append(run[: error.start].decode() + "\ufffd")
            run = run[error.start + 1 :]
    return "".join(parts)


class IdDecoder:
    """What decoders of ids that come one at a time have in common, whatever their `push` does with one."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def push(self, token: int) -> str:
        """The text that is whole with this id."""
        raise NotImplementedError

    def flush(self) -> str:
        """What is held back, at the end of the ids. After that the decoder is as new."""
        raise NotImplementedError

    def extend(self, ids: Iterable[SupportsIndex]) -> str:
        """Decode several more ids, as push does with each; if anything is raised, none of them counts."""
        before = {name: value[:] if isinstance(value, bytearray) else value for name, value in vars(self).items()}
        try:
            return "".join(map(self.push, map(operator.index, ids)))
        except BaseException:
            vars(self).update(before)
            raise


class SkippingDecoder(IdDecoder):
    """Decodes ids that come one at a time, without some of them."""

    def __init__(
        self, decoder: IdDecoder, without_special: Callable[[Iterable[SupportsIndex]], list[SupportsIndex]]
    ) -> None:
        self._decoder = decoder
        self._without_special = without_special

    def push(self, token: int) -> str:
        """The text that is whole with this id: what is held back stays so where the id is left out."""
        return self.extend((token,))

    def extend(self, ids: Iterable[SupportsIndex]) -> str:
        """Decode several more ids; if anything is raised, none of them counts."""
        return self._decoder.extend(self._without_special(ids))

    def flush(self) -> str:
        """What is held back, at the end of the ids."""
        return self._decoder.flush()


class RunDecoder(IdDecoder):
    """Decodes ids that come one at a time. What `push` and `flush` return is together what decoding all at once gives;
    a run of byte tokens is held back until it ends."""

    def __init__(
        self,
        spell: Callable[[int], bytes],
        spell_first: Callable[[int], bytes],
        byte_ids: Mapping[int, int],
        strip: str | None,
        errors: str,
    ) -> None:
        self._spell = spell
        self._spell_first = spell_first  # without its marks, where strip is "spaces"
        self._byte_ids = byte_ids
        self._strips = strip
        self._strip = strip  # as long as nothing has come
        self._errors = errors
        self._run = bytearray()

    def push(self, token: int) -> str:
        """The text that is whole with this id. KeyError, and nothing is changed, for one that is not in the
        vocabulary."""
        spelled = self._spell(token)
        if token in self._byte_ids:
            if self._strip == "spaces":
                self._strip = None
            self._run += spelled
            return ""
        if self._strip == "spaces":
            spelled = self._spell_first(token)
        text = spelled.decode("utf-8", self._errors)
        if self._strip == "spaces":
            self._strip = None
        return self._begun(self._ended() + text)

    def flush(self) -> str:
        """What is held back, at the end of the ids. After that the decoder is as new."""
        text = self._begun(self._ended())
        self._strip = self._strips
        return text

    def _ended(self) -> str:
        run, self._run = self._run, bytearray()
        return decode_run(run) if self._errors == "replace" else run.decode("utf-8", self._errors)

    def _begun(self, text: str) -> str:
        if self._strip and text:
            self._strip = None
            return text.removeprefix(" ")
        return text


class PieceDecoder(IdDecoder):
    """Decodes ids that come one at a time as SentencePiece does: control tokens are left out, the unknown token has a
    text of its own, and the space before the text, if one was put there, is dropped from the first piece."""

    def __init__(
        self,
        spell: Callable[[int], bytes],
        byte_ids: Mapping[int, int],
        texts: Mapping[int, str],
        strips: bool,
        errors: str,
        *,
        strips_all: bool = False,
    ) -> None:
        self._spell = spell
        self._byte_ids = byte_ids
        self._texts = texts  # of ids whose text is not that of their token
        self._strips_first = strips
        self._strips = strips
        self._strips_all = strips_all  # as long as nothing has come, not only from the first piece
        self._errors = errors
        self._run = bytearray()

    def push(self, token: int) -> str:
        """The text that is whole with this id. KeyError, and nothing is changed, for one that is not in the
        vocabulary."""
        spelled = self._spell(token)
        if token in self._byte_ids:
            self._run += spelled
            return ""
        before = self._ended()
        text = self._texts.get(token)
        if text is None:
            text = spelled.decode("utf-8", self._errors)
            if self._strips:
                text = text.removeprefix(" ")
                self._strips = self._strips_all and not text
        elif text:
            self._strips = False
        return before + text

    def flush(self) -> str:
        """What is held back, at the end of the ids. After that the decoder is as new."""
        text = self._ended()
        self._strips = self._strips_first
        return text

    def _ended(self) -> str:
        run, self._run = self._run, bytearray()
        if run:
            self._strips = False
        return decode_characters(run) if self._errors == "replace" else run.decode("utf-8", self._errors)
