"""Columns in and out: what the batches of str and lists give, for every type of Arrow's that holds texts or ids."""

import copy
import pickle
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cbpe

pyarrow = pytest.importorskip("pyarrow")

PARTS = ["hello", " world", "é", "中文", "😀", "", " ", "1234", "\n\n", "<|endoftext|>", "a" * 20, "\U0010ffff", "\x00"]
TYPES = [
    pyarrow.string(),
    pyarrow.large_string(),
    pyarrow.string_view(),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    pyarrow.dictionary(pyarrow.uint64(), pyarrow.large_string()),
]
rows = st.lists(st.none() | st.lists(st.sampled_from(PARTS), max_size=4).map("".join), max_size=30)


@pytest.fixture(scope="module")
def enc():
    return cbpe.get_encoding("gpt2")


def listed(column):
    return pyarrow.array(column).to_pylist()


def of_type(texts, kind):
    column = pyarrow.array(texts, pyarrow.string())
    return column.dictionary_encode().cast(kind) if pyarrow.types.is_dictionary(kind) else column.cast(kind)


def expected(enc, texts, **options):
    there = [text for text in texts if text is not None]
    tokens, offsets = enc.encode_batch_flat(there, **options)
    lists = iter(tokens[start:stop].tolist() for start, stop in pairwise(offsets))
    return [None if text is None else next(lists) for text in texts]


@pytest.mark.parametrize("kind", TYPES, ids=str)
@given(texts=rows, data=st.data())
def test_a_column_is_encoded_as_the_batch_of_its_texts(enc, kind, texts, data):
    column = of_type(texts, kind)
    start = data.draw(st.integers(0, len(texts)))
    size = data.draw(st.integers(0, len(texts) - start))
    chunked = pyarrow.chunked_array([column.slice(start, size), column, column.slice(start)], kind)
    for given_, wanted in (
        (column, texts),
        (column.slice(start, size), texts[start : start + size]),
        (chunked, texts[start : start + size] + texts + texts[start:]),
    ):
        ids = expected(enc, wanted, allowed_special="all")
        found = enc.encode_arrow(given_, allowed_special="all", num_threads=1)
        assert listed(found) == ids
        assert listed(enc.count_arrow(given_, allowed_special="all")) == [None if i is None else len(i) for i in ids]
        assert listed(enc.decode_arrow(found)) == wanted


def test_many_texts_and_long_ones_are_shared_by_threads(enc):
    rng = random.Random(5)
    texts = ["".join(rng.choices(PARTS, k=rng.choice([0, 3, 40, 3000]))) for _ in range(400)]
    texts[7] = "".join(rng.choices(PARTS, k=60_000))
    ids = expected(enc, texts, allowed_special={"<|endoftext|>"})
    for threads in (1, 2, 3):
        found = pyarrow.array(
            enc.encode_arrow(pyarrow.array(texts), allowed_special={"<|endoftext|>"}, num_threads=threads)
        )
        found.validate(full=True)
        assert found.to_pylist() == ids


def test_special_tokens_are_what_the_options_say(enc):
    column = pyarrow.array(["a<|endoftext|>", None])
    with pytest.raises(ValueError, match=r"special token '<\|endoftext\|>'"):
        enc.encode_arrow(column)
    with pytest.raises(ValueError, match="special token"):
        enc.arrow_udf("t")(pyarrow.table({"t": column}))
    for options in ({"allowed_special": "all"}, {"disallowed_special": ()}):
        assert listed(enc.encode_arrow(column, **options)) == [enc.encode("a<|endoftext|>", **options), None]
    tok = cbpe.RegexTokenizer()  # whose default is minbpe's
    tok.register_special_tokens({"<|endoftext|>": 300})
    with pytest.raises(ValueError, match="special token"):
        tok.count_arrow(column)


def test_the_column_is_a_list_of_int32_or_uint32_as_asked(enc):
    column = pyarrow.array(["hello"])
    assert pyarrow.array(enc.encode_arrow(column)).type == pyarrow.list_(pyarrow.int32())
    assert pyarrow.array(enc.encode_arrow(column, dtype="uint32")).type == pyarrow.list_(pyarrow.uint32())
    assert pyarrow.array(enc.count_arrow(column)).type == pyarrow.int64()
    assert repr(enc.encode_arrow(column)) == "<ArrowColumn of list<int32>: 1 row, 0 of them null>"
    with pytest.raises(ValueError, match="'int64'; the ids in a column are 'int32' or 'uint32'"):
        enc.encode_arrow(column, dtype="int64")


