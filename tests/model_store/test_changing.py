"""Changing: aliases, tags, notes, metrics, names; deleting; and the log of it all."""

import getpass
import hashlib

import pytest
from sqlalchemy import func, select, update
from unchecked import unchecked

import cbpe
from cbpe.tokenizers.description import describe
from store import Damaged, ModelStore, NotFound, Refused
from store.database.schema import alias_history, audit_log, merges, metadata, token_places, tokens, vocabularies
from store.records import audit

pytestmark = pytest.mark.ci

TOKS = [cbpe.train("low lower lowest newer wider", size, special_tokens=["<|end|>"]) for size in (258, 260, 262)]


@pytest.fixture
def filled(models):
    for tok in TOKS:
        models.save(tok, "a")
    return models


def actions(models, *arguments, **options):
    return [change.action for change in models.audit_log(*arguments, **options)]


def test_an_alias_moves_and_its_history_is_kept(filled):
    for reference in ("a@1", "a@3", "a"):
        assert "prod" in filled.set_alias("a", "prod", reference).aliases
    filled.set_alias("a", "test", "a@2")
    filled.remove_alias("a", "prod")
    moves = filled.alias_history("a")
    assert [(move.alias, move.number) for move in moves] == [
        *(("prod", 1), ("prod", 3), ("test", 2), ("prod", None)),  # "a" is a@3: it stays where it is
    ]
    assert [move.time for move in moves] == sorted(move.time for move in moves)
    assert [move.number for move in filled.alias_history("a", "test")] == [2]
    assert [version.aliases for version in filled.versions("a")] == [(), ("test",), ()]
    with pytest.raises(NotFound, match="'a@prod'"):
        filled.load("a@prod")


def test_an_alias_is_of_its_name_alone(filled):
    filled.save(TOKS[0], "b", aliases=["prod"])
    with pytest.raises(Refused, match="another name, b"):
        filled.set_alias("a", "prod", "b@1")
    with pytest.raises(NotFound, match="'a@prod'"):
        filled.remove_alias("a", "prod")
    with pytest.raises(ValueError, match="is no alias"):
        filled.set_alias("a", "12", "a@1")
    assert filled.alias_history("a") == []


def test_a_tag_in_a_list_has_no_value(filled):
    for use in (lambda: filled.tag("a", ["x", "y=z"]), lambda: filled.save(TOKS[0], "a", tags=["y=z"])):
        with pytest.raises(ValueError, match=r"tags without values, and 'y=z' has one: give \{'y': 'z'\}"):
            use()
    assert filled.tag("a", {"y": "z"}).tags["y"] == "z"


def test_tags_are_put_on_and_taken_off(filled):
    filled.tag("a@1", {"x": "1", "y": "2"})
    assert filled.tag("a@1", ["y", "z"]).tags == {"x": "1", "y": "", "z": ""}
    assert filled.untag("a@1", ["x", "z"]).tags == {"y": ""}
    with pytest.raises(NotFound, match="no tag 'x'"):
        filled.untag("a@1", ["y", "x"])
    assert filled.version("a@1").tags == {"y": ""}


def test_a_name_is_not_renamed_to_itself_and_an_unknown_name_has_no_history(filled):
    with pytest.raises(Refused, match="the versions of 'a' are called so already"):
        filled.rename("a", "a")
    assert [change.action for change in filled.audit_log("a")] == ["save"] * len(filled.versions("a"))
    for ask in (filled.alias_history, filled.audit_log, lambda name: filled.alias_history(name, "prod")):
        with pytest.raises(NotFound, match="no version is called 'nobody'"):
            ask("nobody")
    assert filled.audit_log("nobody", limit=0) == []


def test_an_alias_that_a_name_never_had_is_told_beside_the_one_that_may_be_meant(filled):
    assert filled.alias_history("a") == []
    filled.set_alias("a", "prod", "a@1")
    with pytest.raises(NotFound, match="a never had the alias 'prd': did you mean 'prod'"):
        filled.alias_history("a", "prd")


def test_a_tag_that_is_not_there_is_told_beside_the_one_that_may_be_meant(filled):
    filled.tag("a@1", {"language": "en"})
    for given in ("language=en", "langage"):
        with pytest.raises(NotFound, match=f"no tag '{given}': did you mean 'language'"):
            filled.untag("a@1", [given])


