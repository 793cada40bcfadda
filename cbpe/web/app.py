"""The application: the page, its files, and its JSON under /api/v1."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from threading import BoundedSemaphore
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cbpe._version import __version__
from cbpe.common.wording import shown
from cbpe.web import answers, comparing, differing, stored, vocabulary
from cbpe.web.assets import assets, missing_page, pages
from cbpe.web.bodies import (
    body_of,
    check_keys,
    ids_in,
    metric_in,
    name_in,
    number_in,
    offset_in,
    optional_in,
    special_in,
    string_in,
    tag_in,
    text_in,
)
from cbpe.web.catalogue import Catalogue
from cbpe.web.guard import API, Guard
from cbpe.web.refusals import LIMITS, LONGEST_TEXT, MOST_AT_ONCE, SECONDS, Refused, in_a_line

__all__ = ["Api", "make_app"]

T = TypeVar("T")
Answer = Callable[[Request], Awaitable[Response]]

# What is said of a text that takes too long.
OF_TEXT = ": take a shorter text or fewer tokenizers at once, or cbpe encode, which takes the time it needs"


def make_app(
    catalogue: Catalogue,
    *,
    models: stored.OpenModels | None = None,
    outside: stored.OpenModels | None = None,
    host: str = "127.0.0.1",
    token: str | None = None,
    seconds: float = SECONDS,
) -> Guard:
    """The ASGI application that serves a catalogue. models: what opens the model store, for reading alone. outside:
    what opens an empty one, which compares tokenizers that are in no store. host: where it listens. token: what
    requests for JSON have to bring, if any. seconds: how long one may take."""
    api = Api(catalogue, models, outside or models, seconds)
    routes = [
        *(Route(path, sender(content), methods=["GET"]) for path, content in pages().items()),
        Route("/static/{name}", file_sender(), methods=["GET"]),
        *(Route(f"/api/v1/{name}", taking(keys, answer), methods=["GET"]) for name, keys, answer in api.asked()),
        *(Route(f"/api/v1/{name}", taking("", answer), methods=["POST"]) for name, answer in api.sent()),
    ]
    handlers: dict[Any, Any] = {Refused: refuse, ValueError: refuse_value, OSError: refuse_failure}
    handlers |= {HTTPException: path_refuser(), Exception: fail}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), host, token)


def sender(content: bytes) -> Callable[[Request], Awaitable[Response]]:
    """What answers with a page."""

    async def send(request: Request) -> Response:
        return Response(content, media_type="text/html")

    return send


def file_sender() -> Callable[[Request], Awaitable[Response]]:
    """What answers with the file that the path names."""
    files = assets()

    async def send_file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            raise Refused(404, f"there is no file {shown(name)}")
        content, kind = files[name]
        return Response(content, headers={"content-type": kind})

    return send_file


def taking(keys: str, answer: Answer) -> Answer:
    """What answers a request whose query has no other keys than these, and each once."""
    known = keys.split()

    async def checked(request: Request) -> Response:
        check_keys((key for key, _ in request.query_params.multi_items()), known)
        return await answer(request)

    return checked


class Api:
    """The answers in JSON. What takes time runs in threads, within a time."""

    def __init__(
        self,
        catalogue: Catalogue,
        models: stored.OpenModels | None,
        outside: stored.OpenModels | None,
        seconds: float,
    ) -> None:
        self.catalogue = catalogue
        self.models = models
        self.outside = outside
        self.seconds = seconds
        self.slots = BoundedSemaphore(MOST_AT_ONCE)

    def asked(self) -> list[tuple[str, str, Answer]]:
        """(name, keys of the query, what answers) of each path that is asked by GET."""
        return [
            ("about", "", self.about),
            ("tokenizers", "", self.tokenizers),
            ("tokenizer", "tokenizer", self.tokenizer),
            ("token", "tokenizer id", self.token),
            ("text", "number", self.text),
            ("merges", "tokenizer id", self.merges),
            ("store", "", self.store),
            ("versions", "name prefix tag metric order offset", self.versions),
            ("version", "reference", self.version),
            ("aliases", "name", self.aliases),
            ("lineage", "name", self.lineage),
            ("log", "name offset", self.log),
            ("diff", "a b", self.diff),
        ]

    def sent(self) -> list[tuple[str, Answer]]:
        """(name, what answers) of each path that takes JSON by POST."""
        return [
            ("search", self.search),
            ("compare", self.compare),
            ("encode", self.encode),
            ("decode", self.decode),
            ("count", self.count),
        ]

    async def about(self, request: Request) -> Response:
        def read() -> dict[str, Any]:
            texts = [
                {"number": number, "name": text.name, "problem": text.problem()}
                for number, text in enumerate(self.catalogue.texts)
            ]
            return {"version": __version__, "limits": LIMITS, "texts": texts}

        return await self.answer(read)

    async def tokenizers(self, request: Request) -> Response:
        choices = await self.in_time(self.catalogue.choices)
        return as_json({"tokenizers": [{"name": choice.name, "source": choice.source} for choice in choices]})

    async def tokenizer(self, request: Request) -> Response:
        name = string_in(request.query_params, "tokenizer")
        return await self.answer(lambda: answers.described(name, self.catalogue.tokenizer(name)))

    async def token(self, request: Request) -> Response:
        name, number = string_in(request.query_params, "tokenizer"), number_in(request.query_params, "id")
        return await self.answer(lambda: answers.token(name, self.catalogue.tokenizer(name), number))

    async def text(self, request: Request) -> Response:
        number = number_in(request.query_params, "number")
        if number >= len(self.catalogue.texts):
            raise Refused(404, f"there is no text {number}: {len(self.catalogue.texts)} were named at start")
        text = self.catalogue.texts[number]

        def read() -> dict[str, Any]:
            content, whole = text.read(LONGEST_TEXT)
            data = content.encode()
            if len(data) > LONGEST_TEXT:
                content, whole = data[:LONGEST_TEXT].decode(errors="ignore"), False
            return {"name": text.name, "text": content, "whole": whole}

        return await self.answer(read)

    async def merges(self, request: Request) -> Response:
        name, number = string_in(request.query_params, "tokenizer"), number_in(request.query_params, "id")

        def read() -> dict[str, Any]:
            return vocabulary.known(name, self.catalogue.tokenizer(name), number, self.catalogue.ready())

        return await self.answer(read)

    async def search(self, request: Request) -> Response:
        values = await body_of(request, vocabulary.KEYS)
        name = string_in(values, "tokenizer")
        wanted = vocabulary.Search(
            text=optional_in(values, "text", str),
            content=optional_in(values, "bytes", str),
            pattern=optional_in(values, "pattern", str),
            least=optional_in(values, "least", int),
            most=optional_in(values, "most", int),
            order=optional_in(values, "order", str) or "id",
            offset=optional_in(values, "offset", int) or 0,
        )
        return await self.answer(lambda: vocabulary.found(name, self.catalogue.tokenizer(name), wanted))

    async def compare(self, request: Request) -> Response:
        wanted = comparing.wanted_in(await body_of(request, comparing.KEYS))
        named = {text.name: text.read for text in self.catalogue.texts}
        ask = partial(comparing.compared, wanted, self.catalogue.tokenizer, named)
        return await self.answer(ask, comparing.ADVICE)

    async def store(self, request: Request) -> Response:
        return await self.answer(lambda: stored.names(self.models))

    async def versions(self, request: Request) -> Response:
        query = request.query_params
        readers: dict[str, Callable[[str], Any]] = {"prefix": str, "tag": tag_in, "metric": metric_in}
        wanted = {key: read(query[key]) for key, read in readers.items() if key in query}
        name, offset, order = query.get("name"), offset_in(query), query.get("order", "-time")
        return await self.of_store(lambda models: stored.versions(models, name, offset, order, **wanted))

    async def version(self, request: Request) -> Response:
        reference = name_in(request.query_params, "reference")
        return await self.of_store(lambda models: stored.described_version(models, reference))

    async def aliases(self, request: Request) -> Response:
        name = name_in(request.query_params, "name")
        return await self.of_store(lambda models: stored.moves_of_aliases(models, name))

    async def lineage(self, request: Request) -> Response:
        name = name_in(request.query_params, "name")
        return await self.of_store(lambda models: stored.lineage(models, name))

    async def log(self, request: Request) -> Response:
        name, offset = request.query_params.get("name"), offset_in(request.query_params)
        return await self.of_store(lambda models: stored.changes(models, name, offset))

    async def diff(self, request: Request) -> Response:
        a, b = (name_in(request.query_params, key) for key in ("a", "b"))

        def read() -> dict[str, Any]:
            sides = [self.catalogue.outside(name) or name for name in (a, b)]
            opened = self.models if any(isinstance(side, str) for side in sides) else self.outside
            found = stored.asked(opened, lambda models: differing.difference(models, *sides))
            return {**found, "a": found["a"] or a, "b": found["b"] or b}

        return await self.answer(read)

    async def of_store(self, ask: Callable[[stored.Models], dict[str, Any]]) -> Response:
        return await self.answer(lambda: stored.asked(self.models, ask))

    async def encode(self, request: Request) -> Response:
        return await self.of_text(request, answers.encoded)

    async def count(self, request: Request) -> Response:
        return await self.of_text(request, answers.counted)

    async def of_text(self, request: Request, ask: Callable[..., dict[str, Any]]) -> Response:
        values = await body_of(request, ("tokenizer", "text", "special"))
        name, text, special = string_in(values, "tokenizer"), text_in(values), special_in(values)
        return await self.answer(lambda: ask(name, self.catalogue.tokenizer(name), text, special), OF_TEXT)

    async def decode(self, request: Request) -> Response:
        values = await body_of(request, ("tokenizer", "ids"))
        name, ids = string_in(values, "tokenizer"), ids_in(values)
        return await self.answer(lambda: answers.decoded(name, self.catalogue.tokenizer(name), ids))

    async def answer(self, ask: Callable[[], dict[str, Any]], advice: str = "") -> Response:
        return Response(await self.in_time(lambda: json_bytes(ask()), advice), media_type="application/json")

    async def in_time(self, ask: Callable[[], T], advice: str = "") -> T:
        """What a function returns, in a thread of its own. Refused if it takes too long, with advice: it then runs on
        to its end, and counts until then among those that run."""
        if not self.slots.acquire(blocking=False):
            raise Refused(503, f"{MOST_AT_ONCE} requests are being worked on: try again")

        def run() -> T:
            try:
                return ask()
            finally:
                self.slots.release()

        with anyio.move_on_after(self.seconds):
            return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        raise Refused(503, f"this takes longer than {self.seconds:g} s, so it was given up{advice}")


def json_bytes(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def as_json(value: object, status: int = 200) -> Response:
    return Response(json_bytes(value), status, media_type="application/json")


async def refuse(request: Request, error: Refused) -> Response:
    return as_json({"error": error.message}, error.status)


async def refuse_value(request: Request, error: ValueError) -> Response:
    return as_json({"error": str(error)}, 400)


async def refuse_failure(request: Request, error: OSError) -> Response:  # as of a file that has gone meanwhile
    return as_json({"error": in_a_line(error)}, 503)


def path_refuser() -> Callable[[Request, HTTPException], Awaitable[Response]]:
    """What answers for a path that there is not: a page to a browser, JSON to all others."""
    page = missing_page()

    async def refuse_path(request: Request, error: HTTPException) -> Response:
        for_people = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(API)
        if error.status_code == 404 and for_people:
            return Response(page, 404, media_type="text/html")
        allowed = (error.headers or {}).get("Allow", "")
        said = {404: "there is no such path", 405: f"this path takes {allowed}, not {request.method}"}
        answer = as_json({"error": said.get(error.status_code, error.detail)}, error.status_code)
        answer.headers.update(error.headers or {})
        return answer

    return refuse_path


async def fail(request: Request, error: Exception) -> Response:  # which the server then logs
    return as_json({"error": f"a fault in cbpe: {type(error).__name__}"}, 500)
