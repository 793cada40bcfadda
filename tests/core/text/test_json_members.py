"""The members of JSON's objects, counted in its text and in its value."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbpe._core.text.json_members import count_members, scan

texts = st.text(st.sampled_from('a:"\\{}[],1\u00e9\u4e2d\n'), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def members(value):
    if isinstance(value, dict):
        return len(value) + sum(map(members, value.values()))
    return sum(map(members, value)) if isinstance(value, list) else 0


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_text_and_value_have_the_same_number_of_members(value, ensure_ascii, indent):
    data = json.dumps(value, ensure_ascii=ensure_ascii, indent=indent).encode()
    assert scan(data)[0] == count_members(json.loads(data)) == members(value)


@pytest.mark.parametrize(("data", "n"), [(b'{"a": 1, "a": 2}', 2), (b'[{"a": {"b": 1}}, {"b": 1, "b": 1}]', 4)])
def test_a_key_that_is_there_twice_makes_the_numbers_differ(data, n):
    assert scan(data)[0] == n > count_members(json.loads(data))


@pytest.mark.parametrize(
    ("data", "longest"),
    [(b"", 0), (b"[1, 23, 456]", 3), (b'["1234567", 12]', 2), (b"-123.4567e89", 4), (b'{"12\\"345": 6}', 1)],
)
def test_the_most_digits_side_by_side_outside_of_strings(data, longest):
    assert scan(data)[1] == longest


@pytest.mark.parametrize("data", [b'"', b'"\\', b'{"a', b'"a\\"', b"\\" * 99, b"::::", b"\xff" * 9])
def test_what_is_no_json_is_scanned_to_its_end(data):
    assert scan(data)[0] == data.count(b":")
