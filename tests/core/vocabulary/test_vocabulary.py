"""Vocabulary: what it is made of, what it refuses, and its packed form, whole and damaged."""

import random
import struct
import zlib
from array import array

import pytest
from hypothesis import given
from vocabularies import by_merges, merge_lists, rank_dicts

from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.encodings.named import load_vocabulary

ABSENT = 0xFFFFFFFF
HEADER_SIZE = 40
BYTES = list(range(256))
A, B, C = b"abc"


def uint32(values):
    return array("I", values)


def make(left=(), right=(), ids=None, unmerged=(), **options):
    left, right, unmerged = list(left), list(right), list(unmerged)
    ids = range(256 + len(left) + len(unmerged)) if ids is None else ids
    return Vocabulary(uint32(left), uint32(right), uint32(ids), unmerged, **options)


def facts(vocabulary):
    """All that can be asked of a vocabulary."""
    return (
        vocabulary.tokens(),
        vocabulary.merges(),
        vocabulary.unmerged(),
        vocabulary.whole_pieces,
        vocabulary.monotone,
        vocabulary.n_merges,
        vocabulary.max_id,
        len(vocabulary),
    )


# ---- What it is


def test_the_bytes_alone():
    vocabulary = make()
    assert vocabulary.tokens() == {i: bytes([i]) for i in range(256)}
    assert (len(vocabulary), vocabulary.n_merges, vocabulary.max_id, vocabulary.merges()) == (256, 0, 255, {})
    assert vocabulary.monotone
    assert not vocabulary.whole_pieces


def test_merges_spell_their_tokens():
    vocabulary = make([A, 256, C], [B, 256, 257])
    assert list(vocabulary.tokens().items())[256:] == [(256, b"ab"), (257, b"abab"), (258, b"cabab")]
    assert list(vocabulary.merges().items()) == [((A, B), 256), ((256, 256), 257), ((C, 257), 258)]
    assert vocabulary.n_merges == 3
    assert vocabulary.monotone


def test_ids_are_free():
    ids = [1000 - i for i in range(256)] + [5, 3]
    vocabulary = make([A], [B], ids, [b"xyz"])
    assert vocabulary.tokens() == {**{1000 - i: bytes([i]) for i in range(255, -1, -1)}, 3: b"xyz", 5: b"ab"}
    assert list(vocabulary.tokens()) == sorted(vocabulary.tokens())
    assert vocabulary.merges() == {(1000 - A, 1000 - B): 5}
    assert vocabulary.unmerged() == {3: b"xyz"}
    assert vocabulary.max_id == 1000
    assert 3 in vocabulary
    assert 5 in vocabulary
    assert 4 not in vocabulary
    assert 1001 not in vocabulary
    assert -1 not in vocabulary
    assert 1 << 80 not in vocabulary


def test_merges_made_of_later_ones_spell_their_tokens():
    vocabulary = make([257, A, 256], [C, B, 257])
    assert not vocabulary.monotone
    assert list(vocabulary.tokens().values())[256:] == [b"abc", b"ab", b"abcab"]


def test_tokens_of_all_lengths_are_spelled_exactly():
    """Short tokens are copied 16 bytes at a time."""
    vocabulary = make([A, *list(range(256, 300))], [B] + [C] * 44)
    assert [vocabulary.tokens()[256 + i] for i in range(45)] == [b"ab" + b"c" * i for i in range(45)]
    mixed = make([0, 255, 256, 257, 258, 259, 260], [1, 256, 257, 258, 259, 260, 261])
    fibonacci = [b"\x00\x01", b"\xff\x00\x01"]
    while len(fibonacci) < 7:
        fibonacci.append(fibonacci[-2] + fibonacci[-1])
    assert list(mixed.tokens().values())[256:] == fibonacci


def test_bytes_without_a_token_are_absent():
    ids = [ABSENT] * 256
    ids[A] = 0
    vocabulary = make(ids=[*ids, 1], unmerged=[b"abc"], whole_pieces=True)
    assert vocabulary.tokens() == {0: b"a", 1: b"abc"}
    assert len(vocabulary) == 2
    assert vocabulary.find(b"b") is None


