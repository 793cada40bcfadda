"""Statistics of texts: sums over them, however they come."""

import json
import math

import pytest
from vocabularies import by_merges

import cbpe
from cbpe.corpus.sources import Reader
from cbpe.tokenizers.tokenizer import Tokenizer


def test_statistics_of_texts_are_sums_over_them():
    tok = Tokenizer(by_merges([(97, 98), (256, 256)]), None, {"<a>": 300})
    found = tok.statistics(["abab ab", "é <a>"])
    assert (found.texts, found.bytes, found.characters, found.words) == (2, 13, 12, 4)
    assert (found.tokens, found.tokens_used, found.vocab_size) == (9, 8, 258)
    assert (found.bytes_per_token, found.tokens_per_word, found.vocabulary_used) == (13 / 9, 9 / 4, 8 / 258)
    assert tok.statistics("abab ab") == tok.statistics(["abab ab"])


def test_statistics_of_files(tmp_path):
    tok = cbpe.get_encoding("gpt2")
    (tmp_path / "a.txt").write_text("hello world \u00e9" * 50_000, encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"body": "low"}\n{"body": "lower"}\n')
    assert tok.statistics(tmp_path / "a.txt") == tok.statistics("hello world \u00e9" * 50_000)
    assert tok.statistics(tmp_path / "b.jsonl", field="body") == tok.statistics(["low", "lower"])
    assert tok.statistics(b"\xff", errors="replace") == tok.statistics("\ufffd")
    with pytest.raises(ValueError, match="not UTF-8"):
        tok.statistics(b"\xff")


def test_a_text_that_is_cut_has_the_statistics_of_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("cbpe.corpus.files.CHUNK_BYTES", 7)
    text = "don't stop, won't stop:\u3000naïve café\t\n  1234567 words\u00a0and  more " * 20
    (tmp_path / "a.txt").write_bytes(text.encode())
    found = cbpe.get_encoding("cl100k_base").statistics(tmp_path / "a.txt")
    assert (found.characters, found.bytes, found.words) == (len(text), len(text.encode()), len(text.split()))
    assert found.tokens == cbpe.get_encoding("cl100k_base").count(text)
    assert found.tokens_used == len(set(cbpe.get_encoding("cl100k_base").encode(text)))


def test_tallies_are_added():
    tok = cbpe.get_encoding("gpt2")
    texts = ["hello world", "hello there", ""]
    total = tok.tally()
    for text in texts:
        tally = tok.tally()
        tally.add(Reader(text))
        assert tally.statistics() == tok.statistics(text)
        total += tally
    assert total.statistics() == tok.statistics(texts)


def test_statistics_of_nothing():
    found = cbpe.get_encoding("gpt2").statistics([])
    assert (found.texts, found.tokens, found.vocabulary_used) == (0, 0, 0.0)
    assert math.isnan(found.bytes_per_token)
    assert math.isnan(found.tokens_per_word)


def test_lone_surrogates_count_as_they_are_encoded():
    found = cbpe.get_encoding("gpt2").statistics("\ud800")
    assert (found.bytes, found.characters) == (3, 1)


def test_a_text_that_is_none_is_a_type_error():
    with pytest.raises(TypeError, match="must be a str, bytes or a path, not int"):
        cbpe.get_encoding("gpt2").statistics(["a", 7])


def test_bytes_per_token_are_of_what_the_pattern_does_not_leave_out():
    text = "in 1969, 12 and 7 \u00e9 "
    for pattern, pieces in ((r"\d+", ["1969", "12", "7"]), ("[0-9\u00e9]+", ["1969", "12", "7", "\u00e9"])):
        found = cbpe.RegexTokenizer(pattern).statistics(text)
        n = len("".join(pieces).encode())
        assert (found.bytes, found.covered_bytes, found.tokens) == (len(text.encode()), n, n)
        assert found.bytes_per_token == 1.0
    tok = cbpe.train("in 1969 and in 1970 " * 3, 258, pattern=r"\d+")
    found = tok.statistics("in 1969 and in 1970 " * 3)
    assert found.bytes_per_token == tok.training.compression()
    assert cbpe.BasicTokenizer().statistics(text).covered_bytes == len(text.encode())


def test_measures_of_a_part_of_a_text_are_told():
    digits = cbpe.RegexTokenizer(r"\d+")
    told = "{} leaves 50.0% of {} out, which its split pattern does not match: bytes/token is that of the rest"
    with pytest.warns(UserWarning, match=told.format("this tokenizer", "this text")):
        digits.statistics("in 1969 ")
    with pytest.warns(UserWarning, match=told.format("digits", "years")) as warned:
        cbpe.compare({"digits": digits, "gpt2": cbpe.get_encoding("gpt2")}, {"years": "in 1969 "})
    assert len(warned) == 1
    with pytest.warns(UserWarning, match=told.format("the tokenizer", "years")):
        cbpe.sweep(digits, {"years": "in 1969 "})


@pytest.mark.parametrize("empty", ["", [], [""], iter(())])
def test_a_source_without_text_is_told(empty):
    tok = cbpe.train("low lower", 258)
    with pytest.warns(UserWarning, match="the source holds no text, and nothing is measured"):
        assert tok.statistics(empty).bytes == 0
    with pytest.warns(UserWarning, match="nothing here holds no text, and nothing is measured") as warned:
        cbpe.compare({"a": tok, "b": tok}, {"nothing here": empty})
    assert len(warned) == 1
    with pytest.warns(UserWarning, match="nothing here holds no text, and nothing is measured"):
        cbpe.sweep(tok, {"nothing here": empty})


