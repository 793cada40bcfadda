"""Files that lie elsewhere, by fsspec's memory file system."""

import functools
import gzip
import http.server
import io
import json
import os
import re
import sys
import threading
from importlib.metadata import requires

import pytest
from project import ROOT

from cbpe import count_corpus, count_words
from cbpe.corpus.files import TextFile
from cbpe.corpus.storage import Url, has_wildcards, is_url, place_of, version_of

fsspec = pytest.importorskip("fsspec", reason="needs fsspec")


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def texts(url, field="text", span=None):
    return [
        b"".join(text) if not isinstance(text, bytes) else text
        for text in TextFile(Url(url), field=field, errors="strict", span=span).texts()
    ]


def test_a_name_with_a_scheme_is_a_url():
    assert is_url("s3://bucket/x.jsonl")
    assert not is_url("file:///x")
    assert not is_url("c:/x")
    assert place_of("file:///tmp/x").as_posix() == "/tmp/x"


def test_every_kind_of_file_is_read_by_its_url(memory):
    lines = b"".join(json.dumps({"text": str(i)}).encode() + b"\n" for i in range(9))
    memory.pipe({"/c/a.jsonl": lines, "/c/b.jsonl.gz": gzip.compress(lines), "/c/t.txt": b"text"})
    every = [b"%d" % i for i in range(9)]
    assert texts("memory://c/a.jsonl") == texts("memory://c/b.jsonl.gz") == every
    assert texts("memory://c/t.txt", field=None) == [b"text"]
    assert texts("memory://c/a.jsonl", span=(0, 50)) + texts("memory://c/a.jsonl", span=(50, len(lines))) == every


def test_parquet_is_read_by_its_url(memory):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    file = io.BytesIO()
    pq.write_table(pa.table({"text": ["a", "b"]}), file)
    memory.pipe("/c/x.parquet", file.getvalue())
    assert texts("memory://c/x.parquet") == [b"a", b"b"]


def test_a_missing_file_is_named(memory):
    with pytest.raises(FileNotFoundError, match=r"there is no memory://c/none.txt"):
        texts("memory://c/none.txt", field=None)


def test_what_a_file_system_raises_names_the_url(memory, monkeypatch):
    memory.pipe("/c/t.txt", b"text")

    def lost(self, *arguments):
        raise RuntimeError("connection lost")

    monkeypatch.setattr("fsspec.implementations.memory.MemoryFile.read", lost)
    with pytest.raises(OSError, match=r"memory://c/t.txt cannot be read: connection lost"):
        texts("memory://c/t.txt", field=None)


def test_a_library_that_is_missing_is_told_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    for ask in (Url.info, Url.files, Url.open):
        with pytest.raises(ImportError, match=r'^reading https://x/y.txt takes fsspec: pip install "cbpe\[remote\]"$'):
            ask(Url("https://x/y.txt"))


def test_what_https_takes_comes_with_the_extra(monkeypatch):
    def missing(url):
        raise ImportError('HTTPFileSystem requires "requests" and "aiohttp" to be installed')  # as fsspec says it

    monkeypatch.setattr("fsspec.core.url_to_fs", missing)
    with pytest.raises(ImportError, match=r'^reading https://x/y.txt takes aiohttp: pip install "cbpe\[remote\]"$'):
        Url("https://x/y.txt").info()
    brought = [each for each in requires("fsspec") if each.startswith("aiohttp")]
    assert any(re.search(r"extra == ['\"]http['\"]", each) for each in brought)
    assert 'remote = ["fsspec[http]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_a_file_is_read_from_a_web_server(tmp_path):
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    (tmp_path / "a.txt").write_text("text")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert texts(f"http://127.0.0.1:{server.server_port}/a.txt", field=None) == [b"text"]
        server.shutdown()


class Refusing(http.server.BaseHTTPRequestHandler):
    """Answers with the number that the path begins with."""

    def do_GET(self):
        status = int(self.path.split("/")[1])
        self.send_response(status)
        if status == 302:
            self.send_header("Location", self.path)
        self.end_headers()

    def do_HEAD(self):
        self.do_GET()

    def log_message(self, *_):
        pass


def test_what_a_web_server_says_is_told_and_a_file_that_is_not_there_alone_is_said_to_be_missing(tmp_path):
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}"
        for status, said in (
            (404, f"^there is no {place}/404/x.txt$"),
            (403, f"^{place}/403/x.txt cannot be read: the server says 403 Forbidden$"),
            (302, f"^{place}/302/x.txt cannot be read: the server sends on from one place to another without end$"),
            (500, f"^{place}/500/x.txt cannot be read: the server says 500 Internal Server Error$"),
        ):
            url = f"{place}/{status}/x.txt"
            for read in (lambda url=url: texts(url, field=None), lambda url=url: Url(url).files()):
                with pytest.raises(OSError, match=said):
                    read()
        server.shutdown()
    with pytest.raises(OSError, match=f"^{place}/x.txt cannot be read: Connection refused$"):
        Url(f"{place}/x.txt").files()


