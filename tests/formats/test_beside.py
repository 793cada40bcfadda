"""Files of ranks of other people's models: what is beside them is found, and what is not known is refused by name."""

import hashlib
import json
import lzma
import random
import unicodedata

import pytest
import tiktoken
from project import SHARED

import cbpe
from cbpe.formats.beside.ranks import PATTERNS_BY_SHA256
from cbpe.formats.files import recognise
from cbpe.formats.ranks import tiktoken as ranks_format
from cbpe.formats.reading import File
from cbpe.patterns import LLAMA3_SPLIT_PATTERN, QWEN2_SPLIT_PATTERN

RANKS = {**{bytes([i]): i for i in range(256)}, b"th": 256, b"the": 257, b" the": 258, "中文".encode(): 259}
KIMI = "|".join(  # as the model's program has it
    [
        r"[\p{Han}]+",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
PIECES = [
    "the",
    " the",
    "The'S",
    " ",
    "\n",
    "\r\n",
    "中文",
    "中",
    "的Ab",
    "々〇",
    "12345",
    "e\u0301",
    "é",
    "かな",
    "한",
    "!?",
]
PIECES += ["<|im_end|>", "<|im_start|>", "\U0001f609", ">\u0338", "\u017f", "Ǆ"]
KIMI_CONFIG = {
    "tokenizer_class": "TikTokenTokenizer",
    "auto_map": {"AutoTokenizer": ["tokenization_kimi.TikTokenTokenizer", None]},
    "added_tokens_decoder": {
        "260": {"content": "[BOS]", "lstrip": False, "special": True},
        "262": {"content": "<|im_end|>", "special": True},
    },
}
QWEN_CONFIG = {
    "model_max_length": 8192,
    "tokenizer_class": "QWenTokenizer",
    "auto_map": {"AutoTokenizer": ["tokenization_qwen.QWenTokenizer", None]},
}


@pytest.fixture
def folder(tmp_path):
    """Writes the files of a model into a folder."""

    def write(name, **configs):
        (tmp_path / name).write_bytes(ranks_format.dumps(RANKS))
        for config, content in configs.items():
            (tmp_path / f"{config}.json").write_text(content if isinstance(content, str) else json.dumps(content))
        return tmp_path

    return write


def texts(seed):
    drawn = random.Random(seed)
    return ["", *("".join(drawn.choices(PIECES, k=drawn.randrange(1, 20))) for _ in range(300))]


def test_a_file_of_ranks_is_known_by_what_it_holds_whatever_its_name(folder):
    path = folder("tokenizer.model") / "tokenizer.model"
    assert recognise(File(path)).module is ranks_format
    assert cbpe.load(path, pattern=".", special_tokens={"<s>": 300}).encode("the<s>", allowed_special="all")[-1] == 300
    assert cbpe.load(path.parent, pattern=".").name == "tokenizer"


def test_kimis_folder_gives_what_its_program_gives(folder):
    tok = cbpe.load(folder("tiktoken.model", tokenizer_config=KIMI_CONFIG))
    special = {f"<|reserved_token_{i}|>": i for i in range(260, 516) if i not in (260, 262)}
    special |= {"[BOS]": 260, "<|im_end|>": 262}
    assert tok.special_tokens == special
    assert tok.splits_natively
    there = tiktoken.Encoding("kimi", pat_str=KIMI, mergeable_ranks=RANKS, special_tokens=special)
    for text in texts(1):
        assert tok.encode(text) == there.encode(text, allowed_special="all"), text
        assert tok.encode_ordinary(text) == there.encode_ordinary(text)
        assert tok.decode(tok.encode(text)) == text


def test_qwens_folder_gives_what_its_program_gives(folder):
    tok = cbpe.load(folder("qwen.tiktoken", tokenizer_config=QWEN_CONFIG, config={"model_type": "qwen"}))
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{i}|>" for i in range(205))]
    special = {text: 260 + i for i, text in enumerate(names)}
    assert tok.special_tokens == special
    there = tiktoken.Encoding("qwen", pat_str=QWEN2_SPLIT_PATTERN, mergeable_ranks=RANKS, special_tokens=special)
    for text in texts(2):
        normalized = unicodedata.normalize("NFC", text)
        assert tok.encode(text) == there.encode(normalized, allowed_special="all"), text


@pytest.mark.parametrize("config", [None, {"model_type": "qwen", "visual": {}}, {"model_type": "GOT"}, []])
def test_other_models_of_qwens_class_have_to_be_given_their_special_tokens(folder, config):
    more = {} if config is None else {"config": config}
    path = folder("qwen.tiktoken", tokenizer_config=QWEN_CONFIG, **more)
    with pytest.raises(ValueError, match="QWenTokenizer, which has other special tokens"):
        cbpe.load(path)
    tok = cbpe.load(path, special_tokens={"<img>": 300})
    assert tok.encode("e\u0301<img>") == [*"é".encode(), 300]


def test_what_is_given_goes_before_what_is_beside(folder):
    path = folder("tiktoken.model", tokenizer_config=KIMI_CONFIG)
    tok = cbpe.load(path, pattern=r"\S+|\s+")
    assert type(tok) is cbpe.Encoding
    assert (tok.pattern, tok.special_tokens) == (r"\S+|\s+", {"[BOS]": 260, "<|im_end|>": 262})
    assert cbpe.load(path, special_tokens={"<a>": 400}).special_tokens == {"<a>": 400}
    with pytest.raises(ValueError, match="name is for an Encoding, and this is tokenization_kimi"):
        cbpe.load(path, name="kimi")


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, "PreTrainedTokenizerFast"),
        ({"tokenizer_class": "TikTokenTokenizer"}, "TikTokenTokenizer"),
        ({"auto_map": {"AutoTokenizer": ["other.TikTokenTokenizer", None]}}, "other.TikTokenTokenizer"),
        ({"auto_map": {"AutoTokenizer": "me/it--tokenization_x.X"}}, "tokenization_x.X"),
    ],
)
def test_a_class_that_is_not_known_is_refused_by_name(folder, config, named):
    path = folder("tokenizer.model", tokenizer_config=config)
    message = (
        f"no split pattern, and that of the class {named}, which tokenizer_config.json names, is not known: give it"
    )
    with pytest.raises(ValueError, match=message):
        cbpe.load(path)


