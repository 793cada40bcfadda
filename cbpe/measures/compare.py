"""cbpe.compare: every measure, of several tokenizers on several corpora, each of which is read once."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from cbpe._core.calls.parallel import checked_workers
from cbpe.analysis.texts import EMPTY
from cbpe.common.checks import is_float
from cbpe.common.progress import ProgressCallback, about, progress_reports
from cbpe.common.public import public
from cbpe.common.warning import warn
from cbpe.common.wording import listed, meant, of_another_library, share_in_words, shown
from cbpe.corpus.describing import tell_of_plain_text
from cbpe.corpus.json_lines import checked_missing
from cbpe.corpus.sources import Reader, Source
from cbpe.corpus.word_counts import WordCounts
from cbpe.measures.comparison import Comparison, TokenCounts, merge_order
from cbpe.measures.definitions import DEFAULT_ALPHA, INTERMEDIATE
from cbpe.measures.formulas import MergeOrder, gini, ratio, renyi_efficiency
from cbpe.measures.rows import told_of_row
from cbpe.measures.tallies import NotEncoded, TokenTally, WordTally, not_encoded, tokens_of_words
from cbpe.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from cbpe.analysis.vocabulary import VocabularyAnalysis

__all__ = ["check_corpora", "compare", "naming", "readers_of"]

NAMES_SHOWN = 5


@public
def compare(
    tokenizers: Mapping[str, Tokenizer],
    corpora: Mapping[str, Source],
    *,
    reference: str | None = None,
    parallel: str | None = None,
    alpha: float = DEFAULT_ALPHA,
    workers: int | None = None,
    field: str | None = None,
    errors: str = "strict",
    missing: str = "error",
    progress: bool | ProgressCallback | None = None,
) -> Comparison:
    """Measure tokenizers on corpora: how many tokens, which, and what that costs each language.

    tokenizers: name -> tokenizer. corpora: name -> source, as count_words takes it; each is read once, for all
    tokenizers, and held a few MiB at a time (a tokenizer that has no split pattern, or normalizes, holds a whole text).
    Special tokens in texts are ordinary text, and templates add nothing. Of more than a million distinct words, the
    rarest are left out of `continued_words` and `strr`, and a UserWarning says how many of the words they are.

    reference: the tokenizer whose lengths NSL divides by; None: the first. parallel: the corpus, such as that in
    English, whose lines the lines of all other corpora translate; each line is encoded alone, and without it there is
    no parity, premium or Gini. alpha: the order of the Rényi entropy, 0 or more; 1 is Shannon's. workers: threads that
    encode; None: one for each core. field, errors, missing, progress: as for count_words. With
    missing="skip" the rows say how many texts were left out (`skipped`); parallel texts, whose lines it would shift,
    refuse it.

    Raises what reading a source raises, TypeError for what is no tokenizer, ValueError for a name that is not there,
    for an alpha below 0, for parallel corpora with other numbers of lines, and for these with missing="skip".

    >>> compare({"gpt2": cbpe.get_encoding("gpt2")}, {"greeting": ["hello world"]}).rows[0]["tokens"]
    2
    """
    check_tokenizers(tokenizers)
    check_corpora(corpora)
    reference = named("tokenizer", reference, tokenizers) if reference is not None else next(iter(tokenizers))
    if parallel is not None:
        named("corpus", parallel, corpora)
    alpha = checked_alpha(alpha)
    kept = checked_nulls(missing, parallel)
    workers = checked_workers(workers)
    readers = readers_of(corpora, field, errors, kept)
    found = {}
    with progress_reports(progress) as report:
        for name, reader in readers.items():
            told = about(report, name)
            try:
                with naming(name, reader):
                    found[name] = read(reader, tokenizers, workers, by_line=parallel is not None, report=told)
            except NotEncoded as error:
                raise KeyError(f"{name} {error.args[0]}") from None
    costs = Costs.of(found, parallel) if parallel is not None else None
    unsaid = [] if costs is None else [*costs.gaps()]
    for gap in unsaid:
        warn(gap)
    analyses = {name: tok.analyze() for name, tok in tokenizers.items()}
    orders = {name: merge_order(tok) for name, tok in tokenizers.items()}
    rows, counts = [], {}
    for corpus, counted in found.items():
        unsaid += tell_of_corpus(corpus, counted)
        reference_tokens = int(counted.tokens[reference].counts.sum())
        for name, tok in tokenizers.items():
            tokens = TokenCounts(tok, counted.tokens[name].counts)
            counts[name, corpus] = tokens
            row: dict[str, Any] = {"tokenizer": name, "corpus": corpus, **counted.sizes()}
            covered = counted.tokens[name].covered(row["bytes"], row["characters"])
            of_text = counted.tokens[name].added.found
            row |= of_tokens(tokens, orders[name], counted, covered, of_text, alpha)
            try:
                row |= of_words(tok, counted.words, workers)
            except KeyError as error:  # of the space before a word
                raise KeyError(f"the words of {corpus} {not_encoded(error, name).args[0]}") from None
            for misleading in told_of_row(row):
                warn(misleading)
            row["nsl"] = ratio(row["tokens"], reference_tokens)
            row |= {"parity": None, "premium": None, "gini": None} if costs is None else costs.row(name, corpus)
            rows.append({**row, **of_vocabulary(tok, analyses[name])})
    return Comparison(rows, reference, parallel, alpha, analyses, counts, unsaid)


# ---- Checking what is given


def check_tokenizers(tokenizers: object) -> None:
    if not isinstance(tokenizers, Mapping) or not tokenizers:
        raise TypeError(f"tokenizers are a dict of names and tokenizers, {kind_of(tokenizers, TOKENIZERS)}")
    for name, tok in tokenizers.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a tokenizer is a str, not {shown(name)}")
        if not isinstance(tok, Tokenizer):
            raise TypeError(f"{shown(name)} is no tokenizer, as cbpe.load gives, but {of_another_library(tok)}")


TOKENIZERS = '{"gpt2": cbpe.get_encoding("gpt2")}'
CORPORA = '{"english": Path("english.txt")}'


def kind_of(given: object, example: str) -> str:
    """The end of a message about what is given in place of a dict, which may be long."""
    kind = "one that is empty" if isinstance(given, Mapping) else type(given).__name__
    return f"not {kind}: pass {example}"


def check_corpora(corpora: object) -> None:
    if not isinstance(corpora, Mapping) or not corpora:
        raise TypeError(f"corpora are a dict of names and sources, {kind_of(corpora, CORPORA)}")
    for name, source in corpora.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a corpus is a str, not {shown(name)}")
        if isinstance(source, WordCounts):
            raise TypeError(f"the corpus {shown(name)} is WordCounts: to compare tokenizers takes the texts themselves")


def readers_of(corpora: Mapping[str, Source], field: str | None, errors: str, missing: str | None) -> dict[str, Reader]:
    """What reads each corpus. A file that is missing raises before any is read. A UserWarning tells of files that are
    tables or JSON, and are read as plain text."""
    for source in corpora.values():
        tell_of_plain_text(source, field=field)
    readers = {}
    for name, source in corpora.items():
        try:
            readers[name] = Reader(source, field=field, errors=errors, missing=missing)
        except TypeError as error:  # of what is no source
            raise TypeError(f"corpus {shown(name)}: {error}") from None
    return readers


@contextmanager
def naming(corpus: str, reader: Reader) -> Iterator[None]:
    """An error about a text of a corpus begins with the name of the corpus, unless it names one of its files. What is
    of a class of its own is left as it is: a program may catch it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = type(error)
        if kind not in (TypeError, ValueError) or any(path in str(error) for path in reader.paths):
            raise
        raise kind(f"corpus {shown(corpus)}: {error}") from error


