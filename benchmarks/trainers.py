"""The tokenizers whose training is compared: each class calls the interface of one.

A peer imports its package when it is made. prepared() turns documents into what train() takes, and learned_tokens()
turns what train() returns into tokens that can be compared; neither counts in the measured time and memory.
"""

import hugging_face

WHOLE = r"(?s).+"  # a pattern that does not split, for a trainer that must have one


class Trainer:
    """What is the same for most."""

    only_pattern = None  # the name of the pattern that it always splits by, if it takes none
    other_tie_breaks = ()  # the orders of equally frequent pairs that it offers besides its default

    def prepared(self, documents):
        return documents


class Cbpe(Trainer):
    package = "cbpe"
    other_tie_breaks = ("smallest",)  # that of most peers

    def __init__(self):
        import cbpe

        self.cbpe = cbpe

    def train(self, documents, vocab_size, pattern, tie_break="first"):
        return self.cbpe.train(documents, vocab_size, pattern=pattern, tie_break=tie_break)

    def learned_tokens(self, tokenizer):
        return [tokenizer.vocab[i] for i in sorted(tokenizer.vocab) if i >= 256]


class Tokenizers(Trainer):
    package = "tokenizers"

    def __init__(self):
        import tokenizers

        self.tokenizers = tokenizers

    def train(self, documents, vocab_size, pattern):
        tokenizer = self.tokenizers.Tokenizer(self.tokenizers.models.BPE())
        tokenizer.pre_tokenizer = hugging_face.splitter(pattern) if pattern else hugging_face.byte_level()
        trainer = self.tokenizers.trainers.BpeTrainer(
            vocab_size=vocab_size,
            show_progress=False,
            initial_alphabet=self.tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        )
        tokenizer.train_from_iterator(documents, trainer)
        return tokenizer

    def learned_tokens(self, tokenizer):
        byte_of = {character: byte for byte, character in enumerate(hugging_face.BYTE_LEVEL)}
        in_order = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
        return [bytes(byte_of[character] for character in token) for token, i in in_order if i >= 256]


class Rustbpe(Trainer):
    package = "rustbpe"

    def __init__(self):
        import rustbpe

        self.rustbpe = rustbpe

    def train(self, documents, vocab_size, pattern):
        tokenizer = self.rustbpe.Tokenizer()
        tokenizer.train_from_iterator(iter(documents), vocab_size, pattern=pattern or WHOLE)
        return tokenizer

    def learned_tokens(self, tokenizer):
        in_order = sorted(tokenizer.get_mergeable_ranks(), key=lambda item: item[1])
        return [bytes(token) for token, i in in_order if i >= 256]


class FastBpeRs(Trainer):
    package = "fast-bpe-rs"

    def __init__(self):
        import fast_bpe_rs

        self.fast_bpe_rs = fast_bpe_rs

    def train(self, documents, vocab_size, pattern):
        tokenizer = self.fast_bpe_rs.BPE(pattern or WHOLE)
        tokenizer.train(vocab_size, documents)
        return tokenizer, vocab_size

    def learned_tokens(self, trained):
        tokenizer, vocab_size = trained
        return [bytes(tokenizer.decode([i])) for i in range(256, vocab_size)]


class Bpeasy(Trainer):
    package = "bpeasy"
    longest_token = 1_000_000  # bytes: it needs a limit, and the others have none

    def __init__(self):
        import bpeasy

        self.bpeasy = bpeasy

    def train(self, documents, vocab_size, pattern):
        return self.bpeasy.train_bpe(iter(documents), pattern or WHOLE, self.longest_token, vocab_size)

    def learned_tokens(self, ranks):
        in_order = sorted(ranks.items(), key=lambda item: item[1])
        return [token for token, i in in_order if i >= 256]


class Gigatoken(Trainer):
    """Splits by GPT-2's pattern, whichever is asked for."""

    package = "gigatoken"
    only_pattern = "GPT-2"
    separator = b"\0"

    def __init__(self):
        import gigatoken

        self.gigatoken = gigatoken

    def prepared(self, documents):
        return self.separator.join(document.encode() for document in documents)

    def train(self, data, vocab_size, pattern):
        return self.gigatoken.train_bpe(data, vocab_size, [], separator=self.separator)

    def learned_tokens(self, trained):
        _, merges = trained
        return [left + right for left, right in merges]


TRAINERS = {peer.package: peer for peer in (Cbpe, Tokenizers, Bpeasy, Rustbpe, FastBpeRs, Gigatoken)}
