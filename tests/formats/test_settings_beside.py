"""What transformers' files say beside GPT-2's pair and beside SentencePiece's model: it is told, or refused."""

import json
import re

import pytest

import cbpe

TEXT = "the cat sat on the mat, low lower lowest 12345 " * 30
GPT2 = cbpe.GPT2_SPLIT_PATTERN
CHANGING = {"add_prefix_space": True, "add_bos_token": True}


@pytest.fixture
def pair(tmp_path):
    tok = cbpe.train(TEXT, 280, pattern=GPT2, special_tokens=["<|endoftext|>"])
    tok.save(tmp_path / "vocab.json")
    return tmp_path


@pytest.fixture
def model(tmp_path):
    cbpe.train(TEXT, 330, alphabet="characters").save(tmp_path / "tokenizer.model")
    return tmp_path


def put(folder, config, name="tokenizer_config.json"):
    (folder / name).write_text(config if isinstance(config, str) else json.dumps(config))


@pytest.mark.parametrize("name", ["Qwen2Tokenizer", "Qwen2TokenizerFast", "PreTrainedTokenizerFast", "CLIPTokenizer"])
@pytest.mark.parametrize("given", [".", "vocab.json", "merges.txt"])
def test_a_pair_of_a_class_that_may_split_otherwise_is_refused(pair, name, given):
    put(pair, {"tokenizer_class": name})
    told = (
        rf"tokenizer_config\.json beside it names '{name}', which is not known to split as GPT-2 does, .* load a token"
    )
    with pytest.raises(ValueError, match=told):
        cbpe.load(pair / given)
    explicit = cbpe.GPT2Tokenizer.from_files(pair / "vocab.json", pair / "merges.txt")
    assert explicit.decode(explicit.encode(TEXT)) == TEXT


@pytest.mark.parametrize(
    "config",
    [
        None,
        {},
        {"tokenizer_class": None},
        {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": False, "add_bos_token": False},
        {"tokenizer_class": "GPT2TokenizerFast", "added_tokens_decoder": {"280": {"content": "<|endoftext|>"}}},
        {"auto_map": {"AutoTokenizer": ["some/model--tokenization.CodeGenTokenizer", None]}},
        {"model_max_length": int(1e30)},  # as transformers writes it where no length is known
        {"added_tokens_decoder": {"x": {"content": "a"}, "1": {"content": 2}, "2": 3}},
    ],
)
def test_a_pair_that_is_gpt2s_is_loaded_without_a_word(pair, config, recwarn):
    if config is not None:
        put(pair, config)
    assert cbpe.load(pair).special_tokens == {"<|endoftext|>": 280}
    assert recwarn.list == []


@pytest.mark.parametrize(
    ("model_type", "is_refused"), [("qwen2", True), ("clip_text_model", True), ("gpt2", False), (5, False)]
)
def test_a_pair_of_a_model_that_splits_otherwise_is_refused(pair, model_type, is_refused, recwarn):
    put(pair, {"model_type": model_type}, "config.json")
    if is_refused:
        with pytest.raises(
            ValueError, match=rf"the config\.json beside it names '{model_type}', which is not known to"
        ):
            cbpe.load(pair)
        put(pair, {"tokenizer_class": "GPT2Tokenizer"})  # which counts
    assert cbpe.load(pair).special_tokens == {"<|endoftext|>": 280}
    assert recwarn.list == []


DAMAGED = [
    "",
    "{",
    "[1]",
    '{"tokenizer_class": "GPT2Tokenizer"',
    '{"tokenizer_class": "A", "tokenizer_class": "B"}',
    "\0",
]


@pytest.mark.parametrize("config", [*DAMAGED, '{"tokenizer_class": 5}'])
def test_a_pair_beside_a_damaged_configuration_is_refused(pair, config):
    put(pair, config)
    with pytest.raises(
        ValueError, match=r"tokenizer_config\.json beside it, which says how the text is split, cannot be"
    ):
        cbpe.load(pair)
    assert cbpe.GPT2Tokenizer.from_files(pair / "vocab.json", pair / "merges.txt").encode("low")


@pytest.mark.parametrize("name", ["tokenizer_config.json", "added_tokens.json"])
@pytest.mark.parametrize("config", DAMAGED)
def test_a_damaged_file_beside_sentencepieces_model_is_told(model, name, config):
    put(model, config, name)
    with pytest.warns(UserWarning, match=f"left aside .* all of {name}, which cannot be read"):
        cbpe.load(model)


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("added_tokens.json", {"<|pad|>": 281}, r"added tokens \('<\|pad\|>'\)"),
        (
            "tokenizer_config.json",
            {"added_tokens_decoder": {"281": {"content": "<|pad|>"}}},
            r"added tokens \('<\|pad\|>'\)",
        ),
        ("added_tokens.json", {f"<{i}>": 300 + i for i in range(5)}, "added tokens ('<0>', '<1>', '<2>' and 2 more)"),
        ("tokenizer_config.json", CHANGING, "add_prefix_space, add_bos_token"),
        ("tokenizer_config.json", {"tokenizer_class": "RobertaTokenizer"}, "what RobertaTokenizer puts around a text"),
    ],
)
def test_what_a_folder_of_a_pair_says_besides_is_told(pair, file, content, told):
    put(pair, content, file)
    told = told if "\\" in told else told.replace("(", r"\(").replace(")", r"\)")
    with pytest.warns(UserWarning, match=f"left aside is what the files beside it say: {told}; a tokenizer.json has"):
        tok = cbpe.load(pair)
    assert tok.special_tokens == {"<|endoftext|>": 280}


