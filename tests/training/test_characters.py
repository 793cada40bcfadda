"""Training over characters: the merges are the reference's and SentencePiece's, and what goes wrong is said."""

import dataclasses
import io
import json
import math
import pickle
import random
import re
import unicodedata
import warnings
from pathlib import Path

import pytest
import reference
from examples import examples
from hypothesis import example, given
from hypothesis import strategies as st
from interrupts import stop_while_it_works

import cbpe
from cbpe._core.training.characters import Pieces
from cbpe._core.training.train import Trainer
from cbpe.common.checks import MAX_TOKENS
from cbpe.corpus.counting import count_words
from cbpe.patterns import CHARACTERS_SPLIT_PATTERN
from cbpe.training.scripts import scripts_of
from store import ModelStore

MARK = "\u2581"
FEW = st.sampled_from(["ab", "abc ", "aab  .1", " ab\u00e9\u65e5\u672c\u304b\u30ab\u30fc1\u4e00\u3001.\t\n"])
OTHERS = st.sampled_from(
    ["a\u0301\u65e5b1 2\n", "\u0663\u06f31a\u0917 \n", f"{MARK}a b\n", "aA1.- \r\n", "\u0434a\u0435\uff11 "]
)
TEXTS = (FEW | OTHERS).flatmap(lambda letters: st.text(letters, min_size=1, max_size=150))
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "split_by_script": st.booleans(),
        "split_by_number": st.booleans(),
        "split_digits": st.booleans(),
        "add_dummy_prefix": st.booleans(),
        "max_token_length": st.integers(2, 8),
    },
)
N_BYTES = 256
SPECIAL = 3 + N_BYTES  # "<unk>", "<s>", "</s>" and the bytes
SENTENCES = [
    "the cat sat on the mat, the other cat did not sit",
    "two  spaces   three and four    five",
    "caf\u00e9 na\u00efve \u4e2d\u6587\u4e2d\u5b57 \u4e2d\u6587",
    "1 2 3 12 123, 3.14",
]
N_CHARACTERS = len({*"".join(SENTENCES)})
HOSTILE = [
    "", " ", "  a   b  ", MARK, f"{MARK}{MARK} {MARK}the", f"a{MARK}b", "\n\n", "\u00e9\u20ac\U0001f600\u0301",
    "\u4e2d\u6587\u672a\u672a\u4e2d", "\x00\x01\x7f", "<0x0A>", "the cat sat on the mat", "\uff41\u3000",
]  # fmt: skip


def trained(source, n_merges=30, **options):
    """As large as n_merges need, with every character; what stops early is no matter."""
    options = {"character_coverage": 1.0, **options}
    text = source if isinstance(source, str) else "".join(source)
    n_characters = len({*text.replace("\n", "").replace(MARK, " ").replace("\0", ""), " "})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cbpe.train(source, SPECIAL + n_characters + n_merges, alphabet="characters", **options)


def merged(tok):
    """What its merges made, in order."""
    first = len(tok.special_tokens) + 256
    tokens = [token.decode() for token_id, token in sorted(tok._vocabulary.tokens().items()) if token_id >= first]
    return [token for token in tokens if len(token) > 1]


def script(character):
    """As SentencePiece has it, of the characters that are generated here."""
    name = unicodedata.name(character, "CONTROL").split()[0]
    if character == "\u30fc" or name in ("CJK", "HIRAGANA", "KATAKANA"):
        return "HAN"
    if character in ("\u0663", "\u06f3") or name not in ("LATIN", "CYRILLIC", "DEVANAGARI", "COMBINING"):
        return "COMMON"
    return name


def may_be_token(split_by_script=True, split_by_number=True, split_digits=False, max_token_length=16, **_):
    """SentencePiece's rule for what may be a piece, character by character."""

    def check(text):
        before = None
        for character in text.lstrip(" "):
            is_digit = character in "0123456789\uff11"
            here = script(character)
            here = before if here == "COMBINING" else here
            here = None if is_digit and not split_by_number else here
            if (is_digit and split_digits) or (split_by_script and None not in (here, before) and here != before):
                return False
            before = here
        return len(text) <= max_token_length and "<" not in text

    return check


# ---- The merges


