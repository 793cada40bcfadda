"""The named encodings are tiktoken's: the same vocabularies, by SHA-256, and the same ids for every text.

The oracle is tiktoken's own code over our vocabularies, which the digests prove to be tiktoken's: no network is needed.
"""

import hashlib
import lzma
import os
import random
import subprocess
import sys
from array import array
from functools import cache, lru_cache
from itertools import pairwise

import pytest
import tiktoken
import whole_corpora
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from project import SHARED

import cbpe
from cbpe._core.c.instructions import instruction_sets
from cbpe.encodings.generate import gpt2_digests, ranks_of, source_digest
from cbpe.encodings.named import SPECS, load_vocabulary

NAMES = ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]
DIFFERENT = whole_corpora.ENCODINGS  # one for each vocabulary

# As tiktoken publishes them.
DIGESTS = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
ENCODER_JSON = "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"
VOCAB_BPE = "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"


@cache
def oracle(name):
    spec = SPECS[name]
    return tiktoken.Encoding(
        name,
        pat_str=spec.pattern,
        mergeable_ranks=ranks_of(load_vocabulary(spec.vocabulary)),
        special_tokens=spec.special_tokens,
        explicit_n_vocab=spec.explicit_n_vocab,
    )


def check(name, text):
    """Equal, with the first place named where not; and decoded to what it was."""
    enc = cbpe.get_encoding(name)
    ids, expected = enc.encode_ordinary(text), oracle(name).encode_ordinary(text)
    if ids != expected:
        at = next((i for i, pair in enumerate(zip(ids, expected, strict=False)) if pair[0] != pair[1]), -1)
        start = len(enc.decode(expected[:at]))
        raise AssertionError(f"{name} differs at token {at}, character {start}: {text[start : start + 80]!r}")
    assert enc.decode_bytes(ids) == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


# ---- What they are made of


@pytest.mark.parametrize("name", DIGESTS)
def test_the_vocabularies_are_those_of_tiktokens_files(name):
    assert source_digest(load_vocabulary(name)) == DIGESTS[name]


def test_the_vocabulary_of_gpt2_is_that_of_its_own_files():
    assert gpt2_digests(load_vocabulary("r50k_base")) == (ENCODER_JSON, VOCAB_BPE)


@pytest.mark.parametrize("name", DIGESTS)
def test_the_merges_are_all_there_is_but_for_bytes(name):
    vocabulary = load_vocabulary(name)
    unmerged = vocabulary.unmerged()
    assert vocabulary.n_merges + len(unmerged) + 256 == len(vocabulary)
    tokens = vocabulary.tokens()
    assert all(tokens[left] + tokens[right] == tokens[made] for (left, right), made in vocabulary.merges().items())


@pytest.mark.parametrize("name", NAMES)
def test_patterns_and_special_tokens_are_tiktokens(name):
    """Those in the code of the installed tiktoken, called with its loaders of files put out of action."""
    from tiktoken_ext import openai_public

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *args, **kwargs: {})
        patch.setattr(openai_public, "data_gym_to_mergeable_bpe_ranks", lambda *args, **kwargs: {})
        expected = openai_public.ENCODING_CONSTRUCTORS[name]()
    enc = cbpe.get_encoding(name)
    assert enc.pattern == expected["pat_str"]
    assert enc.special_tokens == expected["special_tokens"]
    assert SPECS[name].explicit_n_vocab == expected.get("explicit_n_vocab")
    assert enc.splits_natively
    assert enc.semantics == "ranks"


@pytest.mark.parametrize("name", NAMES)
def test_numbers_and_sets_are_tiktokens(name):
    enc, expected = cbpe.get_encoding(name), oracle(name)
    assert enc.name == name
    assert enc.n_vocab == expected.n_vocab
    assert enc.max_token_value == expected.max_token_value
    assert enc.eot_token == expected.eot_token
    assert enc.special_tokens_set == expected.special_tokens_set
    assert enc.token_byte_values() == expected.token_byte_values()


