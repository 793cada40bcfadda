"""SentencePiece's .model: small models that `sentencepiece` has trained, and Llama 2's, give its ids and texts; what is
damaged, or cannot be honoured exactly, is refused by name."""

import contextlib
import io
import json
import lzma
import pickle
import random
import tempfile
import warnings
from functools import cache
from pathlib import Path

import pytest
from project import SHARED
from sentencepiece_model import SPECS, field, piece, varint

import cbpe
from cbpe.formats.hugging_face.reading import loads
from cbpe.text.spaces import MARK
from cbpe.tokenizers.description import build, describe
from cbpe.tokenizers.saving import left_out

sentencepiece = pytest.importorskip("sentencepiece")

TRAINED_ON = [
    "the cat sat on the mat, the other cat did not sit",
    "two  spaces   three and four    five",
    "caf\u00e9 na\u00efve \u4e2d\u6587\u4e2d\u5b57 \u4e2d\u6587",
    "a <sep> b <sep> c",
    "1 2 3 12 123",
] * 4
HOSTILE = [
    "", " ", "   ", " a", "a ", "  a   b  ", MARK, f"{MARK}{MARK} {MARK}the", f"a{MARK}b", "\n\n", "<s>", "<s> the</s>",
    "<unk>", "<sep>", "the<sep>cat <sep> <sep><sep>", "\u00e9\u20ac\U0001f600\u0301", "\u4e2d\u6587\u672a\u672a\u4e2d",
    "\x00\x01\x7f", "<0x0A>", "the cat sat on the mat", "\uff41\u3000",
]  # fmt: skip
ALWAYS = {"model_type": "bpe", "normalization_rule_name": "identity", "remove_extra_whitespaces": False}
RULES = "61 62\t78\n62\t79 79\n24\t\n3c 73\t20\n"  # ab -> x, b -> yy, $ -> nothing, <s -> a space
KINDS = {
    "bytes": {"byte_fallback": True, "vocab_size": 330},
    "unknown": {"vocab_size": 70, "character_coverage": 0.98},
    "no space before": {"byte_fallback": True, "vocab_size": 330, "add_dummy_prefix": False},
    "user-defined": {"vocab_size": 75, "user_defined_symbols": ["<sep>", "na"], "unk_surface": "?!"},
    "user-defined, none before": {
        "vocab_size": 75,
        "user_defined_symbols": ["<sep>", "na"],
        "add_dummy_prefix": False,
    },
    "user-defined that overlap": {
        "byte_fallback": True,
        "vocab_size": 340,
        "user_defined_symbols": [
            "ab",
            "bc",
            "b",
            "\n",
            "\n\n",
            f"{MARK}{MARK}",
            MARK * 3,
            f"t{MARK}",
            f"{MARK}the",
            "na",
        ],
        "add_dummy_prefix": False,
    },
    "user-defined that overlap, spaces removed": {
        "vocab_size": 90,
        "user_defined_symbols": ["ab", "bc", MARK, f"{MARK}{MARK}", "th", "he", "3\n", "\n\n"],
        "normalization_rule_name": "nmt_nfkc",
        "remove_extra_whitespaces": True,
    },
    "other specials": {"vocab_size": 75, "control_symbols": ["<cls>"], "pad_id": 3, "unk_id": 5},
    **{
        f"{rule}, {removes}": {
            "byte_fallback": True,
            "vocab_size": 340,
            "normalization_rule_name": rule,
            "remove_extra_whitespaces": removes == "removes spaces",
            "add_dummy_prefix": rule != "nfkc",
            "user_defined_symbols": ["<sep>", "na"] if rule != "nmt_nfkc_cf" else [],
        }
        for rule in ("nmt_nfkc", "nmt_nfkc_cf", "nfkc", "identity")
        for removes in ("removes spaces", "keeps them")
    },
    "rules of one's own": {"byte_fallback": True, "vocab_size": 340, "normalization_rule_tsv": RULES},
    "rules and unknown": {"vocab_size": 70, "normalization_rule_tsv": RULES, "remove_extra_whitespaces": True},
    "spaces alone": {"vocab_size": 75, "allow_whitespace_only_pieces": True, "split_digits": True},
}


RULES_OF_TEXT = {"normalization_rule_name", "normalization_rule_tsv"}  # by which prefixes may not be known


