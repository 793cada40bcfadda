"""Split patterns in common use, named after the tokenizers they belong to. All of them run natively."""

from cbpe._core.splitting.blocks import ascii_rules
from cbpe.text.spaces import CHARACTERS_SPLIT_PATTERN

__all__ = [
    "CL100K_SPLIT_PATTERN",
    "GPT2_SPLIT_PATTERN",
    "GPT4_SPLIT_PATTERN",
    "LLAMA3_SPLIT_PATTERN",
    "O200K_SPLIT_PATTERN",
    "QWEN2_SPLIT_PATTERN",
    "R50K_SPLIT_PATTERN",
]

# As in minbpe's regex.py, character by character: models that it saved hold these strings.
GPT2_SPLIT_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
GPT4_SPLIT_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"""
)

# As in tiktoken 0.14: r50k_base, p50k_base, p50k_edit and gpt2; cl100k_base; o200k_base and o200k_harmony.
R50K_SPLIT_PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
CL100K_SPLIT_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
O200K_SPLIT_PATTERN = "|".join(
    [
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"""
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"""
        r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
        r"""\p{N}{1,3}""",
        r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
        r"""\s*[\r\n]+""",
        r"""\s+(?!\S)""",
        r"""\s+""",
    ]
)

# As in the tokenizer.json of the models.
LLAMA3_SPLIT_PATTERN = (
    r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"""
    r"""|\s*[\r\n]+|\s+(?!\S)|\s+"""
)
QWEN2_SPLIT_PATTERN = (
    r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"""
    r"""|\s*[\r\n]+|\s+(?!\S)|\s+"""
)

# As in Mistral's tekken.json: that of o200k_base without contractions, and with digits one by one.
_TEKKEN = "|".join(
    [
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+""",
        r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*""",
        r"""\p{N}""",
        r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""",
        r"""\s*[\r\n]+""",
        r"""\s+(?!\S)""",
        r"""\s+""",
    ]
)

# The original and tiktoken's spelling of it, which split every text alike. (That of GPT-4 and tiktoken's do not: they
# differ in white space after a line break at the end of a text.)
ALIKE = ((GPT2_SPLIT_PATTERN, R50K_SPLIT_PATTERN),)

# Their short names, by which the command line knows them.
BY_NAME = {
    "cl100k": CL100K_SPLIT_PATTERN,
    "gpt2": GPT2_SPLIT_PATTERN,
    "gpt4": GPT4_SPLIT_PATTERN,
    "llama3": LLAMA3_SPLIT_PATTERN,
    "o200k": O200K_SPLIT_PATTERN,
    "qwen2": QWEN2_SPLIT_PATTERN,
    "r50k": R50K_SPLIT_PATTERN,
}

# The names of encodings -> the short names of their patterns.
OF_ENCODINGS = {
    "cl100k_base": "cl100k",
    "o200k_base": "o200k",
    "o200k_harmony": "o200k",
    "p50k_base": "r50k",
    "p50k_edit": "r50k",
    "r50k_base": "r50k",
}

# What the three splits of DeepSeek V3's tokenizer.json are in one pattern.
_DEEPSEEK3 = (
    r"""\p{N}{1,3}|(?:(?=[぀-ヿ一-龥])[^\p{P}\p{L}\p{S}\x0a\x0d])?(?:(?=[぀-ヿ一-龥])[\p{L}\p{M}])+|(?:(?=[぀-ヿ一"""
    r"""-龥])[\p{P}\p{S}])+|(?:(?:(?![\p{L}\p{M}])(?![\p{P}\p{S}])(?![\x0a\x0d])(?!\s)(?=[^\p{P}\p{L}\p{"""
    r"""S}\x0a\x0d])(?=[぀-ヿ一-龥])[\s\S])(?:(?![\p{L}\p{M}])|(?![぀-ヿ一-龥])))+|[\x21-\x2f\x3a-\x40\x5b-\x60"""
    r"""\x7b-\x7e][A-Za-z]+|(?:(?![぀-ヿ一-龥])(?!\p{N})[^\p{P}\p{L}\p{S}\x0a\x0d])?(?:(?![぀-ヿ一-龥])[\p{L}\p"""
    r"""{M}])+| ?(?:(?![぀-ヿ一-龥])[\p{P}\p{S}])+[\x0a\x0d]*|\s*[\x0a\x0d]+|\s+(?:(?:(?!\S)|(?=\p{N}))|(?="""
    r"""[぀-ヿ一-龥]))|\s+|(?:(?:(?![\p{L}\p{M}])(?![\p{P}\p{S}])(?![\x0a\x0d])(?!\s)(?=[^\p{P}\p{L}\p{S}\x"""
    r"""0a\x0d])(?![぀-ヿ一-龥])(?!\p{N})[\s\S])(?:(?![\p{L}\p{M}])|(?=[぀-ヿ一-龥])))+"""
)

_WORDS_WITH_PREFIX = ("ANY_PREFIX", "NEWLINES", "ANY_CASE")

# What these patterns say of ASCII, in a form that is split 64 bytes at a time. All have contractions that
# `contraction` in _core/splitting/blocks.pyx knows.
ASCII_RULES = {
    GPT2_SPLIT_PATTERN: ascii_rules("DIGIT_PREFIX"),
    R50K_SPLIT_PATTERN: ascii_rules("DIGIT_PREFIX"),
    GPT4_SPLIT_PATTERN: ascii_rules(*_WORDS_WITH_PREFIX, "DIGITS_BY_THREE"),
    CL100K_SPLIT_PATTERN: ascii_rules(*_WORDS_WITH_PREFIX, "DIGITS_BY_THREE"),
    LLAMA3_SPLIT_PATTERN: ascii_rules(*_WORDS_WITH_PREFIX, "DIGITS_BY_THREE"),
    QWEN2_SPLIT_PATTERN: ascii_rules(*_WORDS_WITH_PREFIX, "DIGITS_BY_ONE"),
    O200K_SPLIT_PATTERN: ascii_rules(*_WORDS_WITH_PREFIX, "DIGITS_BY_THREE", "SLASHES", "SUFFIXES", "CASES"),
    _TEKKEN: ascii_rules("ANY_PREFIX", "NEWLINES", "DIGITS_BY_ONE", "SLASHES", "CASES", "WITHOUT_CONTRACTIONS"),
    _DEEPSEEK3: ascii_rules(
        "ANY_PREFIX", "NEWLINES", "DIGITS_BY_THREE", "BLANKS_BEFORE_DIGITS", "WITHOUT_CONTRACTIONS", "VISIBLE_ALONE"
    ),
    CHARACTERS_SPLIT_PATTERN: ascii_rules("AT_SPACES"),
}
