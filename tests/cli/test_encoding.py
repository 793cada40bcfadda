"""cbpe encode, decode and count."""

import gzip
import json
import os
import random
import select
import subprocess
import sys
import time

import pytest
from command_line import PROGRAM, TEXT, error_of, run
from good_files import good_files

import cbpe

pytestmark = pytest.mark.ci


def test_encode_prints_a_line_of_ids_for_each_file(text_file):
    encoding = cbpe.get_encoding("cl100k_base")
    lines = run("encode", "-t", "cl100k_base", text_file, "-", stdin=b"hello world").stdout.splitlines()
    assert [list(map(int, line.split())) for line in lines] == [encoding.encode(TEXT), [15339, 1917]]


def test_a_file_may_be_named_by_its_url(text_file):
    found = json.loads(run("count", "-t", "gpt2", "--json", text_file.as_uri()).stdout)
    assert found == [{"file": text_file.as_uri(), "tokens": cbpe.get_encoding("gpt2").count(TEXT)}]
    for command in ("count", "encode", "stats"):
        assert "nosuch://x/y.txt cannot be read" in error_of(command, "-t", "gpt2", "nosuch://x/y.txt")


def test_encode_prints_a_list_in_json_that_decode_reads(text_file):
    encoded = run("encode", "-t", "gpt2", "--json", text_file, text_file)
    assert [json.loads(line) for line in encoded.stdout.splitlines()] == [cbpe.get_encoding("gpt2").encode(TEXT)] * 2
    assert run("decode", "-t", "gpt2", stdin=encoded.stdout_bytes).stdout_bytes == TEXT.encode() * 2


def test_encode_prints_a_line_for_each_text_in_a_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"body": "hello world"}\n{"body": ""}\n{"body": "hello"}\n')
    assert run("encode", "-t", "cl100k_base", "--field", "body", path).stdout == "15339 1917\n\n15339\n"
    assert (
        run("encode", "-t", "cl100k_base", "--field", "body", "--json", path).stdout == "[15339, 1917]\n[]\n[15339]\n"
    )


def test_added_tokens_that_are_not_special_are_found_whatever_is_allowed(tmp_path):
    path = tmp_path / "tokenizer.json"
    cbpe.train("the cat sat on the table " * 9, 270, special_tokens=["<b>", "<end>"]).save(path)
    content = json.loads(path.read_text())
    for token in content["added_tokens"]:
        token["special"] = token["content"] == "<end>"
    path.write_text(json.dumps(content))
    tok, text = cbpe.load(path), "the<b>cat<end>"
    always = tok.encode(text, allowed_special={"<b>"}, disallowed_special=())
    assert len(always) < len(tok.encode(text, allowed_special="none"))
    for options, ids in (([], always), (["--allowed-special", "<end>"], tok.encode(text))):
        assert json.loads(run("encode", "-t", path, "--json", *options, stdin=text.encode()).stdout) == ids
        assert run("count", "-t", path, *options, stdin=text.encode()).stdout == f"{len(ids)}\n"
    (tmp_path / "text").write_text(text)
    assert run("count", "-t", path, tmp_path / "text").stdout.split()[0] == str(len(always))


def test_encode_knows_the_special_tokens_that_are_allowed():
    stdin = b"hello<|endoftext|><|fim_prefix|>"
    encoding = cbpe.get_encoding("cl100k_base")
    for options, allowed in (
        ([], set()),
        (["--allowed-special", "all"], "all"),
        (["--allowed-special", "<|fim_prefix|>"], {"<|fim_prefix|>"}),
    ):
        ids = encoding.encode(stdin.decode(), allowed_special=allowed, disallowed_special=())
        assert run("encode", "-t", "cl100k_base", *options, stdin=stdin).stdout.split() == list(map(str, ids))
        assert run("count", "-t", "cl100k_base", *options, stdin=stdin).stdout == f"{len(ids)}\n"
    unknown = ["--allowed-special", "<|pad|>"]
    for others in ([], ["--allowed-special", "all"]):
        error = error_of("encode", "-t", "cl100k_base", *others, *unknown, stdin=stdin, exit_code=2)
        assert "'<|pad|>' is no special token of this tokenizer, which has '<|endoftext|>'" in error
    near = "encode", "-t", "o200k_harmony", "--allowed-special"
    assert "this tokenizer: did you mean '<|return|>'?" in error_of(*near, "<|retrun|>", stdin=b"", exit_code=2)
    assert "'<|reserved_200000|>' and 1,081 more" in error_of(*near, "pad", stdin=b"", exit_code=2)


