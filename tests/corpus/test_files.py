"""Files of text, of every kind, whole and damaged."""

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cbpe import count_words
from cbpe.corpus import files
from cbpe.corpus.documents import DocumentBatch, documents
from cbpe.corpus.files import CHUNK_BYTES, TextFile
from cbpe.corpus.json_lines import whole_lines
from cbpe.corpus.sources import Reader

TEXT = "Line one\r\nline two \u4e2d\u6587 \U0001f609\n" * 3


def read(path, **options):
    return [text if isinstance(text, bytes) else b"".join(text) for text in Reader(path, **options).texts()]


def zstd():
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd
    return pytest.importorskip("backports.zstd", reason="needs backports.zstd")


def packed(data, suffix):
    if suffix == ".zst":
        return zstd().compress(data)
    return {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[suffix](data)


SUFFIXES = ["", ".gz", ".xz", ".zst"]


# ---- Plain text


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["text", "text.txt", "TEXT.TXT", "text.v1.md"])
def test_plain_text_is_one_text_to_the_byte(tmp_path, name, suffix):
    path = tmp_path / (name + suffix)
    data = b"\xef\xbb\xbf" + TEXT.encode()
    path.write_bytes(packed(data, suffix))
    assert read(path) == [data]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_large_files_are_read_in_parts(tmp_path, suffix):
    data = "\u4e2d some text\n".encode() * 50_000
    path = tmp_path / f"text{suffix}"
    path.write_bytes(packed(data[: len(data) // 2], suffix) + packed(data[len(data) // 2 :], suffix))
    (text,) = Reader(path).texts()
    parts = list(text)
    assert b"".join(parts) == data
    assert max(map(len, parts)) <= CHUNK_BYTES + 3
    for part in parts:
        part.decode()


@pytest.mark.parametrize("n_zeros", [0, 4, 8, 512, CHUNK_BYTES])
def test_streams_of_xz_may_have_padding_between_them_and_behind(tmp_path, n_zeros):
    """Section 2.2 of the .xz file format."""
    path = tmp_path / "text.xz"
    path.write_bytes(packed(b"one ", ".xz") + bytes(n_zeros) + packed(b"two", ".xz") + bytes(n_zeros))
    assert read(path) == [b"one two"]


@pytest.mark.parametrize(
    ("behind", "problem"),
    [
        (bytes(3), "3 zero bytes follow a stream, and padding comes in fours"),
        (bytes(5) + lzma.compress(b"two"), "5 zero bytes follow a stream"),
        (b"junk", "what follows a stream is none"),
        (bytes(4) + b"junkjunkjunk", "what follows a stream is none"),
        (b"\xfd7zXY\0" + lzma.compress(b"two")[6:], "what follows a stream is none"),
        (lzma.compress(b"two")[:5], "it is cut short"),
        (bytes(8) + lzma.compress(b"two")[:-1], "it is cut short"),
        (lzma.compress(b"two")[:14] + b"\xff" * 20, "Corrupt input data"),
    ],
)
def test_what_follows_a_stream_of_xz_and_is_none_is_refused(tmp_path, behind, problem):
    path = tmp_path / "text.xz"
    path.write_bytes(packed(b"one ", ".xz") + behind)
    with pytest.raises(ValueError, match=f"text.xz is no whole and intact .xz file: {problem}"):
        read(path)


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that cannot be read")
def test_an_error_of_reading_names_the_file():
    with pytest.raises(OSError, match="Input/output error: '/proc/self/mem'"):
        read(Path("/proc/self/mem"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_is_an_empty_text(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    path.write_bytes(packed(b"", suffix))
    assert read(path) == [b""]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_not_utf8_is_named_with_the_place(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    good = b"a" * (CHUNK_BYTES + 7)
    path.write_bytes(packed(good + b"\xff more", suffix))
    with pytest.raises(ValueError, match=rf"text{suffix} is not UTF-8 \(byte 0xff at offset {len(good)}\): convert it"):
        read(path)
    assert read(path, errors="replace") == [good + "\ufffd more".encode()]


def test_a_pdf_of_ascii_alone_is_warned_of_and_another_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"%PDF-1.4\n1 0 obj\n")
    with pytest.warns(UserWarning, match=r"a\.txt begins as a PDF does, and is read as text"):
        assert read(path) == [path.read_bytes()]
    path.write_bytes(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    with pytest.raises(ValueError, match="is no text, but a PDF"):
        read(path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_byte_order_mark_is_told_of(tmp_path, encoding):
    path = tmp_path / "text.txt"
    path.write_bytes("the cat sat on the m\u0101t\n".encode(encoding).replace(b"\xff", b""))
    with pytest.warns(UserWarning, match=r"text\.txt is read as UTF-8, with a zero byte .*: it looks like UTF-16"):
        assert read(path) == [path.read_bytes()]


@pytest.mark.parametrize("text", ["the cat sat", "a\0b\0c", "\0" * 40, "find\0-print0\0names\0" * 40, "ab\0\0" * 40])
def test_texts_with_zero_bytes_are_read_without_a_word(tmp_path, text):
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    assert read(path) == [text.encode()]


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize(("suffix", "program"), [(".gz", "gzip"), (".xz", "xz"), (".zst", "zstd"), (".bz2", "bzip2")])
def test_what_is_compressed_and_does_not_say_so_is_named(tmp_path, suffix, program, errors):
    path = tmp_path / "hidden.txt"
    data = os.urandom(2000)
    path.write_bytes(bz2.compress(data) if suffix == ".bz2" else packed(data, suffix))
    way = "decompress it first" + ("" if suffix == ".bz2" else f", or name a file that ends in {suffix}")
    message = f"hidden.txt is no text, but compressed by {program}: {way}$"
    with pytest.raises(ValueError, match=message):
        read(path, errors=errors)
    with path.open("rb") as pipe, pytest.raises(ValueError, match=message):
        read(pipe, errors=errors)
    with path.open("rb") as pipe, pytest.raises(ValueError, match=r"line 1|compressed by"):
        read(pipe, errors=errors, field="text")
    with pytest.raises(ValueError, match=message):
        list(documents(TextFile(path, field=None, errors=errors)))


def zipped(data):
    with io.BytesIO() as out:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed_files:
            packed_files.writestr("a.txt", data)
        return out.getvalue()


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped(bytes(range(256))), "is no text, but a zip archive, .*: unpack it first, and name its files"),
        (b"ARROW1\0\0\xff\xff\xff\xff", r"is no text, but Arrow \(Feather\): write it as Parquet"),
        (b"\xff\xff\xff\xff\x78\0\0\0", r"is no text, but Arrow"),
        (b"\x89PNG\r\n\x1a\n", r"is no text, but a picture \(PNG\): name files of text"),
        (b"SQLite format 3\0\xff", r"is no text, but a SQLite database: name files of text"),
        (b"PAR1\x15\x04\x15\xff", "is no text, but Parquet: name a file that ends in .parquet"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "is no text, but a PDF: convert it to text first"),
        (("the cat sat" * 9).encode("utf-16"), "is UTF-16, as its first two bytes say: convert it to UTF-8 first"),
        (b"\xfe\xff" + ("the cat sat" * 9).encode("utf-16-be"), "is UTF-16, as its first two bytes say"),
        ("the cat".encode("utf-32"), "is UTF-32, as its first four bytes say: convert it to UTF-8 first"),
    ],
    ids=["zip", "arrow", "arrow stream", "png", "sqlite", "parquet", "pdf", "utf-16-le", "utf-16-be", "utf-32"],
)
def test_other_files_than_text_are_named(tmp_path, content, message, errors, recwarn):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"a\.txt {message}"):
        read(path, errors=errors)
    with pytest.raises(ValueError, match=message):
        list(documents(TextFile(path, field=None, errors=errors)))
    assert recwarn.list == []  # nor is it said to be anything else


TAR_FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def tar_of(data, form=tarfile.USTAR_FORMAT, name="a.txt"):
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode="w", format=form) as archive:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return stored.getvalue()


def read_documents(path, errors):
    for found in documents(TextFile(path, field=None, errors=errors)):
        list(found.texts if isinstance(found, DocumentBatch) else found.chunks)


IS_TAR = "is no text, but a tar archive: unpack it first, and name the files that were in it$"


@pytest.mark.parametrize("errors", ["strict", "replace"])
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("form", TAR_FORMATS)
def test_a_tar_archive_is_refused_by_name_wherever_texts_are_read(tmp_path, form, suffix, errors):
    data = tar_of(TEXT.encode(), TAR_FORMATS[form], "a" * 99 + "/\u00e9.txt")  # with headers before the member's own
    path = tmp_path / f"texts.tar{suffix}"
    path.write_bytes(packed(data, suffix))
    message = rf"texts\.tar{suffix} {IS_TAR}"
    with pytest.raises(ValueError, match=message):
        read(path, errors=errors)
    with pytest.raises(ValueError, match=message):
        read_documents(path, errors)
    large = tmp_path / f"large.tar{suffix}"
    large.write_bytes(packed(tar_of(TEXT.encode() * 20_000 + b"\xff", TAR_FORMATS[form]), suffix))
    with pytest.raises(ValueError, match=IS_TAR):
        read_documents(large, errors)
    lines = tmp_path / f"texts.jsonl{suffix}"
    lines.write_bytes(packed(data, suffix))
    with pytest.raises(ValueError, match=rf"texts\.jsonl{suffix} {IS_TAR}"):
        read(lines, errors=errors, field="text")


@pytest.mark.parametrize("field", [None, "text"])
@pytest.mark.parametrize("n", [1, 100, 511, 512, 10_000])
def test_a_tar_archive_from_a_pipe_is_refused_however_it_comes(monkeypatch, n, field):
    monkeypatch.setattr("cbpe.corpus.sources.CHUNK_BYTES", n)
    with pytest.raises(ValueError, match=IS_TAR):
        read(io.BytesIO(tar_of(b'{"text": "a"}\n', name='{"text": 1}')), field=field)


@pytest.mark.parametrize("name", ["texts.tgz", "texts.TGZ", "texts.tbz2", "texts.txz"])
def test_an_archive_that_is_packed_is_told_by_its_name(tmp_path, name):
    path = tmp_path / name
    with tarfile.open(path, {"tbz2": "w:bz2", "txz": "w:xz"}.get(name[6:], "w:gz")) as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    with pytest.raises(ValueError, match=f"{name} is no text, but a packed tar archive: unpack it first"):
        read(path)


def test_bytes_that_are_a_tar_archive_are_refused():
    with pytest.raises(ValueError, match=f"the text {IS_TAR}"):
        count_words(tar_of(b"text"))


def test_a_text_that_has_the_magic_of_tar_and_not_its_checksum_is_a_text(tmp_path):
    data = tar_of(b"text")
    said = int(data[148:154], 8)
    others = [data[:148] + b"%06o" % (said + wrong) + data[154:] for wrong in (-1, 1)]
    others += [data[:148] + field + data[156:] for field in (b"        ", b"0x12\0\0\0\0", b"-00001\0 ", b"\0" * 8)]
    others += [data[:257] + b"Ustar" + data[262:], data[:511], b"a" * 257 + b"ustar\x0000" + b"b" * 1000]
    path = tmp_path / "text"
    for other in others:
        path.write_bytes(other)
        assert read(path) == [other]


def test_only_the_beginning_of_a_file_is_looked_at(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a" * 512 + tar_of(b"text"))
    assert read(path) == [path.read_bytes()]


def test_a_text_that_begins_as_a_compressed_file_does_is_a_text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("BZh91AY&SY is how such a file begins: é")
    assert read(path) == [path.read_bytes()]


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_a_damaged_compressed_file_is_refused(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    data = packed(bytes(range(32, 127)) * 200, suffix)
    problem = f"text{suffix} is no whole and intact {suffix} file: "
    for damaged in (data[:-1], data[: len(data) // 2], data[:3], b"no compressed file at all"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=problem):
            read(path)
        with pytest.raises(ValueError, match=problem):
            count_words(path)
    if suffix != ".zst":  # which has a checksum only if asked for
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :])
        with pytest.raises(ValueError, match=problem):
            read(path)


def test_files_that_cannot_be_read_are_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        count_words(tmp_path / "missing.txt")
    with pytest.raises(FileNotFoundError, match="patterns are not looked up here: name the files that match"):
        count_words(tmp_path / "*.txt")
    with pytest.raises(FileNotFoundError, match=r"^'/.{,200} is too long for the name of a file: a text is"):
        count_words(tmp_path / ("a long text " * 40))
    with pytest.raises(IsADirectoryError, match="is a directory: name the files in it"):
        count_words(tmp_path)
    path = tmp_path / "secret.txt"
    path.write_bytes(b"text")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(PermissionError, match=r"secret\.txt"):
        count_words(path)


def test_a_system_error_while_decompressing_is_not_called_damage(tmp_path, monkeypatch):
    path = tmp_path / "text.gz"
    path.write_bytes(packed(b"text", ".gz"))

    def fail(*arguments):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(gzip.GzipFile, "read", fail)
    with pytest.raises(OSError, match="Input/output error"):
        read(path)


def test_zstandard_without_its_library_names_the_extra(tmp_path, monkeypatch):
    path = tmp_path / "text.zst"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "backports", None)
    with pytest.raises(ImportError, match=r'text.zst takes backports.zstd: pip install "cbpe\[zstd\]"'):
        read(path)


# ---- JSON Lines


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["rows.jsonl", "rows.NDJSON"])
def test_each_line_of_json_is_a_text(tmp_path, name, suffix):
    texts = ["one", "", "two\nlines \u4e2d", "escaped \U0001f609", "x" * CHUNK_BYTES]
    rows = [json.dumps({"id": i, "body": text}, ensure_ascii=i % 2 == 0) for i, text in enumerate(texts)]
    path = tmp_path / (name + suffix)
    path.write_bytes(packed("\n".join([*rows[:2], "", " \t\r", *rows[2:]]).encode(), suffix))
    assert read(path, field="body") == [text.encode() for text in texts]
    path.write_bytes(packed("\r\n".join(rows).encode() + b"\r\n", suffix))
    assert read(path, field="body") == [text.encode() for text in texts]


def test_escaped_lone_surrogates_are_replaced(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"text": "a\\ud800b \\ud83d\\ude09"}')
    assert read(path, field="text") == ["a\ufffdb \U0001f609".encode()]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"text"', "line 3, is not JSON: it ends too early, at character 17 of the line: it seems to be cut$"),
        (b"{", r"line 3, is not JSON by itself: it goes on over several lines, or was cut\. .*, as jq -c \. does$"),
        (b"[ ", r"line 3, is not JSON by itself: .* Write each object .*, as jq -c '\.\[\]' does$"),
        (
            b'{"text": "a',
            "line 3, is not JSON: it ends within a value, which begins at character 19 of the line: it seems",
        ),
        (
            rb'{"text": "\ud8"}',
            "line 3, is not JSON: four hexadecimal digits have to follow .*, at character 21 of the line$",
        ),
        (
            b"[" * 100_000,
            "line 3, is nested too deeply: 100,000 arrays and objects, one within another: leave such lines out$",
        ),
        (b'{"text": "[[", "a": ' + b"[" * 30_000 + b"]" * 30_000 + b"}", "line 3, is nested too deeply: 30,001 arrays"),
        (b'{"id": %s, "text": 1}' % (b"9" * 5000), "line 3, has no text in the field 'text', but a number"),
        (b"[1]", "line 3, is no object with the field 'text', but an array"),
        (b'"text"', "line 3, is no object with the field 'text', but a string"),
        (b'{"body": "a", "id": 1}', "line 3, has no field 'text'; it has 'body', 'id'"),
        (b"{}", "line 3, has no field 'text'; it has none"),
        (b'{"' + b"9" * 5000 + b'": 1}', "line 3, has no field 'text'; it has '" + "9" * 80 + r"'\.\."),
        (b'{"text": 1}', "line 3, has no text in the field 'text', but a number"),
        (b'{"text": null}', "line 3, has no text in the field 'text', but null: leave such lines out"),
        (b'{"text": ["a"]}', "line 3, has no text in the field 'text', but an array"),
        (b'{"text": true}', "line 3, has no text in the field 'text', but a boolean"),
        (b'{"text": "\xff"}', "is not UTF-8 .byte 0xff at offset 36"),
    ],
)
def test_a_line_that_holds_no_text_is_named(tmp_path, line, message):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"text": "one"}\n\n' + b" " * 9 + line + b'\n{"text": "more"}\n')
    with pytest.raises(ValueError, match=rf"rows\.jsonl,? {message}"):
        read(path, field="text")