def named(what: str, name: object, known: Mapping[str, object]) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the {what} to compare with is named by a str, not {shown(name)}")
    if name not in known:
        there = listed(map(shown, known), NAMES_SHOWN)
        raise ValueError(f"there is no {what} {shown(name)}, only {there}{meant(name, known)}")
    return name


def checked_alpha(alpha: float) -> float:
    if not is_float(alpha):
        raise TypeError(f"alpha must be a float, not {type(alpha).__name__}: {shown(alpha)}")
    try:
        found = float(alpha)
    except OverflowError:  # of an int
        found = math.nan
    if not found >= 0:  # which NaN is not
        raise ValueError(f"alpha is {shown(alpha)}; the order of a Rényi entropy is a number from 0 on")
    return found


def checked_nulls(missing: str, parallel: str | None) -> str | None:
    """What becomes of texts that are null, as Reader takes it. ValueError where lines would no longer stand side by
    side."""
    if parallel is None:
        return checked_missing(missing)
    if checked_missing(missing) == "skip":
        raise ValueError(
            "missing is 'skip', which would leave a line out of one of the parallel texts, and shift all after it: "
            "leave it out of all of them"
        )
    return None


# ---- Reading


class Counted(NamedTuple):
    """What was counted in a corpus."""

    tokens: dict[str, TokenTally]
    words: WordTally
    texts: int
    skipped: dict[str, int]  # how many texts were left out, where that was asked for
    ends: array[int]  # the lines up to the end of each text, where lines are measured

    def sizes(self) -> dict[str, int]:
        sizes = {"bytes": self.words.bytes, "characters": self.words.characters, "words": self.words.words}
        return {"texts": self.texts, **self.skipped, **sizes}