@examples(40)
@given(TEXTS, OPTIONS, st.sampled_from(["shortest", "first"]), st.integers(1, 3))
@example("aaaaaaaaaa aaaa aaa", {}, "shortest", 1)
@example("\u65e5\u0301b \u65e5\u0301b \u0301b \u0301b", {}, "shortest", 1)
@example("ab1 ab1 1ab", {"split_by_number": False}, "first", 1)
def test_merges_are_the_references(text, options, tie_break, min_count):
    words = reference.words_of(text.lstrip(f"\n {MARK}"), options.get("add_dummy_prefix", True))
    expected = reference.train_over_characters(words, 30, tie_break, min_count, may_be_token(**options))
    if not words:
        return
    tok = trained(text.lstrip(f"\n {MARK}"), tie_break=tie_break, min_count=min_count, **options)
    assert merged(tok) == expected[0]
    assert [*tok.training.counts] == expected[1]
    assert [*tok.training.tokens] == expected[2]
    assert tok.training.tokens_at_start == sum(map(len, words))


def test_merges_are_the_references_where_thousands_of_pairs_are_equally_frequent():
    """All words have one pair that no other has, of letters that begin alike in a key."""
    letters = [chr(0x4E00 + i) for i in range(64)]
    words = ["".join(random.Random(i).choices(letters, k=4)) for i in range(150)]
    expected, counts, _ = reference.train_over_characters([" " + word for word in words], 60)
    tok = trained(" ".join(words), 60)
    assert merged(tok) == expected
    assert [*tok.training.counts] == counts


@pytest.mark.parametrize("seed", range(8))
def test_merges_are_the_references_where_pairs_are_as_frequent_and_as_long_and_begin_alike(seed):
    """Longer alike than a key of the candidates holds: their whole spellings are compared."""
    generator = random.Random(seed)
    letters = [chr(0x4E00 + i) for i in range(60)]
    beginnings = ["".join(generator.choices(letters[:3], k=generator.randint(9, 13))) for _ in range(2)]
    words = [
        generator.choice(beginnings) + "".join(generator.choices(letters, k=generator.randint(1, 3))) for _ in range(40)
    ]
    marked = [" " + word for word in words]
    expected, counts, _ = reference.train_over_characters(marked, 80, may_be_token=may_be_token())
    assert max(map(len, expected)) > 12
    tok = trained(" ".join(words), 80)
    assert merged(tok) == expected
    assert [*tok.training.counts] == counts


def test_merges_are_the_references_when_some_words_are_thousands_of_times_rarer():
    """So rare that their pairs are found when the text is read again."""
    counts = {" ab": 100_000, " bc": 3000, " cd": 50, " de": 2, " fg": 1, " abfg": 1}
    words = [word for word, count in counts.items() for _ in range(min(count, 1))]
    order = sorted(counts, key=counts.get, reverse=True)
    tok = cbpe.train(
        cbpe.WordCounts({word.encode(): count for word, count in counts.items()}, pattern=CHARACTERS_SPLIT_PATTERN),
        SPECIAL + 8 + 9,
        alphabet="characters",
        character_coverage=1.0,
    )
    assert merged(tok)[:4] == ["ab", " ab", "bc", " bc"]
    assert len(merged(tok)) == 9
    assert words == order


def test_the_merges_of_words_do_not_depend_on_the_workers_or_the_kind_of_source(tmp_path):
    text = "\n".join(SENTENCES * 20_000)
    Path(tmp_path, "a.txt").write_text(text, encoding="utf-8")
    rows = "\n".join(json.dumps({"text": line}) for line in text.split("\n"))
    Path(tmp_path, "a.jsonl").write_text(rows, encoding="utf-8")
    expected = merged(trained(SENTENCES))
    counts = count_words(Path(tmp_path, "a.txt"), pattern=CHARACTERS_SPLIT_PATTERN)
    for source in (Path(tmp_path, "a.txt"), Path(tmp_path, "a.jsonl"), counts, text.encode()):
        options = {} if source is counts else {"workers": 2, "field": "text" if str(source).endswith("l") else None}
        tok = cbpe.train(source, SPECIAL + N_CHARACTERS + 30, alphabet="characters", character_coverage=1.0, **options)
        assert merged(tok) == expected


def test_a_text_with_the_mark_is_learned_from_as_with_spaces():
    text = "\n".join(SENTENCES)
    assert merged(trained(text.replace(" ", MARK))) == merged(trained(text))


def test_no_merge_makes_a_special_token_or_the_text_of_a_byte():
    text = "<s>\n<sep>\n<0x41>\n" * 20
    tok = trained(text, 60, split_by_script=False, add_dummy_prefix=False, special_tokens=["<sep>"])
    assert any("<" in token for token in merged(tok))
    assert any(">" in token for token in merged(tok))
    assert not {"<s>", "<sep>", "<0x41>"} & {*merged(tok)}
    assert tok.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2, "<sep>": 3}


