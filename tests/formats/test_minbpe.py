"""minbpe's files: what is written is minbpe's to the letter, and what is no whole and valid model is refused."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from project import SHARED
from vocabularies import minbpe_parts

import cbpe
from cbpe.formats import minbpe
from cbpe.formats.minbpe import render_token

# BasicTokenizer on "aaabdaaabac" to 256 + 3, as in minbpe's README, with what its save() writes for it.
MODEL = """\
minbpe v1

0
97 97
256 97
257 98
"""
VOCAB_TAIL = """\
[aa][a] -> [aaa] 257
[aaa][b] -> [aaab] 258
"""
WITH_ALL = minbpe_parts(r"\p{L}+|x", {"<|end|>": 1000, "two words": 1001}, [(97, 98), (256, 256), (255, 257)])
WITH_ALL_TEXT = r"""minbpe v1
\p{L}+|x
2
<|end|> 1000
two words 1001
97 98
256 256
255 257
"""


def facts(parts):
    return parts.pattern, parts.special_tokens, list(parts.vocabulary.merges())


def test_a_small_model_is_written_to_the_letter():
    assert minbpe.dumps(minbpe_parts(None, {}, [(97, 97), (256, 97), (257, 98)])) == MODEL
    assert facts(minbpe.loads(MODEL)) == (None, {}, [(97, 97), (256, 97), (257, 98)])


def test_a_model_with_everything_is_written_to_the_letter():
    assert minbpe.dumps(WITH_ALL) == WITH_ALL_TEXT
    assert facts(minbpe.loads(WITH_ALL_TEXT)) == facts(WITH_ALL)


def test_a_trained_tokenizer_saves_the_files_of_minbpe(tmp_path):
    tok = cbpe.BasicTokenizer()
    tok.train("aaabdaaabac", 259)
    tok.save(tmp_path / "toy")
    assert (tmp_path / "toy.model").read_bytes().decode() == MODEL
    vocab = (tmp_path / "toy.vocab").read_bytes().decode()
    assert vocab.endswith("[\ufffd] 255\n[a][a] -> [aa] 256\n" + VOCAB_TAIL)
    lines = vocab.split("\n")
    assert len(lines) == 260
    assert lines[0] == "[\\u0000] 0"
    assert lines[10] == "[\\u000a] 10"
    assert lines[32] == "[ ] 32"
    assert lines[97] == "[a] 97"
    assert lines[127] == "[\\u007f] 127"
    assert lines[128] == "[\ufffd] 128"


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b"abc", "abc"),
        (b" a\n\tb\r\0", " a\\u000a\\u0009b\\u000d\\u0000"),
        ("é中😉".encode(), "é中😉"),
        (b"\xe4\xb8", "\ufffd"),
        (b"a\xffb", "a\ufffdb"),
        ("\u200b\u200d\ufeff".encode(), "\\u200b\\u200d\\ufeff"),  # format characters
        ("\ue000\U000f0000".encode(), "\\ue000\\uf0000"),  # private ones
        ("\u0378".encode(), "\\u0378"),  # one that is not assigned
        ("\u0301\u2028\u00a0".encode(), "\u0301\u2028\u00a0"),  # no control characters, these
        (b"", ""),
    ],
)
def test_tokens_are_rendered_with_control_characters_escaped(token, text):
    assert render_token(token) == text


def test_what_is_rendered_is_bytes():
    with pytest.raises(TypeError, match="a token is bytes, not str: 'a'"):
        render_token("a")


IDS = st.integers(0, 2**31)
LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), min_size=1).filter(
    lambda text: text == text.strip()
)


@st.composite
def models(draw):
    merges = []
    for i in range(draw(st.integers(0, 12))):
        pair = (draw(st.integers(0, 255 + i)), draw(st.integers(0, 255 + i)))
        merges.append(pair if pair not in merges else (255 + i, i))
    merges = list(dict.fromkeys(merges))
    if any(max(pair) >= 256 + i for i, pair in enumerate(merges)):
        merges = []
    return minbpe_parts(draw(st.none() | LINES), draw(st.dictionaries(LINES, IDS, max_size=4)), merges)


@given(models())
def test_what_is_written_is_read_back(model):
    assert facts(minbpe.loads(minbpe.dumps(model))) == facts(model)


@given(models())
def test_files_with_the_line_ends_of_windows_are_read(model):
    assert facts(minbpe.loads(minbpe.dumps(model).replace("\n", "\r\n"))) == facts(model)


# ---- Bad input


def test_cut_short_at_every_character_is_refused_or_at_the_end_of_a_merge():
    """The format does not say how many merges there are: a file that ends with a whole one is a whole file."""
    end_of_header = WITH_ALL_TEXT.index("97 98")
    for size in range(len(WITH_ALL_TEXT)):
        text = WITH_ALL_TEXT[:size]
        if size >= end_of_header and text.endswith("\n"):
            assert facts(minbpe.loads(text))[2] == facts(WITH_ALL)[2][: text.count("\n") - 5]
        else:
            with pytest.raises(ValueError, match=r"cut short|line 1 of the model|line 3 of the model"):
                minbpe.loads(text)


@pytest.mark.parametrize(
    "version", ["minbpe v2", "minbpe v10", "minbpe", "", "MINBPE V1", "cbpe v1", "97 97", "\ufeffminbpe v1"]
)
def test_a_wrong_version_line_is_refused(version):
    with pytest.raises(ValueError, match=r"line 1 of the model is '.*', not 'minbpe v1'"):
        minbpe.loads(MODEL.replace("minbpe v1", version))


@pytest.mark.parametrize(
    ("line", "with_what", "message"),
    [
        (3, "one", "line 3 of the model should be the number of special tokens and is 'one'"),
        (3, "-1", "line 3"),
        (3, "", "line 3"),
        (3, "1_0", "line 3"),
        (3, "٢", "line 3"),
        (3, "2.0", "line 3"),
        (3, "9" * 5000, "line 3"),
        (3, "99", "cut short: it announces 99 special tokens and has 5 more lines"),
        (3, "1", "line 5 of the model is no pair of token ids: 'two words 1001'"),
        (3, "3", "line 6 of the model .*merges token|line 7 of the model merges token 256"),
        (4, "<|end|>", "line 4 of the model is no special token and its id: '<|end|>'"),
        (4, "1000", "line 4 of the model is no special token"),
        (4, "", "line 4 of the model is no special token"),
        (4, "<|end|> -1", "line 4 of the model is no special token"),
        (4, "<|end|> x", "line 4 of the model is no special token"),
        (5, "<|end|> 1001", "line 5 of the model gives the special token '<|end|>' again"),
        (6, "97", "line 6 of the model is no pair of token ids: '97'"),
        (6, "97 98 99", "line 6 of the model is no pair"),
        (6, "97 b", "line 6 of the model is no pair"),
        (6, "-97 98", "line 6 of the model is no pair"),
        (6, "٩٧ 98", "line 6 of the model is no pair"),
        (6, "", "line 6 of the model is no pair"),
        (6, "97 256", "line 6 of the model merges token 256, which is none: it makes 256"),
        (7, "257 97", "line 7 of the model merges token 257, which is none: it makes 257"),
        (6, "4294967295 97", "line 6 of the model merges token 4294967295"),
        (7, "97 98", "line 7 of the model merges 97 and 98 again: that is 256"),
        (8, "256 256", "line 8 of the model merges 256 and 256 again: that is 257"),
    ],
)
def test_a_wrong_line_is_named(line, with_what, message):
    lines = WITH_ALL_TEXT.split("\n")
    lines[line - 1] = with_what
    with pytest.raises(ValueError, match=message.replace("|>", r"\|>").replace("<|", r"<\|")):
        minbpe.loads("\n".join(lines))


@pytest.mark.parametrize(
    "model",
    [
        minbpe_parts("", {}, []),
        minbpe_parts(" a", {}, []),
        minbpe_parts("a ", {}, []),
        minbpe_parts("a\nb", {}, []),
        minbpe_parts("a\rb", {}, []),
        minbpe_parts("a\ud800", {}, []),
        minbpe_parts(None, {"": 300}, []),
        minbpe_parts(None, {" <e>": 300}, []),
        minbpe_parts(None, {"<e>\n": 300}, []),
        minbpe_parts(None, {"<\r>": 300}, []),
        minbpe_parts(None, {"<\udfff>": 300}, []),
    ],
)
def test_what_the_format_cannot_hold_is_not_written(model):
    with pytest.raises(ValueError, match=r"minbpe's format cannot hold the (split pattern|special token) "):
        minbpe.dumps(model)


@pytest.mark.parametrize(
    ("pattern", "token", "told"),
    [
        (r" ?\w+|\s", "<e>", r"split pattern ' \?\\w\+\|\\s': it begins with a blank"),
        (r"\w+|\s|\W+ ", "<e>", r"split pattern '\\w\+\|\\s\|\\W\+ ': it ends with a blank"),
        (None, "<e> ", "special token '<e> ': it ends with a blank"),
        (None, "<\n>", r"special token '<\\n>': it has a line break"),
        (None, "<\udfff>", r"special token .*: it has a lone surrogate, which UTF-8 cannot hold"),
        ("", "<e>", "split pattern '': it is empty"),
    ],
)
def test_why_the_format_cannot_hold_a_text_is_said_and_where_it_can_be_saved(pattern, token, told):
    with pytest.raises(ValueError, match=f"cannot hold the {told}: save to the model store, or as .json, if that can"):
        minbpe.dumps(minbpe_parts(pattern, {token: 300}, []))


def test_no_format_advises_to_another_that_cannot_hold_the_pattern_either(tmp_path):
    for pattern, advice in (
        (r" ?\w+|[^\w]", "to the model store, or train"),
        (r"\w+|\W", "store or as .model, or train"),
    ):
        tok = cbpe.train("the cat sat", 258, pattern=pattern)
        for name in ("a.json", "tekken.json"):
            with pytest.raises(ValueError, match=f"Save .*{advice} with a pattern of characters"):
                tok.save(tmp_path / name)
        if "as .model" in advice:
            tok.save(tmp_path / "a.model")


@pytest.mark.parametrize("token", ["<a b>", "a\u00a0b", "a\u3000b", "a\tb"])
def test_a_special_token_that_minbpe_does_not_read_is_not_saved_but_kept_in_a_checkpoint(tmp_path, token):
    tok = cbpe.train("the cat sat", 258, special_tokens=[token], checkpoint=tmp_path / "kept.model")
    with pytest.raises(ValueError, match=r"minbpe itself reads no special token with a blank: '.*b>?' is one"):
        tok.save(tmp_path / "toy.model")
    assert not (tmp_path / "toy.model").exists()
    line = (tmp_path / "kept.model").read_text(encoding="utf-8").split("\n")[3]
    with pytest.raises(ValueError, match="too many values to unpack"):
        _, _ = line.strip().split()  # as minbpe does
    assert cbpe.load(tmp_path / "kept.model").special_tokens == tok.special_tokens


# ---- minbpe's own files for the trainings whose merges are known

# Of taylorswift.txt to 276 tokens, as minbpe learns them: BasicTokenizer, and RegexTokenizer with GPT-4's pattern.
BASIC = (
    "101 32,44 32,100 32,46 32,114 32,50 48,115 32,105 110,111 110,114 105,116 32,116 104,101 258,257 261,97 110,"
    "97 114,101 260,121 32,97 108,267 256"
)
REGEX = (
    "101 114,50 48,111 114,105 110,101 100,32 116,111 110,104 101,32 83,97 114,97 110,32 65,261 263,97 108,114 105,"
    "118 260,115 116,119 105,32 82,257 49"
)


def files_of_minbpe(pattern, merges):
    """What minbpe's save writes, from the rules of its format: the .model and the .vocab."""

    def rendered(token):
        text = token.decode("utf-8", errors="replace")
        return "".join(c if unicodedata.category(c)[0] != "C" else f"\\u{ord(c):04x}" for c in text)

    vocab = [bytes([byte]) for byte in range(256)]
    lines = [f"[{rendered(token)}] {byte}" for byte, token in enumerate(vocab)]
    for merge in merges:
        left, right = map(int, merge.split())
        vocab.append(vocab[left] + vocab[right])
        parts = f"[{rendered(vocab[left])}][{rendered(vocab[right])}]"
        lines.append(f"{parts} -> [{rendered(vocab[-1])}] {len(vocab) - 1}")
    return "\n".join(["minbpe v1", pattern, "0", *merges, ""]), "\n".join([*lines, ""])


@pytest.mark.parametrize(
    ("make", "pattern", "merges"),
    [(cbpe.BasicTokenizer, "", BASIC), (cbpe.RegexTokenizer, cbpe.GPT4_SPLIT_PATTERN, REGEX)],
    ids=["basic", "regex"],
)
def test_what_is_trained_on_minbpes_text_is_saved_as_by_minbpe(tmp_path, make, pattern, merges):
    path = SHARED / "minbpe" / "taylorswift.txt"
    if not path.exists():
        pytest.skip(f"no {path}")
    tok = make()
    tok.train(path.read_text(encoding="utf-8"), 276)
    tok.save(tmp_path / "taylorswift")
    model, vocab = files_of_minbpe(pattern, merges.split(","))
    assert (tmp_path / "taylorswift.model").read_bytes().decode() == model
    assert (tmp_path / "taylorswift.vocab").read_bytes().decode() == vocab
