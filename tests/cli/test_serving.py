"""cbpe ui: what it offers, where it listens, what it prints; and the server itself, once."""

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")

from command_line import PROGRAM, error_of, run
from web_calls import call, post

import cbpe
from store import ModelStore


@pytest.fixture
def served(tmp_path, monkeypatch):
    """What is served, in the place of answering: a list of applications, and the URLs that were opened."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CBPE_STORE", str(tmp_path / "models.db"))
    found = {"apps": [], "opened": []}

    def take(app, opened):
        found["apps"].append(app)
        opened.close()

    monkeypatch.setattr("cbpe.web.server.run", take)
    monkeypatch.setattr("webbrowser.open", found["opened"].append)
    return found


def names(app):
    return [each["name"] for each in call(app, "GET", "/api/v1/tokenizers").json()["tokenizers"]]


def test_the_page_offers_what_is_named_the_encodings_and_the_store(served, tmp_path):
    tok = cbpe.train("the cat sat " * 20, 260)
    tok.save("mine.json")
    with ModelStore() as models:
        models.save(tok, "book")
        models.save(cbpe.train("the cat sat " * 20, 258), "book")
    (tmp_path / "a.txt").write_text("naïve", encoding="utf-8")
    run("ui", "--no-open", "--port", "0", "-t", "mine.json", "-t", "mine.json", "-t", "gpt2", "a.txt")
    (app,) = served["apps"]
    assert names(app)[:2] == ["mine.json", "gpt2"]
    assert names(app)[-2:] == ["book@2", "book@1"]
    assert post(app, "encode", {"tokenizer": "book@1", "text": "the cat"}).json()["ids"] == tok.encode("the cat")
    assert call(app, "GET", "/api/v1/text?number=0").json() == {"name": "a.txt", "text": "naïve", "whole": True}
    assert post(app, "count", {"tokenizer": "./mine.json", "text": ""}).status == 404
    assert served["opened"] == []


def test_two_tokenizers_are_compared_while_there_is_no_store(served, tmp_path):
    cbpe.train("the cat sat " * 20, 260).save("mine.json")
    run("ui", "--no-open", "--port", "0", "-t", "mine.json")
    for other, same in (("mine.json", True), ("r50k_base", False)):
        assert call(served["apps"][0], "GET", f"/api/v1/diff?a=mine.json&b={other}").json()["same"] is same
    assert call(served["apps"][0], "GET", "/api/v1/diff?a=mine.json&b=book").status == 404
    assert not (tmp_path / "models.db").exists()


def test_a_file_that_is_no_text_is_told_at_the_start_and_takes_nothing_else_away(served, tmp_path):
    (tmp_path / "good.txt").write_text("naïve", encoding="utf-8")
    (tmp_path / "cut.txt").write_bytes("naïve 中".encode()[:-1])
    told = run("ui", "--no-open", "--port", "0", "good.txt", "cut.txt").stderr
    assert "the page cannot show cut.txt: " in told
    assert "not UTF-8" in told
    assert "--errors replace" in told
    assert "good.txt" not in told
    assert call(served["apps"][0], "GET", "/api/v1/text?number=0").json()["text"] == "naïve"
    told = run("ui", "--no-open", "--port", "0", "--errors", "replace", "cut.txt").stderr
    assert told == "cbpe: put U+FFFD in 1 place for bytes that are not UTF-8, in cut.txt\n"


def test_a_long_file_gives_its_beginning(served, tmp_path, monkeypatch):
    from cbpe.cli.serving import beginning

    (tmp_path / "a.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n', encoding="utf-8")
    assert beginning("a.jsonl", "text", "strict", 100) == ("one\n\ntwo", True)
    assert beginning("a.jsonl", "text", "strict", 6) == ("one\n\nt", False)
    assert beginning("a.jsonl", "text", "strict", 8) == ("one\n\ntwo", True)
    (tmp_path / "b.txt").write_bytes(b"\xff" * 9)
    with pytest.warns(UserWarning, match="^put U.FFFD in 9 places"):
        assert beginning("b.txt", None, "replace", 4) == ("\ufffd" * 4, False)


def test_the_page_is_opened_in_a_browser_without_a_token_on_this_machine(served):
    printed = json.loads(run("ui", "--port", "0", "--json").stdout)
    assert printed["token"] is None
    assert served["opened"] == [printed["url"]]
    assert printed["url"].startswith("http://127.0.0.1:")


def test_at_all_addresses_a_token_is_printed_and_asked_for(served):
    printed = json.loads(run("ui", "--host", "0.0.0.0", "--port", "0", "--no-open", "--json").stdout)
    (app,) = served["apps"]
    assert len(printed["token"]) >= 32
    assert call(app, "GET", "/api/v1/about").status == 401
    assert call(app, "GET", "/api/v1/about", headers=[("Authorization", f"Bearer {printed['token']}")]).status == 200
    shown = run("ui", "--host", "0.0.0.0", "--port", "0", "--no-open").stdout
    assert "#token=" in shown


def test_at_all_addresses_the_one_that_other_machines_use_is_printed_too(served, monkeypatch):
    from cbpe.web import server

    monkeypatch.setattr(server, "own_address", {socket.AF_INET: "198.51.100.7", socket.AF_INET6: None}.get)
    printed = json.loads(run("ui", "--host", "0.0.0.0", "--port", "0", "--no-open", "--json").stdout)
    port = printed["url"].removesuffix("/").rpartition(":")[2]
    assert printed["elsewhere"] == [f"http://198.51.100.7:{port}/"]
    answer = call(served["apps"][0], "GET", "/", host=f"198.51.100.7:{port}")
    assert answer.status == 200
    lines = run("ui", "--host", "0.0.0.0", "--port", "0", "--no-open").stdout.splitlines()
    assert [line.split("http://")[1].split(":")[0] for line in lines if "#token=" in line] == [
        "127.0.0.1",
        "198.51.100.7",
    ]
    assert json.loads(run("ui", "--port", "0", "--no-open", "--json").stdout)["elsewhere"] == []


def test_a_machine_without_a_network_has_no_address_for_others(monkeypatch):
    from cbpe.web.server import own_address

    def unreachable(*arguments):
        raise OSError("network is unreachable")

    monkeypatch.setattr("cbpe.web.server.socket.socket", unreachable)
    assert own_address(socket.AF_INET) is None


def test_a_port_that_is_taken_is_said_and_the_usual_one_is_left_for_another(served):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = error_of("ui", "--no-open", "--port", port)
        assert f"cannot listen at 127.0.0.1, port {port}: " in said
        assert said.endswith(": give another port, or 0 for any that is free\n")
    runs = [json.loads(run("ui", "--no-open", "--json").stdout)["url"] for _ in range(2)]
    assert all(url.startswith("http://127.0.0.1:") for url in runs)


@pytest.mark.parametrize(
    ("name", "said"),
    [("junk.db", "junk.db"), ("folder", "folder"), ("nosuch://a", "nosuch"), ("sqlite:///:memory:", "in memory")],
)
def test_a_store_that_cannot_be_read_takes_nothing_else_away(served, tmp_path, monkeypatch, name, said):
    (tmp_path / "junk.db").write_bytes(b"no database" * 100)
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv("CBPE_STORE", name)
    told = run("ui", "--no-open", "--port", "0").stderr
    assert "the page offers no versions, since the store cannot be read: " in told
    assert (said in told, told.count("\n")) == (True, 1)
    (app,) = served["apps"]
    assert "gpt2" in names(app)
    assert post(app, "count", {"tokenizer": "gpt2", "text": "hello"}).json()["n_tokens"] == 1
    assert post(app, "count", {"tokenizer": "book@1", "text": "hello"}).status == 404
    assert said in call(app, "GET", "/api/v1/store").json()["why"]


@pytest.mark.parametrize("name", ["junk.db", "none.db"])
def test_a_store_that_is_named_has_to_be_one(served, tmp_path, name):
    (tmp_path / "junk.db").write_bytes(b"no database" * 100)
    assert name in error_of("ui", "--no-open", "--port", "0", "--store", name)
    assert served["apps"] == []


def test_where_no_store_was_made_nothing_is_said_of_it(served):
    assert run("ui", "--no-open", "--port", "0").stderr == ""


def test_what_the_page_takes_is_said_if_it_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cbpe.web.app", None)
    assert 'Starlette, uvicorn and Jinja2: pip install "cbpe[web]"' in error_of("ui", "--no-open")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (["-t", "nothing"], 1, "no tokenizer 'nothing'"),
        (["missing.txt"], 1, "missing.txt"),
        (["-"], 2, "the page reads files, not standard input"),
        (["--host", "no.such.host.invalid", "--port", "0"], 1, "cannot listen at no.such.host.invalid: "),
        (["--port", "70000"], 2, "70000"),
    ],
)
def test_what_is_not_there_is_said_before_anything_is_served(served, arguments, exit_code, said):
    assert said in error_of("ui", "--no-open", *arguments, exit_code=exit_code)
    assert served["apps"] == []


def test_the_server_answers_and_refuses(tmp_path):
    command = [PROGRAM, "ui", "--no-open", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path) as server:
        try:
            url = json.loads(server.stdout.readline())["url"]
            with urllib.request.urlopen(url) as answer:
                assert b"<title>Playground" in answer.read()
                assert "server" not in answer.headers
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(urllib.request.Request(url, headers={"Host": "evil.example"}))
            assert refused.value.code == 403
        finally:
            server.terminate()
