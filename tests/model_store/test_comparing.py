"""Comparing: what differs between two versions, and how they do on texts."""

import math
import re
from dataclasses import replace

import pytest
from tokenizer_json import ended

import cbpe
from cbpe.views.readable import readable_bytes
from store import MergeDifference, MovedToken

BYTES = {bytes([i]): i for i in range(256)}


def encoding(ranks, special_tokens, pattern=r"\S+|\s+"):
    return cbpe.Encoding("own", pat_str=pattern, mergeable_ranks={**BYTES, **ranks}, special_tokens=special_tokens)


A = encoding({b"lo": 256, b"we": 257, b"low": 258}, {"<|end|>": 300, "<|a|>": 301})
B = encoding({b"lo": 256, b"low": 257, b"er": 259}, {"<|end|>": 299, "<|b|>": 300}, pattern=".+")


@pytest.fixture
def filled(models):
    models.save(A, "a")
    models.save(B, "b")
    return models


def test_what_differs_beside_more_merges_is_not_left_out(models):
    first = cbpe.train("low lower lowest", 258)
    special = cbpe.train("low lower lowest", 260, initial=first, special_tokens=["<|end|>"])
    moved = cbpe.train("low lower lowest", 258, special_tokens={"<|end|>": 300})
    for other, said in ((first, f"1 special token only in {special}"), (moved, "1 special token under other ids")):
        found = models.diff(other, special)
        assert repr(found).startswith("<Diff of ")
        assert repr(found).endswith(f" and 2 more, {said}>")
        assert "special tokens that differ" in found._repr_html_()
    assert "special tokens that differ" not in models.diff(first, cbpe.train("low lower", 258))._repr_html_()
    a, b = encoding({b"ab": 256}, {}), encoding({b"bc": 256}, {})
    assert f"1 token only in {a}, 1 token only in {b}, other merges" in repr(models.diff(a, b))
    more = repr(models.diff(first, cbpe.train("low lower lowest", 260, initial=first)))
    assert more.startswith("<Diff: ")
    assert more.endswith(" and 2 more>")


def test_all_that_differs_is_named(filled):
    diff = filled.diff("a", "b@1")
    assert (diff.a, diff.b) == (filled.version("a"), filled.version("b"))
    assert diff.only_a == ((257, b"we"),)
    assert diff.only_b == ((259, b"er"),)
    assert diff.moved == (MovedToken(b"low", (258,), (257,)),)
    assert diff.first_merge == MergeDifference(1, (b"w", b"e"), (b"lo", b"w"))
    assert (diff.special_only_a, diff.special_only_b) == ({"<|a|>": 301}, {"<|b|>": 300})
    assert diff.special_moved == {"<|end|>": (300, 299)}
    assert diff.settings == {"pattern": (r"\S+|\s+", ".+")}
    assert not diff.same
    assert diff


def test_a_version_does_not_differ_from_its_like(filled):
    filled.save(A, "c")
    diff = filled.diff("a", "c")
    assert diff.same
    assert not diff
    assert (diff.only_a, diff.only_b, diff.moved, diff.first_merge) == ((), (), (), None)
    assert (diff.special_only_a, diff.special_only_b, diff.special_moved, diff.settings) == ({}, {}, {}, {})


def test_tokenizers_that_are_in_no_store_are_compared_as_versions_are(filled):
    versions, mixed, toks = (filled.diff(*sides) for sides in (("a", "b"), ("a", B), (A, B)))
    assert (toks.a, toks.b, mixed.b) == (A, B, B)
    assert mixed.a == versions.a
    for found in (mixed, toks):
        assert replace(found, a=versions.a, b=versions.b) == versions
    assert filled.diff("a", A).same
    assert not filled.diff("a", A)
    assert filled.compare("a", B, "lower").texts == filled.compare("a", "b", "lower").texts
    with pytest.raises(TypeError, match="this is a Own: what a class of your own does"):
        filled.diff("a", type("Own", (cbpe.BasicTokenizer,), {})())


def test_merges_may_part_where_those_of_one_end(filled):
    filled.save(encoding({b"lo": 256, b"we": 257}, {}), "shorter")
    assert filled.diff("a", "shorter").first_merge == MergeDifference(2, (b"lo", b"w"), None)
    assert filled.diff("shorter", "a").first_merge == MergeDifference(2, None, (b"lo", b"w"))


def test_semantics_differ_and_bytes_may_have_two_ids(filled):
    tok = cbpe.BasicTokenizer()
    tok.train("abcabc bcabc ab", 262)
    trained = cbpe.train("abc", 256, pattern=r"\S+|\s+")
    filled.save(trained, "bytes")
    assert filled.diff("a", "bytes").settings["semantics"] == ("ranks", "pairs")
    filled.save(tok, "trained")
    assert {token for _, token in filled.diff("trained", "bytes").only_a} == set(tok.vocab.values()) - set(BYTES)


def test_merges_of_a_byte_without_a_token_are_compared(filled):
    ranks = {token: rank for token, rank in BYTES.items() if token != b"l"}
    tok = cbpe.Encoding("own", pat_str=".+", mergeable_ranks={**ranks, b"lo": 256}, special_tokens={})
    filled.save(tok, "without")
    diff = filled.diff("without", "a")
    assert (0x6C, b"l") in diff.only_b
    assert filled.verify("without").ok