@pytest.mark.parametrize("command", ["encode", "count", "tokens"])
def test_what_a_tokenizer_never_reads_or_adds_is_not_asked_for_in_vain(command, tmp_path):
    cbpe.train(TEXT, 300, alphabet="characters").save(tmp_path / "a.model")
    given = [command, "-t", tmp_path / "a.model"]
    error = error_of(*given, "--allowed-special", "<s>", stdin=b"<s>hi")
    assert "text of '<s>' stays ordinary text: SentencePiece finds its control tokens in no text" in error
    assert "leave it out of --allowed-special" in error
    ran = run(*given, "--allowed-special", "all", stdin=b"<s>hi")
    assert "text of '<s>', '</s>', '<unk>' stays ordinary text" in ran.stderr
    assert ran.stdout == run(*given, stdin=b"<s>hi").stdout
    for reference in (tmp_path / "a.model", "gpt2"):
        error = error_of(command, "-t", reference, "--template", exit_code=2, stdin=b"hi")
        assert f"{reference} has no template: it puts no tokens around a text" in error


def test_encode_takes_special_tokens_for_ordinary_text():
    ids = run("encode", "-t", "gpt2", "-", stdin=b"<|endoftext|>").stdout.split()
    assert len(ids) > 1
    assert "50256" not in ids


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n", b"\r", b"\x00", b"\x1a"])
def test_decode_writes_the_exact_bytes(ending):
    text = "naïve\tcafé 😉".encode() + ending
    ids = run("encode", "-t", "o200k_base", "-", stdin=text).stdout_bytes
    assert run("decode", "-t", "o200k_base", "-", stdin=ids).stdout_bytes == text


def test_who_gives_ids_for_files_is_told_where_they_are_read_from():
    assert "there is no file '104': token ids are read from standard input" in error_of(
        "decode", "-t", "gpt2", 104, 101
    )


def test_decode_looks_at_all_files_first_and_reads_standard_input_once(tmp_path):
    (tmp_path / "ids").write_text("104")
    assert "nofile: No such file" in error_of("decode", "-t", "gpt2", tmp_path / "ids", tmp_path / "nofile")
    assert "standard input is named twice" in error_of("decode", "-t", "gpt2", "-", "-", stdin=b"104")


def test_decode_writes_bytes_that_are_not_text():
    ids = [cbpe.get_encoding("gpt2").encode_single_token(bytes([byte])) for byte in (0xFF, 0x00, 0x80)]
    stdin = " ".join(map(str, ids)).encode()
    assert run("decode", "-t", "gpt2", "-", stdin=stdin).stdout_bytes == b"\xff\x00\x80"


def test_nothing_is_encoded_and_decoded_as_nothing():
    assert run("encode", "-t", "gpt2", "-").stdout_bytes == b"\n"
    assert run("decode", "-t", "gpt2", "-").stdout_bytes == b""


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (b"1 2 x", "'x'"),
        (b"1 2.5", "'2.5'"),
        (b"1,2", "'1,2'"),
        (b"1 99999999", "99999999"),
        (b"-1", "-1"),
        (b"9" * 5000, "999"),
        (b"1 \xff", "no text (ff)"),
    ],
)
def test_ids_that_are_wrong(ids, words):
    result = run("decode", "-t", "gpt2", stdin=ids, exit_code=1)  # what is right before is decoded
    assert result.stderr.startswith("cbpe: ")
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


@pytest.mark.parametrize("ids", [b"[1, 2", b"[%s]" % (b"9" * 5000), b"[1.5]", b'["1"]', b"[true]", b"[null]", b"[{}]"])
def test_json_ids_that_are_wrong(ids):
    result = run("decode", "-t", "gpt2", stdin=ids, exit_code=1)  # what is right before is decoded
    assert result.stderr.startswith("cbpe: standard input is not JSON with a list of token ids on each line: ")
    assert result.stderr.count("\n") == 1
    assert "sys." not in result.stderr


