"""How messages name things: several of them on one line, and long texts by their beginnings."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "EXACT",
    "NamedErrors",
    "as_typed",
    "closest",
    "json_problem",
    "links_not_followed",
    "listed",
    "meant",
    "nesting_problem",
    "not_utf8",
    "number_of",
    "number_text",
    "of_another_library",
    "share_in_percent",
    "share_in_words",
    "shortened",
    "shown",
    "steps_named",
    "token_shown",
]

EXACT = 2**53  # from here on not every int is a float
MOST_DECIMALS = 9  # of a share in percent
LONGEST_TYPED = 80  # characters
LONGEST_COMPARED = 100  # characters of a name; time grows with their square
LIKE = 8  # names that are compared more closely
OF_ANOTHER_BEGINNING = 0.75  # how like a name is that begins with another character, to be meant


class NamedErrors:
    """A context in which a file is read: an error of the system's gets the file's name, which one of reading lacks."""

    def __init__(self, path: object) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = str(self.path)


# Of other libraries' tokenizers, what cbpe has in their place.
INSTEAD = {
    "tiktoken": "pass cbpe.get_encoding(its name), or a cbpe.Encoding of the same arguments",
    "tokenizers": "save it, and pass cbpe.load(path)",
    "transformers": "pass cbpe.from_transformers(it)",
    "sentencepiece": "pass cbpe.load(path) of its .model",
}


def of_another_library(value: object) -> str:
    """What a value is that is no tokenizer of cbpe's: its class, and of another library's tokenizer the library, and
    what to pass.

    >>> of_another_library("gpt2"), of_another_library(tiktoken.Encoding.__new__(tiktoken.Encoding))
    ('str', 'tiktoken.Encoding: pass cbpe.get_encoding(its name), or a cbpe.Encoding of the same arguments')
    """
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    return f"{library}.{kind.__name__}: {INSTEAD[library]}" if library in INSTEAD else kind.__name__


def number_of(n: int, one: str, many: str | None = None) -> str:
    """A number of things.

    >>> number_of(1, "text"), number_of(2000, "text"), number_of(2, "corpus", "corpora")
    ('1 text', '2,000 texts', '2 corpora')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def number_text(number: float) -> str:
    """A number with all its digits, and without a point where it is a whole one.

    >>> number_text(61548.0), number_text(123456.75), number_text(1.25e-05)
    ('61548', '123456.75', '1.25e-05')
    """
    return str(int(number)) if number.is_integer() and abs(number) < EXACT else repr(number)


def listed(items: Iterable[str], most: int) -> str:
    """The first of some items, and how many more there are.

    >>> listed(["a", "b", "c", "d"], most=2)
    'a, b and 2 more'
    """
    named = list(items)
    more = f" and {len(named) - most:,} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more


def links_not_followed(what: str, links: Iterable[str]) -> str:
    """The beginning of a message about links to folders: they may lead anywhere.

    >>> links_not_followed("the folder models", ["newest"])
    'of the folder models, 1 link to a folder (newest) is not followed'
    """
    names = sorted(links)
    to, are = ("a folder", "is") if len(names) == 1 else ("folders", "are")
    return f"of {what}, {number_of(len(names), 'link')} to {to} ({listed(names, 3)}) {are} not followed"


def share_in_words(part: int, whole: int) -> str:
    """A share of a whole, which is never told as nothing.

    >>> share_in_words(1, 4), share_in_words(1, 10_000)
    ('25.0%', 'less than 0.1%')
    """
    return f"{part / whole:.1%}" if part * 1000 >= whole else "less than 0.1%"


def share_in_percent(share: float) -> str:
    """A share as tables have it: with one digit behind the point, and with two that count where that would hide it.

    >>> share_in_percent(0.5), share_in_percent(0.0049), share_in_percent(0.00049), share_in_percent(0.0)
    ('50.0%', '0.49%', '0.049%', '0.0%')
    """
    from math import floor, log10

    share = float(f"{share:.1e}") if 0 < share < 0.01 else share  # 0.00996 is 1.0%
    decimals = -floor(log10(share)) - 1 if 0 < share < 0.01 else 1
    return f"{share:.{min(decimals, MOST_DECIMALS)}%}"


def meant(given: str, known: Iterable[str]) -> str:
    """The end of a message about a name that nothing has: what may have been meant, or nothing.

    >>> meant("shakespear", ["chinese", "shakespeare"])
    ": did you mean 'shakespeare'?"
    >>> meant("GPT2", ["gpt2", "o200k_base"])
    ": did you mean 'gpt2'?"
    """
    name = closest(given, known)
    return "" if name is None else f": did you mean {shortened(name, LONGEST_COMPARED)}?"


