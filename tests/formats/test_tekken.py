"""Mistral's tekken.json: the ids and texts are mistral-common's and tiktoken's, and bad files are refused."""

import base64
import lzma
import random
from pathlib import Path

import pytest
import tiktoken
from project import SHARED
from tekken_json import FIRST, PATTERN, TOKENS, as_json, tekken_content, vocab_of

import cbpe
from cbpe.formats.files import recognise
from cbpe.formats.ranks import tekken
from cbpe.formats.reading import File

ALPHABET = [
    "the",
    " ",
    "  ",
    "cat",
    "\n",
    "<s>",
    "[INST]",
    "<SPECIAL_20>",
    "é",
    "\U0001f609",
    "中",
    "\u2581",
    "\0",
    "'s",
]


@pytest.fixture
def saved(tmp_path):
    """Writes a content to a file, and says where."""

    def save(content, name="tekken.json"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else as_json(content))
        return tmp_path / name

    return save


def hostile_texts(seed, n=200):
    drawn = random.Random(seed)
    pieces = [*ALPHABET, *(chr(drawn.randrange(0x20, 0x3000)) for _ in range(50))]
    return ["", *("".join(drawn.choices(pieces, k=drawn.randrange(30))) for _ in range(n))]


# ---- What a file means


@pytest.mark.parametrize("n_special", [0, 20, 25, 1000])
def test_an_id_is_the_rank_plus_the_number_of_special_tokens(saved, n_special):
    tok = cbpe.load(saved(tekken_content(n_special=n_special, special=[] if n_special < 20 else None)))
    there = tiktoken.Encoding("x", pat_str=PATTERN, mergeable_ranks=vocab_of(TOKENS), special_tokens={})
    for text in hostile_texts(1):
        assert tok.encode_ordinary(text) == [n_special + token for token in there.encode_ordinary(text)]
        assert tok.decode(tok.encode_ordinary(text)) == text
    assert tok.n_vocab == n_special + len(TOKENS)


def test_a_file_without_special_tokens_has_mistrals_first_ones_and_fillers(saved):
    tok = cbpe.load(saved(tekken_content(n_special=23)))
    assert tok.special_tokens == {
        **{text: token_id for token_id, text in enumerate(FIRST)},
        "<SPECIAL_20>": 20,
        "<SPECIAL_21>": 21,
        "<SPECIAL_22>": 22,
    }
    assert tok.encode("<s>the", allowed_special="all") == [1, 23 + TOKENS.index(b"the")]
    assert tok.decode([1, 22, 23 + TOKENS.index(b"the")]) == "<s><SPECIAL_22>the"


def test_listed_special_tokens_are_taken_and_fillers_follow_them(saved):
    tok = cbpe.load(saved(tekken_content(n_special=4, special=["<unk>", "[é]"], version="v13")))
    assert tok.special_tokens == {"<unk>": 0, "[é]": 1, "<SPECIAL_2>": 2, "<SPECIAL_3>": 3}


def test_only_as_many_tokens_are_used_as_the_file_says(saved):
    tok = cbpe.load(saved(tekken_content(n_special=20, n_used=257)))
    assert tok.n_vocab == 277
    assert tok.encode_ordinary("the") == [20 + TOKENS.index(b"th"), 20 + ord("e")]


def test_the_tokenizer_is_an_encoding_of_the_files_name_whatever_that_is(saved):
    path = saved(tekken_content(), "v3.of.mistral")
    tok = cbpe.load(path)
    assert type(tok) is cbpe.Encoding
    assert (tok.name, tok.pattern) == ("v3.of", PATTERN)
    assert recognise(File(path)).module is tekken
    with pytest.raises(ValueError, match=r"and Mistral's tekken\.json is read with its own"):
        cbpe.load(path, pattern=".")


def test_a_folder_with_the_file_is_loaded(saved):
    assert cbpe.load(saved(tekken_content()).parent).n_vocab == 20 + len(TOKENS)


# ---- Against mistral-common


def tekkenizer(path):
    there = pytest.importorskip(
        "mistral_common.tokens.tokenizers.tekken", reason="compares with mistral-common, which is no small library"
    )
    return there.Tekkenizer.from_file(path)


