"""What a file holds, told to people: in the terminal, in Python and in a notebook."""

import json

import pytest
from tokenizer_json import a_file

import cbpe
from cbpe.views.inspected import steps_in_words

REPLACE = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
SPLIT = {"type": "Split", "pattern": {"String": "-"}, "behavior": "MergedWithNext", "invert": False}
CHARACTERS = {
    "spaces": "each", "strip": "one", "split": False, "byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"
}  # fmt: skip
WORDS = {"alphabet": "characters", "decoder": {"type": "BPEDecoder", "suffix": "</w>"}, "fuse_unk": False}


@pytest.mark.parametrize(
    ("processing", "told"),
    [
        ({"normalizer": "NFC"}, ("normalized by", "NFC")),
        (
            {"normalizer": [{"type": "NFKC"}, REPLACE, {"type": "Lowercase"}]},
            ("normalized by", r'NFKC, then match of \s+ becomes " ", then lower case'),
        ),
        ({"prefix_space": True}, ("space", "one before each piece that begins with none")),
        ({"splits": [SPLIT]}, ("split first", 'each "-" begins the piece after')),
        (
            {"splits": [{**SPLIT, "pattern": {"Regex": "a+"}, "behavior": "Removed", "invert": True}]},
            ("split first", "what is no match of a+ is left out"),
        ),
        ({"splits": [{"type": "Digits", "individual_digits": True}]}, ("split first", "each digit is a piece")),
        ({"ordinary": ["\t"]}, ("not special", r'"\t"')),
        ({"words": {**WORDS, "unk_token": None}}, ("unknown ones", "are refused")),
        ({"words": {**WORDS, "unk_token": "?"}}, ("unknown ones", "become ?, one for each")),
        ({"words": {**WORDS, "unk_token": "?"}}, ("decoded by", 'BPEDecoder, "</w>"')),
        ({"characters": CHARACTERS}, ("unknown ones", "become the tokens of their bytes")),
        (
            {"characters": CHARACTERS},
            ("spaces", "one before each stretch between added tokens; decoding drops one at the beginning"),
        ),
        (
            {"characters": {**CHARACTERS, "sentencepiece": {"controls": ["<s>"], "unk_surface": " ? "}}},
            ("never in text", '"<s>"'),
        ),
    ],
)
def test_a_step_is_told_in_words(processing, told):
    assert told in list(steps_in_words(processing))


def test_what_a_file_holds_is_told_in_python_and_in_a_notebook(tmp_path):
    path = tmp_path / "small.json"
    path.write_text(json.dumps(a_file(normalizer={"type": "NFC"}, model={"continuing_subword_prefix": ""})))
    found = cbpe.inspect(path)
    assert ("model.continuing_subword_prefix", "''") in found.pairs()  # no row is empty
    lines = dict(line.split(maxsplit=1) for line in str(found).splitlines() if line.startswith(("class", "merges")))
    assert lines == {"class": found.kind, "merges": str(found.n_merges)}
    assert repr(found) == f"<Inspection of {path}: Hugging Face's tokenizer.json, {found.vocab_size} tokens>"
    assert "normalized by" in found._repr_html_()
    assert "normalized by" in cbpe.load(path)._repr_html_()
    path.write_text("{}")
    assert "refused" in repr(cbpe.inspect(path))
    assert "refused" in cbpe.inspect(path)._repr_html_()
