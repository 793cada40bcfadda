"""docs/works-with.md: what it shows of each library runs, where that is installed."""

import importlib
import json
import re

import pytest
from project import ROOT

import cbpe
from cbpe.tokenizers.kinds import KINDS

PAGE = (ROOT / "docs" / "works-with.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## ([^\n]+)\n<!-- needs: (\S+) -->\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("module", "section"), [section[1:] for section in SECTIONS], ids=[name for name, _, _ in SECTIONS]
)
def test_what_the_page_shows_of_a_library_runs(module, section, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no look into the network
    pytest.importorskip(module, reason=f"{module} is not installed")
    names = {"cbpe": cbpe, "enc": cbpe.get_encoding("cl100k_base")}
    names["text"] = "The cat sat on the mat. It was a big mat.\n\n" * 20
    examples = re.findall(r"^```py\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert examples
    for example in examples:
        names.pop("chunks", None)
        exec(compile(example, "works-with.md", "exec"), names)
        if "chunks" in names:
            assert "".join("".join(names["chunks"]).split()) == "".join(names["text"].split())
    if module == "llama_index.core":
        core = importlib.import_module(module)
        parser = importlib.import_module("llama_index.core.node_parser").SentenceSplitter(
            chunk_size=50, chunk_overlap=0
        )
        assert core.Settings.tokenizer("hello world") == [15339, 1917]
        assert len(parser.split_text(names["text"])) > 1


def test_each_library_of_the_page_is_in_the_extra():
    extra = re.search(r"^works-with = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M | re.S)[1]
    named = {re.split(r"[>=\[]", name)[0].replace("-", "_") for name in re.findall(r'"([^"]+)"', extra)}
    assert named == {module.replace(".", "_") for _, module, _ in SECTIONS}


# What libraries look for in the names of a tokenizer's class and module, to know how to call it.
LOOKED_FOR = ("tiktoken", "transformers", "tokenizers", "tokie", "sentencepiece", "mistral_common", "autotiktokenizer")


@pytest.mark.parametrize("kind", KINDS)
def test_no_class_is_taken_for_one_of_another_library(kind):
    assert not [name for name in LOOKED_FOR if name in str(KINDS[kind])]
    assert KINDS[kind].__module__ == "cbpe"


# ---- from_transformers, with what it takes of a tokenizer of transformers


class Fast:
    """As PreTrainedTokenizerFast, as far as cbpe looks at it."""

    def __init__(self, path, **differences):
        self.content = {**json.loads(path.read_text(encoding="utf-8")), **differences}
        self.backend_tokenizer = self
        self.init_kwargs = {"tokenizer_file": str(path)}

    def to_str(self):
        return json.dumps(self.content)

    def get_added_vocab(self):
        return {token["content"]: token["id"] for token in self.content["added_tokens"]}


@pytest.fixture
def saved(tmp_path):
    tok = cbpe.train("low lower lowest " * 9, 262, special_tokens=["<end>"])
    tok.save(tmp_path / "tokenizer.json")
    return tok, tmp_path / "tokenizer.json"


def test_a_tokenizer_of_transformers_that_is_its_file_gives_no_warning(saved, recwarn):
    tok, path = saved
    found = cbpe.from_transformers(Fast(path))
    assert found.encode("lower<end>", allowed_special="all") == tok.encode("lower<end>", allowed_special="all")
    assert not recwarn.list


def test_what_the_file_has_otherwise_is_told(saved):
    _, path = saved
    changed = Fast(path, added_tokens=[])
    with pytest.warns(UserWarning, match=r"is not that of .*tokenizer\.json: the .*special tokens differ"):
        assert cbpe.from_transformers(changed).special_tokens == {}


@pytest.mark.parametrize("way", ["from_transformers", "folder"])
def test_split_special_tokens_is_told_as_left_aside(saved, way, recwarn):
    _, path = saved
    for splits in (False, True):
        fast = Fast(path)
        fast.split_special_tokens = splits
        (path.parent / "tokenizer_config.json").write_text(json.dumps({"split_special_tokens": splits}))
        found = cbpe.from_transformers(fast) if way == "from_transformers" else cbpe.load(path.parent)
        told = [str(each.message) for each in recwarn.list]
        assert any("split_special_tokens is left aside" in each for each in told) == splits
    assert 262 not in found.encode("low<end>", allowed_special="none")


@pytest.mark.parametrize("config", ["", "[1]", "{", '{"split_special_tokens": "yes"}', "\0"])
def test_odd_settings_beside_a_tokenizer_json_change_nothing_of_it(saved, config, recwarn):
    tok, path = saved
    (path.parent / "tokenizer_config.json").write_text(config)
    assert cbpe.load(path.parent).encode("low lower") == tok.encode("low lower")
    told = [str(each.message).partition(": ")[2] for each in recwarn.list]
    unread = ["left aside is what cannot be read beside it: tokenizer_config.json"]
    assert told == ([] if "yes" in config else unread)


def test_an_added_token_whose_id_is_another_there_is_refused(saved):
    _, path = saved
    fast = Fast(path)
    fast.get_added_vocab = lambda: {"<end>": 400}
    with pytest.raises(ValueError, match="the added token '<end>' has the id 400 there, and 262 in its tokenizer"):
        cbpe.from_transformers(fast)


@pytest.mark.parametrize("other", [None, "gpt2", 3])
def test_what_is_no_fast_tokenizer_is_refused(other):
    with pytest.raises(TypeError, match=r"has a backend_tokenizer, and a .* has none: pass what AutoTokenizer"):
        cbpe.from_transformers(other)