# ---- The alphabet


def test_rare_characters_become_bytes_and_required_ones_have_tokens():
    text = "ab " * 1000 + "xyz"
    tok = cbpe.train(text, SPECIAL + 7, alphabet="characters", character_coverage=0.9, required_characters="q\n")
    tokens = {token for token_id, token in tok._vocabulary.tokens().items() if token_id >= SPECIAL}
    assert {b"q", b"\n", b" ", b"a", b"b"} <= tokens
    assert b"x" not in tokens
    assert [tok.decode_single_token_bytes(i) for i in tok.encode("xq")][1:] == [b"x", b"q"]


def test_characters_come_after_the_merges_the_most_frequent_first():
    tok = trained("b b b a a c", 2)
    characters = [token for token_id, token in sorted(tok._vocabulary.tokens().items()) if token_id >= SPECIAL + 2]
    assert characters == [b" ", b"b", b"a", b"c"]


@pytest.mark.parametrize(("byte_fallback", "least"), [(True, 3 + 256 + 4), (False, 3 + 4)])
def test_a_vocabulary_without_room_says_the_least_size(byte_fallback, least):
    message = f"vocab_size is 6, but 3 special tokens, .*and 4 characters take {least}: ask for at least {least}"
    with pytest.raises(ValueError, match=message):
        cbpe.train("ab c", 6, alphabet="characters", byte_fallback=byte_fallback)
    tok = cbpe.train("ab c", least, alphabet="characters", byte_fallback=byte_fallback)
    assert tok.decode(tok.encode("ab c")) == "ab c"
    assert len(tok.training.counts) == 0


def test_nul_is_learned_as_a_byte_alone():
    tok = trained("a\0b a\0b", 10)
    assert merged(tok) == [" a"]
    assert tok.decode(tok.encode("a\0b")) == "a\0b"


def test_what_is_no_utf8_is_refused_or_replaced():
    with pytest.raises(ValueError, match="not UTF-8"):
        cbpe.train(b"ab\xff ab", 300, alphabet="characters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = cbpe.train(b"ab\xff ab\xff", 300, alphabet="characters", errors="replace", character_coverage=1.0)
    assert "\ufffd" in "".join(merged(tok)) or b"\xef\xbf\xbd" in {*tok._vocabulary.tokens().values()}


def test_scripts_are_those_of_unicode_and_japanese_is_one():
    found = scripts_of("a\u0434\u65e5\u304b\u30ab\u30fc\u03011.\u0917")
    assert [*found.values()] == [
        "Latin", "Cyrillic", "Han", "Han", "Han", "Han", "Inherited", "Common", "Common", "Devanagari"
    ]  # fmt: skip


# ---- What comes out


def test_the_tokenizer_is_what_the_owners_make_of_its_files(tmp_path):
    tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    sentencepiece = pytest.importorskip("sentencepiece", reason="compares with sentencepiece")
    for options in ({}, {"byte_fallback": False}, {"add_dummy_prefix": False, "character_coverage": 0.97}):
        size = 320 if options.get("byte_fallback", True) else 64
        tok = cbpe.train(SENTENCES * 3, size, alphabet="characters", special_tokens=["<sep>"], **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            tok.save(tmp_path / "a.json")
        with pytest.warns(
            UserWarning, match="text that spells <unk>, <s>, </s> and 1 more is encoded .here as these tokens"
        ):
            tok.save(tmp_path / "a.model")
        hugging_face = tokenizers.Tokenizer.from_file(str(tmp_path / "a.json"))
        owner = sentencepiece.SentencePieceProcessor(str(tmp_path / "a.model"))
        assert owner.vocab_size() == size
        assert owner.id_to_piece(3) == "<sep>"
        assert owner.is_control(3)
        assert (owner.unk_id(), owner.bos_id(), owner.eos_id(), owner.pad_id()) == (0, 1, 2, -1)
        for again in (cbpe.load(tmp_path / "a.json"), cbpe.load(tmp_path / "a.model"), pickle.loads(pickle.dumps(tok))):
            assert [again.encode(text) for text in HOSTILE] == [tok.encode(text) for text in HOSTILE]
        for text in (*SENTENCES, *HOSTILE):
            ids = tok.encode(text)
            assert ids == owner.encode(text) == hugging_face.encode(text, add_special_tokens=False).ids
            assert tok.decode(ids) == hugging_face.decode(ids, skip_special_tokens=False)


@examples(25)
@given(TEXTS, OPTIONS, st.sampled_from([1.0, 0.9995, 0.98]))
def test_the_vocabulary_is_sentencepieces(text, options, coverage):
    sentencepiece = pytest.importorskip("sentencepiece", reason="compares with sentencepiece")
    text = text.replace("\r", "").lstrip(f"\n {MARK}")  # which is not the same there at the end of a line
    if not text:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = cbpe.train(text, 340, alphabet="characters", character_coverage=coverage, **options)
    tokens = dict(tok.special_tokens.items())
    tokens |= {token.decode().replace(" ", MARK): i for i, token in tok._vocabulary.tokens().items() if i >= SPECIAL}
    names = {"split_by_script": "split_by_unicode_script", "max_token_length": "max_sentencepiece_length"}
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.split("\n")), model_writer=model, model_type="bpe",
        vocab_size=max(tokens.values()) + 1, byte_fallback=True, normalization_rule_name="identity",
        remove_extra_whitespaces=False, required_chars=MARK, character_coverage=coverage,
        minloglevel=2, num_threads=1, hard_vocab_limit=False,
        **{names.get(name, name): value for name, value in options.items()},
    )  # fmt: skip
    owner = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = {owner.id_to_piece(i): i for i in range(owner.vocab_size()) if not owner.is_byte(i)}
    assert pieces == tokens


