"""How the tokenizers library spells what tiktoken and minbpe spell otherwise: bytes, split patterns, a vocabulary."""

import re


def byte_level_alphabet():
    """The character that GPT-2's "byte level" vocabularies show for each byte: printable ones as they are, 0 -> "Ā"."""
    visible = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    hidden = [byte for byte in range(256) if byte not in visible]
    return [chr(byte if byte in visible else 256 + hidden.index(byte)) for byte in range(256)]


BYTE_LEVEL = byte_level_alphabet()


def shown(token):
    """b" a" -> "Ġa" """
    return "".join(BYTE_LEVEL[byte] for byte in token)


def for_oniguruma(pattern):
    """The same pattern for an engine without possessive quantifiers, in which $ is the end of a line.

    In the split patterns that are used here, what follows a possessive quantifier never matches what it took, so that
    the plain one finds the same pieces. (The comparison of outputs would show if not.)
    """
    return re.sub(r"([?*+]|\{\d+(?:,\d*)?\})\+", r"\1", pattern).replace("$", r"\z")


def byte_level():
    """The pre-tokenizer that shows bytes and does not split."""
    from tokenizers.pre_tokenizers import ByteLevel

    return ByteLevel(add_prefix_space=False, use_regex=False)


def splitter(pattern):
    """The pre-tokenizer that splits by a pattern."""
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Sequence, Split

    return Sequence([Split(Regex(for_oniguruma(pattern)), "isolated"), byte_level()])


def tokenizer(ranks, pattern):
    """A tokenizers.Tokenizer that encodes as tiktoken does with these ranks and this pattern."""
    from tokenizers import Tokenizer, decoders, models

    import cbpe

    texts = {i: shown(token) for token, i in ranks.items()}
    merges = [(texts[left], texts[right]) for left, right in cbpe.recover_merges(ranks)]
    vocabulary = {text: i for i, text in texts.items()}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, ignore_merges=True))
    made.pre_tokenizer = splitter(pattern)
    made.decoder = decoders.ByteLevel()
    return made
