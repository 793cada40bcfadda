"""How messages name several things, and long texts."""

from cbpe.common.wording import listed, shortened


def test_the_first_are_named_and_the_others_counted():
    assert listed([], 2) == ""
    assert listed(iter("ab"), 2) == "a, b"
    assert listed(map(str, range(1234)), 2) == "0, 1 and 1,232 more"


def test_a_long_text_is_quoted_by_its_beginning():
    assert shortened("it's", 4) == '"it\'s"'
    assert shortened("a\nbcd", 4) == r"'a\nbc'.."
