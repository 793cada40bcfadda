"""The tokenizers whose encoding is compared: each class calls the interface of one.

load() imports the package, because a process that measures one must not hold the others, and because the import is part
of what loading costs. `reads` is the vocabulary file that a peer needs, where it brings none. `offers` names what a
peer can do besides encoding to a list and decoding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

NUMPY, FLAT = "numpy", "flat"


@dataclass(frozen=True)
class Encoder:
    """A named encoding, loaded: the peer's own call for each kind of work. Special tokens in a text are ordinary."""

    to_list: Callable[[str], Sequence[int]]
    decode: Callable[[Sequence[int]], str]
    to_numpy: Callable[[str], Any] | None = None
    to_flat: Callable[[list[str]], Any] | None = None  # many texts to one array of ids, and where those of each begin
    flat_parts: Callable[[Any], tuple[Any, Any]] = tuple  # what to_flat returned as (ids, offsets), outside the time


class Cbpe:
    package = "cbpe"
    reads = None
    offers = frozenset({NUMPY, FLAT})

    def load(self, materials):
        import cbpe

        loaded = cbpe.get_encoding(materials.encoding)
        return Encoder(
            loaded.encode_ordinary,
            loaded.decode,
            loaded.encode_to_numpy,
            lambda texts: loaded.encode_batch_flat(texts, num_threads=1),
        )


class Tiktoken:
    package = "tiktoken"
    reads = ".tiktoken"  # in place of a download: see TIKTOKEN_CACHE_DIR in processes.py
    offers = frozenset({NUMPY})

    def load(self, materials):
        import tiktoken

        loaded = tiktoken.get_encoding(materials.encoding)
        return Encoder(loaded.encode_ordinary, loaded.decode, loaded.encode_to_numpy)


class Tokenizers:
    package = "tokenizers"
    reads = ".json"
    offers = frozenset()

    def load(self, materials):
        from tokenizers import Tokenizer

        loaded = Tokenizer.from_file(materials.vocabulary_file(self.reads))
        return Encoder(lambda text: loaded.encode(text, add_special_tokens=False).ids, loaded.decode)


class Gigatoken:
    """Without special tokens: it does not take them as ordinary text, and would search for them to refuse them."""

    package = "gigatoken"
    reads = ".tiktoken"
    offers = frozenset({NUMPY, FLAT})

    def load(self, materials):
        from gigatoken import Tokenizer

        pattern = materials.encoding.removesuffix("_base")
        loaded = Tokenizer.from_tiktoken(materials.vocabulary_file(self.reads), pretokenizer=pattern)
        compatible = loaded.as_tiktoken()
        return Encoder(
            compatible.encode_ordinary, compatible.decode, loaded.encode, loaded.encode_batch, self.flat_parts
        )

    @staticmethod
    def flat_parts(batch):
        import awkward
        import numpy

        lengths = awkward.to_numpy(awkward.num(batch))
        return awkward.to_numpy(awkward.flatten(batch)), numpy.concatenate([[0], numpy.cumsum(lengths)])


class Fastokens:
    package = "fastokens"
    reads = ".tiktoken"
    offers = frozenset({NUMPY, FLAT})

    def load(self, materials):
        from fastokens import Tokenizer

        loaded = Tokenizer.from_tiktoken(materials.vocabulary_file(self.reads), encoding=materials.encoding)
        return Encoder(
            lambda text: loaded.encode_ordinary(text).ids,
            loaded.decode,
            lambda text: as_uint32(loaded.encode_batch_flat([text])[0]),
            loaded.encode_batch_flat,
            arrays_of_bytes,
        )


class RsBpe:
    package = "rs-bpe"
    reads = None
    offers = frozenset()

    def load(self, materials):
        from rs_bpe.bpe import openai

        loaded = getattr(openai, materials.encoding)()
        return Encoder(loaded.encode, loaded.decode)


class Splintr:
    package = "splintr-rs"
    reads = None
    offers = frozenset({NUMPY, FLAT})

    def load(self, materials):
        from splintr import Tokenizer

        loaded = Tokenizer.from_pretrained(materials.encoding)
        return Encoder(
            loaded.encode_ordinary,
            loaded.decode,
            lambda text: as_uint32(loaded.encode_flat(text)),
            loaded.encode_batch_flat,
            arrays_of_bytes,
        )


class Quicktok:
    package = "quicktok-v1"
    reads = None
    offers = frozenset({NUMPY, FLAT})

    def load(self, materials):
        import quicktok

        loaded = quicktok.get_encoding(materials.encoding)
        return Encoder(
            loaded.encode_ordinary,
            loaded.decode,
            lambda text: loaded.encode_batch([text], 1)[0],
            lambda texts: loaded.encode_batch(texts, 1),
        )


class IreeTokenizer:
    package = "iree-tokenizer"
    reads = ".tiktoken"
    offers = frozenset({NUMPY, FLAT})

    def load(self, materials):
        from iree.tokenizer import Tokenizer

        loaded = Tokenizer.from_tiktoken(materials.vocabulary_file(self.reads), materials.encoding)
        return Encoder(
            loaded.encode, loaded.decode, loaded.encode_to_array, loaded.encode_batch_to_array, self.flat_parts
        )

    @staticmethod
    def flat_parts(batch):
        import numpy

        ids, lengths = batch
        return ids, numpy.concatenate([[0], numpy.cumsum(lengths)])


class Tokie:
    package = "tokie"
    reads = ".json"
    offers = frozenset()

    def load(self, materials):
        from tokie import Tokenizer

        loaded = Tokenizer.from_json(materials.vocabulary_file(self.reads))
        return Encoder(lambda text: loaded.encode(text, add_special_tokens=False).ids, loaded.decode)


ENCODERS = {
    peer.package: peer
    for peer in (
        Cbpe,
        Tiktoken,
        Tokenizers,
        Gigatoken,
        Fastokens,
        RsBpe,
        Splintr,
        Quicktok,
        IreeTokenizer,
        Tokie,
    )
}


def as_uint32(buffer):
    # Imported here, so that loading a peer does not pay for numpy.
    import numpy

    return numpy.frombuffer(buffer, numpy.uint32)


def arrays_of_bytes(batch):
    """(ids, offsets) as bytes -> (uint32 ids, uint64 offsets)"""
    import numpy

    ids, offsets = batch
    return numpy.frombuffer(ids, numpy.uint32), numpy.frombuffer(offsets, numpy.uint64)