def test_a_file_that_is_named_beside_a_whole_tokenizer_is_taken_without_what_a_folder_says(pair, recwarn):
    put(pair, CHANGING)
    cbpe.load(pair / "merges.txt").save(pair / "tokenizer.json")
    assert len(recwarn.list) == 1
    assert cbpe.load(pair / "merges.txt").special_tokens == {"<|endoftext|>": 280}
    assert len(recwarn.list) == 1


def test_what_is_beside_ranks_that_are_known_by_what_they_hold_is_told(tmp_path, recwarn):
    """As DBRX's, whose ranks are those of cl100k_base."""
    cbpe.get_encoding("cl100k_base").save(tmp_path / "ranks.tiktoken")
    (tmp_path / "ranks.tiktoken").rename(tmp_path / "tokenizer.model")
    recwarn.clear()
    added = {"100257": {"content": "<|endoftext|>"}, "100278": {"content": "<|im_start|>"}}
    put(tmp_path, {"tokenizer_class": "DbrxTokenizer", "added_tokens_decoder": added})
    told = r"is cl100k_base's, and left aside is what the files beside it say: added tokens \('<\|im_start\|>'\)"
    for path in (tmp_path, tmp_path / "tokenizer.model"):
        with pytest.warns(UserWarning, match=told):
            assert "<|im_start|>" not in cbpe.load(path).special_tokens
    given = {"<|im_start|>": 100278}
    assert cbpe.load(tmp_path, special_tokens=given, name="dbrx").special_tokens == given


def test_what_a_folder_of_sentencepieces_model_says_besides_is_told(model, recwarn):
    put(model, {"tokenizer_class": "LlamaTokenizer", "added_tokens_decoder": {"0": {"content": "<unk>"}}})
    tok = cbpe.load(model)
    assert recwarn.list == []
    put(model, {"<pad>": 330, "<unk>": 0}, "added_tokens.json")
    put(model, {"add_bos_token": True})
    with pytest.warns(UserWarning, match=r"say: added tokens \('<pad>'\), and add_bos_token; a tokenizer.json has"):
        assert cbpe.load(model).encode(TEXT) == tok.encode(TEXT)


@pytest.fixture
def whole(tmp_path):
    """A tokenizer.json with a template that puts a token before a text."""
    tok = cbpe.train(TEXT, 270, special_tokens=["<s>", "</s>"])
    begin, text = {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}
    second = {"Sequence": {"id": "B", "type_id": 1}}
    known = {"<s>": {"id": "<s>", "ids": [tok.special_tokens["<s>"]], "tokens": ["<s>"]}}
    template = {"single": [begin, text], "pair": [begin, text, second], "special_tokens": known}
    cbpe.HuggingFaceTokenizer.from_tokenizer(tok, {"template": template}).save(tmp_path / "tokenizer.json")
    return tmp_path


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"added_tokens_decoder": {"282": {"content": "<pad>"}}}, r"added tokens \('<pad>'\)"),
        ({"added_tokens_decoder": {"290": {"content": "<s>"}}}, r"added tokens \('<s>'\)"),
        ({"add_eos_token": True, "eos_token": "</s>"}, "add_eos_token"),
        ({"add_bos_token": True, "bos_token": {"content": "</s>"}}, "add_bos_token"),
    ],
)
def test_what_a_folder_of_a_whole_tokenizer_says_besides_is_told(whole, config, told):
    put(whole, config)
    said = rf"left aside is what the files beside it say: {told}; cbpe\.from_transformers takes them over"
    with pytest.warns(UserWarning, match=said):
        cbpe.load(whole)


@pytest.mark.parametrize(
    "config",
    [
        {"add_bos_token": True, "bos_token": {"content": "<s>"}, "add_eos_token": False, "eos_token": "</s>"},
        {"add_eos_token": True, "eos_token": None},
        {"model_max_length": int(1e30)},
        {"added_tokens_decoder": {"270": {"content": "<s>"}, "271": {"content": "</s>"}}, "add_prefix_space": True},
    ],
)
def test_what_a_whole_tokenizer_does_is_no_news(whole, config, recwarn):
    put(whole, config)
    cbpe.load(whole)
    cbpe.load(whole / "tokenizer.json")
    assert recwarn.list == []


@pytest.mark.parametrize("name", ["tokenizer_config.json", "added_tokens.json"])
@pytest.mark.parametrize("config", DAMAGED)
def test_a_damaged_file_beside_a_whole_tokenizer_is_told(whole, name, config):
    put(whole, config, name)
    with pytest.warns(UserWarning, match=f"left aside is what cannot be read beside it: {name}$"):
        cbpe.load(whole)


def test_transformers_splits_such_a_pair_otherwise(pair):
    """That is why it is refused."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    files = [str(pair / name) for name in ("vocab.json", "merges.txt")]
    ours = cbpe.load(pair)
    assert transformers.GPT2Tokenizer(*files).encode(TEXT) == ours.encode(TEXT)
    assert transformers.Qwen2Tokenizer(*files).encode(TEXT) != ours.encode(TEXT)


def test_importing_a_folder_tells_of_the_files_beside_a_tokenizer_too(whole):
    from store import ModelStore

    put(whole, {"added_tokens_decoder": {"282": {"content": "<pad>"}}})
    said = re.escape(f"{whole / 'tokenizer.json'}: left aside is what the files beside it say: added tokens ('<pad>')")
    with ModelStore(":memory:") as models, pytest.warns(UserWarning, match=said):
        found = models.import_folder(whole)
    assert (len(found.versions), found.problems) == (1, ())
