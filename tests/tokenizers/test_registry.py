"""Encodings by name: built-in ones, those of OpenAI's models, and of plug-ins, which tiktoken finds in the same way."""

import copy
import importlib
import os
import pickle
import random
import subprocess
import sys
import threading
import traceback

import pytest
import tiktoken.model

import cbpe
from cbpe.encodings.models import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING
from cbpe.tokenizers.registry import model_names

NAMES = ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]

# ---- Models


def test_models_and_prefixes_are_tiktokens():
    assert MODEL_TO_ENCODING == tiktoken.model.MODEL_TO_ENCODING
    assert MODEL_PREFIX_TO_ENCODING == tiktoken.model.MODEL_PREFIX_TO_ENCODING


def test_a_model_that_is_taken_for_an_encoding_is_told_its_encoding():
    with pytest.raises(ValueError, match=r"its encoding is 'o200k_base'; encoding_for_model\('gpt-4o'\)"):
        cbpe.get_encoding("gpt-4o")


def test_the_models_of_an_encoding_are_those_that_have_it():
    for name in NAMES:
        for model in model_names(name):
            known = MODEL_PREFIX_TO_ENCODING if model.endswith("*") else MODEL_TO_ENCODING
            assert known[model.removesuffix("*")] == name
    assert sum(len(model_names(name)) for name in NAMES) == len(MODEL_TO_ENCODING) + len(MODEL_PREFIX_TO_ENCODING)
    assert model_names("no such encoding") == []


def some_models():
    """Every name and prefix: as it is, cut short, and with something behind it."""
    rng = random.Random(1)
    known = [*tiktoken.model.MODEL_TO_ENCODING, *tiktoken.model.MODEL_PREFIX_TO_ENCODING]
    for name in known:
        yield from (name, name[:-1], name[:-3], f"{name}-2024-05-13", f"{name}o", f"ft:{name}:org::id", name.upper())
        yield name[: rng.randrange(len(name) + 1)] + rng.choice(known)
    yield from ("", "gpt-6", " gpt-4", "llama")


def test_any_models_encoding_is_tiktokens():
    for name in some_models():
        try:
            expected = tiktoken.encoding_name_for_model(name)
        except KeyError:
            for ask in (cbpe.encoding_name_for_model, cbpe.encoding_for_model):
                with pytest.raises(KeyError, match="no encoding is known for the model"):
                    ask(name)
        else:
            assert cbpe.encoding_name_for_model(name) == expected
            assert cbpe.encoding_for_model(name) is cbpe.get_encoding(expected)


def test_an_encoding_in_place_of_a_model_is_told():
    with pytest.raises(KeyError, match="'o200k_base' is no model, but an encoding, which get_encoding gives"):
        cbpe.encoding_for_model("o200k_base")


@pytest.mark.parametrize("wrong", [None, 5, b"gpt-4", ["gpt-4"]])
def test_a_model_whose_name_is_no_str_is_a_type_error(wrong):
    with pytest.raises(TypeError, match=f"the name of a model is a str, not {type(wrong).__name__}"):
        cbpe.encoding_for_model(wrong)


# ---- tiktoken's modules


def test_tiktokens_modules_are_attributes():
    assert cbpe.core.Encoding is cbpe.Encoding
    assert importlib.import_module("cbpe.core").Encoding is cbpe.Encoding
    assert cbpe.registry.get_encoding is cbpe.get_encoding
    assert cbpe.model.MODEL_TO_ENCODING is MODEL_TO_ENCODING
    assert cbpe.model.MODEL_PREFIX_TO_ENCODING is MODEL_PREFIX_TO_ENCODING
    assert cbpe.model.encoding_for_model is cbpe.encoding_for_model
    assert cbpe.model.encoding_name_for_model is cbpe.encoding_name_for_model


# ---- Copies


@pytest.mark.parametrize("name", NAMES)
def test_a_named_encoding_is_pickled_and_copied_by_name(name):
    enc = cbpe.get_encoding(name)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        pickled = pickle.dumps(enc, protocol)
        assert len(pickled) < 100
        assert pickle.loads(pickled) is enc
    assert copy.copy(enc) is copy.deepcopy(enc) is enc