def test_notes_metrics_parents_and_records_may_be_edited_and_the_content_stays(filled):
    digest = filled.version("a@2").digest
    assert filled.set_notes("a@2", "new").notes == "new"
    assert filled.set_notes("a@2", None).notes is None
    assert filled.set_metrics("a@2", {"loss": 1, "size": 2}).metrics == {"loss": 1.0, "size": 2.0}
    assert filled.set_metrics("a@2", {"loss": None, "size": 3}).metrics == {"size": 3.0}
    assert filled.set_parent("a@2", "a@1").parent == "a@1"
    assert filled.set_parent("a@2", None).parent is None
    filled.set_training("a@2", None)
    assert filled.training("a@2") is None
    filled.set_training("a@2", TOKS[2].training)
    assert vars(filled.training("a@2")) == vars(TOKS[2].training)
    assert filled.version("a@2").digest == digest == describe(filled.load("a@2")).digest


def test_no_version_is_its_own_ancestor(filled):
    filled.set_parent("a@2", "a@1")
    filled.set_parent("a@3", "a@2")
    for parent in ("a@2", "a@3"):
        with pytest.raises(Refused, match=f"{parent} was itself trained on from a@1"):
            filled.set_parent("a@1", parent)
    with pytest.raises(Refused, match="its own parent"):
        filled.set_parent("a@2", "a@2")
    assert [version.parent for version in filled.history("a")] == [None, "a@1", "a@2"]
    filled.save(TOKS[0], "b", parent="a@3")
    filled.save(TOKS[0], "b", parent="b@1")
    assert filled.version("b").parent == "a@3"


def test_a_version_of_the_content_of_a_parent_that_is_gone_is_not_the_parent_of_its_own(store_url):
    """A parent that is gone is known by its digest, which a version may have that goes on from its child."""
    with ModelStore(store_url) as models:
        gone = models.save(TOKS[0], "a")
        models.save(TOKS[1], "b", parent="a@1")
        models.save(TOKS[2], "d", parent="b@1")
        models.delete("a@1")
        digest = f"sha256:{gone.digest}"
        assert models.version("b").parent == digest
        models.save(TOKS[0], "c", parent="b@1")  # of the same content, and not what b went on from
        assert (models.version("c").parent, models.version("b").parent) == ("b@1", digest)
        models.delete("c@1")
        models.save(TOKS[0], "e")
        assert models.version("b").parent == "e@1"  # which may be it
        with pytest.raises(Refused, match="d@1 was itself trained on from e@1, or from one that was"):
            models.set_parent("e@1", "d@1")
        models.delete("e@1")
        with pytest.raises(Refused, match="d@1 was itself trained on from e@2, or from one that was"):
            models.save(TOKS[0], "e", parent="d@1")
        assert models.names() == ["b", "d"]
        assert models.version("b").parent == digest


def test_what_cannot_be_put_on_a_version_is_refused(filled):
    for change, message in (
        (lambda: filled.set_metrics("a", ["loss"]), "metrics are a dict, not list"),
        (lambda: filled.set_metrics("a", {1: None}), "a metric is a str"),
        (lambda: filled.set_training("a", {}), "a training record is a cbpe.TrainingRecord, not dict"),
        (lambda: filled.untag("a", None), "tags are a list, not NoneType"),
        (lambda: filled.untag("a", [1]), "a tag is a str"),
        (lambda: filled.tag("a", None), "tags are a dict or a list, not NoneType"),
        (lambda: filled.untag("a", {"x": 1}), "tags are a list, not dict"),
        (lambda: filled.tag("a", 1), "tags are a list, not int"),
        (lambda: filled.remove_alias("a", 1), "an alias is a str"),
        (lambda: filled.alias_history("a", 1), "an alias is a str"),
        (lambda: filled.copy("a", "other.db"), "a ModelStore, not str"),
    ):
        with pytest.raises(TypeError, match=message):
            change()


def test_a_name_is_changed_with_all_that_belongs_to_it(filled):
    filled.set_alias("a", "prod", "a@2")
    filled.save(TOKS[0], "child", parent="a@1")
    filled.rename("a", "b")
    assert filled.names() == ["b", "child"]
    assert filled.load("b@prod").merges == TOKS[1].merges
    assert filled.version("child").parent == "b@1"
    assert filled.save(TOKS[0], "b").number == 4
    assert filled.save(TOKS[0], "a").number == 4
    with pytest.raises(Refused, match="versions called 'a' already"):
        filled.rename("b", "a")
    with pytest.raises(NotFound, match="'nobody'"):
        filled.rename("nobody", "c")


def test_a_name_may_be_changed_and_changed_back(filled):
    filled.set_alias("a", "prod", "a@2")
    before = filled.history("a")
    filled.rename("a", "b")
    filled.rename("b", "a")
    assert filled.history("a") == before
    assert filled.load("a@prod").merges == TOKS[1].merges
    assert [filled.save(TOKS[0], name).number for name in "ab"] == [4, 4]
    assert filled.verify().problems == ()


