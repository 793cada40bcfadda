"""Maps of characters: small ones that are made here, and hostile ones."""

import random
import struct

import pytest

from cbpe._core.text.charsmap import Charsmap

LEAF, WIDE = 1 << 8, 1 << 9


def a_map(replacements):
    """A map with these replacements, dict[str, str] of single ASCII characters: one node, and a leaf for each."""
    units = [0] * 1024
    texts = b"".join(text.encode() + b"\0" for text in replacements.values())
    units[0] = 256 << 10  # the root's children stand from 256 on
    at = 0
    for i, (character, text) in enumerate(replacements.items()):
        label = ord(character)
        leaf = 512 + i
        units[256 ^ label] = label | LEAF | (leaf ^ 256 ^ label) << 10
        units[leaf] = 1 << 31 | at
        at += len(text.encode()) + 1
    return struct.pack("<I1024I", 4096, *units) + texts


def test_characters_are_replaced():
    assert Charsmap(a_map({"a": "xyz", "b": "", "c": "\u4e2d"})).normalized("aabc\u00e9a") == "xyzxyz\u4e2d\u00e9xyz"
    assert Charsmap(b"").normalized("a \u4e2d ") == "a \u4e2d "


def test_texts_that_are_to_stay_stay_the_longest_first():
    kept = Charsmap(a_map({"a": "x"}), ["aa", "aab"])
    assert kept.normalized("aaba aa a") == "aabx aa x"


def test_spaces_are_removed_at_the_ends_and_but_for_one_between():
    removes = Charsmap(a_map({"a": " ", "b": " x"}), removes_spaces=True)
    assert removes.normalized("  a c  ad b \u2581 \u2581") == "c d x"
    assert removes.normalized(" a ") == ""


def damaged(data, place, value):
    return data[:place] + struct.pack("<I", value) + data[place + 4 :]


GOOD = a_map({"a": "xyz"})
CHILD = 4 + 4 * (256 ^ ord("a"))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\0", "is damaged"),
        (GOOD[:-1], "is damaged"),
        (damaged(GOOD, 0, 0), "should have 0"),
        (damaged(GOOD, 0, 4094), "should have 4,094"),
        (damaged(GOOD, 0, 2**32 - 4), "should have 4,294,967,292"),
        (damaged(GOOD, 4, 2**22 - 1 << 10), "its trie points out of it"),
        (damaged(GOOD, CHILD, ord("a") | LEAF | WIDE | 2**21 - 1 << 10), "its trie points out of it"),
        (damaged(GOOD, 4 + 4 * 512, 1 << 31 | 2**30), "it has no text of up to 1000 bytes there"),
        (a_map({"a": "x" * 1001}), "it has no text of up to 1000 bytes there"),
        (GOOD[:-4] + b"\xff\0", "by what is no text"),
        (b"\0" * (2**21 + 1), "is too large"),
    ],
)
def test_damaged_maps_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        Charsmap(data)


def test_a_trie_that_leads_back_to_itself_ends_with_the_text():
    """From the node of "a", "a" leads there again."""
    loop = damaged(GOOD, CHILD, ord("a") | ord("a") << 10)
    assert Charsmap(loop).normalized("a" * 5000 + "b") == "a" * 5000 + "b"


def test_any_damage_is_refused_or_changes_text_to_text():
    rng = random.Random(1)
    for _ in range(500):
        data = bytearray(a_map({"a": "xyz", "b": "", "c": "\u4e2d"}))
        for _ in range(rng.randrange(1, 30)):
            place = rng.choice((0, 4, CHILD, 4 + 4 * 512, len(data) - 9)) + rng.randrange(8)
            data[place] = rng.randrange(256)
        try:
            found = Charsmap(bytes(data))
        except ValueError:
            continue
        assert isinstance(found.normalized("abc a\u4e2d\U0001f600 cab" * 20), str)
