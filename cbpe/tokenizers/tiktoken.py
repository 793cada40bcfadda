"""tiktoken's Encoding. The named ones are in registry.py."""

from __future__ import annotations

from cbpe._core.calls.encoder import DEFAULT_CACHE_BYTES
from cbpe.common.public import public, with_defaults
from cbpe.common.wording import number_of, shown
from cbpe.tokenizers.tokenizer import Tokenizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, NoReturn

    from cbpe.text.special_tokens import DisallowedChoice, SpecialChoice

__all__ = ["Encoding", "warn_of_differences"]


SET = r"\[\^?\]?(?:\\.|[^\\\]])*\]"  # a set of characters in an expression
TRIED = "".join(map(chr, range(32, 127))) + "\n\n aa  é\u4e00"  # a text on which an expression is tried
# Escapes that mean something else to tiktoken -> what a message says of them.
ODD_ESCAPES = {
    "h": "a hexadecimal digit to tiktoken, and a blank to cbpe: write [0-9a-fA-F] or [\\t\\p{Zs}]",
    "<": "where a word begins to tiktoken, and a character to cbpe: write <",
    ">": "where a word ends to tiktoken, and a character to cbpe: write >",
    "Z": "the place before a last line break as well to tiktoken, and not to cbpe: write \\z",
    "N": "any character but a line break to tiktoken, and no such thing to cbpe: write [^\\n], or N for the letter",
}
# Whatever spells a special token is an error.
TIKTOKENS_DEFAULTS = {"allowed_special": frozenset(), "disallowed_special": "all"}


@public
class VocabularySizeError(ValueError, AssertionError):
    """An encoding has not the number of tokens that its explicit_n_vocab says. An AssertionError in tiktoken."""


