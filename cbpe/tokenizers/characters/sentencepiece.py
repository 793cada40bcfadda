"""SentencePieceTokenizer: tokenizers over characters, as SentencePiece makes them and Hugging Face's tokenizer.json
holds them (Llama 2, Mistral, Gemma).

Such a tokenizer takes a space and the mark "▁" for the same, often puts one before the text, and merges characters. A
character without a token becomes the tokens of its bytes, or the unknown token. Its tokens are kept with spaces here,
so that most texts are encoded as they stand.
"""

from __future__ import annotations

import re
from array import array

from cbpe._core.analysis.bonded import bonds_of
from cbpe._core.calls.join import each_of_batch, refuse_no_sequence
from cbpe._core.splitting.split import Splitter
from cbpe.common.checks import checked_flag, refuse_unknown_handler
from cbpe.common.public import public
from cbpe.common.wording import shown
from cbpe.formats.hugging_face.characters.settings import checked_characters
from cbpe.text.added_tokens import AnyOf, Finders
from cbpe.text.byte_tokens import IdDecoder, PieceDecoder, RunDecoder, SkippingDecoder, byte_of
from cbpe.text.spaces import MARK, with_marks, with_spaces
from cbpe.text.special_tokens import OLD_ONES_TOO, SpecialChoices
from cbpe.text.surrogates import without_surrogates
from cbpe.tokenizers.base import NoPlacesError
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer, refuse_no_text
from cbpe.tokenizers.tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, AnyStr, SupportsIndex

    from typing_extensions import Buffer

    from cbpe._core.arrow.exported import ArrowColumn
    from cbpe._core.calls.encoder import PythonSplitter
    from cbpe._core.splitting.bonds import Bonds
    from cbpe._core.text.special import SpecialTokens
    from cbpe._core.vocabulary.vocabulary import Vocabulary
    from cbpe.text.normalizing import Normalizer
    from cbpe.tokenizers.hugging_face import Stretches

__all__ = ["SentencePieceTokenizer"]

# A word with the spaces before it, for vocabularies no merge of which joins a space to another character before it.
WORDS = r" *[^ ]+| +"
WORDS_OF_MARKS = r" [^ ]*|[^ ]+"  # where each mark begins a piece
SPACE = ord(" ")
MOST_REPLACED = 16  # characters, for which a normalizer puts others
MAX_ENDINGS = 64  # characters that merges join to a space: with more, cutting there is not worth it


