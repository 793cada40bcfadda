"""Functions from batch to batch: for each library's batches, pickled as they are sent to other processes."""

import pickle

import pytest

import cbpe

pyarrow = pytest.importorskip("pyarrow")

TEXTS = ["hello world", None, "hello"]
IDS = [[31373, 995], None, [31373]]


@pytest.fixture(scope="module")
def encode():
    return pickle.loads(pickle.dumps(cbpe.get_encoding("gpt2").arrow_udf("text")))


def test_a_table_gets_a_column_more(encode):
    for batch in (pyarrow.table({"n": [1, 2, 3], "text": TEXTS}), pyarrow.record_batch({"text": TEXTS})):
        found = encode(batch)
        assert type(found) is type(batch)
        assert found.column_names == [*batch.column_names, "input_ids"]
        assert found.column("input_ids").to_pylist() == IDS


def test_special_tokens_may_come_from_what_can_be_gone_through_once():
    names = (name for name in ["<|endoftext|>"])
    encode = cbpe.get_encoding("gpt2").arrow_udf("text", allowed_special=names, disallowed_special=())
    for _ in range(2):
        assert encode(pyarrow.array(["a<|endoftext|>"])).to_pylist() == [[64, 50256]]


def test_batches_that_come_one_after_another_are_encoded_so(encode):
    given = iter([pyarrow.record_batch({"text": TEXTS}), pyarrow.record_batch({"text": TEXTS[:1]})])
    found = encode(given)
    assert next(found).column("input_ids").to_pylist() == IDS
    assert len(list(given)) == 1  # not read yet


def test_a_column_becomes_that_of_its_ids(encode):
    assert encode(pyarrow.array(TEXTS)).to_pylist() == IDS
    assert encode(pyarrow.chunked_array([TEXTS, TEXTS])).to_pylist() == IDS + IDS


def test_a_frame_of_polars_gets_a_column_more(encode):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"text": TEXTS})
    assert encode(frame)["input_ids"].to_list() == IDS
    lists = polars.List(polars.Int32)
    schema = {"text": polars.String, "input_ids": lists}
    assert frame.lazy().map_batches(encode, schema=schema).collect()["input_ids"].to_list() == IDS
    assert frame.select(polars.col("text").map_batches(encode, return_dtype=lists))["text"].to_list() == IDS
    with pytest.raises(TypeError, match="LazyFrame has no rows yet"):
        encode(frame.lazy())
    for table, way in ((frame, r"table\['text'\]"), (frame.lazy(), r"table\.collect\(\)\['text'\]")):
        with pytest.raises(TypeError, match=f"Frame is a table: pass one column, as {way}$"):
            encode.tokenizer.encode_batch(table)


def test_duckdb_calls_it_on_its_columns(encode):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.create_function("to_ids", encode, ["VARCHAR"], "INTEGER[]", type="arrow")
        assert connection.sql("select to_ids('hello world')").fetchall() == [([31373, 995],)]


def test_datasets_map_it_over_batches_of_arrow(encode):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"text": TEXTS}).with_format("arrow")
    assert data.map(encode, batched=True).with_format(None)["input_ids"] == IDS


def test_ray_data_maps_it_over_batches_of_arrow(encode):
    ray = pytest.importorskip("ray.data")
    found = ray.from_arrow(pyarrow.table({"text": TEXTS})).map_batches(encode, batch_format="pyarrow")
    assert [row["input_ids"] for row in found.take_all()] == IDS


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (pyarrow.table({"texts": TEXTS}), "no column 'text'; it has texts"),
        (pyarrow.table({"text": TEXTS, "input_ids": IDS}), "a column 'input_ids' already: pass another name as out"),
    ],
)
def test_a_batch_without_the_column_or_with_the_other_is_refused(encode, batch, message):
    with pytest.raises(ValueError, match=message):
        encode(batch)


def test_batches_that_are_not_arrows_are_refused_with_what_to_ask_for(encode):
    with pytest.raises(TypeError, match=r'builtins\.dict is no batch.*batch_format="pyarrow"'):
        encode({"text": TEXTS})


def test_names_that_cannot_be_are_refused_at_once():
    enc = cbpe.get_encoding("gpt2")
    with pytest.raises(TypeError, match="text is the name of a column, not int: 5"):
        enc.arrow_udf(5)
    with pytest.raises(ValueError, match="text and out are both 'a'"):
        enc.arrow_udf("a", out="a")


def test_options_are_those_of_encode_arrow():
    enc = cbpe.get_encoding("gpt2")
    encode = enc.arrow_udf("text", "ids", allowed_special="all", dtype="uint32")
    found = encode(pyarrow.table({"text": ["<|endoftext|>"]})).column("ids")
    assert found.type == pyarrow.list_(pyarrow.uint32())
    assert found.to_pylist() == [[50256]]
    assert repr(encode) == "<ArrowFunction: 'text' to 'ids' by <Encoding 'gpt2'>>"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"nonsense": 1}, TypeError, r"arrow_udf\(\) got an unexpected keyword argument 'nonsense'"),
        ({"dtype": "int8"}, ValueError, "dtype is 'int8'"),
        ({"num_threads": 0}, ValueError, "num_threads is 0"),
    ],
    ids=["unknown", "type", "threads"],
)
def test_options_that_are_wrong_are_refused_before_the_function_is_sent_anywhere(options, error, message):
    with pytest.raises(error, match=message):
        cbpe.get_encoding("gpt2").arrow_udf("text", **options)