def read(
    reader: Reader,
    tokenizers: Mapping[str, Tokenizer],
    workers: int,
    *,
    by_line: bool,
    report: ProgressCallback | None,
) -> Counted:
    """Read a corpus once, for all tokenizers. by_line: each line is a text, without its line break."""
    tallies = {name: TokenTally(tok, name, workers, by_text=by_line) for name, tok in tokenizers.items()}
    words = WordTally()
    everyone: list[Any] = [*tallies.values(), words]
    sightings = [tally.added for tally in tallies.values() if tally.added.any_of is not None]
    texts = n_lines = 0
    ends = array("q")
    for chunks in reader.strings(report):
        texts += 1
        if by_line:
            for line in lines_of(chunks):
                n_lines += 1
                for tally in everyone:
                    tally.add(line)
                for sighting in sightings:
                    sighting.whole(line)
            ends.append(n_lines)
            continue
        for chunk in chunks:
            for each in (*everyone, *sightings):
                each.push(chunk)
        for each in (*everyone, *sightings):
            each.end()
    for tally in everyone:
        tally.flush()
    return Counted(tallies, words, texts, reader.as_row(), ends)


def lines_of(chunks: Iterator[str]) -> Iterator[str]:
    """The lines of a text, without their ends. A line break at its end ends the last line, and begins none. Each text
    has one line at least."""
    held, n_ended = "", 0
    for chunk in chunks:  # the last may be empty
        *lines, held = (held + chunk).split("\n")
        for line in lines:
            yield line.removesuffix("\r")
        n_ended += len(lines)
    if held or not n_ended:
        yield held.removesuffix("\r")


# ---- Rows


def tell_of_corpus(name: str, counted: Counted) -> list[str]:
    """Warn where its measures say less than one thinks. Returns what rows do not say of that."""
    if not counted.sizes()["bytes"]:
        warn(f"{name} {EMPTY}")
    if (dropped := counted.words.dropped) > 0:
        of_all = f"the rarest, which are {share_in_words(dropped, counted.words.words)} of all, are left out of"
        warn(told := f"{name} has more than a million distinct words: {of_all} continued words and STRR")
        return [told]
    return []


def of_tokens(
    tokens: TokenCounts,
    order: MergeOrder,
    counted: Counted,
    covered: tuple[int, int],
    added_as_text: bool,
    alpha: float,
) -> dict[str, Any]:
    """What the counts of tokens say. covered: how many bytes and characters of the texts are in them."""
    n, seen = int(tokens.counts.sum()), int((tokens.counts > 0).sum())
    used = int((tokens.of_vocabulary() > 0).sum())
    intermediate = {
        part
        for merge in tokens.applied(order)
        for part, share in ((merge.left, merge.of_left), (merge.right, merge.of_right))
        if part >= 0 and share >= INTERMEDIATE
    }
    return {
        "tokens": n,
        "covered_bytes": covered[0],
        "unknown_tokens": tokens.unknown(),
        "added_as_text": added_as_text,
        "bytes_per_token": ratio(covered[0], n),
        "characters_per_token": ratio(covered[1], n),
        "fertility": ratio(n, counted.words.words),
        "renyi_efficiency": renyi_efficiency(tokens.counts, alpha, tokens.tokenizer.vocab_size),
        "renyi_efficiency_seen": renyi_efficiency(tokens.counts, alpha, seen),
        "alpha": alpha,
        "tokens_used": used,
        "vocabulary_used": ratio(used, tokens.tokenizer.vocab_size),
        "type_token_ratio": ratio(seen, n),
        "tokens_seen_once": int((tokens.counts == 1).sum()),
        "intermediate_tokens": len(intermediate),
    }


