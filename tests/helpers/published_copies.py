"""Published copies for tests: one of three versions of `a` and one of an odd name, as a folder and behind a web server.

`published_folder` and `published_url` are that copy, which tests only read. `installed` makes the entry point known by
which cbpe.load finds what reads it.
"""

import functools
import http.server
import re
import shutil
import threading
from contextlib import contextmanager, suppress

import pytest
from project import ROOT

import cbpe
from store import ModelStore
from store.records import references

TOKS = [cbpe.train("low lower lowest newer wider", size, special_tokens=["<|end|>"]) for size in (257, 258, 259)]
ODD = "../a b/%2e?#é"


@pytest.fixture(scope="session")
def published_folder(empty_store, tmp_path_factory):
    """A published copy, which tests only read."""
    place = tmp_path_factory.mktemp("published")
    with ModelStore(shutil.copy(empty_store, place / "models.db")) as models:
        models.save(TOKS[0], "a")
        models.save(TOKS[1], "a", aliases=["prod"], notes="x")
        models.save(TOKS[2], "a")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(references, "shadowed", lambda name: None)  # as before cbpe refused such names
            models.save(TOKS[0], ODD)
        assert models.publish(place / "public") == 4
    return place / "public"


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *arguments):
        pass


def answering(answer):
    """A handler that answers every GET by a function."""

    class Answering(Handler):
        def do_GET(self):
            with suppress(OSError):  # the client went away
                answer(self)

    return Answering


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


@pytest.fixture(scope="session")
def published_url(published_folder):
    with serving(functools.partial(Handler, directory=published_folder)) as found:
        yield found


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
