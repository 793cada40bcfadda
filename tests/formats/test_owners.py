"""Every format against the library that it belongs to: it loads what is written here, and gives the same ids; what it
writes is loaded here."""

import hashlib
import json
import lzma
import pickle
import random
from functools import cache

import pytest
from project import SHARED
from tiktoken.load import load_tiktoken_bpe
from tokenizer_json import BYTE_LEVEL, added, tokenizers

import cbpe
from cbpe._core.conversion.merge_lists import vocabulary_from_merges
from cbpe.formats.gpt2 import spell
from cbpe.text import patterns
from cbpe.tokenizers.description import build, describe
from cbpe.tokenizers.saving import left_out

CORPORA = ["english", "code", "chinese", "multilingual", "japanese"]
TEXT = (
    "The cats' other hats, they'LL say: 1234567 na\u00efve caf\u00e9s\n\n  (\u4e2d\u6587\u5b57) \ud55c\uad6d\uc5b4 "
    "\u0440\u0443\u0441 \U0001f609\u200d e\u0301 x=\ty;\r\n   \u2126 \u212a\u017f <|begin_of_text|>a<|im_start|> "
    "b<|im_end|>  "
)


def read_corpus(name, size):
    """The beginning of a corpus, in texts of some kilobytes."""
    path = SHARED / "corpora" / f"{name}.txt.xz"
    if not path.exists():
        pytest.skip(f"no {path}")
    with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
        text = file.read(size)
    return [text[i : i + 4000] for i in range(0, len(text), 4000)]


def split_first(pattern):
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [split, {**BYTE_LEVEL, "use_regex": False}]}


def every_way(ranks):
    """The merges as a converter from ranks writes them: every way to cut a token in two, by the ranks of the token and
    of its parts."""
    ways = [
        (rank, ranks[token[:i]], token[:i], token[i:])
        for token, rank in ranks.items()
        for i in range(1, len(token))
        if token[:i] in ranks and token[i:] in ranks
    ]
    return [(left, right) for *_, left, right in sorted(ways)]


def file_of(encoding, *, merges=None, n_tokens=None, **parts):
    """A tokenizer.json around the vocabulary of an encoding, or its first tokens; added tokens come behind it."""
    tokens = cbpe.get_encoding(encoding)._vocabulary.tokens()
    tokens = {token_id: token for token_id, token in tokens.items() if n_tokens is None or token_id < n_tokens}
    if merges is None:
        found = cbpe.get_encoding(encoding).merges
        merges = [(tokens[left], tokens[right]) for (left, right), made in found.items() if made in tokens]
    special_tokens = parts.pop("added_tokens")
    ignore_merges = parts.pop("ignore_merges", False)
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [added(text, len(tokens) + i, **flags) for i, (text, flags) in enumerate(special_tokens)],
            "normalizer": None,
            "post_processor": BYTE_LEVEL,
            "decoder": BYTE_LEVEL,
            **parts,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": ignore_merges,
                "vocab": {spell(token): token_id for token_id, token in tokens.items()},
                "merges": [f"{spell(left)} {spell(right)}" for left, right in merges],
            },
        }
    )


@cache  # for it takes seconds, and several tests want it
def like_llama3(ignore_merges=True):
    ranks = {token: rank for rank, token in cbpe.get_encoding("r50k_base")._vocabulary.tokens().items()}
    text_a = {"Sequence": {"id": "A", "type_id": 0}}
    begin = {"SpecialToken": {"id": "<|begin_of_text|>", "type_id": 0}}
    template = {
        "type": "TemplateProcessing",
        "single": [begin, text_a],
        "pair": [begin, text_a, {**begin}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            "<|begin_of_text|>": {"id": "<|begin_of_text|>", "ids": [len(ranks)], "tokens": ["<|begin_of_text|>"]}
        },
    }
    return file_of(
        "r50k_base",
        merges=every_way(ranks),
        ignore_merges=ignore_merges,
        pre_tokenizer=split_first(patterns.LLAMA3_SPLIT_PATTERN),
        post_processor={"type": "Sequence", "processors": [BYTE_LEVEL, template]},
        added_tokens=[("<|begin_of_text|>", {}), ("<|end_of_text|>", {})],
    )


