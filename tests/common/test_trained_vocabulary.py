"""The vocabulary of the bytes and merges."""

import pytest

from cbpe.common.trained_vocabulary import trained_vocabulary


def test_without_merges_each_byte_is_its_own_id():
    assert trained_vocabulary().tokens() == {byte: bytes([byte]) for byte in range(256)}


def test_merge_i_makes_token_256_plus_i():
    vocabulary = trained_vocabulary([(97, 98), (256, 97)])
    assert vocabulary.merges() == {(97, 98): 256, (256, 97): 257}
    assert vocabulary.tokens()[257] == b"aba"


def test_a_merge_of_what_is_not_there_yet_is_refused():
    with pytest.raises(ValueError, match="300"):
        trained_vocabulary([(300, 97)])
