"""cbpe convert."""

import json
from pathlib import Path

import pytest
from command_line import TEXT, error_of, run

import cbpe

TRUNCATION = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cbpe.train(TEXT, 290, special_tokens=["<|end|>"]).save("book")
    return tmp_path


@pytest.mark.parametrize("ending", ["json", "model"])
def test_a_model_becomes_another_file_with_the_same_ids(here, ending):
    run("convert", "book.model", f"other.{ending}")
    assert cbpe.load(here / f"other.{ending}").encode_ordinary(TEXT) == cbpe.load("book.model").encode_ordinary(TEXT)


def test_what_was_written_is_told(here):
    assert json.loads(run("convert", "book.model", "book.json", "--json").stdout) == {
        "written": ["book.json"],
        "format": "Hugging Face's tokenizer.json",
        "vocab_size": 290,
        "n_special_tokens": 1,
        "left_out": [],
    }
    assert json.loads(run("convert", "book.model", "b.model", "--json").stdout)["written"] == ["b.model", "b.vocab"]
    assert "book.json" in run("convert", "book.model", "book.json").stdout
    assert "Mistral's tekken.json" not in run("convert", "gpt2", "new_tekken.json").stdout


def test_two_special_tokens_of_one_id_are_no_token_less(here):
    told = json.loads(run("convert", "o200k_harmony", "harmony.tiktoken", "--json").stdout)
    assert told["vocab_size"] == len((here / "harmony.tiktoken").read_bytes().splitlines())


def test_what_a_tiktoken_file_does_not_hold_is_told(here):
    told = run("convert", "book.model", "book.tiktoken").stdout
    assert "the split pattern" in told
    assert "the special token <|end|> with id 290" in told
    left_out = json.loads(run("convert", "book.model", "book.tiktoken", "--json").stdout)["left_out"]
    assert left_out == ["the split pattern", "the special token <|end|> with id 290"]
    assert "not in the file" not in run("convert", "book.model", "book.json").stdout


def test_a_tiktoken_file_is_given_its_pattern_and_special_tokens(here):
    run("convert", "book.model", "book.tiktoken")
    assert "split pattern" in error_of("convert", "book.tiktoken", "again.json")
    run("convert", "book.tiktoken", "again.json", "--pattern", "gpt4", "--special", "<|end|>=290")
    again = cbpe.load("again.json")
    assert again.special_tokens == {"<|end|>": 290}
    assert again.encode_ordinary(TEXT) == cbpe.load("book.model").encode_ordinary(TEXT)
    told = error_of("convert", "gpt2", "x.json", "--pattern", "gpt2", exit_code=2)
    assert "only for a file without a split pattern" in told
    for missing in ("nosuch.tiktoken", "nowhere/x.tiktoken"):
        assert f"no tokenizer '{missing}': there is no such file" in error_of(
            "convert", missing, "x.json", "--pattern", "gpt4"
        )


def test_a_tiktoken_file_may_be_of_texts_that_nothing_splits(here):
    cbpe.train(TEXT, 290, pattern=None).save("whole.model")
    assert "that nothing splits texts (pattern '')" in run("convert", "whole.model", "whole.tiktoken").stdout
    assert "--pattern '' is for texts that nothing splits" in error_of("convert", "whole.tiktoken", "again.json")
    run("convert", "whole.tiktoken", "whole.json", "--pattern", "")
    assert cbpe.load("whole.json").encode(TEXT) == cbpe.load("whole.model").encode(TEXT)


def test_a_special_token_without_an_id_gets_the_next_one_and_is_told(here):
    run("convert", "book.model", "book.tiktoken")
    made = ["convert", "book.tiktoken", "again.json", "--pattern", "gpt4"]
    told = run(*made, "--special", "<|b|>", "--special", "<|a|>").stdout
    assert cbpe.load("again.json").special_tokens == {"<|b|>": 290, "<|a|>": 291}
    assert "<|b|> (290)" in told
    assert "<|a|> (291)" in told
    run(*made, "--special", "a=b", "--special", "<a>=<b>")
    assert cbpe.load("again.json").special_tokens == {"a=b": 290, "<a>=<b>": 291}
    mixed = error_of(*made, "--special", "<|b|>=290", "--special", "<|a|>", exit_code=2)
    assert "give all of them an id, as TOKEN=ID, or none" in mixed


