"""Published copies of which nothing is believed: files and indexes that are not as they should be, hostile servers."""

import functools
import ipaddress
import json
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone

import pytest
from published_copies import TOKS, Handler, answering, serving

from store import Damaged
from store.sharing import fetching, index, published


@pytest.fixture
def copied(published_folder, tmp_path):
    return shutil.copytree(published_folder, tmp_path / "copied")


# ---- What is not as the index says


def change_index(place, change):
    path = place / "index.json"
    said = json.loads(path.read_text("ascii"))
    change(said["names"]["a"])
    path.write_text(json.dumps(said))


def test_a_file_that_is_not_the_one_in_the_index_is_refused(copied):
    entry = json.loads((copied / "index.json").read_text())["names"]["a"]["versions"]["1"]
    path = copied / entry["file"]
    data = path.read_bytes()
    for changed in (data[:-1], data[:100] + b"\0" + data[101:], b""):
        path.write_bytes(changed)
        with pytest.raises(Damaged, match="not the file that the index says"):
            published.load(f"{copied}/a@1")
    path.write_bytes(data + b"\0")
    with pytest.raises(Damaged, match="more than"):
        published.load(f"{copied}/a@1")
    path.unlink()
    with pytest.raises(FileNotFoundError):
        published.load(f"{copied}/a@1")


def test_a_whole_file_of_another_version_is_refused(copied):
    def exchange(about):
        about["versions"]["1"] = {**about["versions"]["2"], "digest": about["versions"]["1"]["digest"]}

    change_index(copied, exchange)
    with pytest.raises(Damaged, match="and not what the index says of 'a'"):
        published.load(f"{copied}/a@1")


GOOD = {"digest": "0" * 64, "file": index.file_of("0" * 64), "sha256": "0" * 64, "size": 5}


def of_names(names):
    return json.dumps({"format": "cbpe published 1", "names": names}).encode()


def of_one(entry=GOOD, number="1", newest=1, aliases=None):
    return of_names({"a": {"aliases": aliases or {}, "newest": newest, "versions": {number: entry}}})


HOSTILE = {
    "nothing": b"",
    "list": b"[]",
    "null": b"null",
    "number": b"7",
    "string": b'"cbpe published 1"',
    "no JSON": b"{",
    "NaN": b'{"format": NaN}',
    "no ASCII": b'{"format": "\xff"}',
    "another form": b'{"format": "cbpe published 2", "names": {}}',
    "no names": b'{"format": "cbpe published 1"}',
    "names are a list": of_names([]),
    "more keys": b'{"format": "cbpe published 1", "names": {}, "more": 1}',
    "deep": b'{"format": ' + b"[" * 100_000,
    "a name twice": b'{"format": "cbpe published 1", "names": {"a": {}, "a": {}}}',
    "a huge number": b'{"format": "cbpe published 1", "names": ' + b"9" * 5_000_000 + b"}",
    "a large exponent": b'{"format": "cbpe published 1", "names": 1e999999999}',
    "many values": b"[" + b"[]," * 2_000_000 + b"1]",
    "many keys": b"{" + b",".join(b'"%d":0' % i for i in range(300_000)) + b"}",
    "too long": b" " * (index.MAX_INDEX_BYTES + 1),
    "one long text": b'"' + b"x" * (8_000_000) + b'"',
    "no name": of_names({"a@b": {}}),
    "name of nothing": of_names({"a": None}),
    "no versions": of_names({"a": {"aliases": {}, "newest": 1, "versions": {}}}),
    "size of 1 GB": of_one({**GOOD, "size": 1 << 30}),
    "size of less": of_one({**GOOD, "size": -1}),
    "size of a half": of_one({**GOOD, "size": 1.5}),
    "size of true": of_one({**GOOD, "size": True}),
    "another file": of_one({**GOOD, "file": "../../etc/passwd"}),
    "a file elsewhere": of_one({**GOOD, "file": "https://example.org/x"}),
    "no digest": of_one({**GOOD, "sha256": "x" * 64}),
    "digits of another script": of_one({**GOOD, "digest": "\u0660" * 64}),
    "a list": of_one([]),
    "one key less": of_one({"size": 5}),
    "no number": of_one(number="01"),
    "digits of other scripts": of_one(number="\u0661"),
    "too large a number": of_one(number="9999999999", newest=9999999999),
    "newest elsewhere": of_one(newest=2),
    "newest is true": of_one(newest="1"),
    "alias to nothing": of_one(aliases={"x": 2}),
    "alias to true": of_one(aliases={"x": True}),
    "alias that is none": of_one(aliases={"7": 1}),
}