def test_a_merge_of_a_byte_without_a_token_has_no_pair_of_ids():
    ids = list(range(257))
    ids[B] = ABSENT
    vocabulary = make([A], [B], ids)
    assert vocabulary.tokens()[256] == b"ab"
    with pytest.raises(ValueError, match="token 256 is merged from the byte 0x62"):
        vocabulary.merges()


def test_the_parts_of_merges_are_ids_or_say_which_byte_has_none():
    ids = [ABSENT if byte == B else byte + 1 for byte in range(256)]
    vocabulary = make([A, 256], [B, A], [*ids, 500, 300])
    assert vocabulary.merge_parts() == [(A + 1, -1 - B, 500), (500, A + 1, 300)]
    assert by_merges([(97, 98), (256, 256)]).merge_parts() == [(97, 98, 256), (256, 256, 257)]


def test_find_gives_the_earlier_of_two_tokens_with_the_same_bytes():
    vocabulary = make([A, B, A, 256], [B, C, 257, C])
    assert vocabulary.tokens()[258] == vocabulary.tokens()[259] == b"abc"
    assert vocabulary.find(b"abc") == 258
    assert [vocabulary.find(token) for token in (b"a", b"ab", b"bc")] == [A, 256, 257]
    assert [vocabulary.find(token) for token in (b"", b"abcd", b"ac")] == [None, None, None]


@given(merge_lists())
def test_find_knows_every_token(merges):
    vocabulary = by_merges(merges)
    tokens = vocabulary.tokens()
    first = {token: token_id for token_id, token in reversed(tokens.items())}
    assert {token: vocabulary.find(token) for token in tokens.values()} == first


# ---- What it refuses


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"left": [A], "right": []}, "1 left parts and 0 right parts"),
        ({"ids": range(255)}, "255 ids do not fit 256 tokens"),
        ({"ids": range(257)}, "257 ids do not fit 256 tokens"),
        ({"left": [256], "right": [A]}, "made of itself"),
        ({"left": [A], "right": [256]}, "made of itself"),
        ({"left": [257, 256], "right": [A, A]}, "made of itself"),
        ({"left": [257, 258, 256], "right": [A, A, A]}, "made of itself"),
        ({"left": [A, 258, B], "right": [B, A, 257]}, "made of itself"),
        ({"left": [A, 300], "right": [B, A]}, "symbols 300 and 97, but there are only 258"),
        ({"left": [A], "right": [ABSENT]}, "but there are only 257"),
        ({"left": [A, A], "right": [B, B]}, "tokens 97 and 98 is merged twice, to 256 and to 257"),
        ({"left": [0, 0], "right": [0, 0]}, "tokens 0 and 0 is merged twice"),
        ({"ids": [*range(255), 7]}, "token id 7 is given to two tokens"),
        ({"left": [A], "right": [B], "ids": [*range(256), 9]}, "token id 9 is given to two tokens"),
        ({"left": [A], "right": [B], "ids": [*range(256), ABSENT]}, "too large"),
        ({"unmerged": [b"x"], "ids": [*range(256), ABSENT]}, "too large"),
        ({"ids": [*range(255), ABSENT - 1]}, "token id 4294967294 is too large for a vocabulary of 256 tokens"),
        ({"unmerged": [b""]}, "not empty, not b''"),
        ({"unmerged": ["text"]}, "not 'text'"),
    ],
)
def test_what_is_no_vocabulary_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)


@pytest.mark.parametrize("wrong", [[1, 2], array("H", [1]), array("q", [1]), b"abcd", array("f", [1]), None, 7])
def test_what_is_no_buffer_of_uint32_is_refused(wrong):
    with pytest.raises((TypeError, ValueError)):
        Vocabulary(wrong, wrong, uint32(range(257)))


def test_more_tokens_than_the_limit_are_refused():
    parts = array("I", [0]) * 2**21
    with pytest.raises(ValueError, match="too many: the limit is 2097151"):
        Vocabulary(parts, parts, array("I", [0]) * (2**21 + 256))