def test_an_encoding_that_only_has_the_name_of_another_is_copied_by_content():
    parts = {"pat_str": ".", "mergeable_ranks": {b"a": 0, b"aa": 1}, "special_tokens": {"<e>": 2}}
    enc = cbpe.Encoding("gpt2", **parts, cache_bytes=1 << 16)
    for made in (pickle.loads(pickle.dumps(enc)), copy.copy(enc), copy.deepcopy(enc)):
        assert made is not enc
        assert (made.name, made._pat_str, made._mergeable_ranks, made._special_tokens) == ("gpt2", *parts.values())
        assert made.cache_bytes == 1 << 16


# ---- Plug-ins

PLUGIN = """
import sys
print("imported", __name__)
def base():
    print("made base")
    ranks = {bytes([i]): i for i in range(256)} | {b"ab": 256}
    return {"name": "base", "pat_str": r"[a-z]+|.", "mergeable_ranks": ranks, "special_tokens": {"<e>": 257}}
def more():
    module = sys.modules["cbpe" if "cbpe" in sys.modules else "tiktoken"]
    parts = base()
    parts["mergeable_ranks"] = {**module.get_encoding("base")._mergeable_ranks, b"abc": 258}
    return {**parts, "name": "more", "explicit_n_vocab": 259}
ENCODING_CONSTRUCTORS = {"base": base, "more": more}
"""
OTHER = 'ENCODING_CONSTRUCTORS = {"other": lambda: {}}'
TWIN = 'ENCODING_CONSTRUCTORS = {"other": lambda: {}, "base": lambda: {}}'

# What a program does with plug-ins, and prints; {} is "cbpe as tiktoken" or "tiktoken".
USE = """
import copy, pickle
import {}
print("begun")
def attempt(what):
    try:
        print(what())
    except Exception as error:
        print([kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"][0])
enc = tiktoken.get_encoding("more")
print(enc, enc.encode("abc ab<e>", allowed_special="all"), enc.n_vocab)
print(tiktoken.get_encoding("more") is enc, len(pickle.dumps(enc)) < 200)
print(pickle.loads(pickle.dumps(enc)).encode("abc"), copy.deepcopy(enc).encode("abc"))
print(sorted(tiktoken.list_encoding_names()))
attempt(lambda: tiktoken.get_encoding("none such"))
"""
FAIL = """
import {}
for _ in range(2):
    for what in (lambda: tiktoken.get_encoding("base"), tiktoken.list_encoding_names):
        try:
            print(what())
        except Exception as error:
            print(type(error).__name__)
"""


def run(program, module, folder):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", program.replace("{}", module)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def plugins(folder, **modules):
    (folder / "tiktoken_ext").mkdir()
    for name, source in modules.items():
        (folder / "tiktoken_ext" / f"{name}.py").write_text(source)
    return folder


def test_plugins_are_read_as_tiktoken_reads_them(tmp_path):
    """The same prints in the same order: when modules are imported and encodings are made, too."""
    plugins(tmp_path, zoo=PLUGIN, other=OTHER)
    ours = run(USE, "cbpe as tiktoken", tmp_path)
    assert ours == run(USE, "tiktoken", tmp_path)
    assert "begun\nimported tiktoken_ext.zoo\nmade base\n" in ours
    assert "[258, 32, 256, 257] 259" in ours


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        ({"zoo": PLUGIN, "empty": "x = 1"}, "ValueError"),
        ({"zoo": PLUGIN, "twin": TWIN}, "ValueError"),
        ({"zoo": PLUGIN, "broken": "1 / 0"}, "ZeroDivisionError"),
        ({"zoo": PLUGIN, "missing": "import no_such_module_at_all"}, "ModuleNotFoundError"),
        ({"zoo": PLUGIN, "shadow": OTHER.replace("other", "cl100k_base")}, "ValueError"),
    ],
)
def test_a_plugin_that_is_none_is_refused_each_time_as_by_tiktoken(tmp_path, modules, expected):
    plugins(tmp_path, **modules)
    ours, theirs = (
        [line for line in run(FAIL, module, tmp_path).splitlines() if not line.startswith("imported")]
        for module in ("cbpe as tiktoken", "tiktoken")
    )
    assert ours == theirs == [expected] * 4


