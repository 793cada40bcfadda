"""A template is put around what is encoded in any form, and gives none of its own lists away."""

from itertools import pairwise

import numpy as np
import pytest

from cbpe.text.templates import Template

TEMPLATES = {
    "both": Template([1, 2], [3]),
    "before": Template([1], []),
    "after": Template([], [3, 4]),
}
each = pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
TEXTS = [[10, 11, 12], [], [13]]


@each
def test_lists_and_arrays_get_the_same_tokens(template):
    for ids in TEXTS:
        expected = [*template.before, *ids, *template.after]
        assert template.around(ids) == expected
        assert len(expected) == len(ids) + len(template)
        array = template.around_array(np.array(ids, np.uint32))
        assert (array.dtype, array.tolist()) == (np.uint32, expected)


@each
def test_each_text_of_a_flat_batch_gets_them(template):
    tokens = np.array([one for ids in TEXTS for one in ids], np.uint32)
    offsets = np.array([0, 3, 3, 4], np.int64)
    ids, places = template.around_flat(tokens, offsets)
    assert (ids.dtype, places.dtype) == (np.uint32, np.int64)
    found = [ids[start:end].tolist() for start, end in pairwise(places)]
    assert found == [template.around(ids) for ids in TEXTS]
    none, start = template.around_flat(np.array([], np.uint32), np.array([0], np.int64))
    assert (none.tolist(), start.tolist()) == ([], [0])


@each
def test_its_tokens_are_at_the_ends_of_the_text(template):
    spans = [(0, 2), (2, 5)]
    expected = [*[(0, 0)] * len(template.before), *spans, *[(5, 5)] * len(template.after)]
    assert template.around_spans(spans, 5) == expected
    array = template.around_array_of_spans(np.array(spans, np.int64), 5)
    assert (array.dtype, [tuple(one) for one in array.tolist()]) == (np.int64, expected)
    assert template.around_array_of_spans(np.empty((0, 2), np.int64), 0).tolist() == [[0, 0]] * len(template)


@each
def test_a_stream_gets_them_once_and_may_change_what_it_is_given(template):
    for _ in range(2):
        lists = list(template.around_stream(iter([[10, 11], [12]])))
        assert [one for ids in lists for one in ids] == template.around([10, 11, 12])
        for ids in lists:
            ids.append(99)  # the lists are the caller's


@each
def test_a_budget_is_what_the_template_leaves(template):
    assert template.budget(len(template)) == 0
    assert template.budget(10) == 10 - len(template)
    with pytest.raises(ValueError, match=rf"it must be at least {len(template)} \(what the template adds\)"):
        template.budget(len(template) - 1)
    with pytest.raises(TypeError, match="max_tokens must be an int, not float"):
        template.budget(10.0)
