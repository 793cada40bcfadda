"""Comparing a tokenizer of ours with the tokenizer of `tokenizers` that was read from the same file."""

import random
from itertools import chain


def assert_ids_and_texts_are_those_of(judge, ours, text, chunks):
    """Every way of encoding a text, with special tokens put around it and without, and of decoding the ids. The chunks
    are the text in parts."""
    for adds in (True, False):
        ids = ours.encode(text, add_special_tokens=adds)
        assert ids == judge.encode(text, add_special_tokens=adds).ids, (text, adds)
        assert_ids_are_decoded_as_by(judge, ours, ids)
    for workers in (1, 2, None):
        assert ours.encode(text, add_special_tokens=False, workers=workers) == ids, (text, workers)
        assert ours.encode_to_numpy(text, add_special_tokens=False, workers=workers).tolist() == ids, (text, workers)
        assert ours.count(text, add_special_tokens=False, workers=workers) == len(ids), (text, workers)
    assert [*chain(*ours.encode_stream(chunks, add_special_tokens=False))] == ids
    assert ours.encode_batch([text, text], add_special_tokens=False) == [ids, ids]
    assert ours.encode_batch_flat([text, "a"], add_special_tokens=False)[0][: len(ids)].tolist() == ids


def assert_ids_are_decoded_as_by(judge, ours, ids):
    """At once and one after the other."""
    decoded = judge.decode(ids, skip_special_tokens=False)
    assert ours.decode(ids) == decoded, ids
    stream = ours.stream_decoder()
    assert "".join(map(stream.push, ids)) + stream.flush() == decoded, ids
    assert_special_tokens_are_left_out_as_by(judge, ours, ids)


def assert_special_tokens_are_left_out_as_by(judge, ours, ids):
    """By all ways of decoding."""
    decoded = judge.decode(ids, skip_special_tokens=True)
    stream = ours.stream_decoder(skip_special_tokens=True)
    assert "".join(map(stream.push, ids)) + stream.flush() == decoded, ids
    assert ours.decode(ids, skip_special_tokens=True) == decoded, ids
    assert ours.decode_batch([ids, ids[:0]], skip_special_tokens=True) == [decoded, ""]
    data = ours.decode_bytes(ids, skip_special_tokens=True)
    assert ours.decode_bytes_batch(iter([ids]), skip_special_tokens=True) == [data]
    added = judge.get_added_tokens_decoder()
    assert data == ours.decode_bytes([i for i in ids if i not in added or not added[i].special]), ids


def assert_any_ids_are_decoded_as_by(judge, ours, seed):
    rng = random.Random(seed)
    known = sorted(ours.vocab)
    for _ in range(150):
        assert_ids_are_decoded_as_by(judge, ours, rng.choices(known, k=rng.randrange(7)))
