"""A store in a schema of its own in PostgreSQL, beside the tables of other programs."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from small_models import small_tokenizer
from sqlalchemy import create_engine, text

from store import CannotOpen, ModelStore


@pytest.fixture
def shared(postgresql_url):
    """The URL of a database in which another program has tables called tags and metrics."""
    engine = create_engine(postgresql_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE tags (key TEXT, value TEXT)"))
        connection.execute(text("INSERT INTO tags VALUES ('theirs', 'x')"))
    yield postgresql_url
    with engine.begin() as connection:
        assert connection.execute(text("SELECT * FROM public.tags")).all() == [("theirs", "x")]
        for schema in ("cbpe", "two", '"a""b c"'):
            connection.execute(text(f"DROP SCHEMA IF EXISTS {schema} CASCADE"))
    engine.dispose()


def test_a_store_is_beside_the_tables_of_other_programs(shared):
    with ModelStore(f"{shared}?schema=cbpe") as models:
        models.save(small_tokenizer(1), "a", tags={"ours": "y"})
        models.write_rows("a")
        assert models.versions(tag="ours") == [models.version("a")]
        assert models.verify().problems == ()
        assert models.url.endswith("?schema=cbpe")
    with ModelStore(f"{shared}?schema=cbpe", read_only=True) as models:
        assert models.load("a").merges == small_tokenizer(1).merges
        assert models.find_token(b"\0\1")


def test_stores_in_two_schemas_know_nothing_of_each_other(shared):
    with ModelStore(f"{shared}?schema=cbpe") as one, ModelStore(f"{shared}?schema=two") as two:
        one.save(small_tokenizer(1), "a")
        assert (one.names(), two.names()) == (["a"], [])
        one.copy("a", two, "b")
        assert (one.names(), two.names()) == (["a"], ["b"])


def test_those_who_make_a_schema_at_once_share_it(shared):
    def save(number):
        with ModelStore(f"{shared}?schema=two") as models:
            return models.save(small_tokenizer(number), f"name {number}").number

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(save, range(4))) == [1] * 4


def test_where_another_program_has_such_tables_no_store_is_made(shared):
    with pytest.raises(CannotOpen, match=r"there is a table tags of another program.*\?schema=cbpe"):
        ModelStore(shared)


def test_no_schema_is_made_in_order_to_read_it(shared):
    with pytest.raises(CannotOpen, match="there is nothing to be read"):
        ModelStore(f"{shared}?schema=two", read_only=True)
    engine = create_engine(shared)
    with engine.begin() as connection:
        assert connection.scalar(text("SELECT count(*) FROM pg_namespace WHERE nspname = 'two'")) == 0
    engine.dispose()


def test_a_schema_may_have_any_name_that_one_can_have(shared):
    with ModelStore(f"{shared}?schema=a%22b%20c") as models:
        assert models.save(small_tokenizer(1), "a").number == 1


@pytest.mark.parametrize("schema", ["pg_x", "x" * 64, "a%00", "a&schema=b"])
def test_what_names_no_schema_is_refused(schema):
    with pytest.raises(CannotOpen, match="names no schema"):
        ModelStore(f"postgresql://localhost/x?schema={schema}")