def test_decode_leaves_special_tokens_out_where_it_is_asked_to(tmp_path):
    ids, end = [15339, 100257, 1917, 100257], "<|endoftext|>"
    stdin = " ".join(map(str, ids)).encode()
    assert run("decode", "-t", "cl100k_base", stdin=stdin).stdout == f"hello{end} world{end}"
    asked = ("decode", "-t", "cl100k_base", "--skip-special-tokens")
    assert run(*asked, stdin=stdin).stdout == "hello world"
    assert json.loads(run(*asked, "--json", stdin=stdin).stdout) == "hello world"
    wrong = run(*asked, stdin=b"100257 15339 99999999", exit_code=1)
    assert "99999999" in wrong.stderr
    assert "it is number 3 in standard input" in wrong.stderr  # as it stands there, those left out counted


def test_decode_prints_a_json_string():
    text = 'naïve "café" 😉\n\x00'
    ids = run("encode", "-t", "gpt2", stdin=text.encode()).stdout_bytes
    assert json.loads(run("decode", "-t", "gpt2", "--json", stdin=ids).stdout) == text
    assert json.loads(run("decode", "-t", "gpt2", "--json").stdout) == ""
    half = cbpe.get_encoding("gpt2").encode("😉")[:1]
    assert json.loads(run("decode", "-t", "gpt2", "--json", stdin=b"%d" % half[0]).stdout) == "\ufffd"


# Those that hold a split pattern, or need none.
@pytest.fixture(scope="module", params=sorted(good_files().keys() - {"tiktoken", "llm.c"}))
def of_each_kind(request, tmp_path_factory):
    """A file of each format, and the tokenizer that is read from it."""
    folder = tmp_path_factory.mktemp("kinds")
    files = good_files()[request.param]
    for name, content in files.items():
        (folder / name).write_bytes(content)
    file = folder / next(iter(files))
    return file, cbpe.load(file)


def test_ids_that_come_one_by_one_are_decoded_as_all_together(of_each_kind, monkeypatch):
    file, tok = of_each_kind
    rng = random.Random(1)
    ids = tok.encode("the cat the cat", add_special_tokens=False)
    for drawn in (ids, ids * 2, *(rng.choices(sorted(tok.vocab), k=7) for _ in range(5))):
        chunks = [b"%d " % token for token in drawn]
        monkeypatch.setattr("cbpe.cli.encoding.id_chunks", lambda _, chunks=chunks: iter(chunks))
        assert run("decode", "-t", file).stdout_bytes == tok.decode_bytes(drawn)
        assert json.loads(run("decode", "-t", file, "--json").stdout) == tok.decode(drawn)


def test_all_decoders_take_several_ids_or_none_and_are_as_new_at_the_end(of_each_kind):
    _, tok = of_each_kind
    decoder = tok.stream_decoder()
    known = sorted(tok.vocab)
    ids = tok.encode("the cat the", add_special_tokens=False) + random.Random(2).choices(known, k=20)
    for _ in range(2):
        with pytest.raises(KeyError):
            decoder.extend([*ids, known[-1] + 1])
        with pytest.raises(TypeError):
            decoder.extend([*ids, 1.5])
        assert decoder.extend(ids[:3]) + decoder.extend(iter(ids[3:])) + decoder.flush() == tok.decode(ids)


# ---- count


def test_count_names_files_and_adds_them_up(tmp_path, text_file):
    n = cbpe.get_encoding("gpt2").count(TEXT)
    (tmp_path / "empty.txt").touch()
    assert run("count", "-t", "gpt2", stdin=TEXT.encode()).stdout == f"{n}\n"
    assert run("count", "-t", "gpt2", text_file).stdout == f"{n} {text_file}\n"
    lines = run("count", "-t", "gpt2", text_file, tmp_path / "empty.txt", "-", stdin=b"hello world").stdout.splitlines()
    assert [line.split() for line in lines] == [
        [str(n), str(text_file)],
        ["0", str(tmp_path / "empty.txt")],
        ["2", "-"],
        [str(n + 2), "total"],
    ]
    rows = json.loads(run("count", "-t", "gpt2", "--json", text_file, "-", stdin=b"hello world").stdout)
    assert rows == [{"file": str(text_file), "tokens": n}, {"file": "-", "tokens": 2}]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals here")