def test_an_id_beyond_int32_asks_for_uint32():
    tok = cbpe.RegexTokenizer()
    tok.register_special_tokens({"<|x|>": 2**31})
    column = pyarrow.array(["a<|x|>"])
    with pytest.raises(ValueError, match="2147483648, is no int32: pass dtype='uint32'"):
        tok.encode_arrow(column, allowed_special="all")
    found = tok.encode_arrow(column, allowed_special="all", dtype="uint32")
    assert listed(found) == [[97, 2**31]]
    assert listed(tok.decode_arrow(found)) == ["a<|x|>"]


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), pyarrow.null()])
def test_a_column_of_no_rows_or_of_nulls_alone_is_one_of_no_ids(enc, kind):
    assert listed(enc.encode_arrow(pyarrow.array([], kind))) == []
    assert listed(enc.encode_arrow(pyarrow.chunked_array([], kind))) == []
    assert listed(enc.encode_arrow(pyarrow.array([None, None], kind))) == [None, None]


def test_a_table_of_one_column_is_that_column_also_where_it_is_sliced(enc):
    table = pyarrow.table({"text": ["a", "hello", None, "world"]})
    assert listed(enc.encode_arrow(table.slice(1, 2))) == [enc.encode("hello"), None]
    assert listed(enc.encode_arrow(table.to_batches()[0].slice(1).to_struct_array())) == [
        enc.encode("hello"),
        None,
        enc.encode("world"),
    ]
    with pytest.raises(TypeError, match=r"table of 2 columns was given: pass one column, as table\['text'\]"):
        enc.encode_arrow(table.append_column("more", table["text"]))


# ---- The tokens belong to the column


def test_a_column_may_be_handed_out_often_and_outlived_by_what_it_gave(enc):
    column = enc.encode_arrow(pyarrow.array(["hello world", "hello"] * 1000))
    arrays = [pyarrow.array(column) for _ in range(3)]
    values = arrays[0].values  # a child, which lives on alone
    addresses = {array.values.buffers()[1].address for array in arrays}
    assert len(addresses) == 1  # nothing was copied
    del column, arrays
    assert values.to_numpy()[:3].tolist() == [31373, 995, 31373]


def test_capsules_that_nobody_takes_are_freed(enc):
    column = enc.encode_arrow(pyarrow.array(["hello"]))
    for _ in range(100):
        column.__arrow_c_array__()
        column.__arrow_c_schema__()
    assert listed(column) == [[31373]]


# ---- Decoding


@pytest.mark.parametrize(
    "kind",
    [pyarrow.list_(pyarrow.int32()), pyarrow.large_list(pyarrow.uint16()), pyarrow.list_(pyarrow.int64(), 2)],
    ids=str,
)
def test_ids_of_any_integers_and_lists_are_decoded(enc, kind):
    lists = [[31373, 995], [995, 995], None, [995, 31373]]
    column = pyarrow.array(lists, kind)
    texts = [None if ids is None else enc.decode(ids) for ids in lists]
    assert listed(enc.decode_arrow(column)) == texts
    assert listed(enc.decode_arrow(column.slice(1, 2))) == texts[1:3]


@given(lists=st.lists(st.none() | st.lists(st.integers(0, 255), max_size=9), max_size=9))
def test_bytes_that_are_no_utf8_become_what_decode_makes_of_them(lists):
    tok = cbpe.BasicTokenizer()
    column = pyarrow.array(lists, pyarrow.list_(pyarrow.uint8()))
    for errors in ("replace", "ignore", "backslashreplace"):
        texts = [None if ids is None else tok.decode(ids, errors) for ids in lists]
        assert listed(tok.decode_arrow(column, errors=errors)) == texts


@pytest.mark.parametrize("special", [{"<|a|>": 256, "<|b|>": 258}, {"<|a|>": 100_000, "<|b|>": 2**31}, {}], ids=str)
def test_special_tokens_are_left_out_of_columns_as_of_lists(special):
    rng = random.Random(5)
    tok = cbpe.RegexTokenizer()
    tok.register_special_tokens(special)
    known = [*b"ab\xc3\xa9", *special.values()]
    lists = [None if rng.random() < 0.1 else rng.choices(known, k=rng.randrange(6)) for _ in range(300)]
    for kind in (tok, cbpe.HuggingFaceTokenizer.from_tokenizer(tok)):
        texts = [None if ids is None else kind.decode(ids, skip_special_tokens=True) for ids in lists]
        assert listed(kind.decode_arrow(pyarrow.array(lists), skip_special_tokens=True)) == texts
    assert all(text is None or "<" not in text for text in texts)
    wrong = pyarrow.array([[97], [*special.values(), 257]])
    with pytest.raises(KeyError, match="row 1 of the column: token id 257"):
        tok.decode_arrow(wrong, skip_special_tokens=True)


