"""The guard in front of the page: which requests are let in, and the headers that each answer gets.

A page of another site may make a browser on this machine send requests here. Such requests are refused by the name in
Host (a name of others that leads here is "DNS rebinding"), by Origin, and by what the browser says in Sec-Fetch-Site.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hmac import compare_digest
from ipaddress import ip_address
from typing import Any

from cbpe.common.wording import shown

__all__ = ["API", "Guard", "is_loopback"]

POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
HOST = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[a-zA-Z0-9._-]{1,253})(?::[0-9]{1,5})?")
API = "/api/"


def address_of(name: str) -> Any:
    """The IP address that a name is, or None for another name."""
    try:
        return ip_address(name.strip("[]"))
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens at a host."""
    address = address_of(host)
    return host.lower() == "localhost" if address is None else bool(address.is_loopback)


class Guard:
    """An ASGI application in front of another. host: where the server listens. token: what requests for JSON have to
    bring, as "Authorization: Bearer TOKEN", if other machines reach the server; the page itself holds no secrets."""

    def __init__(self, app: Any, host: str, token: str | None) -> None:
        self.app = app
        self.host = host.lower()
        self.token = token

    async def __call__(self, scope: Any, receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no WebSockets
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        refusal = self.refusal(scope)
        if refusal is None:
            await self.app(scope, receive, send_guarded)
            return
        status, said = refusal
        content = json.dumps({"error": said}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send_guarded({"type": "http.response.start", "status": status, "headers": headers})
        await send_guarded({"type": "http.response.body", "body": content})

    def refusal(self, scope: Any) -> tuple[int, str] | None:
        """Why a request is not let in, as a status and a line; None for one that is."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        hosts = headers.get("host", [])
        found = HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if found is None or not self.is_ours(found[1].lower()):
            return 403, f"the host {shown(', '.join(hosts))} is not where this page is served"
        for origin in headers.get("origin", []):
            if origin.lower() not in (f"http://{hosts[0].lower()}", f"https://{hosts[0].lower()}"):
                return 403, f"a request from {shown(origin)}, which is another page"
        for site in headers.get("sec-fetch-site", []):
            if site not in ("same-origin", "none") and not is_link(scope, headers):
                return 403, "a request from a page of another site"
        if self.token is not None and scope["path"].startswith(API) and not self.has_token(headers):
            return 401, "the token is missing or wrong: open the address that cbpe ui has printed"
        return None

    def is_ours(self, name: str) -> bool:
        """Whether the server may be reached by a name. Where it listens at all addresses, by any address: one that is
        no name cannot be a name of others that leads here."""
        given, address = address_of(self.host), address_of(name)
        if address is None:
            return name in ("localhost", self.host)
        return address.is_loopback or address == given or (given is not None and given.is_unspecified)

    def has_token(self, headers: dict[str, list[str]]) -> bool:
        given = headers.get("authorization", [])
        return len(given) == 1 and compare_digest(given[0].encode(), f"Bearer {self.token}".encode())


def is_link(scope: Any, headers: dict[str, list[str]]) -> bool:
    """Whether somebody follows a link to the page: that shows the page in a window of its own, and nothing else."""
    return (
        scope["method"] == "GET"
        and not scope["path"].startswith(API)
        and headers.get("sec-fetch-mode") == ["navigate"]
        and headers.get("sec-fetch-dest") == ["document"]
    )
