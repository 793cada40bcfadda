"""The options of encode and its like are declared once: an Encoding has tiktoken's defaults of them."""

import inspect

import pytest

import cbpe
from cbpe.common.public import with_defaults

LIKE_ENCODE = (
    "encode",
    "encode_with_offsets",
    "encode_to_numpy",
    "encode_to_numpy_with_offsets",
    "encode_batch",
    "encode_batch_flat",
    "encode_stream",
    "count",
    "count_stream",
    "truncate",
)


@pytest.mark.parametrize("name", LIKE_ENCODE)
def test_an_encoding_shows_tiktokens_defaults_and_nothing_else_differs(name):
    base = inspect.signature(getattr(cbpe.Tokenizer, name))
    found = inspect.signature(getattr(cbpe.Encoding, name))
    assert found.parameters["allowed_special"].default == frozenset()
    assert found.parameters["disallowed_special"].default == "all"
    assert base.parameters["allowed_special"].default == "none_raise"
    assert base.parameters["disallowed_special"].default == ()
    same = {"allowed_special": frozenset(), "disallowed_special": "all"}
    expected = [one.replace(default=same.get(one.name, one.default)) for one in base.parameters.values()]
    assert list(found.parameters.values()) == expected
    assert found.return_annotation == base.return_annotation


def test_every_method_with_these_options_is_in_the_list():
    found = {
        name
        for name, method in vars(cbpe.Tokenizer).items()
        if not name.startswith("_") and callable(method) and "allowed_special" in inspect.signature(method).parameters
    }
    assert found == set(LIKE_ENCODE)


@pytest.mark.parametrize("name", LIKE_ENCODE)
def test_the_copies_name_their_class_and_say_what_they_do(name):
    method = getattr(cbpe.Encoding, name)
    assert method.__qualname__ == f"Encoding.{name}"
    assert method.__doc__


def test_a_copy_differs_in_the_defaults_alone():
    def told(a, b=1, *, c=2, d=3):
        """Tells what it was given."""
        return a, b, c, d

    copy = with_defaults(told, "Class", {"b": 5, "d": 7}, "Tells it otherwise.")
    assert copy(0) == (0, 5, 2, 7)
    assert copy(0, 1, d=4) == (0, 1, 2, 4)
    assert told(0) == (0, 1, 2, 3)
    assert (copy.__doc__, told.__doc__) == ("Tells it otherwise.", "Tells what it was given.")


@pytest.mark.parametrize("make", [cbpe.RegexTokenizer, lambda: cbpe.get_encoding("gpt2")], ids=["minbpe", "tiktoken"])
@pytest.mark.parametrize(
    "options", [{}, {"allowed_special": "none_raise"}, {"allowed_special": set(), "disallowed_special": "all"}]
)
def test_every_way_to_refuse_special_tokens_refuses_them(make, options):
    tok = make()
    if isinstance(tok, cbpe.RegexTokenizer):
        tok.register_special_tokens({"<|endoftext|>": 300})
    with pytest.raises(ValueError, match="endoftext"):
        tok.encode("a<|endoftext|>", **options)
    assert tok.decode(tok.encode("a<|endoftext", **options)) == "a<|endoftext"
