"""Messages stay short whatever is handed in: long texts and ints are named by their beginnings or sizes."""

import inspect
import warnings

import pytest

import cbpe
import cbpe.core
import cbpe.model
import cbpe.registry

pytestmark = pytest.mark.ci

MOST = 2_000  # characters of a message
LONG = "x" * 100_000
HUGE = 10**5000  # more digits than Python writes
VALUES = {
    "str": LONG,
    "bytes": LONG.encode(),
    "int": HUGE,
    "negative": -HUGE,
    "list": [LONG, HUGE],
    "ints": [HUGE],
    "dict": {LONG: HUGE},
    "object": type("Odd", (), {"__repr__": lambda odd: LONG})(),
}
# Good values, by the names of parameters: one after the other gives way to a bad one.
GOOD = {
    "text": "ab ab",
    "texts": ["ab", "ab"],
    "batch": [[97]],
    "tokens": [97],
    "ids": [97],
    "token": 97,
    "token_id": 97,
    "encoding_name": "gpt2",
    "model_name": "gpt-4",
    "max_tokens": 1,
    "text_or_bytes": "a",
    "token_bytes": b"a",
    "vocab_size": 258,
    "special_tokens": {"<e>": 300},
    "counts": {"ab": 3},
    "source": ["ab ab"],
    "name": "n",
    "pat_str": r"\S+|\s+",
    "pattern": r"\S+|\s+",
    "mergeable_ranks": {bytes([byte]): byte for byte in range(256)},
}


def tokenizers():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        basic = cbpe.BasicTokenizer()
        basic.train("abab" * 5, 258)
        regex = cbpe.RegexTokenizer()
        regex.train("abab" * 5, 258)
    encoding = cbpe.Encoding(
        "e", pat_str=r"\S+|\s+", mergeable_ranks=GOOD["mergeable_ranks"], special_tokens={"<e>": 300}
    )
    return [basic, regex, cbpe.GPT4Tokenizer(), encoding, cbpe.HuggingFaceTokenizer.from_tokenizer(encoding)]


def entries():
    """All public functions, classes and methods, each with what makes its object new."""
    for name in dir(cbpe):
        value = getattr(cbpe, name)
        if (
            not name.startswith("_")
            and callable(value)
            and not (inspect.isclass(value) and issubclass(value, Exception))
        ):
            yield name, value
    for name in ("get_encoding", "encoding_for_model", "encoding_name_for_model"):
        yield f"cbpe.registry.{name}", getattr(cbpe, name)
    for tokenizer in tokenizers():
        for name in dir(tokenizer):
            if not name.startswith("_") and callable(getattr(type(tokenizer), name, None)):
                yield f"{type(tokenizer).__name__}.{name}", getattr(tokenizer, name)


ENTRIES = dict(entries())


def calls(entry):
    """Pairs of positional and named arguments, in which one value is bad."""
    try:
        parameters = [p for p in inspect.signature(entry).parameters.values() if p.kind not in (p.VAR_KEYWORD,)]
    except (TypeError, ValueError):
        return
    needed = {
        p.name: GOOD.get(p.name, "a") for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL
    }
    for bad in parameters:
        for value in VALUES.values():
            given = {**needed, bad.name: value}
            first = [given.pop(p.name) for p in parameters if p.kind is p.POSITIONAL_ONLY and p.name in given]
            if bad.kind is bad.VAR_POSITIONAL:
                first.append(given.pop(bad.name))
            yield bad.name, first, given


@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_handed_in_makes_no_long_message(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tried = 0
    for parameter, first, given in calls(ENTRIES[name]):
        tried += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = ENTRIES[name](*first, **given)
                if inspect.isgenerator(result):
                    list(result)
        except OSError as error:
            message = error.strerror or str(error)  # the system's own has the path
        except Exception as error:
            message = str(error)
        else:
            continue
        assert len(message) < MOST, (parameter, message[:200])
        assert "digits" not in message, (parameter, message)
    assert tried or not inspect.signature(ENTRIES[name]).parameters