def of_words(tok: Tokenizer, words: WordTally, workers: int) -> dict[str, float]:
    """What the tokens of each distinct word say."""
    import numpy as np

    n_tokens = tokens_of_words(tok, words.counter, workers)
    occurrences = np.frombuffer(words.counter.counts(), dtype=np.int64)
    continued = int(occurrences[n_tokens > 1].sum())
    return {
        "continued_words": ratio(continued, int(occurrences.sum())),
        "strr": ratio(int((n_tokens == 1).sum()), len(n_tokens)),
    }


def of_vocabulary(tok: Tokenizer, analysis: VocabularyAnalysis) -> dict[str, int]:
    """What is known without a text."""
    numbers = {"unreachable": len(analysis.unreachable), "not_utf8": len(analysis.not_utf8)}
    return {"vocab_size": tok.vocab_size, **numbers}


def lines_said(n: int) -> str:
    return f"{n:,} line{'' if n == 1 else 's'}"


def refuse_shifted(language: str, ends: Sequence[int], corpus: str, others: Sequence[int]) -> None:
    """ValueError for two corpora of several texts, such as rows, of which one has more lines here than there: lines of
    different texts would be compared. ends, others: the lines up to the end of each text."""
    if len(ends) == 1 or len(others) == 1 or ends == others:
        return
    i = next(i for i, (one, other) in enumerate(zip(ends, others, strict=False)) if one != other)
    one, other = (each[i] - (each[i - 1] if i else 0) for each in (ends, others))
    raise ValueError(
        f"the texts are not parallel: text {i + 1:,} of {shown(language)} has {lines_said(one)}, and that of "
        f"{shown(corpus)} has {lines_said(other)}; line i of each has to say the same"
    )


class Costs(NamedTuple):
    """What languages cost: the tokens of each line, by tokenizer and corpus."""

    lines: dict[tuple[str, str], npt.NDArray[np.int64]]
    corpora: tuple[str, ...]
    language: str  # the corpus that others are compared with

    @classmethod
    def of(cls, found: Mapping[str, Counted], language: str) -> Costs:
        """ValueError unless all corpora have as many lines, and of several texts each has as many."""
        lines = {}
        for corpus, counted in found.items():
            for name, tally in counted.tokens.items():
                lines[name, corpus] = as_array(tally.texts)
        numbers = {corpus: len(lines[next(iter(counted.tokens)), corpus]) for corpus, counted in found.items()}
        for corpus, number in numbers.items():
            if number != numbers[language]:
                raise ValueError(
                    f"the texts are not parallel: {shown(language)} has {lines_said(numbers[language])}, and "
                    f"{shown(corpus)} has {lines_said(number)}; line i of each has to say the same"
                )
            refuse_shifted(language, found[language].ends, corpus, found[corpus].ends)
        return cls(lines, tuple(found), language)

    def gaps(self) -> Iterator[str]:
        """What is said of lines that the reference language does not have, which no ratio of parity is of."""
        gaps: dict[str, int] = {}
        for (name, corpus), own in self.lines.items():
            n = int(((own > 0) & (self.lines[name, self.language] == 0)).sum())
            gaps[corpus] = max(n, gaps.get(corpus, 0))
        for corpus, n in gaps.items():
            if n:
                yield (
                    f"parity leaves {lines_said(n)} of {shown(corpus)} out, as the same line of "
                    f"{shown(self.language)} has no tokens"
                )

    def row(self, name: str, corpus: str) -> dict[str, float]:
        own, other = self.lines[name, corpus], self.lines[name, self.language]
        compared = other > 0  # a line without tokens is no measure
        parity = float((own[compared] / other[compared]).mean()) if compared.any() else float("nan")
        return {
            "parity": parity,
            "premium": ratio(int(own.sum()), int(other.sum())),
            "gini": gini([int(self.lines[name, each].sum()) for each in self.corpora]),
        }


def as_array(numbers: array[int] | None) -> npt.NDArray[np.int64]:
    import numpy as np

    assert numbers is not None
    return np.frombuffer(numbers, dtype=np.int64) if numbers else np.zeros(0, dtype=np.int64)