@cache
def like_qwen():
    ordinary = {"special": False}
    return file_of(
        "r50k_base",
        n_tokens=10_000,
        normalizer={"type": "NFC"},
        pre_tokenizer=split_first(patterns.QWEN2_SPLIT_PATTERN),
        added_tokens=[("<|endoftext|>", {}), ("<|im_start|>", {}), ("<|im_end|>", {}), ("<tool_call>", ordinary)],
    )


@cache
def like_gpt_neox():
    """GPT-2's pattern, NFC, and runs of spaces as tokens that are looked for in normalized text."""
    spaces = [(" " * n, {"special": False, "normalized": True}) for n in range(24, 1, -1)]
    return file_of(
        "r50k_base",
        n_tokens=10_000,
        normalizer={"type": "NFC"},
        pre_tokenizer=BYTE_LEVEL,
        added_tokens=[("<|endoftext|>", {}), ("<|padding|>", {}), *spaces],
    )


@cache
def like_gpt2():
    return file_of("r50k_base", pre_tokenizer=BYTE_LEVEL, added_tokens=[("<|endoftext|>", {})])


@cache
def trained_there():
    """A byte-level BPE that tokenizers itself has trained, with a space put before texts."""
    there = tokenizers()
    made = there.Tokenizer(there.models.BPE())
    made.normalizer = there.normalizers.NFC()
    made.pre_tokenizer = there.pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.decoder = there.decoders.ByteLevel()
    alphabet = there.pre_tokenizers.ByteLevel.alphabet()
    trainer = there.trainers.BpeTrainer(
        vocab_size=600, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator([TEXT] * 3, trainer)
    ends = [("<s>", made.token_to_id("<s>")), ("</s>", made.token_to_id("</s>"))]
    made.post_processor = there.processors.TemplateProcessing(single="<s> $A </s>", pair=None, special_tokens=ends)
    return made.to_str(pretty=True)


FILES = {
    "llama 3": like_llama3,
    "llama 3, by merges": lambda: like_llama3(ignore_merges=False),
    "qwen": like_qwen,
    "gpt-neox": like_gpt_neox,
    "gpt-2": like_gpt2,
    "trained there": trained_there,
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A function of the kind of a file: what opens it here and there, each once, for it takes a second."""

    @cache
    def open_both(kind):
        path = tmp_path_factory.mktemp("file") / "tokenizer.json"
        path.write_text(FILES[kind](), encoding="utf-8")
        return cbpe.load(path.parent), tokenizers().Tokenizer.from_file(str(path))

    return open_both


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_files_like_those_of_published_models_give_the_ids_of_tokenizers(tmp_path, opened, kind):
    here, there = opened(kind)
    here.save(tmp_path / "again.json")
    assert describe(cbpe.load(tmp_path / "again.json")).digest == describe(here).digest
    for opening in (there, tokenizers().Tokenizer.from_file(str(tmp_path / "again.json"))):
        for text in (TEXT, "", " ", "a", "<|endoftext|>", "<s>e\u0301</s>"):
            for around in (True, False):
                ids = opening.encode(text, add_special_tokens=around).ids
                assert here.encode(text, add_special_tokens=around) == ids
                assert here.decode(ids) == opening.decode(ids, skip_special_tokens=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_all_corpora_have_the_ids_of_tokenizers(opened, kind):
    here, there = opened(kind)
    for corpus in CORPORA:
        texts = read_corpus(corpus, 100_000)
        found = there.encode_batch_fast(texts)
        assert [encoding.ids for encoding in found] == here.encode_batch(texts), corpus


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILES)
def test_transformers_opens_what_is_written(tmp_path, opened, kind):
    transformers = pytest.importorskip("transformers", reason="opens files with transformers")
    here, _ = opened(kind)
    here.save(tmp_path / "tokenizer.json")
    there = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    for text in (TEXT, "", "a"):
        assert there.encode(text) == here.encode(text)
        assert there.encode(text, add_special_tokens=False) == here.encode(text, add_special_tokens=False)


ZOO = ["claude", "deepseek_v3", "llama3", "modernbert"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ZOO)
def test_published_models_give_the_ids_of_tokenizers(tmp_path, name):
    path = SHARED / "zoo" / f"{name}.json.xz"
    if not path.exists():
        pytest.skip(f"no {path}")
    (tmp_path / "tokenizer.json").write_bytes(lzma.decompress(path.read_bytes()))
    here = cbpe.load(tmp_path)
    there = tokenizers().Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    here.save(tmp_path / "again.json")
    again = tokenizers().Tokenizer.from_file(str(tmp_path / "again.json"))
    choose = random.Random(0)
    parts = [
        *choose.choices(list(here.special_tokens), k=20),
        "[MASK]",
        " ",
        "  ",
        "\n",
        "a",
        "b1",
        " 2",
        "\u3000",
        "\u4e2d",
    ]
    texts = [*HOSTILE, *("".join(choose.choices(parts, k=12)) for _ in range(100))]
    for text in texts:
        for around in (True, False):
            ids = there.encode(text, add_special_tokens=around).ids
            assert here.encode(text, add_special_tokens=around) == ids
            assert again.encode(text, add_special_tokens=around).ids == ids
        assert here.decode(ids) == there.decode(ids, skip_special_tokens=False)
    for corpus in CORPORA:
        texts = read_corpus(corpus, 40_000)
        assert [encoding.ids for encoding in there.encode_batch_fast(texts)] == here.encode_batch(texts), corpus


HOSTILE = [
    "",
    " ",
    "   a  ",
    "a   ",
    "".join(map(chr, range(256))),
    "\x00\x01\x02a\x03b \x04",
    "\u0130\u00df\ufb01 \u03a3\u0391\u03a3 \u03a3. e\u0301\u0327\u0338 \u1e9b\u0323 \u212b \uac00\u11a8 \u32ff \u0b55",
    "123456 7   89\u0663\u00b2\u2160 5   5\u4e2d\u6587\u3072\u3089 12\u30abA \u3042\u3099 \u30991",
    "a-b--c... \u2014\u2e2e\u2e43 x_y \U0001f600\u200d\U0001f469 \u00a0\u2003\u3000.",
    "<s><s> </s>a<w>b <w> <m>  <m>x<r>  y <Tag>\u3000<TAG> <tag>",
]
NORMALIZERS = [
    *({"type": name} for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")),
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Prepend", "prepend": "the "},
    {"type": "Replace", "pattern": {"String": "a"}, "content": "<m>"},
    {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
]
PRE_TOKENIZERS = [
    {"type": "Digits", "individual_digits": True},
    {"type": "Digits", "individual_digits": False},
    {"type": "Punctuation", "behavior": "Contiguous"},
    {"type": "Whitespace"},
    {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}"}, "behavior": "Isolated", "invert": False},
    {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext", "invert": False},
    {"type": "Split", "pattern": {"Regex": r"\p{L}+|\s"}, "behavior": "MergedWithPrevious", "invert": True},
]
WRAPPED = [{"type": f"{name}Processing", "sep": ["</s>", 1], "cls": ["<s>", 0]} for name in ("Bert", "Roberta")]
WRAPPED[1] |= {"trim_offsets": True, "add_prefix_space": True}
FLAGGED = {"<m>": "lstrip", "<r>": "rstrip", "<w>": "single_word", "<Tag>": "normalized"}


@pytest.mark.parametrize("seed", range(24))
def test_models_trained_there_with_any_parts_around_give_their_ids(tmp_path, seed):
    choose = random.Random(seed)
    content = json.loads(trained_there())
    n = len(content["model"]["vocab"])
    content["added_tokens"] += [added(text, n + i, **{flag: True}) for i, (text, flag) in enumerate(FLAGGED.items())]
    content["normalizer"] = {"type": "Sequence", "normalizers": choose.sample(NORMALIZERS, choose.randint(0, 3))}
    last = {**BYTE_LEVEL, "use_regex": choose.random() < 0.5, "add_prefix_space": choose.random() < 0.3}
    steps = [*choose.sample(PRE_TOKENIZERS, choose.randint(0, 2)), last]
    content["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    content["post_processor"] = choose.choice([None, BYTE_LEVEL, *WRAPPED, content["post_processor"]])
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    here = cbpe.load(tmp_path)
    here.save(tmp_path / "again.json")
    copies = [here, cbpe.load(tmp_path / "again.json"), pickle.loads(pickle.dumps(here)), build(describe(here))]
    assert len({describe(tok).digest for tok in copies}) == 1
    there = tokenizers().Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    again = tokenizers().Tokenizer.from_file(str(tmp_path / "again.json"))
    for text in HOSTILE:
        for around in (True, False):
            ids = there.encode(text, add_special_tokens=around).ids
            assert again.encode(text, add_special_tokens=around).ids == ids
            assert [tok.encode(text, add_special_tokens=around) for tok in copies] == [ids] * len(copies)
        assert here.count(text, add_special_tokens=False) == len(ids)
        stream = here.encode_stream([text[:5], text[5:]], add_special_tokens=False)
        assert [token for found in stream for token in found] == ids
        if not here._finders(here._special).has_other_forms:
            assert here.decode(ids) == there.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize("name", ["cl100k_base", "r50k_base"])
def test_named_encodings_are_written_for_tokenizers(tmp_path, name):
    encoding = cbpe.get_encoding(name)
    encoding.save(tmp_path / "tokenizer.json")
    there = tokenizers().Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in (TEXT, "a<|endoftext|>b"):
        assert there.encode(text).ids == encoding.encode(text, allowed_special="all")


def test_an_encoding_of_which_two_special_tokens_share_an_id_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="have the same id 200018"):
        cbpe.get_encoding("o200k_harmony").save(tmp_path / "tokenizer.json")


# ---- GPT-2's two files


@pytest.mark.parametrize("names", [("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt")])
def test_gpt2s_files_are_loaded_by_tokenizers(tmp_path, names):
    there = tokenizers()
    tok = cbpe.train([TEXT * 3], 330, pattern=cbpe.GPT2_SPLIT_PATTERN, special_tokens=["<|endoftext|>"])
    for here in (tok, cbpe.GPT2Tokenizer()) if names[0] == "encoder.json" else (tok,):
        here.save(tmp_path / names[1])
        paths = [str(tmp_path / name) for name in names]
        opened = there.ByteLevelBPETokenizer.from_file(*paths)
        model = there.Tokenizer(there.models.BPE.from_file(*paths))
        model.pre_tokenizer = there.pre_tokenizers.ByteLevel(add_prefix_space=False)
        expected = here.encode_ordinary(TEXT)
        assert opened.encode(TEXT).ids == model.encode(TEXT).ids == expected
        assert cbpe.load(tmp_path / names[0]).encode_ordinary(TEXT) == expected


def test_the_files_of_a_tokenizer_that_was_trained_there_are_loaded(tmp_path):
    there = tokenizers().ByteLevelBPETokenizer()
    there.train_from_iterator([TEXT] * 3, 500, special_tokens=["<s>", "<pad>"], show_progress=False)
    there.save_model(str(tmp_path))
    here = cbpe.load(tmp_path)
    assert here.special_tokens == {"<s>": 0, "<pad>": 1}
    assert here.encode_ordinary(TEXT) == there.encode(TEXT).ids


# ---- tiktoken


def test_a_trained_vocabulary_is_written_for_tiktoken(tmp_path, monkeypatch):
    tiktoken = pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # no cache
    tok = cbpe.train([TEXT * 3], 350)
    tok.save(tmp_path / "own.tiktoken")
    ranks = load_tiktoken_bpe(str(tmp_path / "own.tiktoken"))
    there = tiktoken.Encoding("own", pat_str=tok.pattern, mergeable_ranks=ranks, special_tokens={})
    here = cbpe.load(tmp_path / "own.tiktoken", pattern=tok.pattern)
    assert there.encode(TEXT) == here.encode(TEXT) == tok.encode(TEXT)


def test_a_file_like_llama_3s_is_written_for_tiktoken(tmp_path, opened):
    """Though it merges pairs, and has several for most tokens: the ranks are those that it was made from."""
    here, _ = opened("llama 3")
    here.save(tmp_path / "llama.tiktoken")
    digest = hashlib.sha256((tmp_path / "llama.tiktoken").read_bytes()).hexdigest()
    assert digest == "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
    parts = left_out(here, "llama.tiktoken")
    assert parts[:2] == ["the split pattern", "the template that puts tokens around a text"]


def test_a_list_of_every_way_to_merge_is_as_good_as_ranks():
    ranks = {token: rank for rank, token in cbpe.get_encoding("r50k_base")._vocabulary.tokens().items()}
    vocabulary = vocabulary_from_merges(ranks, every_way(ranks), whole_pieces=True)
    assert vocabulary.pack() == cbpe.get_encoding("r50k_base")._vocabulary.pack()
