"""WordTokenizer: tokenizers of words, as CLIP's and GPT-1's: their tokens are marked where a word begins or ends, or
they are of characters, and no token reaches over a space."""

from __future__ import annotations

from cbpe._core.calls.join import each_of_batch, refuse_no_sequence
from cbpe.common.checks import checked_flag, refuse_unknown_handler
from cbpe.common.public import public
from cbpe.formats.hugging_face.pre_tokenizers import one_pattern_for, steps_of
from cbpe.formats.hugging_face.words.settings import checked_words
from cbpe.text.byte_tokens import IdDecoder, SkippingDecoder
from cbpe.text.chains import ChainSplitter
from cbpe.text.splitting import make_splitter
from cbpe.tokenizers.base import NoPlacesError
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer
from cbpe.tokenizers.tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, SupportsIndex

    from typing_extensions import Buffer

    from cbpe._core.arrow.exported import ArrowColumn
    from cbpe._core.text.special import SpecialTokens
    from cbpe.text.added_tokens import Finders
    from cbpe.tokenizers.hugging_face import Stretches

__all__ = ["WordTokenizer"]

# What WordPiece's cleanup replaces, in this order.
CLEANUP = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


@public
class WordTokenizer(HuggingFaceTokenizer):
    """A tokenizer of words: the ids of `tokenizers` for a BPE model with a prefix on tokens within a word ("##ing") or
    a suffix on those that end one ("ing</w>"), or for one over characters.

    It is used as a HuggingFaceTokenizer; its tokens are shown with the prefix and the suffix. `processing["words"]`
    holds what such a model needs besides: "alphabet": what is merged, "bytes" or "characters"; "unk_token", "fuse_unk":
    as in the file; "decoder": how tokens become text, as in the file, None for tokens with spaces between them.
    """

    __slots__ = ("_first_step", "_forms", "_pattern", "_whole", "_words")
    _model_of = "words"

    _words: Mapping[str, Any]
    _pattern: str | None
    _whole: tuple[str, ...]  # texts that the one pattern does not split as the steps do
    _first_step: ChainSplitter | None
    _forms: Mapping[int, str]  # ids of added tokens that are decoded to another form

    # ---- What it is made of

    @property
    def pattern(self) -> str | None:
        """The split pattern; None if text is not split, or by other steps alone."""
        return self._pattern

    # ---- Decoding

    def decode_with_offsets(self, tokens: Iterable[SupportsIndex]) -> tuple[str, list[int]]:
        """Decode token ids to text, and the number of the first character of each: (str, list[int]). Where a decoder
        puts a space before a token or behind it, that is the token's."""
        if self._decodes_bytes:
            return super().decode_with_offsets(tokens)
        offsets: list[int] = []
        n_characters = 0
        parts = self._decoded(tokens)
        for part in parts:
            offsets.append(n_characters)
            n_characters += len(part)
        return "".join(parts), offsets

    def decode_bytes(self, tokens: Iterable[SupportsIndex], *, skip_special_tokens: bool = False) -> bytes:
        """Decode token ids to the UTF-8 of their text. Raises as Tokenizer.decode_bytes does."""
        if checked_flag("skip_special_tokens", skip_special_tokens):
            tokens = self._without_special(tokens)
        if self._decodes_bytes:
            return super().decode_bytes(tokens)
        return "".join(self._decoded(tokens)).encode("utf-8", "surrogatepass")

    def decode(
        self, tokens: Iterable[SupportsIndex], errors: str = "replace", *, skip_special_tokens: bool = False
    ) -> str:
        """Decode token ids to text, as the file's decoder does. skip_special_tokens as Tokenizer.decode."""
        if checked_flag("skip_special_tokens", skip_special_tokens):
            tokens = self._without_special(tokens)
        if self._decodes_bytes:
            return super().decode(tokens, errors)
        refuse_unknown_handler(errors)
        return "".join(self._decoded(tokens))

    def decode_bytes_batch(
        self,
        batch: Iterable[Iterable[SupportsIndex]],
        *,
        num_threads: int | None = None,
        skip_special_tokens: bool = False,
    ) -> list[bytes]:
        """Decode several sequences of token ids to bytes."""
        if self._decodes_bytes:
            return super().decode_bytes_batch(batch, num_threads=num_threads, skip_special_tokens=skip_special_tokens)
        return each_of_batch(lambda ids: self.decode_bytes(ids, skip_special_tokens=skip_special_tokens), batch)

    def decode_batch(
        self,
        batch: Iterable[Iterable[SupportsIndex]],
        *,
        errors: str = "replace",
        num_threads: int | None = None,
        skip_special_tokens: bool = False,
    ) -> list[str]:
        """Decode several sequences of token ids to text."""
        if self._decodes_bytes:
            return super().decode_batch(
                batch, errors=errors, num_threads=num_threads, skip_special_tokens=skip_special_tokens
            )
        return each_of_batch(lambda ids: self.decode(ids, errors, skip_special_tokens=skip_special_tokens), batch)

    def stream_decoder(self, errors: str = "replace", *, skip_special_tokens: bool = False) -> Any:
        """A decoder of ids that come one at a time, as Tokenizer.stream_decoder: it may hold back the last token."""
        if self._decodes_bytes:
            return super().stream_decoder(errors, skip_special_tokens=skip_special_tokens)
        refuse_unknown_handler(errors)
        decoder = WordDecoder(self)
        is_skipping = checked_flag("skip_special_tokens", skip_special_tokens)
        return SkippingDecoder(decoder, self._without_special) if is_skipping else decoder

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one token, as it is shown: with its prefix or suffix. KeyError if there is no such id."""
        return super().decode_bytes([token])

    def decode_tokens_bytes(self, tokens: Iterable[SupportsIndex]) -> list[bytes]:
        """The bytes of each token, as decode_single_token_bytes."""
        refuse_no_sequence(tokens)
        return [super(WordTokenizer, self).decode_bytes((token,)) for token in tokens]

    # ---- Private

    @property
    def _decodes_bytes(self) -> bool:
        return bool(self._words["alphabet"] == "bytes")

    def _decoded(self, tokens: Iterable[SupportsIndex]) -> list[str]:
        """What each token becomes in the text."""
        refuse_no_sequence(tokens)
        ids = tokens.tolist() if hasattr(tokens, "tolist") else list(tokens)
        last = len(ids) - 1
        return [self._decoded_one(token, i == 0, i == last) for i, token in enumerate(ids)]

    def _decoded_one(self, token: SupportsIndex, is_first: bool, is_last: bool) -> str:
        form = self._forms.get(token.__index__()) if hasattr(token, "__index__") else None
        text = super().decode_bytes((token,)).decode("utf-8", "surrogatepass") if form is None else form
        decoder = self._words["decoder"]
        if decoder is None:
            return text if is_first else " " + text
        if decoder["type"] == "BPEDecoder":
            return text.replace(decoder["suffix"], "" if is_last else " ")
        if decoder["type"] == "WordPiece":
            if not is_first:
                text = text.removeprefix(decoder["prefix"]) if text.startswith(decoder["prefix"]) else " " + text
            for old, new in CLEANUP if decoder["cleanup"] else ():
                text = text.replace(old, new)
        return text

    def _processing(self) -> dict[str, Any]:
        return {**super()._processing(), "words": {**self._words}}

    def _set_processing(self, processing: Mapping[str, Any]) -> None:
        rest = {name: value for name, value in processing.items() if name != "words"}
        self._words = checked_words(processing.get("words"))
        self._pattern = self._splitter.pattern
        self._whole, self._first_step = (), None
        super()._set_processing(rest)
        if "splits" in self._steps and "prefix_space" not in self._steps:
            steps = steps_of(self._steps["splits"])
            found = one_pattern_for(steps, self._pattern)
            if found is not None:
                pattern, self._whole = found
                self._first_step = ChainSplitter(steps[:1], None)
                self._use(self._vocabulary, make_splitter(pattern), self.special_tokens)
        special = self.special_tokens
        normalized = [text for text in self._steps.get("normalized", ()) if text in special]
        self._forms = {special[text]: self._normalizer.normalized(text) for text in normalized}

    def _encode_with_offsets(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> tuple[list[int], list[tuple[int, int]]]:
        self._refuse_offsets()
        return super()._encode_with_offsets(text, allowed, forbidden)

    def _encode_buffer_with_offsets(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> tuple[Buffer, bytearray]:
        self._refuse_offsets()
        return super()._encode_buffer_with_offsets(text, allowed, forbidden)

    def _refuse_offsets(self) -> None:
        if self._vocabulary.unknown is not None:
            raise NoPlacesError(
                "the unknown token does not tell how much of the text it stands for: there are no offsets"
            )

    def _prepared(self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None) -> str | Stretches:
        prepared = super()._prepared(text, allowed, forbidden)
        if isinstance(prepared, str) and self._holds_whole(prepared):
            if forbidden is not None:
                Tokenizer._count(self, text, None, forbidden)  # or it is refused
            return list(self._stretches(text, self._finders(allowed)))
        return prepared

    def _truncate(
        self, text: str, max_tokens: int, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> str:
        prepared = super()._prepared(text, allowed, None)
        stretches: Stretches = [(prepared, None)] if isinstance(prepared, str) else prepared
        if not any(token_id is None and self._holds_whole(stretch) for stretch, token_id in stretches):
            return super()._truncate(text, max_tokens, allowed, forbidden)
        problem = (
            "text of special tokens that are ordinary text in this one is split in another way than the rest, so that "
            "its prefixes are not known: truncate what is between them"
        )
        self._prepared(text, allowed, forbidden)  # or it is refused
        return self._if_it_fits(text, max_tokens, allowed, problem)

    def _encodes_as_it_is(self) -> bool:
        return super()._encodes_as_it_is() and not self._whole

    def _decode_arrow(self, column: Any, errors: str, skip_special_tokens: bool) -> ArrowColumn:
        from cbpe.columns.decoding import decoded_column

        return decoded_column(self, column, errors, skip_special_tokens)

    def _holds_whole(self, text: str) -> bool:
        """Whether a text holds one that the steps split in another way than the one pattern does."""
        return bool(self._whole) and "<|" in text and any(one in text for one in self._whole)

    def _stretches(self, text: str, finders: Finders) -> Iterator[tuple[str, int | None]]:
        for stretch, token_id in super()._stretches(text, finders):
            if token_id is None and self._first_step is not None and self._holds_whole(stretch):
                for piece in self._first_step.split(stretch):
                    yield piece, None
            else:
                yield stretch, token_id


class WordDecoder(IdDecoder):
    """Decodes ids that come one at a time. What `push` and `flush` return is together what decoding all at once
    gives."""

    def __init__(self, tokenizer: WordTokenizer) -> None:
        self._tokenizer = tokenizer
        decoder = tokenizer._words["decoder"]
        self._holds = decoder is not None and decoder["type"] == "BPEDecoder"  # the last token is decoded otherwise
        self._held: int | None = None
        self._is_first = True

    def push(self, token: int) -> str:
        """The text that is certain with this id. KeyError, and nothing is changed, for one that is not in the
        vocabulary."""
        text = self._tokenizer._decoded_one(token, self._is_first, False)
        self._is_first = False
        if not self._holds:
            return text
        before, self._held = self._held, token
        return "" if before is None else self._tokenizer._decoded_one(before, False, False)

    def flush(self) -> str:
        """What is held back, at the end of the ids. After that the decoder is as new."""
        held, self._held, self._is_first = self._held, None, True
        return "" if held is None else self._tokenizer._decoded_one(held, False, True)