def test_special_tokens_are_added_and_all_other_text_keeps_its_ids(here):
    tokenizers = pytest.importorskip("tokenizers")
    run("convert", "book.model", "old.json")
    told = run("convert", "old.json", "new.json", "--special", "<|tool|>", "--special", "<|call|>").stdout
    assert "<|tool|> (291)" in told
    assert "<|call|> (292)" in told
    old, new = (tokenizers.Tokenizer.from_file(name) for name in ("old.json", "new.json"))
    assert new.encode("a<|call|>b<|end|>c").ids == [97, 292, 98, 290, 99]
    assert old.encode(TEXT).ids == new.encode(TEXT).ids
    assert cbpe.load("new.json").special_tokens == {"<|end|>": 290, "<|tool|>": 291, "<|call|>": 292}
    given = run("convert", "old.json", "new.json", "--special", "<|tool|>=400", "--json").stdout
    assert json.loads(given)["given"] == {"<|tool|>": 400}
    assert tokenizers.Tokenizer.from_file("new.json").encode("<|tool|><|end|>").ids == [400, 290]


@pytest.mark.parametrize("reference", ["book.model", "gpt2", "words.json"])
def test_special_tokens_are_added_to_tokenizers_of_every_kind(here, reference):
    vocab = {"a": 0, "b": 1, "b</w>": 2, "ab</w>": 3}
    model = {"type": "BPE", "vocab": vocab, "merges": ["a b</w>"], "end_of_word_suffix": "</w>"}
    content = {"model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": None}
    Path("words.json").write_text(json.dumps(content))
    run("convert", reference, "new.json", "--special", "<|tool|>")
    old, new = cbpe.load(reference), cbpe.load("new.json")
    assert new.special_tokens == {**old.special_tokens, "<|tool|>": old.n_vocab}
    assert new.encode("ab ab<|tool|>") == [*old.encode("ab ab"), old.n_vocab]


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        ("<|x|>=5", "the id 5 of the special token '<|x|>' is in use for another token"),
        ("<|x|>=290", "the id 290 of the special token '<|x|>' is that of '<|end|>'; the first after all is 291"),
        ("<|end|>=300", "the special token '<|end|>' is there already, with the id 290"),
        ("the", "'the' is spelled like the ordinary token"),
    ],
)
def test_special_tokens_that_collide_are_refused_by_name(here, label, problem):
    assert problem in error_of("convert", "book.model", "new.json", "--special", label)
    assert not Path("new.json").exists()


@pytest.mark.parametrize("token_id", [4294967295, 4294967296, 300000000000, 10**4000])
def test_an_id_that_is_too_large_is_told_as_such(here, token_id):
    told = error_of(
        "convert", "book.model", "new.json", "--special", f"<a>={token_id}", exit_code=2 if token_id > 10**10 else 1
    )
    assert "4294967294" in told
    assert len(told) < 1000
    assert not Path("new.json").exists()


@pytest.mark.parametrize(
    "label", ["<|x|>=29O", "<|x|>=", "<a>=-5", "<a>=+5", "<a>=5.0", "<|a|>=abc", "[A]=x1", "=5", "=a", "="]
)
def test_what_seems_to_bring_an_id_and_does_not_is_no_token(here, label):
    run("convert", "book.model", "book.tiktoken")
    told = error_of("convert", "book.tiktoken", "x.json", "--pattern", "gpt4", "--special", label, exit_code=2)
    assert "is no TOKEN=ID; if that is the text of the token, add its id:" in told
    assert len(told) < 1000
    assert not Path("x.json").exists()


def test_a_text_that_ends_like_an_id_is_a_token_with_its_id(here):
    run("convert", "book.model", "book.tiktoken")
    labels = ["--special", "<|x|>=29O=300", "--special", "=5=301", "--special", "a==302"]
    run("convert", "book.tiktoken", "x.json", "--pattern", "gpt4", *labels)
    assert cbpe.load("x.json").special_tokens == {"<|x|>=29O": 300, "=5": 301, "a=": 302}


def test_what_a_format_cannot_hold_is_refused(here):
    error = error_of("convert", "cl100k_base", "cl100k.model")
    assert (
        "minbpe's format cannot hold an id of the byte 0x00 other than 0: keep it in a model store, or save it" in error
    )
    assert not (here / "cl100k.model").exists()
    assert ".tiktoken" in error_of("convert", "book.model", "book.xyz", exit_code=2)
    assert "there is no such folder: make it first" in error_of("convert", "book.model", here / "nowhere" / "book.json")


# ---- inspect