@cache
def data_of(name):
    written = io.BytesIO()
    options = ALWAYS | KINDS[name]
    with tempfile.TemporaryDirectory() as folder:
        if "normalization_rule_tsv" in options:
            rules = Path(folder) / "rules.tsv"
            rules.write_text(options["normalization_rule_tsv"])
            options["normalization_rule_tsv"] = str(rules)
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(TRAINED_ON), model_writer=written, minloglevel=2, **options
        )
    return written.getvalue()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")

    @cache
    def load(name):
        path = folder / f"{name}.model"
        path.write_bytes(data_of(name))
        return cbpe.load(path), sentencepiece.SentencePieceProcessor(model_proto=data_of(name))

    return load


def hostile_texts(seed, n):
    rng = random.Random(seed)
    atoms = ["the", "cat", " ", "  ", MARK, "<s>", "<sep>", "\u4e2d", "\u6587", "\u00e9", "\u672a", "\n", "na", "3"]
    atoms += ["e\u0301", "\uff1csep\uff1e", "\u3000", "\x01", "\ufb01", "\uff4e\uff41", "A\u00df", "\ufdfa", "ab", "b$"]
    atoms += ["abc", "bcab", "\n\n\n", MARK * 2, MARK * 3, "3\n", "the "]  # where user-defined pieces overlap
    atoms += ["\uff1cs\uff1e", "<\x01/s>", "<S>"]  # which are control tokens when they are normalized
    return ["".join(rng.choices(atoms, k=rng.randrange(9))) for _ in range(n)]


@pytest.mark.parametrize("name", KINDS)
def test_ids_and_texts_are_those_of_sentencepiece(both, name):
    ours, judge = both(name)
    for text in HOSTILE + hostile_texts(name, 300):
        ids = ours.encode(text)
        assert ids == judge.encode(text), text
        assert ours.decode(ids) == judge.decode(ids), text
        assert ours.encode_batch([text]) == [ids]
        assert ours.count(text) == len(ids)


@pytest.mark.parametrize("name", KINDS)
def test_what_is_saved_again_is_the_same_to_sentencepiece(both, tmp_path, name):
    ours, judge = both(name)
    ours.save(tmp_path / "again.model")
    again = sentencepiece.SentencePieceProcessor(str(tmp_path / "again.model"))
    loaded = cbpe.load(tmp_path / "again.model")
    assert [again.id_to_piece(i) for i in range(len(again))] == [judge.id_to_piece(i) for i in range(len(judge))]
    assert (again.unk_id(), again.bos_id(), again.eos_id()) == (judge.unk_id(), judge.bos_id(), judge.eos_id())
    for text in HOSTILE + hostile_texts(name, 50):
        ids = judge.encode(text)
        assert again.encode(text) == loaded.encode(text) == ids, text
        assert again.decode(ids) == loaded.decode(ids) == judge.decode(ids), text


@pytest.mark.parametrize("name", KINDS)
def test_threads_change_no_ids(both, name):
    ours, judge = both(name)
    for text in HOSTILE + hostile_texts(name, 40):
        expected = judge.encode(text)
        for workers in (1, 2, None):
            assert ours.encode(text, workers=workers) == expected, (text, workers)
            assert ours.encode_to_numpy(text, workers=workers).tolist() == expected, (text, workers)
            assert ours.count(text, workers=workers) == len(expected), (text, workers)
            assert ours.encode_batch_flat([text, text], num_threads=workers)[0].tolist() == expected * 2, (
                text,
                workers,
            )


@pytest.mark.parametrize("name", KINDS)
def test_any_ids_are_decoded_as_by_sentencepiece(both, name):
    ours, judge = both(name)
    rng = random.Random(name)
    for _ in range(300):
        ids = rng.choices(range(judge.vocab_size()), k=rng.randrange(7))
        assert ours.decode(ids) == judge.decode(ids), ids
        stream = ours.stream_decoder()
        assert "".join(map(stream.push, ids)) + stream.flush() == ours.decode(ids), ids


def test_runs_of_spaces_are_those_of_sentencepiece(both):
    for name in ("spaces alone", "bytes"):
        ours, judge = both(name)
        for n in (*range(70), 1000, 4097):
            assert ours.encode(" " * n + "the") == judge.encode(" " * n + "the"), n


def test_it_is_found_in_its_folder(tmp_path):
    (tmp_path / "tokenizer.model").write_bytes(data_of("bytes"))
    assert cbpe.load(tmp_path).encode("the cat") == cbpe.load(tmp_path / "tokenizer.model").encode("the cat")


def test_it_is_no_format_to_save_in(both, tmp_path):
    with pytest.raises(ValueError, match="ends like no file"):
        both("bytes")[0].save(tmp_path / "x.spm")


