"""Lists of versions, changes, moves of aliases and places of tokens, as a notebook shows them."""

import copy
import pickle
import re
from datetime import timezone

import cbpe

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