def test_what_a_file_holds_is_told(here):
    run("convert", "book.model", "book.json")
    told = run("inspect", "book.json").stdout
    for line in ("Hugging Face's tokenizer.json", "HuggingFaceTokenizer", "<|end|> (290)"):
        assert line in told
    found = json.loads(run("inspect", "book.json", "--json").stdout)
    assert (found["kind"], found["refused"]) == ("HuggingFaceTokenizer", None)
    assert found["special_tokens"] == {"<|end|>": 290}
    assert found["found"]["model.type"] == "BPE"


def test_a_template_is_told_as_it_stands_around_texts(here):
    run("convert", "book.model", "book.json")
    content = json.loads((here / "book.json").read_text())
    end = ["<|end|>", 290]
    content["post_processor"] = {"type": "BertProcessing", "cls": end, "sep": end}
    (here / "book.json").write_text(json.dumps(content))
    told = dict(line.split(maxsplit=1) for line in run("inspect", "book.json").stdout.splitlines())
    one = "<|end|> $A <|end|>"
    assert told["template"] == f"{one}; for two texts: {one} $B <|end|>"


def test_what_is_refused_is_told_with_exit_code_1(here):
    run("convert", "book.model", "book.json")
    content = json.loads((here / "book.json").read_text())
    (here / "other.json").write_text(json.dumps({**content, "model": {"type": "Unigram", "vocab": [["a", 0.1]]}}))
    done = run("inspect", "other.json", exit_code=1)
    assert "model.type is" in done.stdout
    assert "Unigram" in done.stdout
    told = json.loads(run("inspect", "other.json", "--json", exit_code=1).stdout)
    assert told["refused"].startswith('model.type is "Unigram"')
    assert told["found"]["model.vocab"] == 1
    assert "No such file" in error_of("inspect", "nowhere.json")


def test_of_a_long_list_the_first_are_told_and_how_many_more(here):
    cbpe.train(TEXT, 290, special_tokens=[f"<{i}>" for i in range(40)]).save("many.model")
    told = run("convert", "many.model", "many.tiktoken").stdout.splitlines()
    assert told[-1].split(maxsplit=4) == ["not", "in", "the", "file", "and 33 more, which --json names"]
    assert len([line for line in told if line.startswith("not in the file")]) == 9
    assert len(json.loads(run("convert", "many.model", "many.tiktoken", "--json").stdout)["left_out"]) == 41
    run("convert", "many.model", "many.json")
    content = json.loads((here / "many.json").read_text())
    for token in content["added_tokens"]:
        token["special"] = False
    (here / "many.json").write_text(json.dumps(content))
    assert '"<16>" and 32 more' in run("inspect", "many.json").stdout
    assert len(json.loads(run("inspect", "many.json", "--json").stdout)["processing"]["ordinary"]) == 40


def test_a_warning_is_one_line(here):
    run("convert", "book.model", "book.json")
    content = json.loads((here / "book.json").read_text())
    (here / "book.json").write_text(json.dumps({**content, "truncation": TRUNCATION}))
    for command in (["inspect", "book.json"], ["count", "-t", "book.json", "book.json"]):
        told = run(*command).stderr
        assert told.startswith("cbpe: ")
        assert "truncation" in told
        assert told.count("\n") == 1


def test_all_files_that_are_written_are_named(tmp_path):
    cbpe.train("to be or not to be", 260).save(tmp_path / "book.json")
    printed = run("convert", tmp_path / "book.json", tmp_path / "o.model").stdout
    assert f"{tmp_path / 'o.model'}, {tmp_path / 'o.vocab'}\n" in printed


def test_special_tokens_that_get_other_ids_with_a_smaller_vocabulary_are_told(tmp_path):
    book, small = tmp_path / "book.json", tmp_path / "small.json"
    cbpe.train("the cat sat on the mat " * 9, 264, special_tokens=["<|a|>", "<|b|>"]).save(book)
    command = ("convert", book, small, "--vocab-size", 260)
    told = run(*command, "--special", "<|c|>").stdout.splitlines()
    assert [line.split(maxsplit=1)[-1].strip() for line in told if "which was" in line] == [
        "ids       <|a|> (260, which was 264)",
        "ids       <|b|> (261, which was 265)",
    ]
    assert json.loads(run(*command, "--json").stdout)["special_moved"] == {"<|a|>": [264, 260], "<|b|>": [265, 261]}
    assert cbpe.load(small).special_tokens == {"<|a|>": 260, "<|b|>": 261}
    assert "which was" not in run("convert", book, small).stdout
    assert "special_moved" not in json.loads(run("convert", book, small, "--json").stdout)