@pytest.mark.parametrize("name", ["bytes", "unknown", "no space before", "other specials", "user-defined, none before"])
def test_a_tokenizer_json_gives_its_ids_but_for_text_of_control_tokens_which_are_named(both, tmp_path, name):
    tokenizers = pytest.importorskip("tokenizers")
    ours, judge = both(name)
    controls = {judge.id_to_piece(i) for i in range(len(judge)) if judge.is_control(i) or judge.is_unknown(i)}
    with pytest.warns(
        UserWarning, match="is encoded .here as ordinary text; in this format as these tokens, and decode writes them"
    ) as caught:
        ours.save(tmp_path / "a.json")
    assert len(caught) == 1
    named = str(caught[0].message).partition("how an unknown")[0]
    assert sum(text in named for text in controls) == min(3, len(controls))
    there, again = tokenizers.Tokenizer.from_file(str(tmp_path / "a.json")), cbpe.load(tmp_path / "a.json")
    for text in HOSTILE + hostile_texts(name, 200):
        ids = there.encode(text, add_special_tokens=False).ids
        assert again.encode(text) == ids
        if not any(control in text for control in controls):
            assert ids == judge.encode(text), text
    assert there.encode("<s>", add_special_tokens=False).ids == [judge.bos_id()] != judge.encode("<s>")
    assert left_out(again, "a.json") == []
    words = left_out(again, "a.model")
    assert "is encoded (here as these tokens; in this format as ordinary text)" in words[0]
    # What has no piece and no bytes is decoded as each owner does, and both ways are named where they differ.
    may_be_unknown = not again.processing["characters"]["byte_fallback"]
    unknown, shown = judge.id_to_piece(judge.unk_id()), judge.decode([judge.unk_id()])
    told = f"how an unknown character is decoded (here as '{shown}'; in this format as {unknown})"
    assert (told in str(caught[0].message)) == may_be_unknown
    told = f"how an unknown character is decoded (here as {unknown}; in this format as ' \u2047 ')"
    assert words[1:] == [told] * may_be_unknown


