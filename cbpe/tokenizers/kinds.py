"""The classes of tokenizers by name, as parts and stored models say them."""

from __future__ import annotations

from cbpe.formats.parts import Parts
from cbpe.tokenizers.hugging_face import HuggingFaceTokenizer
from cbpe.tokenizers.minbpe import BasicTokenizer, GPT2Tokenizer, GPT4Tokenizer, RegexTokenizer
from cbpe.tokenizers.tiktoken import Encoding
from cbpe.tokenizers.tokenizer import Tokenizer

__all__ = ["KINDS", "tokenizer_of"]

# One of a program's own may do what parts do not say.
KINDS: dict[str, type[Tokenizer]] = {
    kind.__name__: kind
    for kind in (
        Tokenizer,
        BasicTokenizer,
        RegexTokenizer,
        GPT2Tokenizer,
        GPT4Tokenizer,
        Encoding,
        HuggingFaceTokenizer,
    )
}


def tokenizer_of(parts: Parts) -> Tokenizer:
    """The tokenizer of these parts, of the class that they say. Raises what the parts' checks raise."""
    return KINDS[parts.kind]._of(parts)
