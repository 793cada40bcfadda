"""Fetching the files of a published copy: from a folder, or from a web server, which is taken for hostile."""

from __future__ import annotations

import http.client
import ipaddress
import os
import socket
import threading
import urllib.request
from contextlib import suppress
from types import TracebackType
from typing import IO, Any, Protocol
from urllib.error import HTTPError
from urllib.parse import urlsplit

from store.errors import Damaged
from store.sharing.index import INDEX

__all__ = ["NO_FILE", "Folder", "Server", "Source"]

NO_FILE = "A tokenizer's file is not loaded from a URL: download it"
SECONDS_OF_SILENCE = 30.0  # of a server, at any time
SECONDS_OF_A_FILE = 300.0
CHUNK = 1 << 16
HEADERS = {"User-Agent": "cbpe", "Accept-Encoding": "identity"}


class Source(Protocol):
    """Where a published copy is."""

    def read(self, name: str, most: int) -> bytes:
        """The bytes of a file. Raises OSError, and Damaged for more bytes than `most`."""


class Folder:
    """A folder of this machine."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def read(self, name: str, most: int) -> bytes:
        path = os.path.join(self._folder, name)
        if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe would wait
            raise Damaged(f"{path} is no file")
        with open(path, "rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise Damaged(f"{path} has more than {most} bytes")
        return data


class Server:
    """A folder that a web server serves, by the URL of the folder. Raises ValueError for a URL that is not fetched."""

    def __init__(self, url: str, allow_http: bool) -> None:
        self._url = url
        self._allow_http = allow_http
        check_url(url, allow_http)
        if urlsplit(url).query or urlsplit(url).fragment or "?" in url or "#" in url:
            raise ValueError(f"{url}: a published copy has no ? and no # in its URL; in a name they are %3F and %23")

    def read(self, name: str, most: int) -> bytes:
        url = f"{self._url}/{name}"
        try:
            return self._read(url, most)
        except HTTPError as error:
            error.close()
            what = f"{url}: the server says {error.code} {error.reason!s:.100}"
            if name == INDEX and error.code == http.client.NOT_FOUND:
                example = "behind its folder stands the name of a version, as in https://host/folder/name@3"
                what += f": no published copy is at {self._url}; {example}. {NO_FILE}"
            raise OSError(what) from error
        except (http.client.HTTPException, ValueError) as error:
            if isinstance(error, Damaged):
                raise
            raise OSError(f"{url} cannot be fetched: {error!s:.300}") from error
        except OSError as error:
            raise OSError(f"{url} cannot be fetched: {getattr(error, 'reason', error)!s:.300}") from error

    def _read(self, url: str, most: int) -> bytes:
        request = urllib.request.Request(url, headers=HEADERS)
        with TimeLimit(SECONDS_OF_A_FILE) as limit:
            handlers = [Redirects(self._allow_http), Http(limit), Https(limit)]
            if is_loopback(urlsplit(url).hostname):
                handlers.append(urllib.request.ProxyHandler({}))  # what is on this machine is asked itself
            with urllib.request.build_opener(*handlers).open(request, timeout=SECONDS_OF_SILENCE) as response:
                if response.length is not None and response.length > most:
                    raise Damaged(f"{url} has {response.length} bytes, of at most {most}")
                data = bytearray()
                while chunk := response.read1(CHUNK):
                    data += chunk
                    if len(data) > most:
                        raise Damaged(f"{url} has more than {most} bytes")
                return bytes(data)


class TimeLimit:
    """Ends the connections that are made within the block when its time is over, and raises OSError then. A server that
    sends a byte now and then is never silent, and the libraries that read its headers would wait for ever."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._is_over = False
        self._ends: list[socket.socket] = []  # another handle of each connection: TLS takes the first one away
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def connect(self, *where: Any) -> socket.socket:
        """What http.client connects by."""
        connection = socket.create_connection(*where)
        self._ends.append(connection.dup())
        if self._is_over:  # it ended the others just now
            self._end()
        return connection

    def _end(self) -> None:
        self._is_over = True
        for end in list(self._ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> TimeLimit:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._timer.join()
        for end in self._ends:
            end.close()
        if self._is_over and (error is None or isinstance(error, Exception)):
            raise OSError(f"it took more than {self._seconds:.0f} seconds") from error


class Http(urllib.request.HTTPHandler):
    """Connects within a limit of time."""

    def __init__(self, limit: TimeLimit) -> None:
        super().__init__()
        self._limit = limit

    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(limited(http.client.HTTPConnection, self._limit), req)


class Https(urllib.request.HTTPSHandler):
    """The same, by TLS."""

    def __init__(self, limit: TimeLimit) -> None:
        super().__init__()
        self._limit = limit

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(limited(http.client.HTTPSConnection, self._limit), req)


def limited(kind: type[http.client.HTTPConnection], limit: TimeLimit) -> Any:
    """What makes connections of a kind within a limit of time."""

    def make(*where: Any, **options: Any) -> http.client.HTTPConnection:
        made: Any = kind(*where, **options)
        made._create_connection = limit.connect
        return made  # type: ignore[no-any-return]

    return make


class Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a few redirects, and none to another scheme."""

    max_redirections = 5

    def __init__(self, allow_http: bool) -> None:
        self._allow_http = allow_http

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        fp.close()  # or all that comes with the redirect would be read, however much it is
        if urlsplit(newurl).scheme.lower() != urlsplit(req.full_url).scheme.lower():
            raise OSError(f"it leads to {newurl!s:.200}, which is not fetched in the same way")
        check_url(newurl, self._allow_http)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def check_url(url: str, allow_http: bool) -> None:
    parts = urlsplit(url)
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!s:.200} is no URL of a web server: one is as https://host/folder/name@3")
    if "@" in parts.netloc:
        raise ValueError("a URL with a user or a password before its host is not fetched, nor shown here")
    _ = parts.port  # ValueError for what is none
    if parts.scheme.lower() == "http" and not allow_http and not is_loopback(parts.hostname):
        raise ValueError(
            f"{url!s:.200} is not encrypted, so that anybody on the way may change what it gives: take https, or "
            "cbpe.load(URL, allow_http=True)"
        )


def is_loopback(host: str | None) -> bool:
    """Whether a host is this machine itself."""
    if host is None or host.lower() == "localhost":
        return host is not None
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