@given(st.lists(st.text("ab\n", max_size=5).map(str.encode), max_size=8))
def test_lines_may_come_in_any_parts(chunks):
    parts = list(whole_lines(chunks, 1 << 20, "x"))
    assert b"".join(parts) == b"".join(chunks)
    assert all(part.endswith(b"\n") for part in parts[:-1])


def test_a_byte_order_mark_before_json_lines_is_passed_over(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "one"}\r\n{"text": "\xef\xbb\xbftwo"}\r\n')
    assert read(path, field="text") == [b"one", b"\xef\xbb\xbftwo"]


def test_numbers_in_other_fields_do_not_matter(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"n": ' + "9" * 10_000 + ', "text": "one"}')
    assert read(path, field="text") == [b"one"]


# ---- Parquet


@pytest.fixture
def write_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")

    def write(columns, **options):
        path = tmp_path / "rows.parquet"
        pq.write_table(pa.table(columns), path, **options)
        return path

    return write


def test_each_row_of_a_parquet_column_is_a_text(write_parquet):
    texts = [f"row {i} \u4e2d" * (i % 5) for i in range(5000)]
    path = write_parquet({"id": list(range(5000)), "body": texts}, row_group_size=1500)
    assert read(path, field="body") == [text.encode() for text in texts]
    reader = Reader([path], field="body")
    list(reader.texts())
    assert reader.done_bytes == reader.total_bytes == path.stat().st_size