def test_user_defined_pieces_that_a_tokenizer_json_would_find_elsewhere_are_refused(both, tmp_path):
    with pytest.raises(ValueError, match="no way to find the user-defined token '<sep>' where SentencePiece does"):
        both("user-defined")[0].save(tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


def test_control_tokens_are_said_to_be_in_no_text_where_they_are_allowed(both):
    ours, judge = both("user-defined")
    text = "<s> the<sep>"
    expected = judge.encode(text)
    with pytest.warns(UserWarning, match="text of '<s>' stays ordinary text"):
        assert ours.encode(text, allowed_special={"<s>", "<sep>"}) == expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for allowed in ("all", {"<sep>"}, set(ours.special_tokens)):
            assert ours.encode(text, allowed_special=allowed) == expected
    for disallowing in ({"disallowed_special": {"<s>"}}, {"allowed_special": "none_raise"}):
        with pytest.raises(
            ValueError, match=r"found in no text, .*: to have it, put its id between .* ordinary text, "
        ):
            ours.encode(text, **disallowing)


@pytest.mark.parametrize("name", [name for name, options in KINDS.items() if not {*options} & RULES_OF_TEXT])
def test_text_of_control_tokens_is_truncated_as_any_other(both, name):
    ours, judge = both(name)
    for text in ("the <s> cat", "<s>", "</s>the", f"cat{MARK}<s>  sat", "a<unk><s>b"):
        if name == "user-defined that overlap" and ("b" in text or "  " in text):
            continue  # user-defined pieces, which are looked for in normalized text
        counts = [len(judge.encode(text[:n])) for n in range(len(text) + 1)]
        for budget in range(1, max(counts) + 1):
            longest = max(n for n, count in enumerate(counts) if count <= budget)
            assert ours.truncate(text, budget) == text[:longest], (text, budget)


@pytest.mark.parametrize("name", [name for name, options in KINDS.items() if not {*options} & RULES_OF_TEXT])
def test_halves_of_characters_are_truncated_as_the_characters(both, name):
    if name == "user-defined that overlap":
        pytest.skip("its pieces are looked for in normalized text, whose prefixes are not known")
    ours, _ = both(name)
    for halves, whole in (
        ("a\ud83d\ude00bc the cat", "a\U0001f600bc the cat"),
        ("\ud83d\ude00\ud83d\ude00 the", "\U0001f600\U0001f600 the"),
        ("t\ud83d the", "t\ufffd the"),
    ):
        for budget in range(1, ours.count(whole) + 2):
            assert ours.truncate(halves, budget) == ours.truncate(whole, budget), (whole, budget)
        assert ours.truncate(halves, 100) == whole


def test_a_text_with_an_added_token_that_is_none_within_a_word_is_truncated_if_it_fits(tmp_path):
    path = tmp_path / "a.json"
    cbpe.train("low lower lowest " * 9, 290, alphabet="characters", special_tokens=["<Y>"]).save(path)
    value = json.loads(path.read_text(encoding="utf-8"))
    for token in value["added_tokens"]:
        token["single_word"] = token["content"] == "<Y>"
    path.write_text(json.dumps(value), encoding="utf-8")
    tok = cbpe.load(path)
    assert tok.truncate("<Y>low", 100) == "<Y>low"
    with pytest.raises(ValueError, match="an added token in this text is one by what stands beside it"):
        tok.truncate("<Y>low", 2)
    assert tok.count(tok.truncate("low lower lowest", 2)) == 2


def test_added_tokens_that_overlap_have_no_places(tmp_path):
    """As where one takes the white space that is another one, as Gemma's are."""
    path = tmp_path / "a.json"
    cbpe.train("low lower lowest\n\n" * 9, 290, alphabet="characters", special_tokens=["[m]", "\n\n"]).save(path)
    value = json.loads(path.read_text(encoding="utf-8"))
    for token in value["added_tokens"]:
        token["rstrip"] = token["content"] == "[m]"
    path.write_text(json.dumps(value), encoding="utf-8")
    tok = cbpe.load(path)
    assert tok.encode_with_offsets("[m] low", add_special_tokens=False)[1][0] == (0, 4)
    assert tok.encode("[m]\n\nlow", add_special_tokens=False)[:2] == [tok.token_to_id("[m]"), tok.token_to_id("\n\n")]
    for encode in (tok.encode_with_offsets, tok.encode_to_numpy_with_offsets):
        with pytest.raises(ValueError, match="added tokens in this text overlap: there are no places in it"):
            encode("[m]\n\nlow")


def test_places_of_tokens_are_told_where_user_defined_pieces_hold_marks(both):
    ours, judge = both("user-defined that overlap")
    for text in ("the  cat", "a   b", "ab the", "x  y"):
        ids = ours.encode(text)
        assert ids == judge.encode(text)
        told, places = ours.decode_with_offsets(ids)
        assert told == judge.decode(ids) == text
        assert places == [start for start, _ in ours.encode_with_offsets(text)[1]]


def test_control_tokens_stay_and_others_may_be_added(both, tmp_path):
    ours = pickle.loads(pickle.dumps(both("bytes")[0]))
    with pytest.raises(ValueError, match=r"is a control token .*register_special_tokens.{\*\*tok.special_tokens"):
        ours.register_special_tokens({"<x>": 1000})
    ours.register_special_tokens({**ours.special_tokens, "<x>": ours.n_vocab})
    with pytest.raises(ValueError, match="cannot hold the added token '<x>', which is found before a space is put"):
        ours.save(tmp_path / "a.model")
    with pytest.warns(UserWarning, match="that spells <s>, </s>, <unk> is encoded .here as ordinary text"):
        ours.save(tmp_path / "a.json")
    again = cbpe.load(tmp_path / "a.json")
    assert again.encode("the<x>cat") == ours.encode("the<x>cat") == pickle.loads(pickle.dumps(ours)).encode("the<x>cat")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"model_type": "unigram"}, "model_type: it is unigram, and only BPE"),
        ({"model_type": "char"}, "model_type: it is char"),
        ({"treat_whitespace_as_suffix": True}, "treat_whitespace_as_suffix: only false"),
        ({"user_defined_symbols": ["a b"]}, "the user-defined piece 'a b' has a space, where"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_its_name(options, problem, tmp_path):
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TRAINED_ON),
        model_writer=written,
        minloglevel=2,
        hard_vocab_limit=False,
        **ALWAYS | {"vocab_size": 75} | options,
    )
    (tmp_path / "a.model").write_bytes(written.getvalue())
    with pytest.raises(ValueError, match=problem):
        cbpe.load(tmp_path / "a.model")


def test_a_model_cut_between_two_pieces_is_not_said_to_be_of_another_kind(tmp_path):
    data, at = data_of("nmt_nfkc, removes spaces"), 0
    for _ in range(40):
        at += 2 + data[at + 1]  # a tag and a length, of one byte each
    (tmp_path / "a.model").write_bytes(data[:at])
    with pytest.raises(ValueError, match=r"it has no trainer_spec, .*: it is cut short behind one of its pieces"):
        cbpe.load(tmp_path / "a.model")
    assert cbpe.inspect(tmp_path / "a.model").found["trainer_spec.model_type"] == "not said"