def test_a_web_server_that_gives_no_parts_of_a_file_is_told_with_what_to_do(tmp_path):
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    (tmp_path / "a.jsonl").write_text('{"text": "a b c d e f g h"}\n' * 1000)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)  # which knows no ranges
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/a.jsonl"
        with pytest.raises(OSError, match="gives no part of a file: download it, or make task_bytes more than it has"):
            count_corpus(url, tmp_path / "a.words", field="text", task_bytes=1000)
        assert count_corpus(url, tmp_path / "b.words", field="text")["documents"] == 1000
        # Of Parquet a part is always asked for: no size of a task helps.
        (tmp_path / "a.parquet").write_bytes(bytes(12 << 20))
        with pytest.raises(OSError, match=r"gives no part of a file: download it$"):
            texts(url.replace("jsonl", "parquet"), field="text")
        server.shutdown()


def test_a_scheme_that_nobody_knows_is_an_error_that_names_the_url():
    with pytest.raises(OSError, match=r"nowhere://x/y.txt cannot be read: Protocol not known: nowhere"):
        TextFile(Url("nowhere://x/y.txt"), field=None, errors="strict")


@pytest.fixture
def served(tmp_path):
    """A folder, and the address at which it is served."""
    pytest.importorskip("aiohttp", reason="needs aiohttp")
    pytest.importorskip("fsspec", reason="needs fsspec")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield tmp_path, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_links_in_a_file_of_the_web_lead_nowhere(served):
    folder, address = served
    (folder / "a.txt").write_text('see <a href="b.txt">a link</a>')
    (folder / "b.txt").write_text("another text")
    assert [str(each) for each in Url(f"{address}/a.txt").files()] == [f"{address}/a.txt"]
    (folder / "sub").mkdir()
    (folder / "sub" / "c.txt").write_text("in a folder")
    for name in ("sub", "sub/"):
        assert [str(each) for each in Url(f"{address}/{name}").files()] == [f"{address}/sub/c.txt"]
    with pytest.raises(FileNotFoundError, match="there is no http"):
        Url(f"{address}/none.txt").files()


def test_a_page_of_links_is_no_file_in_any_order(served):
    folder, address = served
    (folder / "sub").mkdir()
    (folder / "sub" / "a.txt").write_text("a text")
    links = '<a href="?C=N;O=D">Name</a> <a href="/sub/?C=M;O=A">Last modified</a> <a href="/">Parent</a>'
    (folder / "sub" / "index.html").write_text(f'<html>{links} <a href="a.txt">a.txt</a></html>')  # as Apache's
    assert [str(each) for each in Url(f"{address}/sub/").files()] == [f"{address}/sub/a.txt"]


def test_a_query_is_no_part_of_the_name_of_a_file(served):
    folder, address = served
    (folder / "rows.jsonl").write_text('{"text": "low lower"}\n')
    url = f"{address}/rows.jsonl?download=true#top"
    assert Url(url).suffixes == [".jsonl"]
    assert not has_wildcards(url)
    assert has_wildcards(f"{address}/*.jsonl?download=true")
    assert texts(url, field="text") == [b"low lower"]
    assert [str(each) for each in Url(url).files()] == [url]
    assert Url("s3://bucket/a?.jsonl").suffixes == [".jsonl"]  # where "?" is one character of a pattern


def test_a_file_of_the_web_is_another_one_by_the_time_when_it_was_changed(served):
    folder, address = served
    (folder / "a.txt").write_text("one")
    os.utime(folder / "a.txt", (1, 1))
    before = version_of(Url(f"{address}/a.txt"))
    (folder / "a.txt").write_text("two")
    after = version_of(Url(f"{address}/a.txt"))
    assert before[0] == after[0]
    assert before != after
    assert before[1].startswith("Last-Modified ")


def test_a_password_in_a_url_is_warned_of_once_and_not_shown(served):
    folder, address = served
    (folder / "a.txt").write_text("text")
    url = f"{address.replace('//', '//user:secret@')}/a.txt"
    with pytest.warns(UserWarning, match=r"the URL http://\.\.\.@127.*/a\.txt holds a password") as warned:
        assert texts(url, field=None) == [b"text"]
    assert len(warned) == 1
    assert "secret" not in str(warned[0].message)


def test_json_lines_behind_a_url_that_are_read_as_text_are_told(memory):
    memory.pipe("/rows", b'{"text": "low lower"}\n{"text": "lowest"}\n')
    with pytest.warns(
        UserWarning, match="memory://rows is read as one text, and each of its first lines is a JSON object"
    ):
        count_words(Url("memory://rows"))
