"""Requests to an ASGI application as it gets them, without a server: every header is what the test says."""

import asyncio
import json
from contextlib import suppress
from types import SimpleNamespace
from urllib.parse import urlsplit

HOST = "127.0.0.1:8017"


def call(app, method, url, *, headers=(), body=b"", chunk=None, host=HOST, raised=()):
    """The answer to a request: its status, headers, content, and .json(). chunk: the size of the pieces in which the
    body comes, without its length being said. raised: an exception that the application may end with."""
    parts = urlsplit(url)
    sent = [(b"host", host.encode())] if host is not None else []
    sent += [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    if chunk is None:
        sent.append((b"content-length", str(len(body)).encode()))
    step = chunk or max(1, len(body))
    pieces = [body[at : at + step] for at in range(0, len(body), step)] or [b""]
    answer = SimpleNamespace(status=None, headers={}, content=b"", read=0)

    async def receive():
        piece = pieces[answer.read] if answer.read < len(pieces) else b""
        answer.read += 1
        return {"type": "http.request", "body": piece, "more_body": answer.read < len(pieces)}

    async def send(message):
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            answer.content += message["body"]

    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http"}
    scope |= {"path": parts.path, "raw_path": parts.path.encode(), "query_string": parts.query.encode()}
    scope |= {"root_path": "", "headers": sent, "client": ("127.0.0.1", 5), "server": ("127.0.0.1", 8017)}
    with suppress(raised):
        asyncio.run(app(scope, receive, send))
    answer.json = lambda: json.loads(answer.content)
    return answer


def post(app, name, values, **options):
    """The answer to JSON that is sent to a path of the API."""
    body = values if isinstance(values, bytes) else json.dumps(values).encode()
    headers = [("Content-Type", "application/json"), *options.pop("headers", ())]
    return call(app, "POST", f"/api/v1/{name}", headers=headers, body=body, **options)