def check_the_same(path, texts):
    """The ids of texts, and the texts of ids in any order, special tokens among them."""
    ours, theirs = cbpe.load(path), tekkenizer(path)
    keep = type(theirs._special_token_policy).KEEP
    assert ours.special_tokens == theirs._special_tokens_reverse_vocab
    assert ours.n_vocab == theirs.n_words
    drawn = random.Random(3)
    for text in texts:
        ids = theirs.encode(text, False, False)
        assert ours.encode_ordinary(text) == ids
        mixed = [*ids[:30], *(drawn.randrange(ours.n_vocab) for _ in range(20)), *range(5)]
        drawn.shuffle(mixed)
        assert ours.decode(mixed) == theirs.decode(mixed, keep)


@pytest.mark.parametrize("options", [{}, {"n_special": 1000, "n_used": 258}, {"special": ["<unk>", "<s>"]}])
def test_small_files_give_what_mistral_common_gives(saved, options):
    check_the_same(saved(tekken_content(**options)), hostile_texts(2))


def test_what_is_saved_is_read_by_mistral_common(saved):
    tok = cbpe.load(saved(tekken_content(n_special=30)))
    tok.save(saved(b"").parent / "tekken.json")
    check_the_same(saved(b"", "other").parent / "tekken.json", hostile_texts(4))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tekken_240718.json", "tekken_240911.json"])
def test_published_files_give_what_mistral_common_gives(name):
    mistral_common = pytest.importorskip("mistral_common", reason="reads the files that come with mistral-common")
    texts = hostile_texts(5)
    for corpus in ("english", "code", "chinese", "multilingual", "japanese"):
        path = SHARED / "corpora" / f"{corpus}.txt.xz"
        if path.exists():
            with lzma.open(path, "rt", encoding="utf-8", newline="") as file:
                texts += [file.read(100_000) for _ in range(5)]
    check_the_same(Path(mistral_common.__file__).parent / "data" / name, texts)


# ---- Saving


def test_what_is_saved_is_the_tokenizer_again(saved):
    tok = cbpe.load(saved(tekken_content(n_special=22)))
    tok.save(saved(b"").parent / "tekken.json")
    again = cbpe.load(saved(b"", "other").parent / "tekken.json")
    assert again._vocabulary.pack() == tok._vocabulary.pack()
    assert (again.pattern, again.special_tokens) == (tok.pattern, tok.special_tokens)


@pytest.mark.parametrize(
    ("tok", "message"),
    [
        (
            lambda: cbpe.get_encoding("gpt2"),
            r"the first ids, from 0 on, and here <\|endoftext\|> has 50256: keep it in a model store, or",
        ),
        (lambda: cbpe.get_encoding("r50k_base"), "gives the special tokens the first ids"),
        (
            lambda: with_special_tokens({"<a>": 0, "<b>": 1, "<c>": 300}),
            "the first ids, from 0 on, and here <c> has 300: keep it in a model store",
        ),
        (lambda: with_special_tokens({"<a>": 0, "<b>": 0}), "'<a>' and '<b>' have the same id 0"),
        (lambda: cbpe.train("the cat", 257, pattern=None), "has a split pattern, and this tokenizer none"),
        (
            lambda: cbpe.train("the the", 257, pattern=r"(\w)\1*|.+"),
            "may mean something else to other engines than to `regex`",
        ),
        (lambda: small(range(255, -1, -1)), "has the byte 0x00 with the id 0, and here 0 is b'\\\\xff'"),
        (lambda: small([*range(256), 300], [b"ab"]), "has a token with the id 256, and here 300 is b'ab'"),
        (lambda: small(range(255)), "there is none for the byte 0xff"),
    ],
)
def test_what_the_format_cannot_hold_is_refused_and_nothing_is_written(tmp_path, tok, message):
    with pytest.raises(ValueError, match=message):
        tok().save(tmp_path / "tekken.json")
    assert not list(tmp_path.iterdir())


def with_special_tokens(special_tokens):
    ranks = {bytes([byte]): byte + 2 for byte in range(256)}
    return cbpe.Encoding("a", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens=special_tokens)


def small(ids, more=()):
    tokens = [*(bytes([byte]) for byte in range(256)), *more]
    return cbpe.Encoding("x", pat_str=".", mergeable_ranks=dict(zip(tokens, ids, strict=False)), special_tokens={})


# ---- Bad files


def changed(content, path, value):
    """The content with another value at a path; None takes it out."""
    inner = content
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return content