def test_the_numbers_of_a_name_that_was_given_up_are_not_given_again(filled):
    filled.set_alias("a", "prod", "a@3")
    for number in (1, 2, 3):
        filled.delete(f"a@{number}", force=True)
    for tok in (*TOKS[:2], *TOKS[:2]):
        filled.save(tok, "b")
    with pytest.raises(Refused, match="'b' cannot be called 'a': a@1 was another version than b@1 is"):
        filled.rename("b", "a")
    for number in (1, 2, 3):
        filled.delete(f"b@{number}")
    filled.rename("b", "a")
    assert [version.reference for version in filled.versions()] == ["a@4"]
    assert filled.save(TOKS[2], "a").number == 5
    assert [move.number for move in filled.alias_history("a")] == [3, None]


def test_a_number_means_one_version_whatever_names_it_has_had(filled):
    filled.rename("a", "b")
    filled.rename("b", "c")
    filled.save(TOKS[0], "d")
    with pytest.raises(Refused, match="a@1 was another version than d@1"):
        filled.rename("d", "a")
    filled.rename("c", "a")
    assert [version.reference for version in filled.versions(name="a")] == ["a@1", "a@2", "a@3"]


def test_a_name_is_not_changed_where_the_log_cannot_be_read(filled):
    with filled._database._writer.begin() as connection, unchecked(connection):
        connection.execute(update(audit_log).values(details="{"))
    with pytest.raises(Damaged, match="the details of a change in the audit log cannot be read"):
        filled.rename("a", "b")
    assert filled.names() == ["a"]


def test_the_log_of_a_name_has_where_it_came_from(filled):
    filled.rename("a", "b")
    filled.rename("b", "c")
    assert [(change.action, change.name, change.details) for change in filled.audit_log("c")] == [
        ("rename", "b", {"to": "c"})
    ]
    assert [change.details for change in filled.audit_log("b")] == [{"to": "c"}, {"to": "b"}]


def test_a_deleted_version_is_gone_and_its_number_with_it(filled):
    filled.set_parent("a@1", "a@3")
    digest = filled.version("a@3").digest
    assert filled.delete("a@3").reference == "a@3"
    with pytest.raises(NotFound, match="'a@3'; the newest version is a@2"):
        filled.load("a@3")
    assert filled.version("a@1").parent == f"sha256:{digest}"
    assert filled.save(TOKS[2], "a").number == 4
    assert filled.verify().ok


def test_what_an_alias_points_to_is_not_deleted_unless_forced(filled):
    filled.set_alias("a", "prod", "a@3")
    with pytest.raises(Refused, match="a@3 is what a@prod points to"):
        filled.delete("a@3")
    assert filled.version("a").number == 3
    assert filled.delete("a@prod", force=True).aliases == ("prod",)
    assert filled.version("a").number == 2
    assert [move.number for move in filled.alias_history("a", "prod")] == [3, None]


@pytest.mark.parametrize("force", [False, True])
def test_a_name_of_several_versions_is_not_taken_for_the_newest_when_it_is_to_be_deleted(filled, force):
    reason = r"'a' has 3 versions: name one, as a@3, the newest, or delete all by delete_name"
    with pytest.raises(Refused, match=reason):
        filled.delete("a", force=force)
    assert [version.number for version in filled.versions("a")] == [1, 2, 3]
    assert filled.delete("a@latest").number == 3
    assert filled.delete(filled.version("a")).number == 2
    assert filled.delete("a").number == 1
    with pytest.raises(NotFound, match="'a'"):
        filled.delete("a")


def test_vacuum_removes_the_vocabularies_that_nothing_uses(filled):
    filled.save(TOKS[0], "b")
    filled.write_rows()
    for reference in ("a@1", "a@2"):
        filled.delete(reference)
    assert filled.vacuum() == 1
    with filled._database.reading() as connection:
        assert connection.scalar(select(func.count()).select_from(vocabularies)) == 2
        for table in (tokens, merges, token_places):
            assert set(connection.scalars(select(table.c.vocabulary_id))) == {1, 3}
    assert filled.vacuum() == 0
    assert filled.load("b").merges == TOKS[0].merges
    assert filled.save(TOKS[1], "a").number == 4
    assert filled.verify().ok