@pytest.mark.parametrize("command", ["count", "stats"])
def test_a_bar_is_drawn_on_a_terminal_alone_of_what_takes_its_time(text_file, tmp_path, command):
    import pty

    slow = tmp_path / "slow.txt"
    os.mkfifo(slow)
    arguments = [PROGRAM, command, "-t", "gpt2"]
    assert subprocess.run([*arguments, text_file], capture_output=True, check=True).stderr == b""
    ours, terminal = pty.openpty()
    try:
        for file in (text_file, slow):
            with subprocess.Popen([*arguments, file], stdout=subprocess.DEVNULL, stderr=terminal) as process:
                if file == slow:
                    with open(slow, "wb", buffering=0) as pipe:
                        for _ in range(12):
                            pipe.write(b"word " * 2000)
                            time.sleep(0.1)
            assert process.returncode == 0
            is_drawn = bool(select.select([ours], [], [], 0)[0])
            assert is_drawn == (file == slow)
        assert b"reading slow.txt" in os.read(ours, 100_000)
    finally:
        os.close(ours)
        os.close(terminal)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals here")
@pytest.mark.parametrize(
    "arguments",
    [
        ("count", "-t", "gpt2"),
        ("stats", "-t", "gpt2"),
        ("compare", "-t", "gpt2"),
        ("sweep", "gpt2"),
        ("train", "--vocab-size", "260"),
    ],
)
def test_no_bar_is_drawn_where_the_text_is_typed(arguments):
    import pty

    ours, terminal = pty.openpty()
    try:
        os.write(ours, b"hello hello\n\x04")
        subprocess.run([PROGRAM, *arguments], stdin=terminal, stdout=subprocess.DEVNULL, stderr=terminal, check=True)
        shown = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)
        os.close(terminal)
    assert "reading what you type" in shown
    assert "MB" not in shown
    assert "merging" not in shown


def test_a_command_works_where_standard_error_is_closed(text_file):
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh", PROGRAM, "count", "-t", "gpt2", text_file]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.split()[1:] == [os.fsencode(text_file)]


FLAT = """
import resource, subprocess, sys
lengths, arguments = map(int, sys.argv[1:3]), sys.argv[3:]
line = b"The quick brown fox jumps over the lazy dog, 12345 times; and so on.\\n" * 15000
if "decode" in arguments:
    line = b"464 2068 7586 21831 " * 50000
for n in lengths:  # in megabytes
    program = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    for _ in range(n):
        program.stdin.write(line)
    program.stdin.close()
    assert program.wait() == 0
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)  # the most of all children so far
"""


