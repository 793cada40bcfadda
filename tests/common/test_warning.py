"""Warnings name the line of the program that called."""

import json
import warnings

import pytest

import cbpe

TRUNCATION = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    return {warning.filename for warning in caught}


@pytest.mark.parametrize(
    "call",
    [
        lambda: cbpe.train("ab ab ab", 300),
        lambda: cbpe.RegexTokenizer().train("ab ab ab", 300),
        lambda: cbpe.train("ab ab ab", 300, alphabet="characters"),
        lambda: cbpe.train("a1 b2", 257, pattern=r"\d+"),
    ],
)
def test_a_warning_of_training_names_the_line_that_called(call):
    assert warned(call) == {__file__}


def test_a_warning_of_a_chart_names_the_line_that_called(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    tok = cbpe.train("low lower lowest", 258)
    comparison = cbpe.compare({"\U0001f9ff\u13a0\ua840": tok}, {"b": "low"})
    assert warned(lambda: comparison.plot(tmp_path / "x.png")) == {__file__}


def test_a_warning_of_loading_names_the_line_that_called(tmp_path):
    cbpe.get_encoding("gpt2").save(tmp_path / "gpt2.json")
    content = json.loads((tmp_path / "gpt2.json").read_text(encoding="utf-8"))
    content["truncation"] = TRUNCATION
    (tmp_path / "gpt2.json").write_text(json.dumps(content), encoding="utf-8")
    assert warned(lambda: cbpe.load(tmp_path / "gpt2.json")) == {__file__}