@pytest.mark.parametrize("type_name", ["string", "large_string", "string_view", "dictionary"])
def test_every_type_of_text_in_parquet_is_read(write_parquet, type_name):
    import pyarrow as pa

    coded = pa.dictionary(pa.int32(), pa.string())
    types = {"string": pa.string(), "large_string": pa.large_string(), "dictionary": coded}
    types["string_view"] = pa.string_view()
    path = write_parquet({"text": pa.array(["a", "b", "a"]).cast(types[type_name])})
    assert read(path, field="text") == [b"a", b"b", b"a"]
    assert read(write_parquet({"text": pa.array([], types[type_name])}), field="text") == []


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "dictionary"])
def test_every_way_in_which_parquet_keeps_texts_is_read(tmp_path, encoding):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    texts = [f"text {i % 7}" for i in range(3000)]
    ways = {"use_dictionary": encoding == "dictionary"}
    if encoding != "dictionary":
        ways["column_encoding"] = {"text": encoding}
    pq.write_table(pa.table({"text": texts}), tmp_path / "rows.parquet", row_group_size=1000, **ways)
    assert read(tmp_path / "rows.parquet", field="text") == [text.encode() for text in texts]


def test_a_parquet_column_without_texts_is_refused(write_parquet):
    path = write_parquet({"text": ["a", None], "id": [1, 2]})
    with pytest.raises(ValueError, match=r"rows.parquet has no column 'body'; it has 'text', 'id'"):
        read(path, field="body")
    with pytest.raises(ValueError, match=r"the column 'id' of .*rows.parquet holds no texts, but int64"):
        read(path, field="id")
    with pytest.raises(
        ValueError, match=r"rows.parquet, row 1 of the column 'text' .* holds no text, but null: leave such rows out"
    ):
        read(path, field="text")