def test_texts_are_compared_with_their_special_tokens_as_ordinary_text(filled):
    texts = ["lower", "<|end|> \u00e9", "", "\ud800"]
    comparison = filled.compare("a", "b", iter(texts))
    assert [row.text_bytes for row in comparison.texts] == [5, 10, 0, 3]
    assert [row.tokens_a for row in comparison.texts] == [len(A.encode_ordinary(text)) for text in texts]
    assert [row.tokens_b for row in comparison.texts] == [len(B.encode_ordinary(text)) for text in texts]
    assert comparison.texts[0].bytes_per_token_a == 5 / len(A.encode_ordinary("lower"))
    assert math.isnan(comparison.texts[2].bytes_per_token_b)
    total = comparison.total
    assert total.text_bytes == 18
    assert total.tokens_b == sum(len(B.encode_ordinary(text)) for text in texts)
    assert total.bytes_per_token_b == 18 / total.tokens_b
    assert filled.compare("a", "b", "lower").texts == comparison.texts[:1]
    assert filled.compare("a", "b", [b"lower"]).texts == comparison.texts[:1]  # in UTF-8
    for no_texts, told in (({"lower": "newer"}, "dict"), (None, "None"), (5, "int"), ([5], "int"), ([None], "None")):
        with pytest.raises(TypeError, match=told):
            filled.compare("a", "b", no_texts)


def test_texts_to_compare_are_read_from_files(filled, tmp_path):
    (tmp_path / "a.txt").write_text("lower newer", encoding="utf-8")
    rows = ["lower", "newer lower"]
    (tmp_path / "a.jsonl").write_text("".join(f'{{"text": "{row}"}}\n' for row in rows), encoding="utf-8")
    in_memory = filled.compare("a", "b", ["lower newer", *rows]).texts
    assert filled.compare("a", "b", tmp_path / "a.txt").texts == in_memory[:1]
    assert filled.compare("a", "b", [tmp_path / "a.txt"]).texts == in_memory[:1]
    assert filled.compare("a", "b", tmp_path / "a.jsonl", field="text").texts == in_memory[1:]
    with pytest.warns(UserWarning, match=r"to read the file, pass pathlib\.Path"):
        filled.compare("a", "b", str(tmp_path / "a.txt"))


def test_versions_are_compared_without_the_tokens_of_a_template(models):
    made = ended(cbpe.train("low lower lowest", 260, special_tokens={"<|end|>": 300}))
    row = models.compare(made, A, ["lower lowest"]).texts[0]
    assert made.count("lower lowest") == row.tokens_a + 1
    assert (row.text_bytes, row.covered_bytes_a) == (12, 12)


def test_a_notebook_shows_tokens_as_text(filled):
    found = filled.diff(cbpe.train("the sup the sup", 262), cbpe.train("éé ", 256))
    assert "b&#x27;" not in found._repr_html_()
    assert "&quot;" in found._repr_html_()
    found = filled.diff(cbpe.train("the sup the sup", 262), cbpe.train("é" * 9, 257))._repr_html_()
    assert "rank 0: &quot;t&quot; + &quot;h&quot; in a, &quot;\\xc3&quot; + &quot;\\xa9&quot; in b" in re.sub(
        "</?bdi.*?>", "", found
    )


def test_what_runs_from_right_to_left_keeps_its_place_in_a_notebook(filled):
    """Each part runs in a direction of its own, and tokens with escapes in them from left to right."""
    a, b = cbpe.train("של של לם לם " * 5, 262), cbpe.train("לש לש מל מל " * 5, 262)
    shown = filled.diff(a, b)._repr_html_()
    tokens = [*(token for _, token in filled.diff(a, b).only_a), *(token for _, token in filled.diff(a, b).only_b)]
    halves = [readable_bytes(token) for token in tokens if readable_bytes(token).endswith(r"\xd7")]
    assert halves
    assert all(f'<bdi dir="ltr">&quot;{half}&quot;</bdi>' in shown for half in halves)
    merge = re.search(r"<bdi>rank [^<]*</bdi>(.*?)</td>", shown)[1]
    assert re.fullmatch(
        r'(?:<bdi dir="ltr">[^<]*</bdi><bdi> \+ </bdi><bdi dir="ltr">[^<]*</bdi><bdi> in [ab](?:, )?</bdi>){2}</bdi>',
        merge,
    )
    version = filled.save(a, "rtl", tags={"שפה": "עברית", "b": "ערבית"}, aliases=["אב", "גד"])
    shown = version._repr_html_()
    for parts in (["שפה", "=", "עברית"], ["b", "=", "ערבית"], ["אב", ", ", "גד"]):
        assert "".join(f"<bdi>{part}</bdi>" for part in parts) in shown


def test_a_text_that_is_the_name_of_a_file_is_told_of(filled, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.txt").write_text("the cat sat")
    for texts in ("small.txt", ["small.txt"]):
        with pytest.warns(UserWarning, match=r"'small\.txt' is read as a text, and there is a file of this name"):
            assert filled.compare("a", "b", texts).total.text_bytes == len("small.txt")


def test_what_a_split_pattern_leaves_out_is_told(models):
    models.save(cbpe.RegexTokenizer(r"\d+"), "digits")
    models.save(cbpe.train("the cat", 258), "bytes")
    told = r"digits@1 leaves 50\.0% of these texts out, which its split pattern does not match"
    with pytest.warns(UserWarning, match=told) as warned:
        models.compare("digits", "bytes", ["in 1969 ", "in 1970 "])
    assert len(warned) == 1


def test_tokens_that_stand_for_characters_without_one_are_told(models):
    over = {"alphabet": "characters", "byte_fallback": False, "character_coverage": 0.9}
    tok = cbpe.train("the cat sat on the mat " * 20 + "xyz", 13, **over)
    models.save(tok, "chars")
    models.save(cbpe.train("the cat", 258), "bytes")
    with pytest.warns(UserWarning, match="2 of the 7 tokens of chars@1 on these texts stand for characters without"):
        found = models.compare("chars", "bytes", ["cat \u4e2d\u6587", "\u4e2d"])
    assert found.total.tokens_a == len([" ", "c", "at", " ", "<unk>", " ", "<unk>"])
