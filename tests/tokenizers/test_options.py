"""The options of encode and its like are declared once: other classes have other defaults of them, and nothing else."""

import ast
import inspect
import json
from itertools import chain

import numpy as np
import pyarrow
import pytest
from good_files import OF_WORDS
from project import ROOT

import cbpe
from cbpe.common.public import with_defaults

LIKE_ENCODE = (
    "encode",
    "encode_with_offsets",
    "encode_to_numpy",
    "encode_to_numpy_with_offsets",
    "encode_batch",
    "encode_batch_flat",
    "encode_arrow",
    "encode_stream",
    "count",
    "count_arrow",
    "count_batch",
    "count_stream",
    "truncate",
    "split",
)


# Of allowed_special and disallowed_special.
DEFAULTS = {
    "Tokenizer": ("none_raise", None),
    "BasicTokenizer": ("none_raise", None),
    "RegexTokenizer": ("none_raise", None),
    "GPT2Tokenizer": ("none_raise", None),
    "GPT4Tokenizer": ("none_raise", None),
    "Encoding": (frozenset(), "all"),
    "HuggingFaceTokenizer": ("all", None),
    "SentencePieceTokenizer": ("all", None),
    "WordTokenizer": ("all", None),
}
BESIDES = {"encode_with_unstable"}  # of an Encoding alone


def test_the_defaults_of_every_public_class_are_known():
    found = {name for name in cbpe.__all__ if hasattr(getattr(cbpe, name), "encode_ordinary")}
    assert found == set(DEFAULTS)


@pytest.mark.parametrize("name", LIKE_ENCODE)
@pytest.mark.parametrize("kind", DEFAULTS)
def test_every_class_takes_every_option_and_nothing_but_its_defaults_differs(kind, name):
    base = inspect.signature(getattr(cbpe.Tokenizer, name))
    found = inspect.signature(getattr(getattr(cbpe, kind), name))
    allowed, disallowed = DEFAULTS[kind]
    differing = {"allowed_special": allowed, "disallowed_special": disallowed}
    expected = [one.replace(default=differing.get(one.name, one.default)) for one in base.parameters.values()]
    assert list(found.parameters.values()) == expected
    assert found.return_annotation == base.return_annotation


@pytest.mark.parametrize("name", LIKE_ENCODE)
def test_whether_a_template_is_put_around_is_an_option_of_every_method(name):
    option = inspect.signature(getattr(cbpe.Tokenizer, name)).parameters["add_special_tokens"]
    assert (option.kind, option.default, option.annotation) == (option.KEYWORD_ONLY, True, "bool")


def test_no_class_but_tokenizer_declares_these_methods_or_their_options():
    options = {"allowed_special", "disallowed_special", "add_special_tokens"}
    found = {}
    for path in (ROOT / "cbpe" / "tokenizers").glob("*.py"):
        for kind in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for method in kind.body if isinstance(kind, ast.ClassDef) else ():
                if isinstance(method, ast.FunctionDef):
                    names = {one.arg for one in (*method.args.args, *method.args.kwonlyargs)}
                    if method.name in LIKE_ENCODE or names & options:
                        found.setdefault(kind.name, set()).add(method.name)
    assert found == {"Tokenizer": set(LIKE_ENCODE), "Encoding": BESIDES}


def encoded(tok, text, **options):
    """What the methods give for a text, by their names."""
    found = {name: getattr(tok, name)(text, **options) for name in ("encode", "encode_with_offsets", "count")}
    found["encode_stream"] = list(tok.encode_stream([text, text], **options))
    found["count_stream"] = tok.count_stream([text, text], **options)
    found["truncate"] = tok.truncate(text, 2, **options)
    found["split"] = tok.split(text, 40, **options)
    found["encode_batch"] = tok.encode_batch([text, text], num_threads=1, **options)
    found["count_batch"] = tok.count_batch([text, text], num_threads=1, **options)
    for name in ("encode_arrow", "count_arrow"):
        found[name] = pyarrow.array(getattr(tok, name)(pyarrow.array([text]), **options)).to_pylist()
    arrays = {
        "encode_to_numpy": [tok.encode_to_numpy(text, **options)],
        "encode_to_numpy_with_offsets": tok.encode_to_numpy_with_offsets(text, **options),
        "encode_batch_flat": tok.encode_batch_flat([text, text], num_threads=1, **options),
    }
    return found | {name: [(str(one.dtype), one.tolist()) for one in made] for name, made in arrays.items()}


@pytest.fixture(scope="module")
def without_templates():
    """A tokenizer of each public class, none of which has a template."""
    trained = cbpe.train("the cat the cat", 260, special_tokens=["<|end|>"])
    return [
        trained,
        cbpe.Tokenizer(trained._vocabulary, None),
        cbpe.BasicTokenizer(),
        cbpe.GPT2Tokenizer(),
        cbpe.GPT4Tokenizer(),
        cbpe.get_encoding("gpt2"),
        cbpe.HuggingFaceTokenizer.from_tokenizer(trained, {"normalizer": "NFC"}),
    ]