def test_a_store_keeps_it(tmp_path):
    import store

    tok = trained(SENTENCES, special_tokens=["<sep>"])
    with store.ModelStore(f"sqlite:///{tmp_path}/models.db") as models:
        models.save(tok, "small")
        again = models.load("small")
    assert type(again) is cbpe.SentencePieceTokenizer
    assert [again.encode(text) for text in HOSTILE] == [tok.encode(text) for text in HOSTILE]


# ---- The record, and what is told


def test_the_record_says_what_was_done():
    tok = trained(SENTENCES, 20)
    record = tok.training
    assert record.start_tokens == N_BYTES + N_CHARACTERS
    assert record.vocab_size == N_BYTES + N_CHARACTERS + 20 == tok.vocab_size
    assert record.characters["byte_fallback"] is True
    assert record.tie_break == "shortest"
    assert record.max_token_length == 16
    assert record.pattern == CHARACTERS_SPLIT_PATTERN
    assert record.tokens_at_start == sum(map(len, SENTENCES)) + len(SENTENCES)
    assert record.tokens[-1] == sum(len(tok.encode(sentence)) for sentence in SENTENCES)
    assert record.compression() == record.text_bytes / record.tokens[-1]
    assert record.compression(record.start_tokens) == record.text_bytes / record.tokens_at_start
    assert record.compression(tok.vocab_size) == record.compression()
    with pytest.raises(ValueError, match=f"must be at least {N_BYTES + N_CHARACTERS}"):
        record.compression(256)


def test_what_max_words_drops_is_not_in_the_compression():
    words = [f"w{i % 50 if i % 3 else i} " for i in range(600)]
    text = "".join(words)
    kept = cbpe.count_words(text, pattern=CHARACTERS_SPLIT_PATTERN, max_words=20)
    n_bytes = sum(len(piece) * n for piece, n in kept)
    assert 0 < n_bytes < len(text)
    record = trained(text, 5, max_words=20).training
    assert record.covered_bytes == record.kept_bytes == n_bytes
    assert record.compression() == n_bytes / record.tokens[-1]
    assert record.compression(record.start_tokens) == n_bytes / record.tokens_at_start
    assert trained(text, 5).training.kept_bytes is None
    # The record of an earlier cbpe, which did not count them.
    assert math.isnan(dataclasses.replace(record, kept_bytes=None).compression())
    with ModelStore(":memory:") as models:
        assert models.training(models.save(trained(text, 5, max_words=20), "a")).kept_bytes == n_bytes


def test_verbose_prints_a_line_for_each_merge(capsys):
    trained("ab ab b", 2, verbose=True)
    assert capsys.readouterr().out.splitlines() == [
        "8 tokens at the start",
        "merge 1/2: ('a', 'b') -> 259 ('ab') had 2 occurrences, 6 tokens remain",
        "merge 2/2: (' ', 259) -> 260 (' ab') had 2 occurrences, 4 tokens remain",
        "7 bytes are 4 tokens: 1.75 bytes per token",
    ]