def test_a_normalizer_is_kept_in_the_store_and_refused_by_other_formats(both, tmp_path):
    ours = both("nmt_nfkc, removes spaces")[0]
    text = " \ufb01ne \uff34he  cat "
    for other in (pickle.loads(pickle.dumps(ours)), build(describe(ours))):
        assert other.encode(text) == ours.encode(text)
        assert other.decode(ours.encode(text)) == "fine The cat"
    for name in ("a.json", "a.tiktoken"):
        with pytest.raises(ValueError, match=r"normaliz.*Save it as \.model$"):
            ours.save(tmp_path / name)
    with pytest.raises(ValueError, match=r"normalizer is .*only NFC"):
        loads(json.dumps({"normalizer": ours.processing["normalizer"][0], "model": {"type": "BPE"}}).encode())


UNKNOWN = piece(b"<unk>", kind=2)
BROKEN = {
    "a number without end": (b"\n\x07\n\x01a" + b"\xff" * 20, "a number .* has no end|cut short"),
    "a length of 2**63": (UNKNOWN + b"\n" + varint(2**63), "cut short: a field .* has 9,223,372,036,854,775,808 bytes"),
    "a group": (UNKNOWN + b"\x0b", "a field of type 3"),
    "a score that is no number": (
        UNKNOWN + piece(b"ab", b"\x00\x00\xc0\x7f") + SPECS,
        "score of piece 1, 'ab', is nan",
    ),
    "a score without bounds": (UNKNOWN + piece(b"ab", b"\x00\x00\x80\x7f") + SPECS, "score of piece 1, 'ab', is inf"),
    "no UTF-8": (UNKNOWN + piece(b"\xff") + SPECS, "piece 1 is no UTF-8"),
    "an empty piece": (UNKNOWN + piece(b"") + SPECS, "piece 1 is empty"),
    "a piece twice": (UNKNOWN + piece(b"a") * 2 + SPECS, "'a' is there twice"),
    "an unused piece": (UNKNOWN + piece(b"a", kind=5) + SPECS, "unused pieces are not supported"),
    "a kind beyond all": (UNKNOWN + piece(b"a", kind=2**40) + SPECS, "is of type 1099511627776"),
    "no unknown piece": (piece(b"a") + SPECS, "it has 0 unknown pieces"),
    "one score for two pieces": (
        UNKNOWN + piece(b"a") + piece(b"b") + piece(b"ab") + piece(b"ba") + SPECS,
        "'ab' and 'ba' have the same score",
    ),
    "bytes missing": (
        UNKNOWN + piece(b"<0x00>", kind=6) + field(2, field(3, 2) + field(35, 1)) + field(3, field(4, 0)),
        "1 bytes of 256",
    ),
    "a number in place of a piece": (UNKNOWN + field(1, 5) + SPECS, "a piece is the number 5"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_damaged_file_is_refused(name, tmp_path):
    data, problem = BROKEN[name]
    (tmp_path / "a.model").write_bytes(data)
    with pytest.raises(ValueError, match=problem):
        cbpe.load(tmp_path / "a.model")


def test_a_file_cut_or_changed_anywhere_is_refused_or_a_tokenizer(both, tmp_path):
    data = data_of("bytes")
    rng = random.Random(1)
    path = tmp_path / "a.model"
    for at in [*range(0, len(data), len(data) // 10), *rng.choices(range(len(data)), k=60)]:
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]):
            path.write_bytes(damaged)
            tokenizer = None
            with contextlib.suppress(ValueError):
                tokenizer = cbpe.load(path)
            assert tokenizer is None or isinstance(tokenizer, cbpe.SentencePieceTokenizer)


def test_llama_2s_own_model_gives_the_ids_of_sentencepiece(tmp_path):
    path = SHARED / "zoo" / "llama2.model.xz"
    if not path.exists():
        pytest.skip(f"no {path}")
    data = lzma.decompress(path.read_bytes())
    (tmp_path / "tokenizer.model").write_bytes(data)
    ours, judge = cbpe.load(tmp_path), sentencepiece.SentencePieceProcessor(model_proto=data)
    texts = HOSTILE + hostile_texts("llama 2", 300) + [" " * n for n in range(200)]
    for corpus in ("english", "code", "chinese", "multilingual", "japanese"):
        with lzma.open(SHARED / "corpora" / f"{corpus}.txt.xz", "rt", encoding="utf-8", newline="") as file:
            texts.append(file.read(60_000))
    for text in texts:
        ids = ours.encode(text)
        assert ids == judge.encode(text), text[:50]
        assert ours.decode(ids) == judge.decode(ids), text[:50]
