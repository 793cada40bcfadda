"""Public names say cbpe, and pickles name nothing inside of it."""

import copy
import io
import pickle
import pickletools
import subprocess
import sys

import pytest

import cbpe

ERRORS = ["SpecialChoiceError", "TokenTypeError", "VocabularySizeError"]


@pytest.mark.parametrize("kind", ["BasicTokenizer", "RegexTokenizer", "GPT2Tokenizer", "GPT4Tokenizer"])
def test_decode_takes_minbpes_name_of_its_argument_and_that_of_all_others(kind):
    tok = getattr(cbpe, kind)()
    assert tok.decode(ids=[97, 98]) == tok.decode(tokens=[97, 98]) == tok.decode([97, 98])
    assert tok.decode(tokens=[97], skip_special_tokens=True) == tok.decode([97])
    with pytest.raises(TypeError, match="decode takes token ids once: as ids, or as tokens"):
        tok.decode([97], tokens=[97])
    with pytest.raises(TypeError, match="NoneType"):
        tok.decode()


@pytest.mark.parametrize("name", ["encode", "decode", "count", "encode_ordinary", "decode_bytes", "encode_batch"])
@pytest.mark.parametrize("kind", ["BasicTokenizer", "RegexTokenizer", "GPT2Tokenizer", "GPT4Tokenizer"])
def test_methods_are_pickled_for_pools(kind, name):
    method = getattr(getattr(cbpe, kind)(), name)
    given = [97, 98] if name.startswith("decode") else ["ab"] if name == "encode_batch" else "ab"
    assert pickle.loads(pickle.dumps(method))(given) == method(given)


@pytest.mark.parametrize("name", [*cbpe.__all__, *ERRORS])
def test_a_public_name_is_of_cbpe_wherever_it_is_defined(name):
    value = getattr(cbpe, name)
    if callable(value):
        assert (value.__module__, value.__qualname__) == ("cbpe", name)
    else:
        assert isinstance(value, str)


def test_modules_with_public_names_are_there_without_more_ado():
    program = "import cbpe; print(cbpe.patterns.O200K_SPLIT_PATTERN == cbpe.get_encoding('o200k_base').pattern)"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "True\n"


def objects():
    """One public object of each kind, by what it is."""
    trained = cbpe.train("the cat the cat", 260, special_tokens=["<|end|>"])
    basic = cbpe.BasicTokenizer()
    basic.train("aaabdaaabac", 259)
    ranks = {bytes([byte]): byte for byte in range(256)}
    split_by_regex = cbpe.RegexTokenizer(r"(\w)\1*|.")
    return {
        "tokenizer": cbpe.Tokenizer(trained._vocabulary, None),
        "basic": basic,
        "trained": trained,
        "split by the regex module": split_by_regex,
        "gpt2": cbpe.GPT2Tokenizer(),
        "gpt4": cbpe.GPT4Tokenizer(),
        "hugging face": cbpe.HuggingFaceTokenizer.from_tokenizer(trained, {"normalizer": "NFC"}),
        "encoding by name": cbpe.get_encoding("gpt2"),
        "encoding of one's own": cbpe.get_encoding("gpt2", cache_bytes=0),
        "encoding by content": cbpe.Encoding("own", pat_str=".", mergeable_ranks=ranks, special_tokens={}),
        "record": trained.training,
        "word counts": cbpe.count_words("the cat the cat"),
        "statistics": trained.statistics(["the cat"]),
        "analysis": trained.analyze(),
    }


OBJECTS = objects()


class Watching(pickle.Unpickler):
    """Unpickles, and keeps which modules it imports from."""

    def __init__(self, file):
        super().__init__(file)
        self.modules = set()

    def find_class(self, module, name):
        self.modules.add(module)
        return super().find_class(module, name)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("what", OBJECTS)
def test_a_pickle_names_no_module_inside_cbpe(what, protocol):
    data = pickle.dumps(OBJECTS[what], protocol)
    watching = Watching(io.BytesIO(data))
    restored = watching.load()
    assert type(restored) is type(OBJECTS[what])
    assert "cbpe" in watching.modules
    assert {module for module in watching.modules if module.partition(".")[0] == "cbpe"} == {"cbpe"}
    texts = [argument for _, argument, _ in pickletools.genops(data) if isinstance(argument, str)]
    assert not [text for text in texts if text.startswith("cbpe.")]


@pytest.mark.parametrize("what", OBJECTS)
def test_a_copy_is_of_the_same_class_and_gives_the_same(what):
    made = copy.deepcopy(OBJECTS[what])
    assert type(made) is type(OBJECTS[what])
    if isinstance(made, cbpe.Tokenizer):
        assert made.encode_ordinary("the cat") == OBJECTS[what].encode_ordinary("the cat")
        assert (made is OBJECTS[what]) == (what == "encoding by name")


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_pickled_by_its_public_name(name):
    error = pickle.loads(pickle.dumps(getattr(cbpe, name)("why")))
    assert type(error) is getattr(cbpe, name)
    assert str(error) == "why"