def test_a_parquet_column_that_is_there_twice_is_refused(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"]), path)
    with pytest.raises(ValueError, match=r"rows.parquet has several columns 'text': rename all but one"):
        read(path, field="text")


def test_parquet_that_is_not_utf8_is_refused_or_replaced(write_parquet):
    import pyarrow as pa

    binary = pa.array([b"good", b"b\xffd"])
    texts = pa.Array.from_buffers(pa.string(), 2, binary.buffers())  # not validated
    path = write_parquet({"text": texts})
    with pytest.raises(ValueError, match=r"row 1 of the column 'text' is not UTF-8 .byte 0xff at offset 1"):
        read(path, field="text")
    assert read(path, field="text", errors="replace") == [b"good", "b\ufffdd".encode()]


def test_a_damaged_parquet_file_is_refused(write_parquet):
    path = write_parquet({"text": ["some text"] * 100})
    data = path.read_bytes()
    for damaged in (data[:-1], data[: len(data) // 2], b"", b"no Parquet file", data[:10] + bytes(50) + data[60:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"rows.parquet is no whole and intact Parquet file: "):
            read(path, field="text")


def test_parquet_without_its_library_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "rows.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'rows.parquet takes pyarrow: pip install "cbpe\[parquet\]"'):
        read(tmp_path / "rows.parquet", field="text")


# ---- What is no plain file


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_named_pipe_is_read(tmp_path, suffix):
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[packed(TEXT.encode(), suffix)], daemon=True)
    writer.start()
    reader = Reader(path)
    assert reader.total_bytes is None
    assert b"".join(part for text in reader.texts() for part in text) == TEXT.encode()
    writer.join(60)


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_what_is_wrong_with_a_compressed_file_is_said_in_words(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    data = packed(TEXT.encode(), suffix)
    for damaged, problem in (
        (b"hi there, and more", "it is not compressed, or not to its end, or in another way"),
        (data[:-3], "it is cut short"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=rf"text{suffix} is no whole and intact {suffix} file: {problem}$"):
            read(path)


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_an_empty_file_is_no_compressed_one(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    path.write_bytes(b"")
    if suffix == ".zst":
        zstd()
    with pytest.raises(ValueError, match=rf"no whole and intact {suffix} file"):
        read(path)
    path.write_bytes(packed(b"", suffix))
    assert read(path) == [b""]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_json_with_a_field_is_read_as_json_lines(tmp_path, suffix):
    path = tmp_path / f"c4-train.00000-of-01024.json{suffix}"
    path.write_bytes(packed(b'{"text": "one", "url": ""}\n{"text": "two"}\n', suffix))
    assert read(path, field="text") == [b"one", b"two"]
    path.write_bytes(packed(b'[\n{"text": "one"}\n]\n', suffix))
    with pytest.raises(ValueError, match=r"\(read as JSON Lines, one object a line\), line 1, is not JSON by itself"):
        read(path, field="text")


# ---- Options that contradict the file


@pytest.mark.parametrize(
    ("name", "field", "message"),
    [
        (
            "a.feather",
            "text",
            r"a\.feather is a table of another kind: .*, as pandas\.read_feather\(path\)\.to_parquet",
        ),
        ("a.csv", "text", r"a\.csv is a table of another kind: write it as one of these, as pandas\.read_csv"),
        ("a.txt", "text", r"the field 'text' is of .jsonl, .json and .parquet files, and .*a\.txt is plain text"),
        ("a.gz", "text", r"a\.gz is plain text"),
        ("a.jsonl", None, r'a\.jsonl has its texts in a field: set field to its name, such as "text"'),
        ("a.parquet", None, r"a\.parquet has its texts in a field"),
        ("a.parquet.gz", "text", "a Parquet file is compressed in itself"),
        ("a.jsonl.bz2", "text", r"a\.jsonl\.bz2 is compressed by bzip2: decompress it first"),
        ("a.JSONL.BZ2", None, r"a\.JSONL\.BZ2 is compressed by bzip2: decompress it first"),
        ("a.jsonl.txt", "text", r"a\.jsonl\.txt is plain text"),
        ("a.jsonlines", None, r"a\.jsonlines has its texts in a field"),
    ],
)
def test_a_field_and_a_kind_of_file_that_do_not_go_together_are_refused(tmp_path, name, field, message):
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=message):
        count_words(path, field=field)
    with pytest.raises(ValueError, match=message):
        count_words(iter([path]), field=field)


def test_a_small_file_does_not_hold_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_AT_ONCE", 100_000)
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "' + b"a" * 10_000_000 + b'"}\n'))
    with pytest.raises(ValueError, match=r"rows\.jsonl\.gz has a line of more than [0-9,]+ bytes"):
        count_words(path, field="text")


def test_a_plain_line_may_be_as_long_as_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_AT_ONCE", 1000)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"text": "' + b"a" * 1_000_000 + b'"}\n')
    assert count_words(path, field="text").total == 1


def test_a_text_that_many_rows_have_is_held_once(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="reads Parquet")
    pq = pytest.importorskip("pyarrow.parquet", reason="reads Parquet")
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 50_000, pa.int32()), ["ab " * 100, "c"])
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"text": column}), path)
    before = pa.total_allocated_bytes()
    texts = files.TextFile(path, field="text", errors="strict").texts()
    assert next(texts) == b"ab " * 100
    assert next(texts) == b"c"
    assert pa.total_allocated_bytes() - before < 150_000  # and 1024 rows have 154,112 bytes
    assert sum(1 for _ in texts) == 99_998


def test_a_row_group_that_is_too_large_for_its_file_is_refused(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow", reason="reads Parquet")
    pq = pytest.importorskip("pyarrow.parquet", reason="reads Parquet")
    monkeypatch.setattr(files, "MOST_AT_ONCE", 1000)
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"text": ["a" * 1_000_000]}), path, compression="gzip", use_dictionary=False)
    with pytest.raises(
        ValueError, match=r"the column 'text' of the row group 0 has 1,000,\d+ bytes, which is more than"
    ):
        count_words(path, field="text")


def test_a_window_that_is_too_large_is_no_damage(tmp_path):
    library = zstd()
    options = {
        library.CompressionParameter.window_log: 28,
        library.CompressionParameter.enable_long_distance_matching: 1,
    }
    path = tmp_path / "a.txt.zst"
    with library.open(path, "wb", options=options) as file:
        for _ in range(3):  # of a size that is not known at the beginning, so that the window stays as large
            file.write(b"low lower lowest ")
            file.flush()
    with pytest.raises(
        ValueError, match=r"a\.txt\.zst takes more memory to decompress than .*: decompress it first, by"
    ):
        read(path)
