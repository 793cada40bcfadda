"""Publishing: a store as plain files, loaded from a folder or a web server, of which nothing is believed."""

import functools
import hashlib
import http.server
import ipaddress
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from urllib.parse import quote

import pytest
from command_line import error_of, run
from project import ROOT

import cbpe
from store import BadSignature, Damaged, ModelStore, NotFound, Refused
from store.sharing import fetching, index, published

TOKS = [cbpe.train("low lower lowest newer wider", size, special_tokens=["<|end|>"]) for size in (257, 258, 259)]
ODD = "../a b/%2e?#é"


@pytest.fixture(scope="module")
def folder(empty_store, tmp_path_factory):
    """A published copy, which tests only read."""
    place = tmp_path_factory.mktemp("published")
    with ModelStore(shutil.copy(empty_store, place / "models.db")) as models:
        models.save(TOKS[0], "a")
        models.save(TOKS[1], "a", aliases=["prod"], notes="x")
        models.save(TOKS[2], "a")
        models.save(TOKS[0], ODD)
        assert models.publish(place / "public") == 4
    return place / "public"


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *arguments):
        pass


@contextmanager
def serving(handler, context=None):
    """The URL of a server on this machine. With the context of a certificate, it speaks TLS."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
            server.handle_error = lambda *what: None
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def url(folder):
    with serving(functools.partial(Handler, directory=folder)) as found:
        yield found


@pytest.fixture
def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copied")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """What is installed as pyproject.toml says, so that the entry point is found in a checkout too."""
    table = re.search(
        r'\[project\.entry-points\."(.*?)"\]\n(.*?)\n\n', (ROOT / "pyproject.toml").read_text(), re.DOTALL
    )
    name, value = re.fullmatch(r'(\w+) = "(.*)"', table[2]).groups()
    place = tmp_path / "installed" / "cbpe_here-1.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: cbpe-here\nVersion: 1\n")
    (place / "entry_points.txt").write_text(f"[{table[1]}]\n{name} = {value}\n")
    monkeypatch.syspath_prepend(str(place.parent))
    return place.parent


# ---- Publishing


def test_a_store_of_either_kind_is_published_whole(models, tmp_path):
    models.save(TOKS[0], "a", aliases=["prod"], tags={"x": "y"})
    models.save(cbpe.get_encoding("r50k_base"), "b")
    assert models.publish(tmp_path / "deep" / "public") == 2
    for reference in ("a@prod", "a@1", "a", "a@latest"):
        tok = published.load(f"{tmp_path}/deep/public/{reference}")
        assert type(tok) is type(models.load("a"))
        assert tok.merges == TOKS[0].merges
        assert tok.special_tokens == TOKS[0].special_tokens
        assert vars(tok.training) == vars(TOKS[0].training)
    assert published.load(f"{tmp_path}/deep/public/b").encode("hello") == cbpe.get_encoding("r50k_base").encode("hello")


def test_the_index_says_what_is_there(folder):
    said = json.loads((folder / "index.json").read_text("ascii"))
    assert said["format"] == "cbpe published 1"
    assert set(said["names"]) == {"a", ODD}
    assert (said["names"]["a"]["newest"], said["names"]["a"]["aliases"]) == (3, {"prod": 2})
    files = {path.name: path.read_bytes() for path in (folder / "files").iterdir()}
    assert len(files) == 4
    for about in said["names"].values():
        for entry in about["versions"].values():
            data = files[os.path.basename(entry["file"])]
            assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["size"], entry["sha256"])


def test_publishing_again_adds_what_is_new_and_changes_no_file(empty_store, tmp_path):
    with ModelStore(shutil.copy(empty_store, tmp_path / "models.db")) as models:
        models.save(TOKS[0], "a", aliases=["prod"])
        assert models.publish(tmp_path / "public") == 1
        before = {path: (path.stat().st_ino, path.read_bytes()) for path in (tmp_path / "public" / "files").iterdir()}
        assert models.publish(tmp_path / "public") == 0
        models.save(TOKS[1], "a", aliases=["prod"])
        models.tag("a@1", ["new"])  # its file says so too: another file
        assert models.publish(tmp_path / "public") == 2
        assert {path: (path.stat().st_ino, path.read_bytes()) for path in before} == before
        assert published.load(f"{tmp_path}/public/a@prod").merges == TOKS[1].merges
        models.delete("a@1")
        assert models.publish(tmp_path / "public") == 0
    with pytest.raises(NotFound, match="the newest version is a@2"):
        published.load(f"{tmp_path}/public/a@1")


def test_a_damaged_file_is_written_anew(empty_store, tmp_path):
    with ModelStore(shutil.copy(empty_store, tmp_path / "models.db")) as models:
        models.save(TOKS[0], "a")
        models.publish(tmp_path / "public")
        (path,) = (tmp_path / "public" / "files").iterdir()
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        assert models.publish(tmp_path / "public") == 1
    assert published.load(f"{tmp_path}/public/a").merges == TOKS[0].merges


def test_when_it_fails_the_index_is_as_before(empty_store, tmp_path, monkeypatch):
    with ModelStore(shutil.copy(empty_store, tmp_path / "models.db")) as models:
        models.save(TOKS[0], "a")
        models.publish(tmp_path / "public")
        before = (tmp_path / "public" / "index.json").read_bytes()
        models.save(TOKS[1], "a")
        monkeypatch.setattr(index, "MAX_VALUES", 20)
        with pytest.raises(Refused, match="at most 20 keys and values"):
            models.publish(tmp_path / "public")
    assert (tmp_path / "public" / "index.json").read_bytes() == before


def test_a_file_of_another_program_is_not_replaced(empty_store, tmp_path):
    (tmp_path / "index.json").write_text('{"weight_map": {}}')
    models = ModelStore(shutil.copy(empty_store, tmp_path / "models.db"))
    with models, pytest.raises(Refused, match="would be replaced"):
        models.publish(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir() if "models.db" not in path.name) == ["index.json"]


# ---- Loading


@pytest.mark.parametrize(("reference", "which"), [("a@1", 0), ("a@prod", 1), ("a", 2), ("a@latest", 2), ("%61@3", 2)])
def test_every_kind_of_reference_leads_to_its_version(url, folder, reference, which):
    for place in (url, folder):
        assert published.load(f"{place}/{reference}").merges == TOKS[which].merges


def test_an_odd_name_is_escaped_and_leaves_no_folder(url, folder):
    for place in (url, folder):
        assert published.load(f"{place}/{quote(ODD, safe='')}@1").merges == TOKS[0].merges


def test_cbpe_loads_by_the_entry_point(url, folder, installed):
    assert cbpe.load(f"{url}/a@prod").merges == TOKS[1].merges
    assert cbpe.load(folder / "a@1").merges == TOKS[0].merges
    with pytest.raises(ValueError, match="are for files without a split pattern"):
        cbpe.load(f"{url}/a@prod", pattern="x")


@pytest.mark.usefixtures("installed")
def test_the_command_line_reads_and_writes_a_copy(folder, url, tmp_path):
    (tmp_path / "text").write_text("lowest")
    for place in (url, folder):
        found = run("count", "-t", f"{place}/a@prod", tmp_path / "text", "--json").stdout
        assert json.loads(found)[0]["tokens"] == len(TOKS[1].encode("lowest"))
    assert "no version is called" in error_of("count", "-t", f"{url}/b", tmp_path / "text")
    with ModelStore(tmp_path / "models.db") as models:
        models.save(TOKS[0], "a")
    assert run("models", "publish", tmp_path / "public").stdout == "files written: 1\n"
    assert json.loads(run("models", "publish", tmp_path / "public", "--json").stdout) == {"written": 0}


def test_cbpe_does_not_import_store_for_other_files(tmp_path):
    TOKS[0].save(tmp_path / "x")
    code = "import cbpe, sys; cbpe.load(sys.argv[1]); sys.exit('store' in sys.modules)"
    subprocess.run([sys.executable, "-c", code, tmp_path / "x.model"], check=True)


@pytest.mark.parametrize(
    ("reference", "error", "message"),
    [
        ("b", NotFound, "no version is called 'b'"),
        ("a@9", NotFound, "no 'a@9'; the newest version is a@3"),
        ("a@next", NotFound, "no 'a@next'"),
        ("sha256:abcdefab", ValueError, "not by its digest"),
        ("", ValueError, "a name has"),
        ("a@b@c", ValueError, "no alias"),
        ("%ff", ValueError, "decode"),
    ],
)
def test_what_is_not_there_or_no_reference(url, folder, reference, error, message):
    for place in (url, folder):
        with pytest.raises(error, match=message):
            published.load(f"{place}/{reference}")


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


def answering(answer):
    """A handler that answers every GET by a function."""

    class Answering(Handler):
        def do_GET(self):
            with suppress(OSError):  # the client went away
                answer(self)

    return Answering


def redirecting(target):
    def answer(handler):
        handler.send_response(302)
        handler.send_header("Location", target(handler))
        handler.end_headers()

    return answering(answer)


def test_a_redirect_on_the_same_machine_is_followed(url):
    with serving(redirecting(lambda handler: url + handler.path)) as other:
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


def test_a_server_is_asked_by_tls_and_has_to_have_a_certificate_that_is_trusted(folder, certificate, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with serving(functools.partial(Handler, directory=folder), context) as url:
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
    with pytest.raises(OSError, match="cannot be fetched"):
        published.load("http://127.0.0.1:1/a")

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
        ("https://a", "no URL of a web server"),
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


# ---- Signed copies


def new_key():
    return pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519").Ed25519PrivateKey.generate()


@pytest.fixture(scope="module")
def key():
    return new_key()


@pytest.fixture
def signed(models, key, tmp_path):
    """A published copy whose index is signed, of a store of either kind."""
    models.save(TOKS[0], "a")
    models.save(TOKS[1], "a", aliases=["prod"])
    models.publish(tmp_path / "signed", key=key)
    return tmp_path / "signed"


def test_a_copy_that_one_of_the_keys_has_signed_is_loaded(signed, key):
    other = new_key().public_key()
    for reference, tok in (("a@1", TOKS[0]), ("a@prod", TOKS[1])):
        assert published.load(f"{signed}/{reference}", keys=[other, key.public_key()]).merges == tok.merges
        assert published.load(f"{signed}/{reference}").merges == tok.merges  # who gives no key looks at none
    with pytest.raises(NotFound):
        published.load(f"{signed}/b", keys=key.public_key())


def test_what_is_signed_is_what_the_docs_say(signed, key):
    said = json.loads((signed / "index.json").read_text("ascii"))
    signature = bytes.fromhex(said.pop("signature"))
    line = b"cbpe published copy, signature 1\n"
    key.public_key().verify(signature, line + json.dumps(said, sort_keys=True, separators=(",", ":")).encode())


def changed(signed, change):
    """Change what the index says, without signing it again."""
    said = json.loads((signed / "index.json").read_text("ascii"))
    change(said)
    (signed / "index.json").write_text(json.dumps(said))


ALTERED = {
    "an alias": lambda said: said["names"]["a"]["aliases"].update(prod=1),
    "another alias": lambda said: said["names"]["a"]["aliases"].update(other=1),
    "a version": lambda said: said["names"]["a"]["versions"].update({"1": said["names"]["a"]["versions"]["2"]}),
    "a name": lambda said: said["names"].update(b=said["names"]["a"]),
    "nothing signed": lambda said: said.pop("signature"),
    "null": lambda said: said.update(signature=None),
    "another signature": lambda said: said.update(signature="0" * 128),
}


@pytest.mark.parametrize("change", ALTERED)
def test_an_index_that_was_altered_is_refused_before_anything_else_is_read(signed, key, change):
    changed(signed, ALTERED[change])
    shutil.rmtree(signed / "files")
    with pytest.raises(BadSignature, match=r"index\.json is not signed"):
        published.load(f"{signed}/a@prod", keys=[key.public_key()])


@pytest.mark.parametrize("signature", ["", "0" * 127, "A" * 128, 7, [], "x" * 128])
def test_what_is_no_signature_makes_no_index(signed, signature):
    changed(signed, lambda said: said.update(signature=signature))
    with pytest.raises(Damaged, match="its signature is"):
        published.load(f"{signed}/a")


def test_a_copy_that_is_unsigned_or_of_another_key_is_refused(folder, signed, key):
    with pytest.raises(BadSignature, match="published without a key"):
        published.load(f"{folder}/a", keys=key.public_key())
    with pytest.raises(BadSignature, match="another key's"):
        published.load(f"{signed}/a", keys=new_key().public_key())


def test_a_file_that_was_exchanged_is_not_the_one_that_the_signed_index_says(signed, key):
    entries = json.loads((signed / "index.json").read_text("ascii"))["names"]["a"]["versions"]
    (signed / entries["1"]["file"]).write_bytes((signed / entries["2"]["file"]).read_bytes())
    with pytest.raises(Damaged, match=r"is not the file that the index says|more than"):
        published.load(f"{signed}/a@1", keys=key.public_key())
    assert published.load(f"{signed}/a@2", keys=key.public_key()).merges == TOKS[1].merges


@pytest.mark.usefixtures("installed")
def test_cbpe_load_takes_keys_for_a_published_copy_alone(signed, key, tmp_path):
    assert cbpe.load(f"{signed}/a", keys=[key.public_key()]).merges == TOKS[1].merges
    with pytest.raises(BadSignature):
        cbpe.load(f"{signed}/a", keys=[new_key().public_key()])
    with pytest.raises(ValueError, match="no key is given"):
        cbpe.load(f"{signed}/a", keys=[])
    TOKS[0].save(str(tmp_path / "file"))
    with pytest.raises(ValueError, match="keys are for a version in a published copy"):
        cbpe.load(tmp_path / "file.model", keys=[key.public_key()])


def test_what_is_no_key_publishes_nothing(models, tmp_path):
    pytest.importorskip("cryptography")
    (tmp_path / "key.pem").write_text("none")
    with pytest.raises(ValueError, match="no private key"):
        models.publish(tmp_path / "public", key=tmp_path / "key.pem")
    assert not (tmp_path / "public").exists()


def test_the_command_line_publishes_with_a_key(models, key, tmp_path):
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "private.pem").write_bytes(private)
    models.save(TOKS[0], "a")
    store = models._database.url.render_as_string(hide_password=False)
    place = tmp_path / "public"
    done = run("models", "publish", place, "--key", tmp_path / "private.pem", "--store", store)
    assert done.stdout == "files written: 1\n"
    assert published.load(f"{place}/a", keys=key.public_key()).merges == TOKS[0].merges