def test_what_the_hostile_ones_change_is_read_as_it_is():
    assert index.load(of_one(aliases={"x": 1})).names["a"]["versions"]["1"] == GOOD


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_index_is_refused(tmp_path, name):
    (tmp_path / "index.json").write_bytes(HOSTILE[name])
    with pytest.raises(Damaged, match=re.escape(str(tmp_path))):
        published.load(f"{tmp_path}/a@1")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits a process's memory as Linux does")
def test_hostile_indexes_are_refused_in_a_second_and_100_mb(tmp_path):
    """All in one process that may take 100 MB more than it has, each in a second of its time."""
    largest = sorted(HOSTILE, key=lambda name: len(HOSTILE[name]))[-8:]
    for i, name in enumerate(largest):
        (tmp_path / str(i)).mkdir()
        (tmp_path / str(i) / "index.json").write_bytes(HOSTILE[name])
    code = """
import resource, sys, time
from store import Damaged
from store.sharing import published
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 100_000_000,) * 2)
for path in sys.argv[1:]:
    start = time.process_time()
    try:
        published.load(path + "/a@1")
    except Damaged:
        assert time.process_time() - start < 1, path
        continue
    sys.exit(path + " was not refused")
"""
    places = [str(tmp_path / str(i)) for i in range(len(largest))]
    subprocess.run([sys.executable, "-c", code, *places], check=True)


# ---- Hostile servers


def redirecting(target):
    def answer(handler):
        handler.send_response(302)
        handler.send_header("Location", target(handler))
        handler.end_headers()

    return answering(answer)


def test_a_redirect_on_the_same_machine_is_followed(published_url):
    with serving(redirecting(lambda handler: published_url + handler.path)) as other:
        assert published.load(f"{other}/a@1").merges == TOKS[0].merges


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("https://127.0.0.1:1/index.json", "not fetched in the same way"),
        ("file:///etc/passwd", "not allowed|not fetched"),
        ("ftp://127.0.0.1/x", "not fetched in the same way"),
        ("http://192.0.2.1/index.json", "is not encrypted"),
        ("http://user:secret@127.0.0.1/index.json", "a user or a password"),
    ],
)
def test_a_redirect_elsewhere_is_refused(target, message):
    with serving(redirecting(lambda handler: target)) as other, pytest.raises(OSError, match=message):
        published.load(f"{other}/a")


def test_redirects_in_a_circle_end():
    with serving(redirecting(lambda handler: handler.path)) as other, pytest.raises(OSError, match="redirect"):
        published.load(f"{other}/a")


@pytest.mark.parametrize("says_so", [True, False])
def test_what_is_longer_than_it_may_be_is_not_read(says_so):
    sent = []

    def answer(handler):
        handler.send_response(200)
        if says_so:
            handler.send_header("Content-Length", str(1 << 30))
        handler.end_headers()
        for _ in range(1 << 10):
            handler.wfile.write(bytes(1 << 20))
            sent.append(1)

    with serving(answering(answer)) as other, pytest.raises(Damaged, match="bytes"):
        published.load(f"{other}/a")
    assert len(sent) < 100