def test_without_a_template_either_value_gives_the_same(without_templates):
    # These have no dropout; tests/formats/test_characters.py and test_words.py have either value.
    others = {"SentencePieceTokenizer", "WordTokenizer"}
    assert {type(tok).__name__ for tok in without_templates} == set(DEFAULTS) - others
    for tok in without_templates:
        plain = encoded(tok, "the cat sat")
        assert set(plain) == set(LIKE_ENCODE)
        assert plain["encode"] == tok.encode_ordinary("the cat sat")
        for add in (True, False):
            assert encoded(tok, "the cat sat", add_special_tokens=add) == plain
            for choice in ({"allowed_special": "all"}, {"dropout": 0.0}, {"dropout": 0.5, "seed": 1}):
                assert tok.encode("the cat", add_special_tokens=add, **choice) == tok.encode("the cat", **choice)


@pytest.mark.parametrize("choice", [{}, {"allowed_special": "none_raise"}, {"allowed_special": (), "dropout": 0.0}])
def test_a_template_is_put_around_however_special_tokens_are_chosen(choice):
    trained = cbpe.train("the cat the cat", 260, special_tokens=["<|end|>"])
    end = {"id": "<|end|>", "ids": [260], "tokens": ["<|end|>"]}
    single = [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<|end|>", "type_id": 0}}]
    pair = [*single, {"Sequence": {"id": "B", "type_id": 1}}]
    template = {"single": single, "pair": pair, "special_tokens": {"<|end|>": end}}
    tok = cbpe.HuggingFaceTokenizer.from_tokenizer(trained, {"template": template})
    plain = trained.encode("the cat")
    assert tok.encode("the cat", **choice) == [*plain, 260]
    assert tok.encode("the cat", add_special_tokens=True, **choice) == [*plain, 260]
    assert tok.encode("the cat", add_special_tokens=False, **choice) == plain
    choice.pop("dropout", None)
    assert list(chain(*tok.encode_stream(["the ", "cat"], **choice))) == [*plain, 260]


def test_every_method_with_these_options_is_in_the_list():
    found = {
        name
        for name, method in vars(cbpe.Tokenizer).items()
        if not name.startswith("_") and callable(method) and "allowed_special" in inspect.signature(method).parameters
    }
    assert found == set(LIKE_ENCODE)


@pytest.mark.parametrize("name", LIKE_ENCODE)
@pytest.mark.parametrize("kind", ["Encoding", "HuggingFaceTokenizer"])
def test_the_copies_name_their_class_and_say_what_they_do(kind, name):
    method = getattr(getattr(cbpe, kind), name)
    assert method.__qualname__ == f"{kind}.{name}"
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


# What the two kinds of calls take, besides their flags.
TEXTS = {"encode_batch": ["a"], "encode_batch_flat": ["a"], "count_batch": ["a"], "encode_stream": ["a"],
         "count_stream": ["a"], "encode_arrow": pyarrow.array(["a"]), "count_arrow": pyarrow.array(["a"])}  # fmt: skip
IDS = {"decode": [97], "decode_bytes": [97], "decode_batch": [[97]], "decode_bytes_batch": [[97]],
       "decode_arrow": pyarrow.array([[97]]), "stream_decoder": "strict"}  # fmt: skip


def of_each_kind():
    """A tokenizer over bytes, as one of a file, and one over characters."""
    trained = cbpe.train("low lower lowest", 258)
    yield trained
    yield cbpe.HuggingFaceTokenizer.from_tokenizer(trained)
    yield cbpe.train("low lower lowest", 300, alphabet="characters")


@pytest.mark.parametrize("wrong", ["no", "False", 0, 1, None, [False]])
@pytest.mark.parametrize("tok", of_each_kind(), ids=lambda tok: type(tok).__name__)
def test_a_flag_that_is_neither_true_nor_false_is_refused(tok, wrong):
    for name in LIKE_ENCODE:
        call = getattr(tok, name)
        more = (5,) if name in ("truncate", "split") else ()
        with pytest.raises(TypeError, match="add_special_tokens must be True or False, not "):
            call(TEXTS.get(name, "a"), *more, add_special_tokens=wrong)
        for taken in (True, False, np.True_, np.False_):
            call(TEXTS.get(name, "a"), *more, add_special_tokens=taken)
    for name, ids in IDS.items():
        call = getattr(tok, name)
        with pytest.raises(TypeError, match="skip_special_tokens must be True or False, not "):
            call(ids, skip_special_tokens=wrong)
        for taken in (True, False, np.True_, np.False_):
            call(ids, skip_special_tokens=taken)


def test_a_flag_is_checked_where_words_have_an_end(tmp_path):
    (tmp_path / "words.json").write_text(json.dumps(OF_WORDS), encoding="utf-8")
    tok = cbpe.load(tmp_path / "words.json")
    for name in ("decode", "decode_bytes", "stream_decoder"):
        with pytest.raises(TypeError, match="skip_special_tokens must be True or False, not 'no'"):
            getattr(tok, name)("strict" if name == "stream_decoder" else [1], skip_special_tokens="no")
    with pytest.raises(TypeError, match="skip_special_tokens must be True or False, not 'no'"):
        tok.decode_batch([[1]], skip_special_tokens="no")
    assert tok.decode([1, 6, 8]) == "ce the" == tok.decode([1, 6, 8], skip_special_tokens=True)
