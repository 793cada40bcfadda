"""Lists of versions, changes, moves of aliases and places of tokens, as a notebook shows them."""

import copy
import pickle
import re
from dataclasses import replace
from datetime import timezone

import cbpe
from cbpe.tokenizers.description import describe
from store import ModelStore

TEXT = "low lower lowest newer wider new low" * 3


def rows_of(shown):
    """The cells of each row of a table in HTML, without their marks."""
    rows = re.findall(r"<tr>(.*?)</tr>", shown)
    return [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)] for row in rows]


def test_a_notebook_shows_versions_as_a_table(models):
    first = models.save(cbpe.train(TEXT, 258, special_tokens=["<|end|>"]), "a", tags={"language": "en", "old": ""})
    models.save(cbpe.train(TEXT, 264), "a", aliases=["prod", "<b>"], metrics={"loss": 1.5}, parent="a@1")
    found = models.versions()
    assert found == [models.version("a@1"), models.version("a@2")]
    head, *rows = rows_of(found._repr_html_())
    assert head == ["version", "tokens", "special", "saved", "aliases", "tags", "metrics", "parent"]
    saved = first.time.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M+00:00")
    assert rows[0] == ["a@1", "258", "1", saved, "", "language=en, old", "", ""]
    assert rows[1][:3] == ["a@2", "264", "0"]
    assert rows[1][4:] == ["&lt;b&gt;, prod", "", "loss=1.5", "a@1"]
    assert models.history("a")._repr_html_() == found._repr_html_()
    assert rows_of(models.delete_name("a", force=True)._repr_html_())[1][0] == "a@1"


def test_a_notebook_shows_changes_moves_and_places_as_tables(models):
    models.save(cbpe.train(TEXT, 264), "a", aliases=["prod"])
    models.save(cbpe.train(TEXT, 260), "a")
    models.set_alias("a", "prod", "a@2")
    models.remove_alias("a", "prod")
    head, *rows = rows_of(models.alias_history("a")._repr_html_())
    assert head == ["alias", "version", "since"]
    assert [row[:2] for row in rows] == [["prod", "a@1"], ["prod", "a@2"], ["prod", "removed"]]
    head, *rows = rows_of(models.audit_log()._repr_html_())
    assert head == ["time", "who", "action", "version", "details"]
    assert [row[3] for row in rows] == ["a@2", "a@2", "a@2", "a@1"]
    assert rows[1][4] == "prod, before at 1"
    token = models.load("a@1").decode_bytes([256])
    head, *rows = rows_of(models.find_token(token)._repr_html_())
    assert head == ["version", "id", "rank"]
    assert rows == [["a@1", "256", "0"], ["a@2", "256", "0"]]


def test_such_a_list_is_a_list_and_an_empty_one_shows_as_one(models):
    assert models.versions() == []
    assert models.versions()._repr_html_() is None
    models.save(cbpe.train(TEXT, 264), "a")
    for found in (models.versions(), models.audit_log(), models.find_token(b"a")):
        assert isinstance(found, list)
        assert repr(found) == repr(list(found))
        assert pickle.loads(pickle.dumps(found)) == found
        assert copy.deepcopy(found) == found


def test_of_a_long_list_the_first_rows_are_shown_and_how_many_more_there_are(models):
    models.save(cbpe.train(TEXT, 258), "a", aliases=["prod"])
    version = models.version("a@1")
    several = type(models.versions())
    assert len(rows_of(several([version] * 100)._repr_html_())) == 1 + 100
    assert "more<" not in several([version] * 100)._repr_html_()
    shown = several([version] * 1334)._repr_html_()
    assert len(rows_of(shown)) == 1 + 100
    assert ">and 1,234 more<" in shown


def test_a_slice_of_such_a_list_shows_as_a_table_too(models):
    for size in (258, 260, 262):
        models.save(cbpe.train(TEXT, size), "a", aliases=["prod"])
    lists = (models.versions(), models.audit_log(), models.find_token(b"a"), models.alias_history("a"))
    for found in lists:
        assert type(found[:2]) is type(found)
        assert found[:2] == [found[0], found[1]]
        assert len(rows_of(found[:2]._repr_html_())) == 1 + 2
        assert found[-1] == list(found)[-1]


def test_metrics_have_the_digits_that_were_typed_and_ids_no_commas(models):
    models.save(cbpe.train(TEXT, 258), "a", metrics={"loss": 2.34961, "tokens": 299_997.0, "share": 1 / 3})
    (_, row) = rows_of(models.versions()._repr_html_())
    assert row[6] == "loss=2.34961, share=0.3333333333, tokens=299997"
    ranks = {bytes([i]): i for i in range(256)} | {b"ab": 12_345}
    models.save(cbpe.Encoding("own", pat_str=".", mergeable_ranks=ranks, special_tokens={}), "b")
    (_, row) = rows_of(models.find_token(b"ab")._repr_html_())
    assert row[:2] == ["b@1", "12345"]


def test_a_parent_that_is_no_version_is_shown_by_the_first_digits_of_its_digest(models):
    first = cbpe.train(TEXT, 258)
    with ModelStore(":memory:") as others:
        others.save(first, "a")
        others.save(cbpe.train(TEXT, 260), "a", parent="a@1")
        found = others.versions()
    digest = describe(first).digest
    unknown = type(found)([replace(found[1], parent=f"sha256:{digest}")])
    (_, row) = rows_of(unknown._repr_html_())
    assert row[-1] == f"sha256:{digest[:12]}"
    assert rows_of(found._repr_html_())[2][-1] == "a@1"


def test_the_parts_of_a_change_keep_their_order_whatever_their_letters(models):
    alias, tag, value = "\u0625\u0646\u062a\u0627\u062c", "\u05e9\u05dd", "\u05e2\u05e8\u05da"
    models.save(cbpe.train(TEXT, 258), "a", aliases=[alias])
    models.save(cbpe.train(TEXT, 260), "a")
    models.set_alias("a", alias, "a@2")
    models.tag("a@1", {tag: value})
    shown = models.audit_log()._repr_html_()
    isolated = "".join(f"<bdi>{part}</bdi>" for part in (alias, ", ", "before at 1"))
    assert f'<bdi dir="ltr">{isolated}</bdi>' in shown
    assert f"<bdi>tag {tag}</bdi><bdi>=</bdi><bdi>{value}</bdi>" in shown