def test_a_server_that_is_silent_or_slow_is_left(monkeypatch):
    monkeypatch.setattr(fetching, "SECONDS_OF_SILENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        with pytest.raises(OSError, match="timed out"):
            published.load(f"http://127.0.0.1:{silent.getsockname()[1]}/a")
        assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    ("start", "again"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b" "),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", b" "),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 302 Found\r\nLocation: /x\r\n", b"X: y\r\n"),
    ],
)
def test_a_server_that_sends_a_little_now_and_then_is_left(start, again, monkeypatch):
    def answer(handler):
        handler.wfile.write(start)
        for _ in range(1000):
            handler.wfile.write(again)
            time.sleep(0.02)

    monkeypatch.setattr(fetching, "SECONDS_OF_A_FILE", 0.2)
    before = threading.active_count()
    began = time.monotonic()
    with serving(answering(answer)) as other, pytest.raises(OSError, match="more than 0 seconds"):
        published.load(f"{other}/a")
    assert time.monotonic() - began < 15
    assert threading.active_count() <= before + 1  # that of the server may still be on its way


@pytest.fixture
def certificate(tmp_path):
    """The files of a certificate for 127.0.0.1, and of its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "here")])
    now = datetime.now(timezone.utc)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(1), now + timedelta(1))
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = made.add_extension(here, False).add_extension(x509.BasicConstraints(True, None), True)
    paths = tmp_path / "certificate.pem", tmp_path / "key.pem"
    paths[0].write_bytes(made.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return paths


def test_a_server_is_asked_by_tls_and_has_to_have_a_certificate_that_is_trusted(
    published_folder, certificate, monkeypatch
):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with serving(functools.partial(Handler, directory=published_folder), context) as url:
        url = url.replace("http://", "https://")
        with pytest.raises(OSError, match="certificate verify failed"):
            published.load(f"{url}/a@1")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        assert published.load(f"{url}/a@1").merges == TOKS[0].merges
        with pytest.raises(OSError, match="certificate verify failed"):  # it is of another host
            published.load(f"{url.replace('127.0.0.1', 'localhost')}/a@1")


def test_what_is_no_http_or_not_there_is_an_error(tmp_path):
    with serving(functools.partial(Handler, directory=tmp_path)) as other, pytest.raises(OSError, match="404"):
        published.load(f"{other}/a")
    with pytest.raises(OSError, match=r"cannot be fetched: [^.]*$"):
        published.load("http://127.0.0.1:1/a")
    with pytest.raises(
        OSError, match=r"cannot be fetched: .*\. A tokenizer's file is not loaded from a URL: download it$"
    ):
        published.load("http://127.0.0.1:1/tokenizer.json")

    def answer(handler):
        handler.wfile.write(b"no HTTP at all\r\n\r\n")

    with serving(answering(answer)) as other, pytest.raises(OSError, match="cannot be fetched"):
        published.load(f"{other}/a")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("http://192.0.2.1/x/a", "is not encrypted"),
        ("http://localhost.example.org/a", "is not encrypted"),
        ("http://127.0.0.1.example.org/a", "is not encrypted"),
        ("HTTP://192.0.2.1/a", "is not encrypted"),
        ("https://user:secret@192.0.2.1/a", "a user or a password"),
        ("https:///a", "no URL of a web server"),
        ("https://a", "https://a names no version in a published copy"),
        ("https://192.0.2.1:8931/", "https://192.0.2.1:8931/ names no version in a published copy"),
        ("https://192.0.2.1/x?y/a", r"has no \?"),
        ("https://192.0.2.1/x#y/a", r"has no \?"),
        ("https://192.0.2.1:x/a", "port|Port"),
        ("ftp://192.0.2.1/a", "no URL of a web server"),
    ],
)
def test_a_url_that_is_not_fetched(reference, message, monkeypatch):
    monkeypatch.setattr(fetching.Server, "_read", lambda self, url, most: pytest.fail(f"{url} was fetched"))
    with pytest.raises(ValueError, match=message) as found:
        published.load(reference)
    assert "secret" not in str(found.value)


def test_http_is_fetched_where_it_is_allowed(monkeypatch):
    asked = []
    monkeypatch.setattr(fetching.Server, "_read", lambda self, url, most: asked.append(url) or b"")
    with pytest.raises(Damaged):
        published.load("http://192.0.2.1/x/a", allow_http=True)
    assert asked == ["http://192.0.2.1/x/index.json"]