def closest(given: str, known: Iterable[str]) -> str | None:
    """The known name that is most like a given one; None if none is.

    >>> closest("gpt4", ["gpt2", "gpt-4"]), closest("shels", ["shells", "Shells"])
    ('gpt-4', 'shells')
    >>> closest("p50k", ["p50k_base", "p50k_edit"]), closest("gemini", ["o4-mini"])
    ('p50k_base', None)
    """
    from difflib import SequenceMatcher, get_close_matches  # which a program that makes no mistake never loads

    names: dict[str, list[str]] = {}
    for name in known:
        names.setdefault(name.lower(), []).append(name)
    given = given[:LONGEST_COMPARED]
    like = set(get_close_matches(given.lower(), names, n=LIKE))
    ratios = {name: SequenceMatcher(None, given.lower(), name).ratio() for name in names if name in like}
    likely = {
        name: ratio for name, ratio in ratios.items() if ratio >= OF_ANOTHER_BEGINNING or name[:1] == given[:1].lower()
    }
    if not likely:
        return None
    spellings = names[max(likely, key=likely.__getitem__)]  # of several, the first that is known
    return max(spellings, key=lambda name: SequenceMatcher(None, given, name).ratio())


def shortened(text: str, most: int) -> str:
    """A text in quotes; of one with more than `most` characters, the beginning.

    >>> shortened("abcdef", most=3)
    "'abc'.."
    """
    return repr(text) if len(text) <= most else f"{text[:most]!r}.."


def as_typed(text: str) -> str:
    """A text in quotes as somebody typed it, with its backslashes; as `shown` has it where it is long or holds what
    does not show."""
    plain = len(text) <= LONGEST_TYPED and text.isprintable() and "'" not in text
    return f"'{text}'" if plain else shown(text)


# What json.loads says -> the same for who does not know how it reads.
JSON_PROBLEMS = {
    "Unexpected UTF-8 BOM (decode using utf-8-sig)": "a byte order mark stands before it",
    "Expecting value": "there is no value where one has to be",
    "Extra data": "something follows its end",
    "Expecting property name enclosed in double quotes": "there is no name in double quotes where one has to be",
    "Illegal trailing comma before end of object": "a comma stands before the end of an object",
    "Illegal trailing comma before end of array": "a comma stands before the end of an array",
    "Expecting ',' delimiter": "a comma, or the end of a list or an object, is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Invalid control character": "a line break, a tab or another control character is not escaped",
    "Invalid \\escape": "a backslash begins no escape",
    "Invalid \\uXXXX escape": "four hexadecimal digits have to follow \\u",
}


def json_problem(error: ValueError, place: str = "") -> str:
    """What json.loads says of what is no JSON, as the end of a sentence; of JSON that was cut, that. place: where that
    is, in the place of its line and column.

    >>> json_problem(JSONDecodeError("Unterminated string starting at", '{"a": "b', 6))
    'it ends within a value, which begins at line 1, column 7: it seems to be cut'
    >>> json_problem(JSONDecodeError("Expecting value", "[x]", 1), "character 2")
    'there is no value where one has to be, at character 2'
    """
    from json import JSONDecodeError

    if isinstance(error, UnicodeDecodeError):
        return f"it {not_utf8(error)}"
    if not isinstance(error, JSONDecodeError):
        return str(error)
    where = place or f"line {error.lineno:,}, column {error.colno:,}"
    said = error.msg.rstrip(": ").removesuffix(" at")
    if said.startswith("Unterminated string"):  # which goes on to the end
        return f"it ends within a value, which begins at {where}: it seems to be cut"
    if error.pos >= len(error.doc.rstrip()) > 0:
        return f"it ends too early, at {where}: it seems to be cut"
    return f"{JSON_PROBLEMS.get(said, said)}, at {where}"


def nesting_problem(text: str) -> str:
    """What is wrong with JSON that json.loads does not follow to its innermost value.

    >>> nesting_problem('{"a": [["]"]]}')
    'is nested too deeply: 3 arrays and objects, one within another'
    """
    import re

    depth = deepest = 0
    # A text that nothing closes goes to the end: no part of it is looked at twice.
    for sign in re.findall(r'(?s)"[^"\\]*(?:\\(?:.|\Z)[^"\\]*)*(?:"|\Z)|[\[\]{}]', text):
        if sign in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif sign in "]}":
            depth -= 1
    return f"is nested too deeply: {deepest:,} arrays and objects, one within another"


def not_utf8(error: UnicodeDecodeError) -> str:
    """What is wrong with bytes, and where: "is not UTF-8 (byte 0xff at offset 1,000)"."""
    return f"is not UTF-8 (byte 0x{error.object[error.start]:02x} at offset {error.start:,})"


def shown(value: object) -> str:
    """Any value as a message shows it: see there."""
    from cbpe._core.text import shown as messages  # which a program that makes no mistake never loads

    return messages.shown(value)


def token_shown(token: bytes) -> str:
    r"""A token as a message shows it: as text where its bytes are UTF-8.

    >>> token_shown(b"vi\xe1\xbb\x87c"), token_shown(b"\xe1")
    ("'việc'", "b'\\xe1'")
    """
    try:
        return shown(token.decode())
    except UnicodeDecodeError:
        return shown(token)


# What a tokenizer does besides splitting by its pattern and merging bytes, by the names that its parts have.
STEPS = {
    "characters": "merging characters",
    "normalizer": "normalizing text",
    "prefix_space": "putting a space before a text",
    "splits": "splitting before the split pattern does",
    "template": "putting tokens around a text",
    "trim_offsets": "taking white space out of offsets",
    "words": "merging characters within words",
}


def steps_named(steps: Iterable[str]) -> str:
    """Such steps, as messages name them: {"prefix_space"} -> "putting a space before a text" """
    return ", ".join(STEPS.get(step, step) for step in sorted(steps))