@public
class Encoding(Tokenizer):
    """tiktoken's Encoding: a vocabulary by ranks, with tiktoken's names and defaults.

    pat_str: the split pattern; with None, which tiktoken does not take, nothing splits.
    mergeable_ranks: dict[bytes, int], the rank of each token, which is its id. Raises ValueError or TypeError for what
    is no such vocabulary, and where explicit_n_vocab, the number of tokens of all kinds, is not what there is (a
    ValueError that is an AssertionError too, as tiktoken's is). Without explicit_n_vocab, or with 0, gaps are allowed.

    A named encoding is pickled and copied by name, others by content.
    """

    # What gives this one to everyone who asks for its name, and the name. None for all others.
    _found_by: tuple[Callable[..., Encoding], tuple[str]] | None = None

    def __init__(
        self,
        name: str,
        *,
        pat_str: str | None,
        mergeable_ranks: dict[bytes, int],
        special_tokens: Mapping[str, int],
        explicit_n_vocab: int | None = None,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, not {type(name).__name__}: {shown(name)}")
        # A named encoding comes with its merges: programs that use no other start without what finds them.
        from cbpe._core.conversion.ranks import vocabulary_from_ranks

        vocabulary = vocabulary_from_ranks(mergeable_ranks)
        try:
            super().__init__(vocabulary, pat_str, special_tokens, cache_bytes=cache_bytes)
        except ValueError as error:
            if isinstance(pat_str, str):
                refuse_parts_of_tiktoken_alone(pat_str, error)
            raise
        self._set_processing({})
        if pat_str:
            warn_of_differences(pat_str)
        self.name = name
        if explicit_n_vocab:
            found = len(mergeable_ranks) + len(special_tokens)
            if found != explicit_n_vocab or self.max_token_value != explicit_n_vocab - 1:
                raise VocabularySizeError(
                    f"{number_of(found, 'token')} up to id {self.max_token_value}: that is not the explicit_n_vocab of "
                    f"{shown(explicit_n_vocab)}"
                )

    encode = with_defaults(
        Tokenizer.encode,
        "Encoding",
        TIKTOKENS_DEFAULTS,
        """Encode text: str -> list[int]. Text of a special token is an error (ValueError) unless one of the two
        arguments says otherwise:

        allowed_special are those encoded as special tokens ("all", or a set), disallowed_special those that are an
        error ("all": those not allowed); what is in neither is ordinary text. workers, dropout and seed are as for
        Tokenizer.encode.

        >>> enc.encode("<|endoftext|>hello world", allowed_special="all")
        [100257, 15339, 1917]
        """,
    )
    encode_with_offsets = with_defaults(Tokenizer.encode_with_offsets, "Encoding", TIKTOKENS_DEFAULTS)
    encode_to_numpy = with_defaults(Tokenizer.encode_to_numpy, "Encoding", TIKTOKENS_DEFAULTS)
    encode_to_numpy_with_offsets = with_defaults(Tokenizer.encode_to_numpy_with_offsets, "Encoding", TIKTOKENS_DEFAULTS)
    encode_batch = with_defaults(Tokenizer.encode_batch, "Encoding", TIKTOKENS_DEFAULTS)
    encode_batch_flat = with_defaults(Tokenizer.encode_batch_flat, "Encoding", TIKTOKENS_DEFAULTS)
    encode_arrow = with_defaults(Tokenizer.encode_arrow, "Encoding", TIKTOKENS_DEFAULTS)
    count_arrow = with_defaults(Tokenizer.count_arrow, "Encoding", TIKTOKENS_DEFAULTS)
    encode_stream = with_defaults(Tokenizer.encode_stream, "Encoding", TIKTOKENS_DEFAULTS)
    count = with_defaults(Tokenizer.count, "Encoding", TIKTOKENS_DEFAULTS)
    count_batch = with_defaults(Tokenizer.count_batch, "Encoding", TIKTOKENS_DEFAULTS)
    count_stream = with_defaults(Tokenizer.count_stream, "Encoding", TIKTOKENS_DEFAULTS)
    truncate = with_defaults(Tokenizer.truncate, "Encoding", TIKTOKENS_DEFAULTS)
    split = with_defaults(Tokenizer.split, "Encoding", TIKTOKENS_DEFAULTS)

    def encode_with_unstable(
        self,
        text: str,
        allowed_special: SpecialChoice = frozenset(),
        disallowed_special: DisallowedChoice = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Encode a text that may go on -> (ids, completions): the ids of its beginning, up to the last piece, and what
        the rest may turn out to be encoded as.

        Each completion spells at least the rest; its last token may reach beyond. They are tiktoken's, in rising order,
        and as good: text that changes how earlier pieces are split, such as "l" after "I'", is not foreseen. It takes
        milliseconds, the more tokens there are that begin as the rest ends.

        >>> ids, completions = enc.encode_with_unstable("hello fanta")
        >>> enc.decode(ids), enc.encode(" fantastic") in completions
        ('hello', True)
        """
        from cbpe.tokenizers.unstable import completions, settle

        ids, rest = settle(self, text, *self._special_sets(allowed_special, disallowed_special))
        return ids, [list(sequence) for sequence in sorted(completions(self, rest))]

    def register_special_tokens(self, special_tokens: Mapping[str, int]) -> NoReturn:
        """An Encoding is shared by all who ask for it by name, and does not change: NotImplementedError."""
        raise NotImplementedError(
            "an Encoding does not change: make another one, with Encoding(..., special_tokens=...)"
        )

    def _way_to_register(self, token: str) -> str:
        added = f"special_tokens={{**enc._special_tokens, {token!r}: {self.n_vocab}}}"
        return f"an Encoding does not change: make another one that has it, with Encoding(..., {added})"

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return super().__reduce__() if self._found_by is None else self._found_by

    def _set_processing(self, processing: Mapping[str, Any]) -> None:
        super()._set_processing(processing)
        refuse_other_meanings(self.pattern or "", self.splits_natively)

    # ---- tiktoken's private names, for programs that reach in: make an encoding of another's parts, for one

    @property
    def _pat_str(self) -> str | None:
        return self.pattern

    @property
    def _special_tokens(self) -> dict[str, int]:
        return self.special_tokens

    @property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        """The rank of each token by its bytes, in rising order. The same dict each time: it is not to be changed."""
        from cbpe.tokenizers.unstable import ranks_of

        return ranks_of(self)

    def _encode_only_native_bpe(self, text: str) -> list[int]:
        """As encode_ordinary, which is what tiktoken finds in another way."""
        return self.encode_ordinary(text)

    def _encode_bytes(self, text: bytes) -> list[int]:
        """Encode bytes that need not be UTF-8, without special tokens; those that are, as encode_ordinary does."""
        from cbpe.tokenizers.unstable import encode_bytes

        if not isinstance(text, bytes):
            raise TypeError(f"bytes are to be encoded, not {type(text).__name__}")
        return encode_bytes(self, text)


def warn_of_differences(pattern: str) -> None:
    """Warn of a split pattern by which tiktoken may give other tokens: one that may match the empty string, where cbpe
    tries what else matches, as the `regex` module does, and tiktoken leaves out a character, or fails; and one that
    the `regex` module runs."""
    from contextlib import suppress

    from cbpe._core.analysis.coverage import may_match_nothing
    from cbpe._core.splitting.split import PatternNotSupported
    from cbpe.common.warning import warn
    from cbpe.text.splitting import RegexSplitter, compile_regex, make_splitter, pattern_in_words

    splitter = make_splitter(pattern)
    if isinstance(splitter, RegexSplitter):
        warn(
            f"the split pattern {pattern_in_words(pattern)} runs on the `regex` module ({splitter.reason}), which may "
            "split in other places than tiktoken: it has a Unicode of its own, and takes other letters for the same "
            "where case is ignored"
        )
    try:
        is_found = may_match_nothing(pattern, portable=False)
    except PatternNotSupported:
        is_found = False  # such an expression can only be tried
        with suppress(TimeoutError, MemoryError):
            match = compile_regex(pattern).match
            found = (match(TRIED, place, timeout=0.05) for place in range(len(TRIED)))
            is_found = any(each is not None and not each.group() for each in found)
    if is_found:
        warn(
            f"the split pattern {pattern_in_words(pattern)} may match the empty string, after which tiktoken leaves "
            "out a character or fails, and cbpe does not: the tokens are the same where each part takes a character"
        )


def refuse_parts_of_tiktoken_alone(pattern: str, error: ValueError) -> None:
    """ValueError for a pattern that could not be read, if it has a part that only tiktoken knows."""
    from cbpe.text.splitting import pattern_in_words

    said = next(parts_of_tiktoken_alone(pattern), None)
    if said is not None:
        raise ValueError(f"the split pattern {pattern_in_words(pattern)} has {said}") from error


def parts_of_tiktoken_alone(pattern: str) -> Iterator[str]:
    """What a message says of each part of a pattern that tiktoken takes, and cbpe does not."""
    import re

    for escape in re.findall(r"\\(?:[a-zA-Z]\{[^}]*\}|.)", pattern, re.DOTALL):
        number = re.fullmatch(r"\\[xuU]\{([0-9a-fA-F]{1,8})\}", escape)
        if number is not None:
            code_point = int(number[1], 16)
            write = f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}"
            yield f"{escape}, a character to tiktoken, and no such thing to cbpe: write {write}"
        elif escape == r"\e":
            yield f"{escape}, the character U+001B to tiktoken, and no such thing to cbpe: write \\x1b"
        elif escape.startswith(r"\b{"):
            yield f"{escape}, a border of words that cbpe does not know: write it with (?<!\\w), (?=\\w) and their like"
        elif re.match(r"\\[pP]\{\^?is", escape, re.IGNORECASE):
            yield f"{escape}, a property to tiktoken alone: write its name without 'Is'"
    flags = re.search(r"\(\?[a-zA-Z]*U[a-zA-Z]*[:)-]", re.sub(r"\\.|" + SET, " ", pattern, flags=re.DOTALL))
    if flags is not None:
        yield f"the flag U in {flags[0]}, which cbpe does not know: write *? for * and * for *?, and so on"


def refuse_other_meanings(pattern: str, is_native: bool) -> None:
    """ValueError for a pattern with a part that means one thing to tiktoken, and another to cbpe or to the `regex`
    module, by which it would run."""
    odd = (f"\\{character}" for character in ODD_ESCAPES)
    if is_native and not any(each in pattern for each in odd):  # as nearly every one: it needs no `re`
        return
    from cbpe.text.splitting import pattern_in_words

    said = next(parts_of_other_meaning(pattern, is_native), None)
    if said is not None:
        raise ValueError(f"the split pattern {pattern_in_words(pattern)} has {said}")


def parts_of_other_meaning(pattern: str, is_native: bool) -> Iterator[str]:
    """What a message says of each part of a pattern that tiktoken takes otherwise."""
    import re

    outside = re.sub(r"\\.|" + SET, " ", pattern, flags=re.DOTALL)
    for escape in re.findall(r"\\(?:[pP]\{[^}]*\}|.)", pattern, re.DOTALL):
        if escape[1] in ODD_ESCAPES:
            yield f"{escape}, which is {ODD_ESCAPES[escape[1]]}"
        elif re.fullmatch(r"\\[pP]\{\^?(?:print|graph)\}", escape, re.IGNORECASE):
            yield f"{escape}, which is other characters to tiktoken than to the `regex` module: write \\p{{L}}, say"
    if "(?R)" in outside:
        yield "(?R), which is a flag to tiktoken, and the whole pattern to the `regex` module"
    if not is_native and "$" in outside and not re.search(r"\(\?[a-zA-Z0-9]*m", outside):
        yield (
            "'$', which is the end of the text to tiktoken, and to the `regex` module, by which this pattern runs, the "
            "place before a last line break as well: write \\z"
        )
    if is_native or pattern.startswith("(?V1)"):
        return
    for found in re.finditer(r"\\.|" + SET, pattern, re.DOTALL):
        inside = re.sub(r"\\.", "  ", found[0][1:-1], flags=re.DOTALL)
        if found[0][0] == "\\":
            continue
        if re.search("&&|--|~~", inside):
            yield (
                "'&&', '--' or '~~' among characters, which tiktoken takes for an operation on sets, and the `regex` "
                "module for characters: begin it with (?V1), which makes it one"
            )
        elif name := re.search(r"\[:\^?(\w+):", inside):
            yield (
                f"{name[0]}], which tiktoken takes for characters of ASCII alone, and the `regex` module for those of "
                "all scripts: write [a-zA-Z], say, or \\p{Alphabetic}"
            )
        elif "[" in inside:
            yield (
                "'[' among characters, which tiktoken takes for the beginning of a set in the set, and the `regex` "
                "module for a character: write \\[ for the character"
            )