def test_progress_is_told_to_the_end():
    told = []
    trained(SENTENCES, 20, progress=lambda *told_now: told.append(told_now))
    assert told[0][:2] == ("reading", 0)
    assert told[-1] == ("merging", 20, 20)


@pytest.mark.parametrize(
    ("options", "learned", "reason"),
    [
        ({}, 3, "no pair of neighbouring tokens is left"),
        ({"max_token_length": 2}, 1, "there already, or of more than max_token_length = 2 characters"),
        ({"min_count": 2}, 0, "or is too rare for min_count = 2"),
    ],
)
def test_training_that_stops_early_warns_and_records_why(options, learned, reason):
    with pytest.warns(UserWarning, match=re.escape(reason)) as warned:
        tok = cbpe.train("abc", 400, alphabet="characters", **options)
    assert warned[0].filename == __file__
    assert reason in tok.training.stopped
    assert len(tok.training.counts) == learned
    assert [*tok._vocabulary.tokens()] == [*range(3, SPECIAL + len(tok.training.counts) + 4)]


def test_ctrl_c_stops_training():
    stop_while_it_works(
        "import cbpe, random; rng = random.Random(1); "
        "text = ''.join(chr(rng.randrange(0x4e00, 0x5e00)) for _ in range(1_000_000))",
        "cbpe.train(text, 6000 if len(text) > 100 else 400, alphabet='characters')",
    )


# ---- Bad input


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"alphabet": "letters"}, ValueError, "alphabet is 'letters'; it must be one of 'bytes', 'characters'"),
        ({"alphabet": "bytes", "byte_fallback": True}, ValueError, 'byte_fallback is for alphabet="characters"'),
        ({"alphabet": "bytes", "nonsense": 1}, TypeError, "unexpected keyword argument 'nonsense'"),
        ({"nonsense": 1}, TypeError, "unexpected keyword argument 'nonsense'"),
        ({"character_coverage": 0}, ValueError, "character_coverage is 0; it must be above 0, and at most 1"),
        ({"character_coverage": 1.01}, ValueError, "character_coverage is 1.01"),
        ({"character_coverage": float("nan")}, ValueError, "character_coverage is nan"),
        ({"character_coverage": "all"}, TypeError, "character_coverage must be a float, not str"),
        ({"required_characters": "a\ud800"}, ValueError, "required_characters has U\\+D800, which is a surrogate"),
        ({"required_characters": "\0"}, ValueError, "required_characters has U\\+0000, which is NUL"),
        ({"required_characters": ["a"]}, TypeError, "required_characters must be a str, not list"),
        ({"required_characters": "".join(map(chr, range(256, 600)))}, ValueError, "characters take 607: ask for"),
        ({"byte_fallback": 1}, TypeError, "byte_fallback must be True or False, not 1"),
        ({"pattern": None}, ValueError, "leave the pattern out"),
        ({"initial": cbpe.BasicTokenizer()}, ValueError, "leave initial out"),
        ({"checkpoint": "a.model"}, ValueError, "a checkpoint cannot hold a vocabulary over characters"),
        (
            {"tie_break": "largest"},
            ValueError,
            "tie_break is 'largest'; over characters it must be one of 'shortest', 'first'",
        ),
        ({"max_token_length": 1}, ValueError, "max_token_length is 1; it must be at least 2"),
        ({"special_tokens": {"<x>": 5}}, TypeError, "give their texts alone"),
        ({"special_tokens": "<x>"}, TypeError, "special_tokens are several texts, not '<x>'"),
        ({"special_tokens": ["<s>"]}, ValueError, "'<s>' is one of the three that every such vocabulary has"),
        ({"special_tokens": ["<x>", "<x>"]}, ValueError, "the special token '<x>' is given twice"),
        ({"special_tokens": ["<0x0A>"]}, ValueError, "the special token '<0x0A>' stands for a byte"),
        ({"special_tokens": ["a"]}, ValueError, "the special token 'a' is a single character"),
        ({"special_tokens": [""]}, ValueError, "the special token '' is empty"),
        ({"special_tokens": [1]}, TypeError, "a special token must be a str, not int"),
        ({"vocab_size": MAX_TOKENS + 1}, ValueError, "vocab_size is 2097152; it must be at most 2097151"),
        ({"vocab_size": "300"}, TypeError, "vocab_size must be an int"),
        ({"source": ""}, ValueError, "nothing to learn merges from: there is no text"),
    ],
)
def test_options_that_are_wrong_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        cbpe.train(**{"source": "ab c", "vocab_size": 300, "alphabet": "characters", **options})


