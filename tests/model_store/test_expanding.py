"""Where tokens are, and the rows of tokens and merges, which are written when SQL is to ask them."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from small_models import small_tokenizer
from sqlalchemy import func, select, update

import cbpe
from store import Damaged, ModelStore, NotFound
from store.database.schema import merges, tokens, vocabularies

pytestmark = pytest.mark.ci

TOK = cbpe.train("low lower lowest newer wider", 262, special_tokens=["<|end|>"])
BYTES = {bytes([i]): 255 - i for i in range(256)}


def row_counts(models):
    with models._database.reading() as connection:
        return [connection.scalar(select(func.count()).select_from(table)) for table in (tokens, merges)]


def hard_tokens(n, seed):
    """Ids of tokens of the bytes that tell entries apart, of what entries are made of, and of long ones."""
    generator = random.Random(seed)
    spelled = {bytes(generator.choices(b"\xfd\xfe\xff\0\1\2,0123a", k=generator.randint(2, 9))) for _ in range(n)}
    spelled |= {b"\xfea\xff12", b"\xffa\xfe", b"\xfd\0", b"\xfd\1", b"a\xff7,", b"a" * 5000, "\u540d\u524d".encode()}
    ids = generator.sample(range(300, 9 * n + 2000), len(spelled))
    return dict(zip(sorted(spelled), ids, strict=True))


def test_every_token_is_found_where_it_is_and_no_other(models):
    both = [{**BYTES, **hard_tokens(n, n)} for n in (100, 3000)]
    for number, ranks in enumerate(both):
        models.save(cbpe.Encoding("hard", pat_str=".", mergeable_ranks=ranks, special_tokens={}), f"hard {number}")
    asked = random.Random(1).sample(sorted({**both[0], **both[1]}), 60)
    asked += [b"a", b"\xfe", b"\xff", b"a\xff7", b"\xfd\2"]
    for token in asked:
        expected = [(f"hard {number}@1", ranks[token]) for number, ranks in enumerate(both) if token in ranks]
        assert [(place.version.reference, place.id) for place in models.find_token(token)] == expected
        assert [version.reference for version in models.versions(has_token=token)] == [one for one, _ in expected]


def test_a_token_that_is_there_twice_has_two_places(models):
    tok = cbpe.RegexTokenizer()
    tok.train("abcabcabxbcabx abx", 270)
    twice = [token for token in tok.vocab.values() if list(tok.vocab.values()).count(token) > 1]
    models.save(tok, "a")
    for token in {*twice, *tok.vocab.values()}:
        ids = sorted(token_id for token_id, spelled in tok.vocab.items() if spelled == token)
        places = [(token_id, token_id - 256 if token_id >= 256 else None) for token_id in ids]
        assert [(place.id, place.rank) for place in models.find_token(token)] == places


def test_no_rows_are_there_before_they_are_asked_for(models):
    models.save(TOK, "a")
    models.save(small_tokenizer(1), "b")
    assert row_counts(models) == [0, 0]
    assert (models.write_rows("a"), models.write_rows("a@1")) == (1, 0)
    assert row_counts(models) == [262, 6]
    assert (models.write_rows(), models.write_rows()) == (1, 0)
    assert row_counts(models) == [262 + 260, 6 + 4]
    assert models.verify().problems == ()
    assert (models.remove_rows("b"), models.remove_rows("b")) == (1, 0)
    assert row_counts(models) == [262, 6]
    assert models.remove_rows() == 1
    assert row_counts(models) == [0, 0]
    assert models.verify().problems == ()
    with pytest.raises(NotFound):
        models.write_rows("nobody")


def test_a_vocabulary_that_two_versions_share_is_written_once(models):
    models.save(cbpe.get_encoding("r50k_base"), "r50k")
    models.save(cbpe.get_encoding("gpt2"), "the same")
    assert (models.write_rows(), models.write_rows("the same")) == (1, 0)


def test_those_who_write_rows_at_once_write_them_once(empty_store_url):
    with ModelStore(empty_store_url) as models, ThreadPoolExecutor(4) as threads:
        models.save(TOK, "a")
        assert sorted(threads.map(lambda _: models.write_rows(), range(4))) == [0, 0, 0, 1]
        assert row_counts(models) == [262, 6]


def test_no_rows_are_written_of_what_is_damaged(models):
    models.save(TOK, "a")
    with models._database._writer.begin() as connection:
        connection.execute(update(vocabularies).values(packed=b"x"))
    for reference in ("a", None):
        with pytest.raises(Damaged):
            models.write_rows(reference)
    assert row_counts(models) == [0, 0]