@pytest.mark.skipif(sys.platform == "win32", reason="only sockets can be waited for there")
@pytest.mark.parametrize("command", [["encode"], ["tokens", "--json"], ["truncate", "--json", "-n", "9"]])
def test_a_row_of_an_open_pipe_is_answered_before_the_next_one_comes(command):
    program = subprocess.Popen(
        [PROGRAM, *command, "-t", "gpt2", "--format", "jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with program:
        for text in ("one", "", "two three"):
            program.stdin.write(json.dumps({"text": text}).encode() + b"\n")
            program.stdin.flush()
            assert select.select([program.stdout], [], [], 60)[0], text
            assert program.stdout.readline().endswith(b"\n")
        program.stdin.close()
        assert program.stdout.read() == b""
    assert program.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in kilobytes here alone")
@pytest.mark.parametrize(
    ("command", "lengths"),
    [("count", [2, 40]), ("encode", [2, 16]), ("decode", [2, 16]), ("stats", [2, 16]), ("tokens", [1, 2])],
)
def test_a_long_pipe_takes_no_more_memory_than_a_short_one(command, lengths):
    """Whole texts would take as much as they have; their tokens, each in a line, 14 MB for a megabyte."""
    arguments = [sys.executable, "-c", FLAT, *map(str, lengths), PROGRAM, command, "-t", "gpt2"]
    short, long = map(int, subprocess.run(arguments, capture_output=True, check=True).stdout.split())  # kilobytes
    assert long < short + 8_000


# ---- Standard input, templates, and what a pattern leaves out


def test_standard_input_may_be_json_lines():
    lines = b'\xef\xbb\xbf{"text": "the cat", "n": 1}\n\n{"text": "sat\\non it"}\n'
    expected = "".join(run("encode", "-t", "gpt2", stdin=text).stdout for text in (b"the cat", b"sat\non it"))
    assert run("encode", "-t", "gpt2", "--format", "jsonl", stdin=lines).stdout == expected
    assert run("encode", "-t", "gpt2", "--field", "text", "-", stdin=lines).stdout == expected
    assert "line 1, has no field 'body'; it has 'text', 'n'" in error_of(
        "count", "-t", "gpt2", "--format", "jsonl", "--field", "body", stdin=lines
    )
    assert "line 2, is not JSON" in error_of("count", "-t", "gpt2", "--format", "jsonl", stdin=b'{"text": "a"}\n{')
    assert "only for standard input" in error_of("count", "-t", "gpt2", "--format", "jsonl", "x.jsonl", exit_code=2)
    assert "only for standard input" in error_of("count", "-t", "gpt2", "--format", "text", "x.jsonl", exit_code=2)
    for command in (["count", "-t", "gpt2"], ["train", "--vocab-size", 258]):
        told = run(*command, "--format", "text", "--field", "body", stdin=lines, exit_code=2).stderr
        assert "a text has no fields: leave --field out, or give jsonl" in told
    by_field = run("count", "-t", "gpt2", "--field", "text", stdin=lines).stdout
    assert by_field == run("count", "-t", "gpt2", "--format", "jsonl", stdin=lines).stdout
    by_lines = json.loads(run("train", "--vocab-size", 258, "--json", "--format", "jsonl", stdin=lines).stdout)
    assert by_lines["text_bytes"] == len("the catsat\non it")
    for command in (("count", "-t", "gpt2"), ("train", "--vocab-size", "258")):
        told = run(*command, stdin=lines).stderr
        assert "is read as one text, and each of its first lines is a JSON object: give --format jsonl" in told


def template_of(tmp_path_factory, pattern=cbpe.GPT4_SPLIT_PATTERN):
    """A tokenizer.json that puts <s> before a text and </s> behind it."""
    path = tmp_path_factory.mktemp("template") / "around.json"
    special = {"<s>": 300, "</s>": 301}
    begin, end = ({"SpecialToken": {"id": token, "type_id": 0}} for token in special)
    text_a, text_b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    named = {token: {"id": token, "ids": [i], "tokens": [token]} for token, i in special.items()}
    template = {
        "single": [begin, text_a, end],
        "pair": [begin, text_a, text_b, end],
        "special_tokens": named,
    }
    tok = cbpe.RegexTokenizer(pattern)
    tok.register_special_tokens(special)
    cbpe.HuggingFaceTokenizer.from_tokenizer(tok, {"template": template}).save(path)
    return path


@pytest.fixture(scope="module")
def with_template(tmp_path_factory):
    return template_of(tmp_path_factory)


def test_all_commands_count_the_tokens_of_the_text_alone_unless_the_template_is_asked_for(with_template, tmp_path):
    alone, around = (
        cbpe.load(with_template).encode("hi", add_special_tokens=False),
        cbpe.load(with_template).encode("hi"),
    )
    assert around == [300, *alone, 301]
    for options, ids in (([], alone), (["--template"], around)):
        given = ["-t", with_template, *options]
        assert run("encode", *given, stdin=b"hi").stdout.split() == list(map(str, ids))
        assert run("count", *given, stdin=b"hi").stdout == f"{len(ids)}\n"
        assert [row["id"] for row in json.loads(run("tokens", *given, "--json", stdin=b"hi").stdout)] == ids
    for command in ("stats", "compare"):
        rows = json.loads(run(command, "-t", with_template, "--json", stdin=b"hi").stdout)
        assert [row["tokens"] for row in rows] == [len(alone)]
    for command in ("encode", "count", "tokens", "stats", "compare"):
        assert "template" in run(command, "--help").stdout


def test_a_text_comes_back_from_its_ids_where_there_is_a_template(with_template):
    ids = run("encode", "-t", with_template, stdin=b"hi").stdout_bytes
    assert run("decode", "-t", with_template, stdin=ids).stdout_bytes == b"hi"


@pytest.mark.parametrize("name", ["ids.jsonl", "ids.ndjson", "ids.jsonl.gz", "ids.json", "ids.txt"])
def test_ids_that_encode_wrote_are_decoded_whatever_their_file_is_called(tmp_path, name):
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "one"}\n{"text": " two"}\n')
    ids = run("encode", "-t", "gpt2", "--field", "text", "--json", rows).stdout_bytes
    (tmp_path / name).write_bytes(gzip.compress(ids) if name.endswith(".gz") else ids)
    assert run("decode", "-t", "gpt2", tmp_path / name).stdout == "one two"
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 and more")
    assert "Parquet" in error_of("decode", "-t", "gpt2", tmp_path / "rows.parquet")


@pytest.mark.parametrize("options", [[], ["--template"], ["--allowed-special", "all"]])
def test_it_is_said_how_much_of_a_text_the_split_pattern_leaves_out(tmp_path_factory, options):
    path = template_of(tmp_path_factory, r"[a-z]+|\d")
    text = "caf\u00e9 1<s>s\n"  # of its 12 bytes, the \u00e9, the space and the line end are in no token
    share = "33.3%" if "all" in options else "50.0%"  # and "<" and ">", where they are no special token's
    for command, of in (("encode", "the text"), ("tokens", "the text"), ("count", "standard input")):
        found = run(command, "-t", path, *options, stdin=text.encode())
        told = f"the split pattern of the tokenizer leaves {share} of {of} out: it is in no token"
        assert found.stderr == f"cbpe: {told}\n"
        if command == "count":
            assert found.stdout == f"{len(run('encode', '-t', path, *options, stdin=text.encode()).stdout.split())}\n"
        assert run(command, "-t", path, *options, stdin=b"cafe12").stderr == ""


def test_what_a_pattern_leaves_out_is_said_of_each_file_that_is_counted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cbpe.RegexTokenizer("[a-z]+").save("letters.json")
    for name, text in (("a.txt", "ab c"), ("b.txt", "abc"), ("c.txt", "1")):
        (tmp_path / name).write_text(text)
    found = run("count", "-t", "letters.json", "a.txt", "b.txt", "c.txt")
    assert found.stdout.split() == ["3", "a.txt", "3", "b.txt", "0", "c.txt", "6", "total"]
    assert [line.partition("leaves ")[2] for line in found.stderr.splitlines()] == [
        "25.0% of a.txt out: it is in no token",
        "100.0% of c.txt out: it is in no token",
    ]


# ---- Files and ids that are not what they should be


def test_a_file_that_is_no_text_costs_no_other_its_count(text_file, tmp_path):
    wrong, other = tmp_path / "latin1.txt", tmp_path / "other.txt"
    wrong.write_bytes(b"caf\xe9")
    other.write_bytes(b"hello world")
    counted = run("count", "-t", "gpt2", text_file, wrong, other, exit_code=1)
    n = cbpe.get_encoding("gpt2").count(TEXT)
    assert [line.split() for line in counted.stdout.splitlines()] == [
        [str(n), str(text_file)],
        ["2", str(other)],
        [str(n + 2), "total"],
    ]
    assert counted.stderr.startswith(f"cbpe: {wrong} is not UTF-8")
    assert counted.stderr.count("\n") == 1
    rows = run("count", "-t", "gpt2", "--json", wrong, other, exit_code=1)
    assert json.loads(rows.stdout) == [{"file": str(other), "tokens": 2}]
    assert rows.stderr == counted.stderr
    error_of("count", "-t", "gpt2", wrong, "--json")  # which prints nothing else


def test_ids_that_are_none_say_how_they_are_written_and_where_they_are(tmp_path):
    for given in (b"15339, 1917", b"15339;"):
        told = error_of("decode", "-t", "gpt2", stdin=given)
        assert "write ids between blanks, as 15339 1917, or as a JSON list, [15339, 1917]" in told
    ids = tmp_path / "some.ids"
    ids.write_text("[31373, 995]\n[50256, 1917999, 3]\n")
    told = run("decode", "-t", "gpt2", ids, exit_code=1).stderr
    assert told == f"cbpe: token id 1917999 is not in the vocabulary: it is number 4 in {ids}\n"
    assert "it is number 2 in standard input" in run("decode", "-t", "gpt2", stdin=b"1 4294967296", exit_code=1).stderr