def test_more_bytes_than_the_limit_are_refused():
    """Each merge doubles the one before: 2**28 bytes after 28 of them, and no time or memory is spent on 300."""
    for n in (28, 300):
        with pytest.raises(ValueError, match="more than 268435456 bytes"):
            make([A, *range(256, 255 + n)], [A, *range(256, 255 + n)])
    with pytest.raises(ValueError, match="more than 268435456 bytes"):
        make([A], [B], unmerged=[bytes(2**28)])


# ---- Packed


def test_a_limit_on_the_bytes_of_all_tokens_is_kept():
    doubling = by_merges([(97, 97), *((255 + i, 255 + i) for i in range(1, 10))])
    total = sum(map(len, doubling.tokens().values()))
    assert Vocabulary.unpack(doubling.pack(), max_bytes=total).tokens() == doubling.tokens()
    with pytest.raises(ValueError, match=f"more than {total - 1} bytes"):
        Vocabulary.unpack(doubling.pack(), max_bytes=total - 1)


@given(merge_lists())
def test_packing_and_unpacking_merges_changes_nothing(merges):
    vocabulary = by_merges(merges)
    packed = vocabulary.pack()
    assert facts(Vocabulary.unpack(packed)) == facts(vocabulary)
    assert Vocabulary.unpack(packed).pack() == packed


@given(rank_dicts())
def test_packing_and_unpacking_ranks_changes_nothing(ranks):
    vocabulary = vocabulary_from_ranks({**{bytes([i]): 1000 + i for i in BYTES}, **ranks})
    packed = vocabulary.pack()
    assert facts(Vocabulary.unpack(packed)) == facts(vocabulary)
    assert Vocabulary.unpack(packed).pack() == packed


def test_a_byte_without_a_token_before_id_0_survives_packing():
    """The mark of an absent token is one less than 0 in 32 bits."""
    ids = [ABSENT, ABSENT, *range(254)]
    vocabulary = make(ids=ids)
    assert Vocabulary.unpack(vocabulary.pack()).tokens() == vocabulary.tokens()
    assert vocabulary.tokens()[0] == b"\x02"


def test_unpacking_takes_any_buffer():
    packed = make([A], [B]).pack()
    for buffer in (bytearray(packed), memoryview(packed), array("B", packed)):
        assert Vocabulary.unpack(buffer).merges() == {(A, B): 256}
    for wrong in ("text", None, 7):
        with pytest.raises(TypeError):
            Vocabulary.unpack(wrong)


def test_the_packed_form_is_as_documented():
    vocabulary = make([A, 256], [B, C], [*range(256), 300, 301, 400], [b"xyz"])
    header = struct.unpack_from("<8sIIIIIIII", vocabulary.pack())
    body = vocabulary.pack()[HEADER_SIZE:]
    # Magic, version, flags, merges, unmerged tokens, their bytes, runs of ids, 0, checksum.
    assert header[:8] == (b"\x89cbpe\r\n\x1a", 1, 0, 2, 1, 3, 3, 0)
    assert header[8] == zlib.crc32(vocabulary.pack()[: HEADER_SIZE - 4] + body)
    assert body == struct.pack("<2I2I3I3II", A, 256, B, C, 0, 300, 400, 256, 2, 1, 3) + b"xyz"


@pytest.fixture(scope="module")
def packed():
    """A vocabulary with all that a packed form can hold."""
    ids = [*range(10, 266), 3, 4, 7, 1, 2]
    ids[0] = ABSENT
    return make([258, A, 257], [C, B, A], ids, [b"xy", b"xyz"], whole_pieces=True).pack()


def test_cut_short_anywhere_is_refused(packed):
    for size in range(len(packed)):
        with pytest.raises(ValueError, match=r"cut short|should have \d+ bytes and has"):
            Vocabulary.unpack(packed[:size])


def test_longer_is_refused(packed):
    with pytest.raises(ValueError, match=f"should have {len(packed)} bytes and has {len(packed) + 1}"):
        Vocabulary.unpack(packed + b"\0")