def test_over_characters_all_bytes_count():
    tok = cbpe.train("low lower lowest\n" * 20, 290, alphabet="characters")
    found = tok.statistics("low lower")
    assert (found.bytes, found.covered_bytes) == (9, 9)


def test_a_character_without_a_token_is_no_token_of_the_vocabulary():
    tok = cbpe.train("the cat sat on the mat " * 20 + "xyz", 13, alphabet="characters", byte_fallback=False,
                     character_coverage=0.9)  # fmt: skip
    all_of_it = "".join(tok.decode([i]) for i in tok.vocab if i not in tok.special_tokens.values())
    text = all_of_it + "Q"
    assert "<unk>" in [tok.id_to_token(i) for i in tok.encode(text)]
    told = "1 of the 11 tokens of {} on {} stand for characters without a token, each for one or more of them"
    with pytest.warns(UserWarning, match=told.format("this tokenizer", "this text")):
        found = tok.statistics(text)
    assert (found.tokens_used, found.vocabulary_used, found.unknown_tokens) == (tok.vocab_size, 1, 1)
    said = "unknown tokens</th>"
    assert f"{said}<td><bdi>1<" in found._repr_html_()
    assert said not in tok.statistics(all_of_it)._repr_html_()
    with pytest.warns(UserWarning, match=told.format("tok", "text")):
        [row] = cbpe.compare({"tok": tok}, {"text": text}).rows
    assert row["unknown_tokens"] == 1
    assert (row["tokens_used"], row["vocabulary_used"]) == (tok.vocab_size, 1)
    assert row["tokens"] == len(tok.encode(text, add_special_tokens=False))
    assert row["renyi_efficiency"] == pytest.approx(1)


def test_an_ordinary_token_whose_id_an_added_token_has_is_counted_as_used(tmp_path):
    """As 92 of Gemma 3's are."""
    path = tmp_path / "a.json"
    cbpe.train("low lower lowest\n\n" * 9, 290, alphabet="characters").save(path)
    value = json.loads(path.read_text(encoding="utf-8"))
    ids = value["model"]["vocab"]
    token = next(token for token in ids if token.isalpha())  # a letter, which the text has as a token
    added = {**value["added_tokens"][0], "content": token, "id": ids[token], "special": False, "normalized": False}
    value["added_tokens"].append(added)
    path.write_text(json.dumps(value), encoding="utf-8")
    tok = cbpe.load(path)
    text = f"low {token}{token} lower"
    ordinary = tok.encode_ordinary(text)
    assert ids[token] in ordinary
    assert ids[token] in tok.special_tokens.values()
    with pytest.warns(UserWarning, match="added tokens that are not special"):
        assert tok.statistics(text).tokens_used == len({*ordinary})
    with pytest.warns(UserWarning, match="added tokens that are not special"):
        [row] = cbpe.compare({"tok": tok}, {"text": text}).rows
    assert row["tokens_used"] == len({*ordinary})


def test_added_tokens_that_are_ordinary_text_to_measures_are_told(tmp_path, recwarn):
    cbpe.train("low lower lowest " * 9, 270, special_tokens=["<b>", "<s>"]).save(tmp_path / "a.json")
    value = json.loads((tmp_path / "a.json").read_text())
    value["added_tokens"][0]["special"] = False
    (tmp_path / "a.json").write_text(json.dumps(value))
    tok = cbpe.load(tmp_path / "a.json")
    recwarn.clear()
    assert tok.statistics("low <s> lower").added_as_text is False
    assert cbpe.compare({"tok": tok}, {"text": "low <s> lower"}).rows[0]["added_as_text"] is False
    assert recwarn.list == []
    told = "{} has added tokens that are not special in {}, which are ordinary text to the measures"
    with pytest.warns(UserWarning, match=told.format("this tokenizer", "this text")):
        assert tok.statistics(["low", "lower <b>"]).added_as_text is True
    with pytest.warns(UserWarning, match=told.format("tok", "text")):
        [row] = cbpe.compare({"tok": tok}, {"text": "low <b> lower"}).rows
    assert row["added_as_text"] is True
    assert row["tokens"] > len(tok.encode("low <b> lower"))
    parts = tmp_path / "parts.txt"
    parts.write_text("low " * 300_000 + "<b> lower")  # in chunks
    for corpus in ("low <b> lower", parts):
        with pytest.warns(UserWarning, match=told.format("the tokenizer", "text")):
            swept = cbpe.sweep(tok, {"text": corpus}, [256])
        assert [row["added_as_text"] for row in swept.rows] == [True, True]
    recwarn.clear()
    assert cbpe.sweep(tok, {"text": "low <s> lower"}, [256]).rows[0]["added_as_text"] is False
    assert recwarn.list == []


def test_word_counts_are_no_texts_to_statistics():
    with pytest.raises(TypeError, match="WordCounts hold words, and no texts: statistics takes the texts themselves"):
        cbpe.get_encoding("gpt2").statistics(cbpe.count_words("a b"))
    with pytest.raises(TypeError, match=r"or an iterable of these, not NoneType"):
        cbpe.get_encoding("gpt2").statistics(None)
