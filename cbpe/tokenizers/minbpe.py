"""minbpe's classes by name: tokenizers that are trained, saved and loaded, and OpenAI's with the same methods."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from cbpe._core.calls.encoder import DEFAULT_CACHE_BYTES
from cbpe._core.calls.encoder import decode as decode_ids
from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.common.checks import merges_asked, refuse_no_path
from cbpe.common.public import public
from cbpe.common.trained_vocabulary import trained_vocabulary
from cbpe.common.wording import shown
from cbpe.encodings.named import SPECS, load_vocabulary
from cbpe.formats import gpt2, minbpe
from cbpe.formats.parts import Parts
from cbpe.formats.reading import File, read_whole
from cbpe.text.patterns import GPT4_SPLIT_PATTERN
from cbpe.text.special_tokens import checked_special_tokens
from cbpe.text.splitting import make_splitter, pattern_in_words
from cbpe.tokenizers.tokenizer import Tokenizer

if TYPE_CHECKING:
    from typing_extensions import Self

    from cbpe.common.progress import ProgressCallback
    from cbpe.corpus.sources import Source
    from cbpe.corpus.word_counts import WordCounts

__all__ = ["BasicTokenizer", "GPT2Tokenizer", "GPT4Tokenizer", "RegexTokenizer", "recover_merges"]


@public
class BasicTokenizer(Tokenizer):
    """minbpe's BasicTokenizer: no splitting, merges over the whole text."""

    def __init__(self, *, cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        super().__init__(trained_vocabulary(), None, cache_bytes=cache_bytes)

    # A method written in Python would take longer than the decoding of a few tokens.
    decode = decode_ids  # type: ignore[assignment]  # the argument has another name

    def train(
        self,
        text: Source | WordCounts,
        vocab_size: int,
        verbose: bool = False,
        *,
        tie_break: str = "first",
        min_count: int = 1,
        max_token_length: int | None = None,
        workers: int | None = None,
        max_words: int | None = None,
        field: str | None = None,
        errors: str = "strict",
        missing: str = "error",
        progress: bool | ProgressCallback | None = None,
    ) -> None:
        """Learn vocab_size - 256 merges from text, a str or any source of cbpe.train; verbose prints each. The options
        are as for cbpe.train, which takes more; special tokens are registered before or after.

        The merges are minbpe's, ties included. The tokenizer is unchanged if anything is raised, Ctrl-C included.
        Training that runs out of pairs stops there, with a warning; `self.training` is the record of it.
        """
        from cbpe.training.learn import learn_merges

        n_merges = merges_asked(vocab_size)
        for token, token_id in self.special_tokens.items():
            if token_id < 256 + n_merges:
                problem = f"the special token {shown(token)} has the id {token_id}, which training would give away"
                raise ValueError(f"{problem}: register it after training, or with an id from {256 + n_merges} on")
        left, right, record = learn_merges(
            text,
            n_merges,
            self._splitter,
            tie_break=tie_break,
            min_count=min_count,
            max_token_length=max_token_length,
            verbose=verbose,
            progress=progress,
            workers=workers,
            max_words=max_words,
            field=field,
            errors=errors,
            missing=missing,
        )
        self._use(trained_vocabulary(zip(left, right, strict=True)), self._splitter, self.special_tokens)
        self.training = record

    def save(self, file_prefix: str | os.PathLike[str]) -> None:
        """Write file_prefix.model, to load, and file_prefix.vocab, to read: minbpe's files. Where the name ends as
        Tokenizer.save knows it, the format is that.

        Raises ValueError, and writes nothing, where minbpe's format cannot hold the tokenizer: it has no ids, token
        256 + i being made by merge i. Each file is written aside and then put in place, so that none is ever half
        there.
        """
        from cbpe.formats.files import format_of_name, refuse_name, save_and_warn

        refuse_no_path("file_prefix", file_prefix)
        path = os.fspath(file_prefix)
        refuse_name(path)
        save_and_warn(self._parts(), f"{path}.model" if format_of_name(path) is None else path)

    def load(self, model_file: str | Path) -> None:
        """Become the tokenizer in a .model file. Raises ValueError, and changes nothing, where it is no whole and valid
        model. (A file that was cut exactly after one of its merges is a valid model of fewer.)"""
        refuse_no_path("model_file", model_file)
        if not os.fspath(model_file).endswith(".model"):
            raise ValueError(f"a model file ends in .model: {os.fspath(model_file)[-400:]!r}")
        try:
            self._become(minbpe.load(File(model_file)))
        except ValueError as error:
            raise ValueError(f"{model_file}: {error}") from error

    def _become(self, parts: Parts) -> None:
        splitter = make_splitter(self._loaded_pattern(parts.pattern))
        self._use(parts.vocabulary, splitter, checked_special_tokens(parts.special_tokens, parts.vocabulary))
        self.training = None

    def _loaded_pattern(self, pattern: str | None) -> str | None:
        if pattern is not None:
            raise ValueError(f"the model splits text by {pattern_in_words(pattern)}: load it with RegexTokenizer")
        return None


@public
class RegexTokenizer(BasicTokenizer):
    """minbpe's RegexTokenizer: text is split by a pattern (GPT-4's by default), merges stay within a piece, special
    tokens are known."""

    def __init__(self, pattern: str | None = None, *, cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        pattern = GPT4_SPLIT_PATTERN if pattern is None else pattern
        Tokenizer.__init__(self, trained_vocabulary(), pattern, cache_bytes=cache_bytes)

    @property
    def inverse_special_tokens(self) -> dict[int, str]:
        """The special token of every id that is one's."""
        return {token_id: token for token, token_id in self.special_tokens.items()}

    def _loaded_pattern(self, pattern: str | None) -> str | None:
        return pattern


class _GPTTokenizer(RegexTokenizer):
    """A tokenizer of OpenAI's with minbpe's methods, ready to use. Its ids of single bytes are not the bytes'
    values: the shuffles say which are."""

    _encoding: str

    def __init__(self, *, cache_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        spec = SPECS[self._encoding]
        vocabulary = load_vocabulary(spec.vocabulary)
        Tokenizer.__init__(self, vocabulary, spec.pattern, spec.special_tokens, cache_bytes=cache_bytes)

    @property
    def byte_shuffle(self) -> dict[int, int]:
        """The id of every byte."""
        return {byte: self.encode_single_token(bytes([byte])) for byte in range(256)}

    @property
    def inverse_byte_shuffle(self) -> dict[int, int]:
        """The byte of every id that is one."""
        return {token_id: byte for byte, token_id in self.byte_shuffle.items()}

    def train(self, *arguments: Any, **options: Any) -> NoReturn:
        """Not to be trained: NotImplementedError."""
        raise NotImplementedError(f"{type(self).__name__} is trained already: train a RegexTokenizer")

    def save(self, file_prefix: str | os.PathLike[str]) -> None:
        """Write a file of the format that the end of its name says, as Tokenizer.save does. NotImplementedError for
        minbpe's, which cannot hold it."""
        from cbpe.formats.files import format_of_name, save_and_warn

        known = format_of_name(file_prefix)
        if known is not None and known.module is not minbpe:
            return save_and_warn(self._parts(), file_prefix)
        raise NotImplementedError(
            f"minbpe's format cannot hold a {type(self).__name__}, whose ids of bytes are shuffled"
        )

    def save_vocab(self, vocab_file: str | os.PathLike[str]) -> None:
        """Write all tokens for people to read, each with the two that it is merged from: minbpe's .vocab."""
        from cbpe.common.atomic_files import write_whole

        write_whole(vocab_file, [minbpe.dumps_vocab(self._vocabulary).encode()])

    def load(self, model_file: str | Path) -> NoReturn:
        """It is what it is: NotImplementedError."""
        raise NotImplementedError(f"{type(self).__name__} is loaded already: load the model with RegexTokenizer")


@public
class GPT2Tokenizer(_GPTTokenizer):
    """GPT-2's tokenizer: the ids of its encoder.py and of tiktoken's "gpt2"."""

    _encoding = "gpt2"

    @classmethod
    def from_files(cls, encoder_json: str | Path, vocab_bpe: str | Path) -> Self:
        """The tokenizer in GPT-2's own two files, or in two of the same form. ValueError where they are not what they
        should be."""
        names = os.path.basename(encoder_json), os.path.basename(vocab_bpe)
        return cls._of(gpt2.loads(read_whole(encoder_json), read_whole(vocab_bpe), names))


@public
class GPT4Tokenizer(_GPTTokenizer):
    """minbpe's GPT4Tokenizer: the ids of tiktoken's "cl100k_base". Unlike minbpe's, its `vocab` holds the true bytes of
    every id."""

    _encoding = "cl100k_base"


@public
def recover_merges(mergeable_ranks: dict[bytes, int]) -> dict[tuple[int, int], int]:
    """The merges that a vocabulary by ranks stands for: (left id, right id) -> id, by rising rank, all ids being ranks.

    Raises ValueError where some tokens cannot be merged from two others.
    """
    vocabulary = vocabulary_from_ranks(mergeable_ranks)
    unmerged = vocabulary.unmerged()
    if unmerged:
        named = ", ".join(f"{shown(token)} ({rank})" for rank, token in list(unmerged.items())[:5])
        more = ", ..." if len(unmerged) > 5 else ""
        raise ValueError(f"{len(unmerged)} tokens are never merged from two others: {named}{more}")
    return vocabulary.merges()