def test_every_flipped_bit_is_noticed(packed):
    for i in range(len(packed)):
        for bit in range(8):
            damaged = bytearray(packed)
            damaged[i] ^= 1 << bit
            with pytest.raises(ValueError, match="packed vocabulary"):
                Vocabulary.unpack(damaged)


def sealed(data):
    """The same with a right checksum, as only malice or a bug makes it."""
    data = bytearray(data)
    struct.pack_into("<I", data, HEADER_SIZE - 4, zlib.crc32(data[HEADER_SIZE:], zlib.crc32(data[: HEADER_SIZE - 4])))
    return bytes(data)


def with_header(packed, **fields):
    """Another header, sealed."""
    names = ("magic", "version", "flags", "merges", "unmerged", "size", "runs", "zero", "checksum")
    values = dict(zip(names, struct.unpack_from("<8sIIIIIIII", packed), strict=True)) | fields
    return sealed(struct.pack("<8sIIIIIIII", *values.values()) + packed[HEADER_SIZE:])


def test_sealing_changes_nothing_by_itself(packed):
    assert sealed(packed) == with_header(packed) == packed


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"magic": b"\x89PNG\r\n\x1a\n"}, "no packed vocabulary: it starts with"),
        ({"version": 2}, "version 2, flags 1 needs a newer cbpe: this one reads version 1"),
        ({"version": 0}, "version 0"),
        ({"flags": 16}, "flags 16 needs a newer"),
        ({"flags": 8}, "contradict"),  # a prefix or a suffix that is not there
        ({"zero": 1}, "needs a newer"),
        ({"merges": 2**32 - 1}, "beyond the limits"),
        ({"unmerged": 2**32 - 1}, "beyond the limits"),
        ({"size": 2**32 - 1}, "beyond the limits"),
        ({"runs": 2**32 - 1}, "beyond the limits"),
        ({"merges": 2**21 - 1}, "should have"),
        ({"merges": 4}, "should have"),
        ({"merges": 0}, "should have"),
        ({"unmerged": 1, "size": 9}, "contradict"),
    ],
)
def test_absurd_headers_are_refused(packed, fields, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary.unpack(with_header(packed, **fields))


def word(packed, index, value):
    """Another number in the body, sealed."""
    data = bytearray(packed)
    struct.pack_into("<I", data, HEADER_SIZE + 4 * index, value)
    return sealed(data)


@pytest.mark.parametrize(
    ("index", "value", "message"),
    [
        (0, 256, "made of itself"),
        (0, 259, "but there are only 259"),
        (1, 2**32 - 1, "but there are only 259"),
        (4, 258, "made of itself"),
        (6, 2**32 - 2, "too large"),  # the first id of a run
        (11, 2**32 - 1, "contradict"),  # how many ids a run has
        (16, 2**32 - 1, "contradict"),  # the length of an unmerged token
    ],
)
def test_absurd_numbers_behind_a_right_checksum_are_refused(packed, index, value, message):
    with pytest.raises(ValueError, match=message):
        Vocabulary.unpack(word(packed, index, value))


def test_random_damage_behind_a_right_checksum_is_refused_or_makes_a_vocabulary(packed):
    """Whatever the bytes say, there is a ValueError or a vocabulary that can be asked anything; nothing else."""
    rng = random.Random(1)
    made = 0
    for _ in range(3000):
        data = bytearray(packed)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(8, len(data))] = rng.choice([0, 1, 2, 97, 255, rng.randrange(256)])
        try:
            vocabulary = Vocabulary.unpack(sealed(data))
        except ValueError:
            continue
        made += 1
        assert len(vocabulary.tokens()) == len(vocabulary)
        assert Vocabulary.unpack(vocabulary.pack()).tokens() == vocabulary.tokens()
    assert made


@pytest.mark.parametrize("name", ["r50k_base", "p50k_base", "cl100k_base", "o200k_base"])
def test_the_named_vocabularies_survive_packing(name):
    vocabulary = load_vocabulary(name)
    assert Vocabulary.unpack(vocabulary.pack()).tokens() == vocabulary.tokens()