@pytest.mark.parametrize(
    ("modules", "message"),
    [
        ({"empty": "x = 1"}, "the plug-in tiktoken_ext.empty has no ENCODING_CONSTRUCTORS"),
        ({"a": OTHER, "b": OTHER}, "the plug-in tiktoken_ext.b has an encoding 'other', as one of another plug-in is"),
        ({"a": TWIN.replace("base", "gpt2")}, "tiktoken_ext.a has an encoding 'gpt2', as one that is built in is"),
        ({"a": OTHER}, "unknown encoding 'x': the known ones are gpt2, "),
        ({"a": OTHER}, "o200k_harmony, other\n"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, modules, message):
    program = "import cbpe\ntry: cbpe.get_encoding('x')\nexcept ValueError as error: print(error)"
    assert message in run(program, "", plugins(tmp_path, **modules))


def test_broken_plugins_are_not_in_the_way_of_what_is_built_in(tmp_path):
    """Nor is tiktoken's own, which is never imported."""
    plugins(tmp_path, broken="1 / 0", openai_public="raise SystemExit")
    program = f"import cbpe\nprint([cbpe.get_encoding(name).name for name in {NAMES}])"
    assert run(program, "", tmp_path).strip() == str(NAMES)


def test_tiktokens_own_plugin_is_not_looked_at(tmp_path):
    plugins(tmp_path, openai_public="raise SystemExit", zoo=PLUGIN)
    program = "import cbpe\nprint(cbpe.list_encoding_names())"
    assert run(program, "", tmp_path).splitlines()[-1] == str([*NAMES, "base", "more"])


def test_a_plugins_encoding_with_a_cache_of_ones_own(tmp_path):
    program = """
import cbpe, copy, pickle
enc, own = cbpe.get_encoding("base"), cbpe.get_encoding("base", cache_bytes=0)
assert own is not enc and own._vocabulary is enc._vocabulary and own.name == "base"
assert own.cache_bytes == copy.copy(own).cache_bytes == pickle.loads(pickle.dumps(own)).cache_bytes == 0
assert own.encode("abab<e>", allowed_special="all") == enc.encode("abab<e>", allowed_special="all") == [256, 256, 257]
"""
    assert "made base" in run(program, "", plugins(tmp_path, zoo=PLUGIN))


def test_many_threads_that_ask_at_once_get_one_encoding(tmp_path, monkeypatch):
    import cbpe.encodings.plugins
    import cbpe.registry
    import cbpe.tokenizers.registry

    made = []
    barrier = threading.Barrier(8)

    def constructor():
        made.append(1)
        return {"name": "slow", "pat_str": ".", "mergeable_ranks": {b"a": 0}, "special_tokens": {}}

    monkeypatch.setattr(cbpe.encodings.plugins, "find_constructors", lambda: {"slow": constructor})
    monkeypatch.setattr(cbpe.encodings.plugins, "_found", None)
    monkeypatch.setattr(cbpe.tokenizers.registry, "_shared", {})
    results = []

    def ask():
        barrier.wait()
        results.append(cbpe.get_encoding("slow"))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(results) == 8
    assert len({id(enc) for enc in results}) == 1


def test_a_name_that_is_nearly_one_is_told():
    for name, known in (("cl100k", "cl100k_base"), ("GPT2", "gpt2"), ("O200K_base", "o200k_base")):
        with pytest.raises(ValueError, match=f"did you mean '{known}'"):
            cbpe.get_encoding(name)
        with pytest.raises(LookupError, match=f"did you mean '{known}'"):
            cbpe.load(name)
    for name, known in (("gpt4o", "gpt-4o"), ("GPT-4O", "gpt-4o")):
        with pytest.raises(KeyError, match=f"did you mean '{known}'"):
            cbpe.encoding_for_model(name)
    with pytest.raises(ValueError, match="'' names no tokenizer: name a file"):
        cbpe.load("")


@pytest.mark.parametrize("name", ["nope", "nope.json", "nope@1"])
def test_a_name_of_nothing_is_one_error_and_no_chain_of_them(name, tmp_path, monkeypatch):
    monkeypatch.setenv("CBPE_STORE", str(tmp_path / "models.db"))
    with pytest.raises((LookupError, FileNotFoundError), match=f"no tokenizer '{name}'.*no model store at") as raised:
        cbpe.load(name)
    told = "".join(traceback.format_exception(raised.value))
    assert told.count("Traceback") == 1


def test_a_name_like_that_of_a_model_is_told_with_the_encoding_of_the_model():
    for given, model, encoding in (("gpt4", "gpt-4", "cl100k_base"), ("GPT4o", "gpt-4o", "o200k_base")):
        told = f"did you mean the model '{model}', whose encoding is {encoding}"
        with pytest.raises(ValueError, match=told):
            cbpe.get_encoding(given)
        with pytest.raises(LookupError, match=told):
            cbpe.load(given)