def test_names():
    assert cbpe.list_encoding_names() == NAMES
    assert all(cbpe.get_encoding(name) is cbpe.get_encoding(name) for name in NAMES)
    with pytest.raises(ValueError, match="unknown encoding 'gpt5': the known ones are gpt2, "):
        cbpe.get_encoding("gpt5")
    for wrong in (None, 5, b"gpt2", ["gpt2"]):
        with pytest.raises(ValueError, match=f"is a str, not {type(wrong).__name__}"):
            cbpe.get_encoding(wrong)


# ---- Known values


def test_known_ids_of_cl100k():
    enc = cbpe.get_encoding("cl100k_base")
    text = "hello world!!!? (안녕하세요!) lol123 😉"
    ids = [15339, 1917, 12340, 30, 320, 31495, 230, 75265, 243, 92245, 16715, 28509, 4513, 57037]
    assert enc.encode(text) == ids
    assert enc.decode(ids) == text
    assert enc.encode("<|endoftext|>hello world", allowed_special="all") == [100257, 15339, 1917]


# ---- Any text

ARABIC, DEVANAGARI, FULL_WIDTH = "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९", "\uff10\uff11\uff12\uff13"

HARD = {
    "empty": "",
    "one letter": "a",
    "one space": " ",
    "one line break": "\n",
    "one NUL": "\0",
    "one emoji": "😉",
    "mixed scripts": "Hello Привет γειά שלום مرحبا नमस्ते 你好 こんにちは 안녕 สวัสดี hello你好жил",
    "emoji with joiners": "👩\u200d👩\u200d👧\u200d👦 👨🏽\u200d💻 🏳\ufe0f\u200d🌈 🇩🇪🇫🇷 1\ufe0f\u20e3 "
    "\u2615\ufe0e \u2615\ufe0f a👍🏿b",
    "combining marks": "e\u0301 a\u0308\u0323 n\u0303o \u0301 x\u20dd क्षि ไก่ Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤a̸lgo",
    "CRLF": "a\r\nb\r\n\r\nc\r\rd\n\r\n e \r\n  f\t\r\n",
    "long white space": " " * 300 + "a" + "\t" * 100 + " \n" * 50 + "\n" * 200 + "b" + " " * 77,
    "white space of all kinds": "a\u00a0b\u2003\u2003c\u3000d\u2028e\u2029f\x85g\x0bh\x0ci\x1cj\u200bk\u180el"
    "\u202fm \u00a0 ",
    "lone surrogates": "a\ud800b \udfff\udfff \ud83d\ude09 \ude09\ud83d",
    "byte order marks": "\ufeffa\ufeff\ufeff b",
    "contractions": "I'm you're he's it'd we'll they've don't 'tis I'M YOU'RE HE'S IT'D WE'LL THEY'VE DON'T I'lL 'vE",
    "contractions with the long s": "it'\u017f '\u017f He'\u017f SHE'\u017f \u017f's '\u017f\u017f",
    "no contractions": "'x 'st ''s '' ' 's's's 're're ll' \u2019s",
    "digits of other scripts": f"{ARABIC} {DEVANAGARI}{FULL_WIDTH} Ⅷ ½ ² ① 1{ARABIC}2 12345678901",
    "numbers": "1 12 123 1234 12345 1,234.56 -7 1e10 0x1F v2.0.1 a1b22c333d4444",
    "punctuation": "...!!!???---***((([[[{{{}}}]]])))\n//\n/ / /// ;;\r\n  !\n ?",
    "cases": "camelCase PascalCase UPPER lower ÄÖÜ äöü ǅ ǆ Ǆ ʰ ª ß ẞ İı HTTPServer iPhone McDonald",
    "code": "def f(x):\n    return {\n\t'a': [1, 2.5e-3],\n    }\n\n\n#include <a.h>\nfor(;;){}//x\n",
    "specials as text": "<|endoftext|> <|fim_prefix|><|im_start|>a <|endofprompt|>",
    "not assigned and private": "\u0378 \ue000\U000f0000 \U0010ffff \ufffe \ufdd0 \U0001fae9 \U000105c0",
    "one long word": "a" * 3000 + "é" * 700 + "中" * 500,
    "one long emoji": "😉" * 500,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", HARD)
def test_hard_texts(name, kind):
    check(name, HARD[kind])


@cache
def all_code_points():
    """In order; and many in another order, beside letters, a space, a digit."""
    characters = [chr(i) for i in range(0x110000)]
    others = random.Random(1).sample(characters, 200_000)
    return "".join(characters), "".join(f"{c}a" if i % 3 else f" {c}1'" for i, c in enumerate(others))


@pytest.mark.slow
@pytest.mark.parametrize("name", DIFFERENT)
def test_all_code_points(name):
    in_order, shuffled = all_code_points()
    check(name, in_order)
    if name != "p50k_edit":  # splits as r50k_base does
        check(name, shuffled)


@pytest.mark.parametrize("name", DIFFERENT)
def test_every_token_alone_and_beside_another(name):
    enc = cbpe.get_encoding(name)
    tokens = [token.decode("utf-8", "ignore") for token in enc.token_byte_values()]
    random.Random(2).shuffle(tokens)
    check(name, "".join(tokens))
    for token in tokens[:1000]:
        check(name, token)


PARTS = st.sampled_from(
    [
        *"aeztS'1 \n\r\t.,!_/ \u00a0\u017fé中٣😉\u0301\u200d\ufe0f\ud800",
        "'s",
        "'LL",
        "  ",
        "\r\n",
        "the",
        " The",
        "123",
        "<|",
    ]
)
TEXTS = st.one_of(st.text(), st.text(st.characters(exclude_categories=())), st.lists(PARTS, max_size=60).map("".join))


@pytest.mark.parametrize("name", DIFFERENT)
@examples(150)
@given(text=TEXTS)
def test_random_texts(name, text):
    check(name, text)


@pytest.mark.parametrize("name", DIFFERENT)
@examples(50)
@given(parts=st.lists(TEXTS | st.sampled_from([*cbpe.get_encoding("p50k_edit").special_tokens, "<|endofprompt|>"])))
def test_random_texts_with_special_tokens(name, parts):
    text = "".join(parts)
    enc, expected = cbpe.get_encoding(name), oracle(name)
    assert enc.encode(text, allowed_special="all") == expected.encode(text, allowed_special="all")
    one = {"<|endoftext|>"}
    assert enc.encode(text, allowed_special=one, disallowed_special=()) == expected.encode(
        text, allowed_special=one, disallowed_special=()
    )


CHOICES = [
    set(),
    {"<|endoftext|>"},
    frozenset({"<|fim_prefix|>"}),
    {"<|fim_prefix|>", "<|endoftext|>"},
    {"no such"},
    "all",
]


@pytest.mark.parametrize("allowed", CHOICES)
@pytest.mark.parametrize("disallowed", [*CHOICES, (), ["<|endoftext|>"], {"ordinary"}])
def test_choices_of_special_tokens_are_tiktokens(allowed, disallowed):
    """The ids, or the exception: of what is disallowed though allowed or no special token at all, too."""
    enc, expected = cbpe.get_encoding("cl100k_base"), oracle("cl100k_base")
    for text in ("ordinary text", "a<|endoftext|>b", "<|fim_prefix|>", "<|fim_prefix|>a<|endoftext|>", "no such"):
        try:
            ids = expected.encode(text, allowed_special=allowed, disallowed_special=disallowed)
        except ValueError:
            for method in (enc.encode, enc.count, enc.encode_to_numpy):
                with pytest.raises(ValueError, match="the text holds the special token"):
                    method(text, allowed_special=allowed, disallowed_special=disallowed)
        else:
            assert enc.encode(text, allowed_special=allowed, disallowed_special=disallowed) == ids
            assert enc.count(text, allowed_special=allowed, disallowed_special=disallowed) == len(ids)
            assert enc.encode_to_numpy(text, allowed_special=allowed, disallowed_special=disallowed).tolist() == ids


@pytest.mark.parametrize("name", NAMES)
def test_single_tokens_are_tiktokens(name):
    enc, expected = cbpe.get_encoding(name), oracle(name)
    for token in ["a", " the", "<|endoftext|>", b"<|endoftext|>", b"\xff", b"\xe4", "\n\n", *enc.special_tokens]:
        assert enc.encode_single_token(token) == expected.encode_single_token(token)
    for token in ["", "no token at all", b"\xff\xfe\xfd", "\ud800"]:
        with pytest.raises(KeyError):
            enc.encode_single_token(token)
    for token_id in [0, 255, 1000, expected.eot_token, expected.max_token_value]:
        assert enc.decode_single_token_bytes(token_id) == expected.decode_single_token_bytes(token_id)
    with pytest.raises(KeyError, match=str(expected.max_token_value + 1)):
        enc.decode_single_token_bytes(expected.max_token_value + 1)


@pytest.mark.parametrize("name", DIFFERENT)
def test_random_ids_decode_as_tiktokens(name):
    enc, expected = cbpe.get_encoding(name), oracle(name)
    rng = random.Random(3)
    known = list(enc.vocab)
    for size in (1, 2, 10, 1000, 100_000):
        ids = rng.choices(known, k=size)
        assert enc.decode_bytes(ids) == expected.decode_bytes(ids)
        assert enc.decode(ids) == expected.decode(ids)


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("corpus", ["english", "code", "chinese", "multilingual", "japanese"])
def test_corpora(name, corpus):
    """A megabyte of each, from the middle."""
    path = SHARED / "corpora" / f"{corpus}.txt.xz"
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    with lzma.open(path) as file:
        file.seek(500_000)
        text = file.read(1_000_000).decode("utf-8", "ignore")
    assert len(text) > 200_000
    check(name, text)


# ---- Every way of encoding


def some_texts(seed, n):
    """Texts of all sizes, some with special tokens, runs, scripts without spaces, and halves of characters."""
    rng = random.Random(seed)
    bits = [
        *"aeztS'1 \n\t.,é中文字٣😉\ud800",
        " the",
        " hello",
        "12345",
        "\r\n",
        "    ",
        "<|endoftext|>",
        "<|fim_prefix|>",
        "'ll",
    ]
    return ["".join(rng.choices(bits, k=rng.choice([0, 1, 5, 50, 500, 20_000]))) for _ in range(n)]


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("special", ["all", "none"])
def test_every_way_of_encoding_gives_tiktokens_tokens(name, special):
    """tiktoken's own batches aside, which are its encode in threads."""
    enc, expected = cbpe.get_encoding(name), oracle(name)
    texts = some_texts(name, 40)
    choice = {"allowed_special": "all"} if special == "all" else {"disallowed_special": ()}
    lists = [expected.encode(text, **choice) for text in texts]
    for text, ids in zip(texts, lists, strict=True):
        assert enc.encode(text, **choice) == ids
        assert enc.encode(text, **choice, workers=3) == ids
        assert enc.encode_to_numpy(text, **choice).tolist() == ids
        assert enc.count(text, **choice) == enc.count(text, **choice, workers=2) == len(ids)
        if len(text) <= 50:
            prefix = enc.truncate(text, len(ids) // 2, **choice)
            assert len(expected.encode(prefix, **choice)) <= len(ids) // 2
            longer = [text[:n] for n in range(len(prefix) + 1, len(text) + 1)]
            assert all(len(expected.encode(other, **choice)) > len(ids) // 2 for other in longer)
    assert enc.encode_ordinary_batch(texts, num_threads=2) == [expected.encode_ordinary(text) for text in texts]
    for num_threads in (1, 2, 5, None):
        assert enc.encode_batch(texts, **choice, num_threads=num_threads) == lists
        tokens, offsets = enc.encode_batch_flat(texts, **choice, num_threads=num_threads)
        assert [tokens[i:j].tolist() for i, j in pairwise(offsets)] == lists
    assert enc.decode_batch(lists, num_threads=2) == expected.decode_batch(lists)
    assert enc.decode_bytes_batch(lists, num_threads=2) == expected.decode_bytes_batch(lists)


CHILD = """
import hashlib, sys, cbpe
text = open(sys.argv[1], encoding="utf-8").read()
for name in sys.argv[2:]:
    enc = cbpe.get_encoding(name)
    ids = enc.encode_to_numpy(text, disallowed_special=())
    parts = enc.encode_to_numpy(text, disallowed_special=(), workers=2)
    assert (ids == parts).all()
    print(hashlib.sha256(ids.tobytes()).hexdigest())
"""


@pytest.mark.parametrize("instructions", instruction_sets())
def test_every_instruction_set_gives_tiktokens_tokens(instructions, tmp_path):
    """Chosen as a user chooses it, by the environment."""
    words = "".join(text.replace("\ud800", "x") for text in some_texts(instructions, 40))
    text = words + "The camelCase HTTPServer's 1234567 items;  \n\n  it'll 'LL//\n/ " * 2000
    (tmp_path / "text").write_bytes(text.encode())
    text = (tmp_path / "text").read_text(encoding="utf-8")
    command = [sys.executable, "-c", CHILD, str(tmp_path / "text"), *DIFFERENT]
    environment = {**os.environ, "CBPE_INSTRUCTIONS": instructions}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()
    assert found == [
        hashlib.sha256(array("I", oracle(name).encode_ordinary(text)).tobytes()).hexdigest() for name in DIFFERENT
    ]


def test_an_instruction_set_that_is_not_there_is_named():
    environment = {**os.environ, "CBPE_INSTRUCTIONS": "mmx"}
    child = subprocess.run(
        [sys.executable, "-c", "import cbpe; cbpe.get_encoding('gpt2')"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert child.returncode == 1
    assert "no instruction set 'mmx' here: there are " in child.stderr


@lru_cache(maxsize=1)  # the tests of one corpus follow one another
def text_of(corpus):
    return whole_corpora.unpacked(corpus)


def test_the_recorded_answers_are_tiktokens():
    """For the shortest corpus, by the record's own way."""
    if not whole_corpora.packed("japanese").exists():
        pytest.skip("needs the corpora")
    text = text_of("japanese")
    for name in DIFFERENT:
        ids = oracle(name).encode_to_numpy(text, disallowed_special=())
        assert whole_corpora.recorded("japanese", name, text) in (None, whole_corpora.digest_of_ids(ids))


@pytest.mark.slow
@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("corpus", whole_corpora.CORPORA)
def test_whole_corpora(name, corpus):
    if not whole_corpora.packed(corpus).exists():
        pytest.skip(f"{whole_corpora.packed(corpus)} is not on this machine")
    text = text_of(corpus)
    enc = cbpe.get_encoding(name)
    ids = enc.encode_to_numpy(text, disallowed_special=())
    if whole_corpora.digest_of_ids(ids) != whole_corpora.recorded(corpus, name, text):
        check(name, text)  # it says where they differ, or that they do not, where this text has no record
    assert enc.decode(ids) == text
    # Other ways take the same path to the tokens: a part is enough for them.
    text = text[:2_000_000]
    ids = enc.encode_to_numpy(text, disallowed_special=())
    assert (enc.encode_to_numpy(text, disallowed_special=(), workers=2) == ids).all()
    assert enc.count(text, disallowed_special=()) == len(ids)
    lines = text.splitlines(keepends=True)
    tokens, offsets = enc.encode_batch_flat(lines, disallowed_special=())
    assert (len(offsets), offsets[-1]) == (len(lines) + 1, len(tokens))
    for i in range(0, len(lines), 97):
        assert (
            tokens[offsets[i] : offsets[i + 1]] == oracle(name).encode_to_numpy(lines[i], disallowed_special=())
        ).all()