def test_over_bytes_no_tie_is_broken_by_characters():
    with pytest.raises(
        ValueError, match="tie_break is 'shortest'; over bytes it must be one of 'first', 'largest', 'smallest'"
    ):
        cbpe.train("ab c", 300, tie_break="shortest")


def test_a_training_does_not_go_on_from_one_over_characters():
    with pytest.raises(ValueError, match="it is over characters, not over bytes"):
        cbpe.train("ab c", 400, initial=trained(SENTENCES))


def test_word_counts_of_another_pattern_are_refused():
    with pytest.raises(ValueError, match="these WordCounts were split by"):
        cbpe.train(count_words("ab c"), 300, alphabet="characters")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alphabet": "ab"}, "word 0 has a character that the alphabet lacks"),
        ({"alphabet": "abca"}, "the alphabet has the character 'a' twice"),
        ({"alphabet": "abc", "refused": ["ax"]}, "the refused text 'ax' is not of characters of the alphabet"),
        ({"alphabet": "abc", "scripts": b"\0"}, "there are 1 scripts for 3 characters"),
        ({"tie_break": "shortest"}, 'tie_break "shortest" is for training over characters'),
    ],
)
def test_the_trainer_refuses_alphabets_that_do_not_fit(options, message):
    from array import array

    with pytest.raises(ValueError, match=message):
        Trainer(b"abc", array("q", [3]), array("q", [1]), **options)


def test_pieces_that_do_not_fit_their_bytes_are_refused():
    from array import array

    with pytest.raises(ValueError, match="piece 1 of length 4 does not lie inside 3 bytes"):
        Pieces(b"abc", array("q", [1, 4]), array("q", [1, 1]), True)
    with pytest.raises(ValueError, match="there are 1 lengths and 2 counts"):
        Pieces(b"abc", array("q", [3]), array("q", [1, 1]), True)
    with pytest.raises(RuntimeError, match="call begin_to_cut first"):
        Pieces(b"abc", array("q", [3]), array("q", [1]), True).cut()


# ---- SentencePiece's format


def test_what_sentencepieces_format_cannot_hold_is_refused_and_nothing_is_written(tmp_path):
    from cbpe.formats import sentencepiece as module
    from cbpe.formats.parts import Parts

    tok = trained(SENTENCES)
    parts = tok._parts()
    characters = parts.processing["characters"]

    def refused(message, special=None, **processing):
        changed = Parts(parts.vocabulary, None, parts.special_tokens if special is None else special, processing)
        with pytest.raises(ValueError, match=message):
            module.dump(changed)

    refused("is for tokenizers over characters")
    refused("cannot hold what is done before merging: normalizer", characters=characters, normalizer=["NFC"])
    other_spaces = "before the first text alone, and SentencePiece puts one before each text"
    refused(other_spaces, characters={**characters, "spaces": "first"})
    refused("needs an unknown token", characters={**characters, "unk_token": None})
    not_special = "'<s>', of which this tokenizer says that it is not special: save as .json"
    refused(not_special, characters=characters, ordinary=["<s>"])
    refused("no token has the id 1", {"<unk>": 0, "</s>": 2}, characters=characters)
    refused("cannot hold NUL", {**parts.special_tokens, "a\0": len(tok.token_byte_values()) + 3}, characters=characters)


def test_merges_that_sentencepiece_would_not_make_are_refused(tmp_path):
    """In the file, "abc" is of "a" and "bc" alone, though "ab" is merged before "bc"."""
    tok = trained("ab bc", 0)
    tok.save(tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text())
    vocab = content["model"]["vocab"]
    for token in ("ab", "bc", "abc"):
        vocab[token] = len(vocab)
    content["model"]["merges"] = [["a", "b"], ["b", "c"], ["a", "bc"]]
    (tmp_path / "b.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="SentencePiece merges whatever spells a piece"):
        cbpe.load(tmp_path / "b.json").save(tmp_path / "b.model")
    assert not (tmp_path / "b.model").exists()


def test_the_record_counts_the_tokens_of_each_line_by_itself():
    text = "low lower\n\nlowest low\nslow\n" * 10
    tok = cbpe.train(text, 275, alphabet="characters")
    lines = [line for line in text.split("\n") if line]
    assert tok.training.tokens[-1] == sum(tok.count(line) for line in lines)
    assert tok.count(text) > tok.training.tokens[-1] + text.count("\n") - 1
