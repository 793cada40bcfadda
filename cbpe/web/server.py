"""The server: a socket of this machine, and uvicorn that answers on it until Ctrl-C."""

from __future__ import annotations

import contextlib
import errno
import socket
from typing import Any

import uvicorn

__all__ = ["USUAL_PORT", "address", "elsewhere", "listen", "run"]

USUAL_PORT = 8017
# Where no machine is: the system says from which of its addresses it would go there.
NOWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
MOST_CONNECTIONS = 100
SECONDS_OF_SILENCE = 5  # before a connection that asks nothing is closed


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens at a host and a port: 0 for any that is free, None for the usual one or any.

    OSError says what could not be listened to.
    """
    for number in (USUAL_PORT, 0) if port is None else (port,):
        try:
            return bound(host, number)
        except OSError as error:
            if number == USUAL_PORT and port is None:
                continue
            at = f"{host}, port {number}" if number else host
            way = ": give another port, or 0 for any that is free" if error.errno == errno.EADDRINUSE else ""
            raise OSError(f"cannot listen at {at}: {error.strerror or error}{way}") from error
    raise AssertionError("a free port is always asked for")


def bound(host: str, port: int) -> socket.socket:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, place = found[0]
    opened = socket.socket(family, kind, protocol)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(place)
        opened.listen()
    except BaseException:
        opened.close()
        raise
    return opened


def address(host: str, opened: socket.socket) -> str:
    """The URL of a server: "http://127.0.0.1:8017/". Where it listens at all addresses, that of this machine."""
    return url_of({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), opened)


def url_of(name: str, opened: socket.socket) -> str:
    return f"http://{f'[{name}]' if ':' in name else name}:{opened.getsockname()[1]}/"


def elsewhere(host: str, opened: socket.socket) -> list[str]:
    """The URLs by which other machines reach a server that listens at all addresses of this one; none for a server at
    one address, or where this machine has none in a network."""
    if opened.getsockname()[0] not in ("0.0.0.0", "::"):
        return []
    families = [opened.family]
    if opened.family == socket.AF_INET6 and not opened.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY):
        families.append(socket.AF_INET)
    return [url_of(name, opened) for name in map(own_address, families) if name is not None]


def own_address(family: socket.AddressFamily) -> str | None:
    """The address from which this machine reaches others. Nothing is sent."""
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.connect((NOWHERE[family], 9))
        return str(asking.getsockname()[0])
    return None


def run(app: Any, opened: socket.socket) -> None:
    """Answer requests until Ctrl-C."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=SECONDS_OF_SILENCE,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(config).run(sockets=[opened])