def test_a_store_that_everything_was_deleted_from_has_no_rows_left_but_names_and_logs(filled):
    filled.save(TOKS[0], "a", tags=["x"], aliases=["prod"], metrics={"loss": 1}, notes="x", parent="a@2")
    filled.write_rows("a")
    for version in filled.versions():
        filled.delete(version, force=True)
    filled.vacuum()
    with filled._database.reading() as connection:
        left = {name for name, table in metadata.tables.items() if connection.execute(select(table)).first()}
        assert len(connection.execute(select(alias_history)).all()) == 2
    assert left == {"store_meta", "names", "audit_log", "alias_history"}


def test_every_change_is_one_row_in_the_log(filled, tmp_path):
    assert actions(filled) == ["save"] * 3
    changes = {
        "tag": lambda: filled.tag("a", ["x"]),
        "untag": lambda: filled.untag("a", ["x"]),
        "notes": lambda: filled.set_notes("a", "x"),
        "metrics": lambda: filled.set_metrics("a", {"x": 1}),
        "parent": lambda: filled.set_parent("a", "a@1"),
        "training": lambda: filled.set_training("a", None),
        "alias": lambda: filled.set_alias("a", "prod", "a@1"),
        "remove alias": lambda: filled.remove_alias("a", "prod"),
        "delete": lambda: filled.delete("a@1"),
        "import": lambda: (filled.export("a", tmp_path / "a.cbpe"), filled.import_(tmp_path / "a.cbpe", "b")),
        "copy": lambda: filled.copy("a", filled, "c"),
        "rename": lambda: filled.rename("c", "d"),
        "write rows": lambda: filled.write_rows("d"),
        "remove rows": lambda: filled.remove_rows("d"),
        "vacuum": lambda: filled.vacuum(),
    }
    for i, (action, change) in enumerate(changes.items(), 4):
        change()
        assert len(filled.audit_log()) == i
        assert filled.audit_log(limit=1)[0].action == action
    assert actions(filled, "d") == ["rename"]
    assert actions(filled, "c", limit=5) == ["rename", "copy"]


def test_the_log_says_who_when_and_what(filled):
    filled.tag("a@2", {"x": "1"})
    (change,) = filled.audit_log("a", limit=1)
    assert (change.who, change.name, change.number) == (getpass.getuser(), "a", 2)
    assert change.details == {"tags": {"x": "1"}}
    assert change.time >= filled.version("a@3").time
    assert change.time.utcoffset().total_seconds() == 0


def test_a_user_may_be_called_what_no_database_holds(models, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "j\udcfcrgen")
    audit.user.cache_clear()
    try:
        models.save(TOKS[0], "a")
    finally:
        audit.user.cache_clear()
    assert models.audit_log()[0].who == "j\\udcfcrgen"


def test_the_log_keeps_a_digest_of_notes_and_not_the_notes(filled):
    notes = "a note \u00e9 " * 100_000
    digest = {"sha256": hashlib.sha256(notes.encode()).hexdigest(), "bytes": len(notes.encode())}
    filled.set_notes("a@1", notes)
    filled.set_notes("a@1", None)
    filled.save(TOKS[0], "b", notes=notes)
    logged = [change.details["notes"] for change in filled.audit_log(limit=3)]
    assert logged == [digest, None, digest]
    assert filled.version("b").notes == notes


def test_a_name_is_changed_back_and_forth_through_others(filled):
    filled.save(TOKS[0], "d")
    for old, new in (("a", "b"), ("b", "c"), ("c", "b"), ("b", "a")):
        filled.rename(old, new)
    filled.rename("a", "c")
    with pytest.raises(Refused, match="a@1 was another version than d@1"):
        filled.rename("d", "a")
    with pytest.raises(Refused, match="b@1 was another version than d@1"):
        filled.rename("d", "b")
    filled.rename("d", "e")
    assert filled.names() == ["c", "e"]


def test_what_is_refused_is_not_logged(filled):
    filled.set_alias("a", "prod", "a@1")
    before = filled.audit_log()
    for change in (lambda: filled.delete("a@1"), lambda: filled.untag("a", ["x"]), lambda: filled.rename("a", "a@b")):
        with pytest.raises((ValueError, LookupError)):
            change()
    assert filled.audit_log() == before


def test_force_is_true_or_false(models, tmp_path):
    models.save(TOKS[0], "a", aliases=["prod"])
    for change in (models.delete, models.delete_name):
        for value in ("no", 0, None):
            with pytest.raises(TypeError, match="force must be True or False, not"):
                change("a", force=value)
    with pytest.raises(TypeError, match="force must be True or False, not 'no'"):
        models.restore(tmp_path / "b.db", force="no")
    assert [version.reference for version in models.versions()] == ["a@1"]