def test_a_config_without_a_class_is_told(folder):
    path = folder("tokenizer.model", tokenizer_config={})
    with pytest.raises(ValueError, match=r"holds no split pattern, and tokenizer_config\.json names no class: give it"):
        cbpe.load(path)


def test_a_repository_before_the_class_changes_nothing(folder):
    config = {**KIMI_CONFIG, "auto_map": {"AutoTokenizer": ["owner/kimi--tokenization_kimi.TikTokenTokenizer", None]}}
    assert cbpe.load(folder("tiktoken.model", tokenizer_config=config)).special_tokens["[BOS]"] == 260


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{", "tokenizer_config.json is no JSON"),
        ("[" * 100_000, "tokenizer_config.json is no JSON"),
        ("[]", "tokenizer_config.json is .*an object should be here"),
        ({"added_tokens_decoder": []}, "added_tokens_decoder is"),
        ({"added_tokens_decoder": {"x": {"content": "a"}}}, "added_tokens_decoder.*an id should be here"),
        ({"added_tokens_decoder": {"٣": {"content": "a"}}}, "an id should be here"),
        ({"added_tokens_decoder": {"9" * 5000: {"content": "a"}}}, "an id should be here"),
        ({"added_tokens_decoder": {"1": {"content": ""}}}, "a token of 1 to 1,000 characters"),
        ({"added_tokens_decoder": {"1": "a"}}, "a token of 1 to 1,000 characters"),
        ({"added_tokens_decoder": {"1": {"content": "a"}, "2": {"content": "a"}}}, "not there twice"),
        ({"added_tokens_decoder": {"1": {"content": "a", "lstrip": True}}}, "lstrip is true: only false is supported"),
        ({"added_tokens_decoder": {"1": {"content": "a", "rstrip": 1}}}, "rstrip is 1"),
    ],
)
def test_what_is_wrong_beside_is_one_clear_error(folder, config, message):
    path = folder("tiktoken.model", tokenizer_config=config)
    with pytest.raises(ValueError, match=message) as caught:
        cbpe.load(path, pattern=".")
    assert "tiktoken.model" in str(caught.value)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(("token_id", "message"), [("3", "the id 3 of '<a>' is none"), ("516", "260 to 515")])
def test_kimis_special_tokens_follow_its_ranks(folder, token_id, message):
    config = {**KIMI_CONFIG, "added_tokens_decoder": {token_id: {"content": "<a>"}}}
    with pytest.raises(ValueError, match=message):
        cbpe.load(folder("tiktoken.model", tokenizer_config=config))


def test_special_tokens_that_take_the_ids_of_ranks_are_refused(folder):
    config = {"added_tokens_decoder": {"3": {"content": "<a>"}}}
    with pytest.raises(ValueError, match="'<a>'"):
        cbpe.load(folder("tokenizer.model", tokenizer_config=config), pattern=".")


@pytest.mark.parametrize("name", ["cl100k_base", "gpt2"])
def test_a_file_that_is_known_by_its_digest_takes_no_name_of_a_named_encoding(folder, monkeypatch, name):
    path = folder("tokenizer.model") / "tokenizer.model"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setitem(PATTERNS_BY_SHA256, digest, LLAMA3_SPLIT_PATTERN)
    with pytest.raises(
        ValueError, match=f"this file holds other ranks than those of the encoding '{name}': leave name"
    ):
        cbpe.load(path, name=name)
    assert cbpe.load(path, name="mine").name == "mine"


@pytest.mark.slow
def test_llama_3s_file_is_known_by_its_digest(tmp_path):
    path = SHARED / "zoo" / "llama3.json.xz"
    if not path.exists():
        pytest.skip(f"no {path}")
    (tmp_path / "llama3.json").write_bytes(lzma.decompress(path.read_bytes()))
    tok = cbpe.load(tmp_path / "llama3.json")
    tok.save(tmp_path / "ranks.tiktoken")
    (tmp_path / "ranks.tiktoken").rename(tmp_path / "tokenizer.model")
    again = cbpe.load(tmp_path / "tokenizer.model")
    assert (again.pattern, again.special_tokens) == (LLAMA3_SPLIT_PATTERN, {})
    assert again.encode_ordinary("Hello, world! 12345") == tok.encode_ordinary("Hello, world! 12345")
