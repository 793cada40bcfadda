"""Which requests are let in: by the host's name, by the page that sends them, by the token."""

import asyncio

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from web_calls import call

from cbpe.web.app import make_app
from cbpe.web.catalogue import Catalogue
from cbpe.web.guard import HEADERS, is_loopback

ABOUT = "/api/v1/about"


@pytest.fixture(scope="module")
def app():
    return make_app(Catalogue())


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8017", "127.0.0.1", "localhost:9000", "LOCALHOST", "[::1]:8017", "[::1]", "127.1.2.3:80"]
)
def test_names_of_this_machine_are_let_in(app, host):
    assert call(app, "GET", ABOUT, host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *(
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "localhost@evil.example",
            "evil.example:8017",
        ),
        *(
            "192.168.0.1",
            "[2001:db8::1]",
            "[::1",
            "::1",
            "127.0.0.1:x",
            "127.0.0.1 ",
            "0.0.0.0",
            "2130706433",
            "",
            "a\x00b",
        ),
        None,
    ],
)
@pytest.mark.parametrize("path", [ABOUT, "/", "/static/style.css"])
def test_names_of_others_that_lead_here_are_refused(app, host, path):
    answer = call(app, "GET", path, host=host)
    assert answer.status == 403
    assert "is not where this page is served" in answer.json()["error"]


def test_two_hosts_are_refused(app):
    assert call(app, "GET", ABOUT, headers=[("Host", "evil.example")]).status == 403


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:8017", 200),
        ("http://127.0.0.1:9999", 403),
        ("http://localhost:8017", 403),
        ("https://evil.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_requests_of_other_pages_are_refused_by_their_origin(app, origin, status):
    assert call(app, "GET", ABOUT, headers=[("Origin", origin)]).status == status


LINK = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
FRAME = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")]
SCRIPT = [("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "script")]


@pytest.mark.parametrize(
    ("site", "path", "how", "status"),
    [
        ("same-origin", ABOUT, [], 200),
        ("none", "/", LINK, 200),
        ("cross-site", "/", LINK, 200),  # somebody follows a link that was shared
        ("cross-site", "/", FRAME, 403),
        ("cross-site", "/static/playground.js", SCRIPT, 403),
        ("cross-site", ABOUT, LINK, 403),
        ("same-site", ABOUT, [], 403),  # another port of this machine
        ("same-site", "/", FRAME, 403),
        ("odd", ABOUT, [], 403),
    ],
)
def test_what_the_browser_says_of_the_sender_is_checked(app, site, path, how, status):
    assert call(app, "GET", path, headers=[("Sec-Fetch-Site", site), *how]).status == status


@pytest.mark.parametrize("path", ["/", ABOUT, "/static/nothing", "/nothing"])
def test_every_answer_has_the_headers_of_safety(app, path):
    answer = call(app, "GET", path)
    assert {name.decode(): value.decode() for name, value in HEADERS}.items() <= answer.headers.items()
    assert answer.headers["content-security-policy"].startswith("default-src 'self'; ")
    assert "unsafe" not in answer.headers["content-security-policy"]


def test_there_are_no_web_sockets(app):
    sent = []

    async def send(message):
        sent.append(message["type"])

    asyncio.run(app({"type": "websocket", "headers": [], "path": "/"}, None, send))
    assert sent == ["websocket.close"]


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ([], 401),
        (["Bearer wrong"], 401),
        (["Bearer sécret"], 401),
        (["Bearer secret"], 200),
        (["Bearer secret"] * 2, 401),
    ],
)
def test_at_another_address_the_json_takes_the_token(given, status):
    app = make_app(Catalogue(), host="192.168.0.5", token="secret")
    headers = [("Authorization", each) for each in given]
    assert call(app, "GET", ABOUT, headers=headers, host="192.168.0.5:8017").status == status
    assert call(app, "GET", "/", host="192.168.0.5:8017").status == 200


@pytest.mark.parametrize(
    ("listening", "asked", "status"),
    [
        ("0.0.0.0", "192.168.0.5:8017", 200),
        ("::", "[2001:db8::1]:8017", 200),
        ("0.0.0.0", "evil.example:8017", 403),
        ("box.lan", "box.lan:8017", 200),
        ("box.lan", "192.168.0.5", 403),
        ("2001:db8::1", "[2001:0db8::0001]:8017", 200),
    ],
)
def test_a_server_at_another_address_knows_its_names(listening, asked, status):
    app = make_app(Catalogue(), host=listening)
    assert call(app, "GET", ABOUT, host=asked).status == status


@pytest.mark.parametrize(
    ("host", "alone"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False), ("box.lan", False)],
)
def test_which_addresses_only_this_machine_reaches(host, alone):
    assert is_loopback(host) is alone
