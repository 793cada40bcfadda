"""Normalizes text as BERT's tokenizers do: control characters out, white space to spaces, spaces around Chinese
characters, accents out, lower case. `tokenizers` goes by Unicode 8.0 for what is a control character or an accent."""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["bert_steps"]

# In hexadecimal: what clean_text leaves out (categories Cc, Cf and Co, U+0000 and U+FFFD), and what becomes a space.
LEFT_OUT = (
    "0-8 b-c e-1f 7f-9f ad 600-605 61c 6dd 70f 180e 200b-200f 202a-202e 2060-2064 2066-206f e000-f8ff feff fff9-fffb "
    "fffd 110bd 1bca0-1bca3 1d173-1d17a e0001 e0020-e007f f0000-ffffd 100000-10fffd"
)
SPACES = "9-a d a0 1680 2000-200a 2028-2029 202f 205f 3000"
CHINESE = "3400-4dbf 4e00-9fff f900-faff 20000-2a6df 2a700-2b81f 2b920-2ceaf 2f800-2fa1f"
# Nonspacing marks, category Mn.
ACCENTS = """
    300-36f 483-487 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-65f 670 6d6-6dc 6df-6e4 6e7-6e8 6ea-6ed 711 730-74a
    7a6-7b0 7eb-7f3 816-819 81b-823 825-827 829-82d 859-85b 8e3-902 93a 93c 941-948 94d 951-957 962-963 981 9bc
    9c1-9c4 9cd 9e2-9e3 a01-a02 a3c a41-a42 a47-a48 a4b-a4d a51 a70-a71 a75 a81-a82 abc ac1-ac5 ac7-ac8 acd ae2-ae3
    b01 b3c b3f b41-b44 b4d b56 b62-b63 b82 bc0 bcd c00 c3e-c40 c46-c48 c4a-c4d c55-c56 c62-c63 c81 cbc cbf cc6
    ccc-ccd ce2-ce3 d01 d41-d44 d4d d62-d63 dca dd2-dd4 dd6 e31 e34-e3a e47-e4e eb1 eb4-eb9 ebb-ebc ec8-ecd f18-f19
    f35 f37 f39 f71-f7e f80-f84 f86-f87 f8d-f97 f99-fbc fc6 102d-1030 1032-1037 1039-103a 103d-103e 1058-1059
    105e-1060 1071-1074 1082 1085-1086 108d 109d 135d-135f 1712-1714 1732-1734 1752-1753 1772-1773 17b4-17b5
    17b7-17bd 17c6 17c9-17d3 17dd 180b-180d 18a9 1920-1922 1927-1928 1932 1939-193b 1a17-1a18 1a1b 1a56 1a58-1a5e
    1a60 1a62 1a65-1a6c 1a73-1a7c 1a7f 1ab0-1abd 1b00-1b03 1b34 1b36-1b3a 1b3c 1b42 1b6b-1b73 1b80-1b81 1ba2-1ba5
    1ba8-1ba9 1bab-1bad 1be6 1be8-1be9 1bed 1bef-1bf1 1c2c-1c33 1c36-1c37 1cd0-1cd2 1cd4-1ce0 1ce2-1ce8 1ced 1cf4
    1cf8-1cf9 1dc0-1df5 1dfc-1dff 20d0-20dc 20e1 20e5-20f0 2cef-2cf1 2d7f 2de0-2dff 302a-302d 3099-309a a66f
    a674-a67d a69e-a69f a6f0-a6f1 a802 a806 a80b a825-a826 a8c4 a8e0-a8f1 a926-a92d a947-a951 a980-a982 a9b3
    a9b6-a9b9 a9bc a9e5 aa29-aa2e aa31-aa32 aa35-aa36 aa43 aa4c aa7c aab0 aab2-aab4 aab7-aab8 aabe-aabf aac1
    aaec-aaed aaf6 abe5 abe8 abed fb1e fe00-fe0f fe20-fe2f 101fd 102e0 10376-1037a 10a01-10a03 10a05-10a06
    10a0c-10a0f 10a38-10a3a 10a3f 10ae5-10ae6 11001 11038-11046 1107f-11081 110b3-110b6 110b9-110ba 11100-11102
    11127-1112b 1112d-11134 11173 11180-11181 111b6-111be 111ca-111cc 1122f-11231 11234 11236-11237 112df
    112e3-112ea 11300-11301 1133c 11340 11366-1136c 11370-11374 114b3-114b8 114ba 114bf-114c0 114c2-114c3
    115b2-115b5 115bc-115bd 115bf-115c0 115dc-115dd 11633-1163a 1163d 1163f-11640 116ab 116ad 116b0-116b5 116b7
    1171d-1171f 11722-11725 11727-1172b 16af0-16af4 16b30-16b36 16f8f-16f92 1bc9d-1bc9e 1d167-1d169 1d17b-1d182
    1d185-1d18b 1d1aa-1d1ad 1d242-1d244 1da00-1da36 1da3b-1da6c 1da75 1da84 1da9b-1da9f 1daa1-1daaf 1e8d0-1e8d6
    e0100-e01ef
"""


def bert_steps(
    step: Mapping[str, Any], decomposed: Callable[[str], str], lowercase: Callable[[str], str]
) -> list[Callable[[str], str]]:
    """What a BertNormalizer does, one after another; `decomposed` gives a text in the form NFD.

    >>> clean, spaced = bert_steps({"clean_text": True, "handle_chinese_chars": True}, str, str)
    >>> spaced(clean("a\\0b\\t\\u4e2dc"))
    'ab  \u4e2d c'
    """
    steps: list[Callable[[str], str]] = []
    if step.get("clean_text"):
        steps.append(cleaned)
    if step.get("handle_chinese_chars"):
        steps.append(with_chinese_apart)
    strips = step.get("strip_accents")
    if step.get("lowercase") if strips is None else strips:
        steps.append(lambda text: without_accents(decomposed(text)))
    if step.get("lowercase"):
        steps.append(lowercase)
    return steps


@cache
def one_of(ranges: str) -> re.Pattern[str]:
    """An expression for one of some characters: "9-a d" -> those from U+0009 to U+000A, and U+000D"""
    items = [[re.escape(chr(int(end, 16))) for end in item.split("-")] for item in ranges.split()]
    return re.compile(f"[{''.join(map('-'.join, items))}]")


def cleaned(text: str) -> str:
    return one_of(SPACES).sub(" ", one_of(LEFT_OUT).sub("", text))


def with_chinese_apart(text: str) -> str:
    return text if text.isascii() else one_of(CHINESE).sub(r" \g<0> ", text)


def without_accents(text: str) -> str:
    return text if text.isascii() else one_of(ACCENTS).sub("", text)