LONG = base64.b64encode(b"th").decode()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("config",), None, "tekken.json has no 'config'"),
        (("config",), [], r"config is \[\]: an object should be here"),
        (("config", "version"), None, "config has no 'version'"),
        (("config", "version"), "v4", 'config.version is "v4": the known ones are v1, v2, v3, v7'),
        (("config", "version"), "v11", "a tekken.json of version v11 lists its special_tokens, and this one does not"),
        (("config", "pattern"), None, "config has no 'pattern'"),
        (("config", "pattern"), 5, "config.pattern is 5: an expression"),
        (("config", "pattern"), "(", "missing|unterminated"),
        (("config", "pattern"), "a" * 70_000, "the split pattern has 70,000 characters"),
        (("config", "num_vocab_tokens"), 5, "config.num_vocab_tokens is 5: vocab lists 259 tokens"),
        (("config", "num_vocab_tokens"), -1, "config.num_vocab_tokens is -1: a number from 0 on"),
        (("config", "num_vocab_tokens"), True, "config.num_vocab_tokens is true"),
        (("config", "default_vocab_size"), 280, "config.default_vocab_size is 280: .* from 276 to 279 should be here"),
        (("config", "default_vocab_size"), 275, "config.default_vocab_size is 275"),
        (("config", "default_vocab_size"), "279", "config.default_vocab_size is .*: a number"),
        (
            ("config", "default_num_special_tokens"),
            10**19,
            "default_num_special_tokens is .*up to 100,000 are supported",
        ),
        (("config", "default_num_special_tokens"), 20.0, "default_num_special_tokens is 20.0"),
        (("config", "other"), 1, "config has a 'other', which is not known here"),
        (("vocab", 200, "rank"), 201, r"vocab\[200\].rank is 201: ranks have no gaps: 200 should be here"),
        (("vocab", 258, "rank"), True, r"vocab\[258\].rank is true"),
        (("vocab", 3), {"rank": 3}, r"vocab\[3\] is .*: rank, token_bytes and token_str should be here"),
        (("vocab", 3), [], r"vocab\[3\] is \[\]"),
        (("vocab", 3, "token_bytes"), LONG, r"vocab\[3\].token_bytes is .*: the byte 0x03 in base64 should be here"),
        (("vocab", 257, "token_bytes"), "*", r'vocab\[257\].token_bytes is "\*": a token in base64 should be here'),
        (("vocab", 257, "token_bytes"), "é", r"vocab\[257\].token_bytes is"),
        (("vocab", 257, "token_bytes"), "", r"vocab\[257\].token_bytes is"),
        (("vocab", 257, "token_bytes"), 7, r"vocab\[257\].token_bytes is 7"),
        (("vocab", 257, "token_bytes"), LONG, r"vocab\[257\] is 'th', and so is vocab\[256\]"),
        (("special_tokens",), {}, "special_tokens is {}: a list should be here"),
        (("special_tokens",), ["<s>"], r'special_tokens\[0\] is "<s>": an object should be here'),
        (("special_tokens",), [{"rank": 1, "token_str": "a"}], r"special_tokens\[0\].rank is 1: .*: 0 should be here"),
        (("special_tokens",), [{"rank": 0, "token_str": ""}], r"special_tokens\[0\].token_str is"),
        (("special_tokens",), [{"rank": 0, "token_str": "x" * 1001}], r"special_tokens\[0\].token_str is"),
        (("special_tokens",), [{"rank": 0, "token_str": "<SPECIAL_4>"}], "'<SPECIAL_4>' twice, as 0 and 4"),
        (("something",), 1, "tekken.json has a 'something', which is not known here"),
    ],
)
def test_a_wrong_part_is_named(saved, path, value, message):
    content = changed(tekken_content(), path, value)
    with pytest.raises(ValueError, match=message) as caught:
        cbpe.load(saved(content))
    assert "tekken.json" in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_more_special_tokens_than_the_file_counts_are_refused(saved):
    with pytest.raises(ValueError, match="default_num_special_tokens is 19: there are 20: <unk>, <s>"):
        cbpe.load(saved(tekken_content(n_special=19)))


def test_what_is_said_of_pictures_and_sound_changes_nothing(saved):
    tok = cbpe.load(saved(tekken_content(), "plain"))
    more = {"image": {"image_patch_size": 16}, "audio": {"sampling_rate": 1}, "type": "Tekken", "version": 1}
    assert cbpe.load(saved({**tekken_content(), **more})).vocab == tok.vocab