@public
class SentencePieceTokenizer(HuggingFaceTokenizer):
    """A tokenizer over characters: the ids of `sentencepiece` and `tokenizers` for a BPE model of theirs.

    It is used as a HuggingFaceTokenizer. Its tokens have a space where the file has the mark "▁": text with one is
    taken for text with the other, as the owners do. decode undoes the space that was put before the text; a run of byte
    tokens that is no UTF-8 becomes one U+FFFD for each of them. `processing["characters"]` holds what such a model
    needs besides:

    "spaces": where a space is put before: "each" stretch between added tokens, "always" (each that begins with none),
    "first" (the same, at the beginning of a text), "never", or None, if spaces are not replaced by marks at all;
    "split": whether each mark begins a piece; "strip": what decode drops: "one" space at the beginning, all "spaces"
    of the first token, or None; "byte_fallback", "unk_token", "fuse_unk": as in the file.
    """

    __slots__ = ("_byte_ids", "_characters", "_controls", "_first_forms", "_forms", "_odd_texts")
    _model_of = "characters"

    _characters: Mapping[str, Any]
    _byte_ids: Mapping[int, int]  # id -> byte
    _controls: Mapping[int, str]  # ids of SentencePiece's control tokens and unknown one, to what they decode to
    _forms: Mapping[int, bytes]  # ids of added tokens that are decoded to another form
    _first_forms: Mapping[int, bytes]  # of added tokens with spaces that are no marks: without their marks
    _odd_texts: list[bytes]  # without any of these, bytes are decoded as they are

    # ---- What it is made of

    @property
    def pattern(self) -> str | None:
        """The split pattern: None, as merging goes over all of a text, but where each mark begins a piece."""
        return WORDS_OF_MARKS if self._characters["split"] else None

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """The id of the token with this text or these bytes, with spaces or with marks; failing that, of such a special
        token; and failing that, of the byte token that files call so ("<0x0A>"). KeyError if none."""
        try:
            return super().encode_single_token(text_or_bytes)
        except KeyError:
            if not isinstance(text_or_bytes, str):
                raise
            if MARK in text_or_bytes:
                return super().encode_single_token(with_spaces(text_or_bytes))
            byte = byte_of(text_or_bytes)
            token_id = next((each for each, value in self._byte_ids.items() if value == byte), None)
            if token_id is None:
                raise
            return token_id

    # ---- Decoding

    def decode_with_offsets(self, tokens: Iterable[SupportsIndex]) -> tuple[str, list[int]]:
        """Decode token ids to text, and the number of the first character of each, as Tokenizer.decode_with_offsets.

        The space that was put before the text is in neither. ValueError where more than one space is dropped, or a
        token is left out of the text.
        """
        ids = listed_ids(tokens)
        whole, offsets = super().decode_with_offsets(ids)
        if self._forms and any(
            int(token) in self._forms for token in ids
        ):  # of as many characters, but for normalized ones
            whole = b"".join(self.decode_single_token_bytes(int(token)) for token in ids).decode(errors="replace")
        text = self.decode(ids)
        if text == whole:
            return text, offsets
        if text != whole[1:]:
            raise ValueError("not every token is in the text as it stands: there are no places of tokens in it")
        return text, [max(0, offset - 1) for offset in offsets]

    def decode_bytes(self, tokens: Iterable[SupportsIndex], *, skip_special_tokens: bool = False) -> bytes:
        """Decode token ids to bytes, without the space that was put before the text. Raises as Tokenizer.decode_bytes
        does."""
        is_skipping = checked_flag("skip_special_tokens", skip_special_tokens)
        ids = self._without_special(tokens) if is_skipping else listed_ids(tokens)
        if self._controls or (self._forms and any(int(token) in self._forms for token in ids)):
            return self.decode(ids, "surrogateescape").encode("utf-8", "surrogateescape")
        return self._stripped(super().decode_bytes(ids), ids, b" ")

    def decode(
        self, tokens: Iterable[SupportsIndex], errors: str = "replace", *, skip_special_tokens: bool = False
    ) -> str:
        """Decode token ids to text, without the space that was put before it; `errors` says what becomes of byte tokens
        that are no UTF-8: with "replace", each of such a run is U+FFFD. skip_special_tokens as Tokenizer.decode."""
        is_skipping = checked_flag("skip_special_tokens", skip_special_tokens)
        ids = self._without_special(tokens) if is_skipping else listed_ids(tokens)
        data = super().decode_bytes(ids)
        if self._is_plain(ids, data):
            return self._stripped(data.decode(), ids, " ")
        decoder = self._id_decoder(errors)
        return "".join(map(decoder.push, map(int, ids))) + decoder.flush()

    def decode_bytes_batch(
        self,
        batch: Iterable[Iterable[SupportsIndex]],
        *,
        num_threads: int | None = None,
        skip_special_tokens: bool = False,
    ) -> list[bytes]:
        """Decode several sequences of token ids to bytes."""
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
        return each_of_batch(lambda ids: self.decode(ids, errors, skip_special_tokens=skip_special_tokens), batch)

    def stream_decoder(  # type: ignore[override]  # it has the same methods
        self, errors: str = "replace", *, skip_special_tokens: bool = False
    ) -> IdDecoder:
        """A decoder of ids that come one at a time, as Tokenizer.stream_decoder: it holds back a run of byte tokens."""
        decoder = self._id_decoder(errors)
        is_skipping = checked_flag("skip_special_tokens", skip_special_tokens)
        return SkippingDecoder(decoder, self._without_special) if is_skipping else decoder

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes of one token, its space included. KeyError if there is no such id."""
        form = self._forms.get(token.__index__()) if hasattr(token, "__index__") else None
        return super().decode_bytes([token]) if form is None else form

    def decode_tokens_bytes(self, tokens: Iterable[SupportsIndex]) -> list[bytes]:
        """The bytes of each token, its space included."""
        refuse_no_sequence(tokens)
        return [self.decode_single_token_bytes(token) for token in tokens]  # type: ignore[arg-type]  # any SupportsIndex

    # ---- Private

    def _id_decoder(self, errors: str) -> PieceDecoder | RunDecoder:
        refuse_unknown_handler(errors)
        if self._controls:
            strips = self._characters["strip"] is not None
            strips_all = self._removes_spaces
            return PieceDecoder(
                self.decode_single_token_bytes, self._byte_ids, self._controls, strips, errors, strips_all=strips_all
            )
        return RunDecoder(
            self.decode_single_token_bytes, self._spelled_first, self._byte_ids, self._characters["strip"], errors
        )

    def _is_plain(self, ids: Sequence[SupportsIndex], data: bytes) -> bool:
        """Whether these bytes of ids are the text, but for the space before it."""
        if self._controls and len(ids) and int(ids[0]) in self._byte_ids:
            return False
        if self._removes_spaces and data[:2] == b"  ":
            return False
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
        return not any(text in data for text in self._odd_texts)

    @property
    def _removes_spaces(self) -> bool:
        return bool(self._characters.get("sentencepiece", {}).get("removes_spaces"))

    def _spelled_first(self, token: int) -> bytes:
        """The same of the first token where the spaces of that are dropped: those that are marks in the file."""
        form = self._first_forms.get(token)
        return self.decode_single_token_bytes(token).replace(b" ", b"") if form is None else form

    def _spell_all(self) -> dict[int, bytes]:
        """Added tokens as they are decoded: with spaces for their marks."""
        return {
            **super()._spell_all(),
            **{token_id: self.decode_single_token_bytes(token_id) for token_id in self._special.ids.values()},
        }

    def _set_processing(self, processing: Mapping[str, Any]) -> None:
        rest = {name: value for name, value in processing.items() if name != "characters"}
        self._characters = checked_characters(processing.get("characters"))
        owner = self._characters.get("sentencepiece")
        self._controls = (
            {} if owner is None else control_texts(self.special_tokens, owner, self._characters["unk_token"])
        )
        super()._set_processing(rest)
        self._changes_nothing = False
        self._tell_places(False)
        vocabulary = self._vocabulary
        special = self.special_tokens
        normalized = frozenset() if self._controls else frozenset(self._steps.get("normalized", ()))

        def form_of(text: str) -> str:
            """What an added token is decoded to, where marks are spaces, to SentencePiece too. What `tokenizers` looks
            for in normalized text is what it looks for."""
            return self._searched(text, self._normalizer) if text in normalized else text

        in_table = super().decode_bytes  # of a token of the vocabulary that is added too, the bytes of that
        forms = {text: form_of(text) for text in special if special[text] not in self._controls}
        others = {
            special[text]: with_spaces(form).encode() for text, form in forms.items() if with_spaces(form) != text
        }
        self._forms = {token_id: form for token_id, form in others.items() if form != in_table((token_id,))}
        with_space = ((special[text], form) for text, form in forms.items() if " " in form)
        self._first_forms = {token_id: form.replace(MARK, "").encode() for token_id, form in with_space}
        self._odd_texts = [in_table((token_id,)) for token_id in {*self._controls, *self._forms}]
        self._byte_ids = byte_ids(vocabulary) if self._characters["byte_fallback"] else {}
        bonds = bonds_of(vocabulary, self._characters["split"])
        splitter = Splitter(self.pattern or safe_pattern(bonds, self._characters["spaces"]), bonds=bonds)
        self._use(vocabulary, splitter, self.special_tokens)

    def _use(self, vocabulary: Vocabulary, splitter: Splitter | PythonSplitter, special_tokens: dict[str, int]) -> None:
        super()._use(vocabulary, splitter, special_tokens)
        controls = getattr(self, "_controls", {})  # which the constructor has not set yet, the first time
        if controls:
            never_found = [text for text, token_id in self.special_tokens.items() if token_id in controls]
            self._special_sets = SpecialChoices(self._special, never_found, all_are_allowed=True).sets

    def _found_always(self) -> frozenset[str]:
        """The same, and the user-defined pieces of SentencePiece's."""
        pieces = self.special_tokens.items() if self._controls else ()
        return super()._found_always() | {text for text, token_id in pieces if token_id not in self._controls}

    def _refuse_contradictions(
        self, processing: Mapping[str, Any], normalizer: Normalizer, special_tokens: Mapping[str, int]
    ) -> None:
        super()._refuse_contradictions(processing, normalizer, special_tokens)
        for text in self._characters.get("sentencepiece", {}).get("controls", ()):
            if text in self.special_tokens and special_tokens.get(text) != self.special_tokens[text]:
                raise ValueError(
                    f"{shown(text)} is a control token of SentencePiece's, and has to stay: {OLD_ONES_TOO}"
                )

    def _processing(self) -> dict[str, Any]:
        return {**super()._processing(), "characters": {**self._characters}}

    def _takes_whole_texts(self) -> bool:
        return self._characters["spaces"] is not None or super()._takes_whole_texts()

    def _normal(self, stretch: str) -> str:
        """What is between two added tokens, normalized: with spaces for marks, and one before it."""
        stretch, adds = self._normalized(stretch, self._normalizer)
        if self._characters["spaces"] is not None and MARK in stretch:
            stretch = with_spaces(stretch)
        return " " + stretch if adds else stretch

    def _searched(self, stretch: str, normalizer: Normalizer) -> str:
        """The same as `tokenizers` has it when it looks for normalized added tokens. Where the normalizer makes marks
        of spaces, no space is left that a token could take; where the pre-tokenizer does, marks and spaces are still
        what they are in the text."""
        return self._marked(*self._normalized(stretch, normalizer))

    def _marked(self, stretch: str, adds: bool) -> str:
        spaces, split = self._characters["spaces"], self._characters["split"]
        if spaces == "each" or (spaces == "never" and not split):
            stretch = with_marks(stretch)
        return MARK + stretch if adds else stretch

    def _looked_for(self, token: str, normalizer: Normalizer) -> str:
        """What is looked for there. SentencePiece does not normalize its user-defined pieces."""
        return with_marks(token) if self._controls else super()._looked_for(token, normalizer)

    def _normalized(self, stretch: str, normalizer: Normalizer) -> tuple[str, bool]:
        """What the normalizer's steps before the marks make of it, and whether the normalizer puts a space before."""
        adds = bool(stretch)
        if normalizer.steps:
            stretch = normalizer.normalized(stretch)
            # SentencePiece puts the space before a text of which nothing is left, but then may remove it.
            adds = bool(stretch) or (adds and bool(self._controls) and not self._removes_spaces)
        return stretch, adds and self._characters["spaces"] == "each"

    def _begun(self, stretch: str, is_first: bool) -> str:
        """What is merged, with a space before it if it gets one only then, and if anything is left of it."""
        spaces = self._characters["spaces"]
        adds = spaces == "always" or (spaces == "first" and is_first)
        return " " + stretch if adds and stretch and not stretch.startswith(" ") else stretch

    def _merged(self, stretch: str, is_first: bool) -> str:
        return self._begun(self._normal(stretch), is_first)

    def _prepared(self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None) -> str | Stretches:
        refuse_no_text(text)
        if not text:
            return text
        if forbidden is not None:
            self._refuse_special(text, forbidden)
            self._refuse_other_forms(text, forbidden)
        has_special = allowed is not None and bool(allowed.ids) and self._holds_special(text, allowed)
        if has_special and self._is_as_it_stands(text):
            return text
        if not has_special:
            prepared = self._begun(self._normal(text), True)
            if allowed is None or not self._may_hold(prepared, text, allowed):
                return prepared
        return list(self._stretches(text, self._finders(allowed)))

    def _may_hold(self, prepared: str, text: str, allowed: SpecialTokens) -> bool:
        """Whether added tokens may be in a text as it was prepared, which are not in the text."""
        if "normalized" in self._steps and self._finders(allowed).all.is_in(with_marks(prepared)):
            return True
        if "normalizer" not in self._steps and MARK not in text:
            # It may have a space before it, and no more: a token that the text does not hold begins there.
            if len(prepared) == len(text):
                return False
            prepared = prepared[: max(map(len, allowed.ids))]
        return prepared is not text and self._holds_special(prepared, allowed)

    def _is_as_it_stands(self, text: str) -> bool:
        """Whether a text with added tokens is encoded as it is."""
        return (
            not self._controls
            and self._characters["spaces"] in (None, "never")
            and MARK not in text
            and self._steps.keys() <= {"ordinary", "template", "trim_offsets"}
        )

    def _stretches(self, text: str, finders: Finders) -> Iterator[tuple[str, int | None]]:
        for stretch, token_id, _ in self._spaced_stretches(text, finders):
            yield stretch, token_id

    def _spaced_stretches(self, text: str, finders: Finders) -> Iterator[tuple[str, int | None, int]]:
        """The stretches, and how many spaces each begins with that were put before it."""
        is_first = True
        for stretch, token_id in finders.as_it_is.cut(text):
            if token_id is not None:
                yield stretch, token_id, 0
                is_first = False
                continue
            normal, adds = self._normalized(stretch, self._normalizer)
            added = int(adds)
            for found, inner_id in finders.normalized.cut(self._marked(normal, adds)):
                if is_first and len(found) < len(normal):
                    self._refuse_part_of_character(text, found)
                inner = found if self._characters["spaces"] is None else with_spaces(found)
                begun = inner if inner_id is not None else self._begun(inner, is_first)
                yield begun, inner_id, added + len(begun) - len(inner)
                is_first, added = False, 0

    def _refuse_part_of_character(self, text: str, found: str) -> None:
        """ValueError where the beginning of a normalized text may be but a part of what its first character became:
        what follows it then begins at the first place of the text, too, where `tokenizers` puts another space."""
        if self._characters["spaces"] != "first" or not self._normalizer.steps:
            return
        normalized = self._normalizer.normalized
        first = normalized(text[:1])
        if (first and found.startswith(first)) or found in (normalized(text[:n]) for n in range(2, MOST_REPLACED + 1)):
            return
        raise ValueError(
            f"an added token begins or ends within what normalization makes of the first character of {shown(text)}: "
            "the spaces that belong before what follows it are not known"
        )

    def _new_finders(self, ids: Mapping[str, int]) -> Finders:
        # Control tokens are in no text.
        finders = super()._new_finders({text: ids[text] for text in ids if ids[text] not in self._controls})
        # Asked of texts that have spaces where others have marks.
        finders.all = AnyOf(map(with_marks, finders.all.texts))
        return finders

    def _encode_buffer(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None, workers: int | None = 1
    ) -> Buffer:
        in_one_thread = type(workers) is int and workers == 1  # and not True, which is refused
        if in_one_thread and forbidden is None and type(text) is str and self._is_merely_spaced(text, allowed):
            # Control tokens are in no text, and some tokens take spaces beside them, or are none within a word.
            finds_all = not self._controls and self._steps.keys().isdisjoint(("lstrip", "rstrip", "single_word"))
            spaces = self._characters["spaces"] if finds_all else None
            ids = self._encode_buffer_after_space(text, allowed, spaces)
            if ids is not None:
                return ids
        return super()._encode_buffer(text, allowed, forbidden, workers)

    def _is_merely_spaced(self, text: str, allowed: SpecialTokens | None) -> bool:
        """Whether all that is done to a text, if it holds no added token, is to put one space before it."""
        return (
            bool(text)
            and self._steps.keys().isdisjoint(("normalizer", "normalized"))
            and self._n_added(text, True) == 1
            and MARK not in text
            and (allowed is None or not any(token.startswith(" ") for token in allowed.ids))
        )

    def _encode_dropping(
        self,
        text: str,
        allowed: SpecialTokens | None,
        forbidden: SpecialTokens | None,
        probability: float,
        seed: int,
    ) -> list[int]:
        raise ValueError("dropout is for byte-level BPE alone: here merges also spell the characters")

    def _encode_with_offsets(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> tuple[list[int], list[tuple[int, int]]]:
        prepared = self._prepared(text, allowed, forbidden)
        if self._vocabulary.unknown is not None:
            raise NoPlacesError(
                "the unknown token does not tell how much of the text it stands for: there are no offsets"
            )
        if self._normalizer.steps:
            for stretch, token_id in self._finders(allowed).as_it_is.cut(text):
                if token_id is None and self._normalizer.normalized(stretch) != stretch:
                    raise NoPlacesError("normalization changes this text: there are no places in it for its tokens")
        stretches = self._spaced_stretches(text, self._finders(allowed))
        if isinstance(prepared, str):
            stretches = iter([(prepared, None, int(with_spaces(prepared) != with_spaces(text)))])
        ids: list[int] = []
        spans: list[tuple[int, int]] = []
        start = 0
        for stretch, token_id, added in stretches:
            size = len(stretch)
            if with_spaces(text[start : start + size - added]) != with_spaces(stretch[added:]):
                # White space that an added token takes is in the next one, too.
                raise NoPlacesError("added tokens in this text overlap: there are no places in it for its tokens")
            found: tuple[list[int], list[tuple[int, int]]] = ([token_id or 0], [(added, size)])
            if token_id is None:
                found = Tokenizer._encode_with_offsets(self, stretch, allowed if prepared is stretch else None, None)
            ids += found[0]
            # A token that is nothing but the space before the text is at its first character, as in `tokenizers`.
            spans += [(start + max(first - added, 0), start + max(last - added, 1)) for first, last in found[1]]
            start += size - added
        return ids, spans

    def _n_added(self, stretch: str, is_first: bool) -> int:
        """How many spaces are put before a stretch of a text that is not empty."""
        spaces = self._characters["spaces"]
        adds = spaces == "always" or (spaces == "first" and is_first)
        return int(spaces == "each" or (adds and not stretch.startswith((" ", MARK))))

    def _encode_buffer_with_offsets(
        self, text: str, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> tuple[Buffer, bytearray]:
        ids, spans = self._encode_with_offsets(text, allowed, forbidden)
        return array("I", ids), bytearray(array("q", [place for span in spans for place in span]))

    def _decode_arrow(self, column: Any, errors: str, skip_special_tokens: bool) -> ArrowColumn:
        from cbpe.columns.decoding import decoded_column

        return decoded_column(self, column, errors, skip_special_tokens)

    def _truncate(
        self, text: str, max_tokens: int, allowed: SpecialTokens | None, forbidden: SpecialTokens | None
    ) -> str:
        refuse_no_text(text)
        text = without_surrogates(text)  # so that a place in it is one in what is encoded
        prepared = self._prepared(text, allowed, forbidden)
        depends = self._finders(allowed).odd.is_in(text)
        if not isinstance(prepared, str) and all(token_id is None for _, token_id in prepared):
            # What is in the text are control tokens, which are found in none: the text is one stretch, or nothing.
            prepared, allowed = "".join(stretch for stretch, _ in prepared), None
        if not isinstance(prepared, str):
            if self._encodes_stretches_alone(text, self._finders(allowed)):
                return self._truncate_between(text, max_tokens, allowed, forbidden)
            problem = (
                "what is done to this text depends on the added tokens in it, so that its prefixes are not known: "
            )
            return self._if_it_fits(text, max_tokens, allowed, f"{problem}truncate what is between them")
        if not prepared:
            return text
        if depends:
            problem = "an added token in this text is one by what stands beside it, so that its prefixes are not known"
            return self._if_it_fits(text, max_tokens, allowed, problem)
        if "normalizer" in self._steps and not self._normalizer.leaves_all_parts(text):
            problem = "normalization may change parts of this text, so that its prefixes are not known"
            return self._if_it_fits(text, max_tokens, allowed, problem)
        added = self._n_added(text, True)
        found = Tokenizer._truncate(self, prepared, max_tokens, allowed, None)
        return text[: max(len(found) - added, 0)]

    def _stripped(self, decoded: AnyStr, ids: Sequence[SupportsIndex], space: AnyStr) -> AnyStr:
        """What was decoded, without the spaces that were put before the text."""
        strip = self._characters["strip"]
        if strip == "one":
            return decoded[1:] if decoded[:1] == space else decoded
        if strip == "spaces" and len(ids) and int(ids[0]) not in self._byte_ids:
            spelled, first = self.decode_single_token_bytes(int(ids[0])), self._spelled_first(int(ids[0]))
            if isinstance(decoded, bytes):
                return first + decoded[len(spelled) :]
            return first.decode() + decoded[len(spelled.decode()) :]
        return decoded


def listed_ids(tokens: Iterable[SupportsIndex]) -> Sequence[SupportsIndex]:
    """Token ids that can be gone through twice."""
    if isinstance(tokens, (list, tuple)):
        return tokens
    refuse_no_sequence(tokens)
    return [*tokens.tolist()] if hasattr(tokens, "tolist") else [*tokens]


def control_texts(special: Mapping[str, int], owner: Mapping[str, Any], unknown: str | None) -> dict[int, str]:
    """What SentencePiece's control tokens and its unknown token decode to, by id. ValueError for one that is no special
    token."""
    for text in owner["controls"]:
        if text not in special:
            raise ValueError(f"the control token {shown(text)} is no special token")
    return {special[text]: owner["unk_surface"] if text == unknown else "" for text in owner["controls"]}


def byte_ids(vocabulary: Vocabulary) -> dict[int, int]:
    """The byte tokens of a vocabulary with one for every byte: id -> byte."""
    single = vocabulary.single_bytes()
    # An ASCII character may have a token of its own, which merges. What is left is for the byte.
    twice = {byte for byte, _, merges in single if not merges}
    return {token_id: byte for byte, token_id, merges in single if not merges or byte not in twice}


def safe_pattern(bonds: Bonds, spaces: str | None) -> str | None:
    """A pattern that cuts a text at spaces where no merge reaches over the place, so that cutting changes nothing; None
    where there is none."""
    if spaces is None or bonds.known is not None:
        return None
    before = {chr(pair >> 32) for pair in array("Q", bonds.pairs) if pair & 0xFFFFFFFF == SPACE}
    before.discard(" ")
    if not before:
        return WORDS
    if len(before) > MAX_ENDINGS:
        return None
    endings = "".join(sorted(re.sub(r"[\\\]\[^-]", r"\\\g<0>", character) for character in before))
    return rf" *(?:[^ {endings}]|[{endings}] *)+| +"