def test_what_cannot_be_decoded_is_refused_with_its_row(enc):
    def column(ids, kind=None):
        return pyarrow.array([[995], ids], pyarrow.list_(kind or pyarrow.int64()))

    with pytest.raises(KeyError, match="row 1 of the column: token id 50257 is not in the vocabulary"):
        enc.decode_arrow(column([50257]))
    with pytest.raises(OverflowError, match="row 1 of the column: token id -1 is not in the vocabulary"):
        enc.decode_arrow(column([-1]))
    with pytest.raises(OverflowError, match="18446744073709551615"):
        enc.decode_arrow(column([2**64 - 1], pyarrow.uint64()))
    with pytest.raises(ValueError, match="row 1 of the column has a null where an id should be"):
        enc.decode_arrow(column([None]))
    with pytest.raises(UnicodeDecodeError, match=r"row 1 of the column"):
        enc.decode_arrow(column([187]), errors="strict")
    with pytest.raises(ValueError, match=r"row 1 of the column is no UTF-8.*'surrogateescape'"):
        enc.decode_arrow(column([187]), errors="surrogateescape")
    with pytest.raises(LookupError):
        enc.decode_arrow(column([187]), errors="unheard of")


# ---- Tokenizers that do more


def test_a_template_is_put_around_texts_and_not_around_nulls():
    tok = cbpe.RegexTokenizer()
    tok.register_special_tokens({"<s>": 256, "</s>": 257})
    template = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<s>", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
            {"SpecialToken": {"id": "</s>", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {
            name: {"id": name, "ids": [token_id], "tokens": [name]} for name, token_id in (("<s>", 256), ("</s>", 257))
        },
    }
    texts = ["ab", None, "", "e\u0301"]
    column = pyarrow.array(texts)
    for processing in ({"template": template}, {"template": template, "normalizer": "NFC"}):
        hf = cbpe.HuggingFaceTokenizer.from_tokenizer(tok, processing)
        for add in (True, False):
            ids = expected(hf, texts, add_special_tokens=add)
            assert listed(hf.encode_arrow(column, add_special_tokens=add)) == ids
            counts = [None if i is None else len(i) for i in ids]
            assert listed(hf.count_arrow(column, add_special_tokens=add)) == counts
    assert ids[3] == [0xC3, 0xA9]  # normalized


def test_tokenizers_over_characters_encode_and_decode_columns_as_texts():
    tok = cbpe.train(["the cat sat on the mat"] * 3, 275, alphabet="characters")
    texts = ["the cat", None, "", " sat"]
    found = tok.encode_arrow(pyarrow.array(texts))
    assert listed(found) == expected(tok, texts)
    assert listed(tok.decode_arrow(found)) == [None if ids is None else tok.decode(ids) for ids in listed(found)]
    tok.register_special_tokens({**tok.special_tokens, "<|x|>": 400})
    assert listed(tok.decode_arrow(pyarrow.array([[400], [*tok.encode("the"), 400]]), skip_special_tokens=True)) == [
        "",
        "the",
    ]
    with pytest.raises(KeyError, match="row 0 of the column: token id 99999"):
        tok.decode_arrow(pyarrow.array([[99999]]))


def test_a_pattern_of_the_regex_module_reads_columns_too():
    tok = cbpe.RegexTokenizer(r"(a)\1|.")
    assert not tok.splits_natively
    assert listed(tok.encode_arrow(pyarrow.array(["ab", None]))) == [[97, 98], None]


# ---- Other libraries


TEXTS = ["hello world", None, "é中😀 and more than twelve bytes", ""]


def of_polars():
    polars = pytest.importorskip("polars")
    return polars.Series(TEXTS), lambda column: polars.Series(column).to_list()


def of_polars_categories():
    polars = pytest.importorskip("polars")
    return polars.Series(TEXTS, dtype=polars.Categorical), lambda column: polars.Series(column).to_list()


def of_pandas():
    pandas = pytest.importorskip("pandas", minversion="3")
    column = pandas.Series(TEXTS, dtype="string")
    return column, lambda found: [
        None if ids is None else ids.tolist() for ids in pandas.Series.from_arrow(found).tolist()
    ]


def of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().execute("select unnest(?::varchar[])", [TEXTS]).to_arrow_table(), listed


def of_nanoarrow():
    nanoarrow = pytest.importorskip("nanoarrow")
    return nanoarrow.Array(TEXTS, nanoarrow.string()), lambda column: nanoarrow.Array(column).to_pylist()


@pytest.mark.parametrize("library", [of_polars, of_polars_categories, of_pandas, of_duckdb, of_nanoarrow])
def test_columns_of_other_libraries_are_read_and_take_the_ids(enc, library):
    column, back = library()
    ids = expected(enc, TEXTS)
    found = enc.encode_arrow(column)
    assert back(found) == ids
    assert listed(enc.count_arrow(library()[0])) == [None if i is None else len(i) for i in ids]
    assert np.array_equal(pyarrow.array(found).flatten().to_numpy(), [i for one in ids if one for i in one])


# ---- Rows as Python's and NumPy's objects


@given(texts=rows)
def test_rows_are_those_that_pyarrow_reads(enc, texts):
    column = pyarrow.array(texts, pyarrow.string())
    ids = enc.encode_arrow(column, allowed_special="all")
    for made in (ids, enc.encode_arrow(column, allowed_special="all", dtype="uint32"), enc.decode_arrow(ids)):
        assert made.to_pylist() == [*made] == listed(made)
        array = np.asarray(made)
        assert (array.dtype, array.tolist()) == (object, listed(made))
    counts = enc.count_arrow(column, allowed_special="all")
    array = np.asarray(counts)
    assert counts.to_pylist() == array.tolist() == listed(counts)
    assert array.dtype == (object if None in texts else np.int64)


def test_an_array_of_a_column_is_a_copy_of_the_wanted_type(enc):
    counts = enc.count_arrow(pyarrow.array(["a", "b c"]))
    array = np.asarray(counts)
    array[0] = 5
    assert counts.to_pylist() == [1, 2]
    assert np.asarray(counts, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="is a copy: leave copy=False out"):
        counts.__array__(copy=False)


def test_pandas_takes_a_column_row_by_row(enc):
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame({"t": ["hello world", "hello", ""]})
    column = pyarrow.array(frame["t"].tolist())
    for made in (enc.count_arrow(column), enc.encode_arrow(column), enc.decode_arrow(enc.encode_arrow(column))):
        assert pandas.Series(made).tolist() == listed(made)
        assert frame.assign(made=made)["made"].tolist() == listed(made)
    assert pandas.Series(enc.count_arrow(column)).dtype == np.int64
    assert pandas.Series(enc.count_arrow(pyarrow.array(["a", None]))).isna().tolist() == [False, True]


def test_the_index_of_a_frame_of_pandas_is_no_column_of_it():
    """pandas exports an index that is no range beside the columns."""
    pandas = pytest.importorskip("pandas", reason="needs pandas")
    frame = pandas.DataFrame({"text": ["hello world", "left out", "hello"], "n": [1, 2, 3]})
    enc = cbpe.get_encoding("gpt2")
    one = frame[frame.n != 2][["text"]]
    assert pyarrow.array(enc.count_arrow(one)).to_pylist() == [2, 1]
    ids = pyarrow.array(enc.encode_arrow(one)).to_pylist()
    assert ids == [enc.encode("hello world"), enc.encode("hello")]
    frame_of_ids = pandas.DataFrame({"ids": ids}, index=["x", "y"])
    assert pyarrow.array(enc.decode_arrow(frame_of_ids)).to_pylist() == ["hello world", "hello"]
    with pytest.raises(TypeError, match=r"a table of 2 columns was given: pass one column"):
        enc.count_arrow(frame[frame.n != 2])


@pytest.mark.parametrize("take", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_column_of_ours_is_not_pickled_and_says_what_to_take(take):
    pyarrow = pytest.importorskip("pyarrow")
    column = cbpe.get_encoding("gpt2").encode_arrow(pyarrow.array(["a"]))
    with pytest.raises(TypeError, match=r"take it as another library's first, as pyarrow\.array\(column\)"):
        take(column)
    assert take(pyarrow.array(column)) is not None
