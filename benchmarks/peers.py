"""The tokenizers that are compared: one class each, all with the same methods, so that a task need not know them.

A peer imports its package when it is made, because a process that measures one must not hold the others. `offers` names
the tasks that it can do. What it makes (an encoder, a trained tokenizer) is returned as the peer makes it; turning that
into something comparable is a method of its own, outside the time that is measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any


@dataclass(frozen=True)
class Encoder:
    """A named encoding, loaded: what each call of the peer's own would be."""

    to_list: Callable[[str], Sequence[int]]
    decode: Callable[[Sequence[int]], str]
    to_numpy: Callable[[str], Any] | None = None


class Cbpe:
    package = "cbpe"
    offers = frozenset({"encode_list", "encode_numpy", "decode", "piece", "train", "train_unsplit"})

    def __init__(self):
        import cbpe

        self.cbpe = cbpe

    def load(self, encoding):
        loaded = self.cbpe.get_encoding(encoding)
        return Encoder(loaded.encode_ordinary, loaded.decode, loaded.encode_to_numpy)

    def train(self, texts, vocab_size):
        return self.cbpe.train(texts, vocab_size, pattern=self.cbpe.GPT4_SPLIT_PATTERN)

    def train_unsplit(self, text, vocab_size):
        tokenizer = self.cbpe.BasicTokenizer()
        tokenizer.train(text, vocab_size)
        return tokenizer

    def learned_tokens(self, tokenizer):
        return [tokenizer.vocab[i] for i in sorted(tokenizer.vocab) if i >= 256]


class Tiktoken:
    package = "tiktoken"
    offers = frozenset({"encode_list", "encode_numpy", "decode", "piece"})

    def __init__(self):
        import tiktoken

        self.tiktoken = tiktoken

    def load(self, encoding):
        try:
            loaded = self.tiktoken.get_encoding(encoding)
        except OSError as error:
            raise RuntimeError(
                "tiktoken has no vocabulary files: set TIKTOKEN_CACHE_DIR to a folder that holds them, "
                f"or let it download them ({type(error).__name__})"
            ) from error
        return Encoder(loaded.encode_ordinary, loaded.decode, loaded.encode_to_numpy)


class Tokenizers:
    """Hugging Face tokenizers. It reads no tiktoken vocabulary, so the same model is built for it from cbpe's."""

    package = "tokenizers"
    offers = frozenset({"encode_list", "decode", "piece", "train", "train_unsplit"})

    def __init__(self):
        import tokenizers

        self.tokenizers = tokenizers

    def load(self, encoding):
        import cbpe

        source = cbpe.get_encoding(encoding)
        special = set(source.special_tokens.values())
        ranks = {token: i for i, token in source.vocab.items() if i not in special}
        shown = {i: self.show(token) for token, i in ranks.items()}
        model = self.tokenizers.models.BPE(
            vocab={shown[i]: i for i in shown},
            merges=[(shown[left], shown[right]) for left, right in cbpe.recover_merges(ranks)],
            ignore_merges=True,
        )
        loaded = self.tokenizers.Tokenizer(model)
        loaded.pre_tokenizer = self.splitter(source.pattern)
        loaded.decoder = self.tokenizers.decoders.ByteLevel()
        return Encoder(lambda text: loaded.encode(text, add_special_tokens=False).ids, loaded.decode)

    def train(self, texts, vocab_size):
        import cbpe

        return self.trained(texts, vocab_size, self.splitter(cbpe.GPT4_SPLIT_PATTERN))

    def train_unsplit(self, text, vocab_size):
        return self.trained([text], vocab_size, self.byte_level())

    def trained(self, texts, vocab_size, pre_tokenizer):
        tokenizer = self.tokenizers.Tokenizer(self.tokenizers.models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizer
        trainer = self.tokenizers.trainers.BpeTrainer(
            vocab_size=vocab_size,
            show_progress=False,
            initial_alphabet=self.tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        )
        tokenizer.train_from_iterator(texts, trainer)
        return tokenizer

    def learned_tokens(self, tokenizer):
        byte_of = {character: byte for byte, character in enumerate(BYTE_LEVEL)}
        in_order = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        return [bytes(byte_of[character] for character in token) for token, i in in_order if i >= 256]

    def splitter(self, pattern):
        split = self.tokenizers.pre_tokenizers.Split(self.tokenizers.Regex(for_oniguruma(pattern)), "isolated")
        return self.tokenizers.pre_tokenizers.Sequence([split, self.byte_level()])

    def byte_level(self):
        return self.tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)

    def show(self, token):
        return "".join(BYTE_LEVEL[byte] for byte in token)


class Rustbpe:
    package = "rustbpe"
    offers = frozenset({"train", "train_unsplit"})

    def __init__(self):
        import rustbpe

        self.rustbpe = rustbpe

    def train(self, texts, vocab_size):
        import cbpe

        return self.trained(texts, vocab_size, cbpe.GPT4_SPLIT_PATTERN)

    def train_unsplit(self, text, vocab_size):
        return self.trained([text], vocab_size, r"(?s).+")

    def trained(self, texts, vocab_size, pattern):
        tokenizer = self.rustbpe.Tokenizer()
        tokenizer.train_from_iterator(iter(texts), vocab_size, pattern=pattern)
        return tokenizer

    def learned_tokens(self, tokenizer):
        in_order = sorted(tokenizer.get_mergeable_ranks(), key=lambda item: item[1])
        return [bytes(token) for token, i in in_order if i >= 256]


PEERS = {peer.package: peer for peer in (Cbpe, Tiktoken, Tokenizers, Rustbpe)}


def installed_version(name):
    """The version of a peer's package, or None where it is not installed."""
    try:
        return metadata.version(PEERS[name].package)
    except metadata.PackageNotFoundError:
        return None


def for_oniguruma(pattern):
    """The same pattern for an engine without possessive quantifiers, in which $ is the end of a line.

    In the split patterns that are used here, what follows a possessive quantifier never matches what it took, so that
    the plain one finds the same pieces. (The comparison of outputs would show if not.)
    """
    return re.sub(r"([?*+]|\{\d+(?:,\d*)?\})\+", r"\1", pattern).replace("$", r"\z")


def byte_level_alphabet():
    """The character that GPT-2's "byte level" vocabularies show for each byte: printable ones as they are, 0 -> "Ā"."""
    visible = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    hidden = [byte for byte in range(256) if byte not in visible]
    return [chr(byte if byte in visible else 256 + hidden.index(byte)) for byte in range(256)]


BYTE_LEVEL = byte_level_alphabet()
