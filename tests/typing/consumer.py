"""A program that uses cbpe's public names with their types: mypy --strict checks it against what was installed."""

from collections.abc import Collection, Set
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import cbpe

tokenizer = cbpe.RegexTokenizer(pattern=cbpe.GPT4_SPLIT_PATTERN)
tokenizer.train("the cat sat on the mat", vocab_size=260, verbose=False)
assert_type(tokenizer.encode("the cat", allowed_special="all"), list[int])
assert_type(tokenizer.encode_ordinary("the cat"), list[int])
assert_type(tokenizer.decode([1, 2]), str)
assert_type(tokenizer.decode_bytes([1, 2]), bytes)
assert_type(tokenizer.encode("the cat", add_special_tokens=False), list[int])
assert_type(tokenizer.count("the cat"), int)
assert_type(tokenizer.merges, dict[tuple[int, int], int])
assert_type(tokenizer.vocab, dict[int, bytes])
assert_type(tokenizer.pattern, str | None)
assert_type(tokenizer.special_tokens, dict[str, int])
tokenizer.register_special_tokens({"<|endoftext|>": 300})
tokenizer.save("prefix")
tokenizer.load("prefix.model")
cbpe.BasicTokenizer().train("text", 256)

gpt4 = cbpe.GPT4Tokenizer()
assert_type(gpt4.byte_shuffle, dict[int, int])
assert_type(gpt4.inverse_byte_shuffle, dict[int, int])

encoding = cbpe.get_encoding("cl100k_base")
assert_type(encoding, cbpe.Encoding)
assert_type(encoding.encode("text", allowed_special={"<|endoftext|>"}, disallowed_special=()), list[int])
assert_type(encoding.encode("text", allowed_special=encoding.special_tokens_set), list[int])
assert_type(encoding.count("text", allowed_special=tokenizer.special_tokens), int)
encoding.encode("text", allowed_special="everything")  # type: ignore[arg-type]
encoding.encode_batch(["text"], disallowed_special="<|endoftext|>")  # type: ignore[arg-type]
encoding.encode("text", disallowed_special="none")  # type: ignore[arg-type]


def as_tiktoken_types(allowed: Literal["all"] | Set[str], disallowed: Literal["all"] | Collection[str]) -> list[int]:
    return encoding.encode("text", allowed_special=allowed, disallowed_special=disallowed)


assert_type(encoding.pieces("text"), list[str])
assert_type(encoding.truncate("text", 5, side="left"), str)
tokenizer.truncate("text", 5, side="middle")  # type: ignore[arg-type]
assert_type(encoding.encode_to_numpy("text"), npt.NDArray[np.uint32])
assert_type(encoding.encode("text", dropout=0.1, seed=1), list[int])
assert_type(encoding.encode_with_offsets("text"), tuple[list[int], list[tuple[int, int]]])
assert_type(encoding.encode_to_numpy_with_offsets("text"), tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]])
assert_type(encoding.decode_with_offsets([1, 2]), tuple[str, list[int]])
stream = encoding.stream_decoder(errors="strict")
assert_type(stream.push(1) + stream.extend([2, 3]) + stream.flush(), str)
assert_type(encoding.encode_single_token(b"the"), int)
assert_type(encoding.n_vocab, int)
assert_type(encoding.eot_token, int)
ours = cbpe.Encoding(
    "ours",
    pat_str=encoding._pat_str,
    mergeable_ranks=encoding._mergeable_ranks,
    special_tokens={**encoding._special_tokens, "<|im_start|>": 100264},
)
assert_type(ours, cbpe.Encoding)
assert_type(encoding.special_tokens_set, set[str])
assert_type(cbpe.list_encoding_names(), list[str])
assert_type(cbpe.encoding_for_model("gpt-4o"), cbpe.Encoding)
assert_type(cbpe.encoding_name_for_model("gpt-4o"), str)
assert_type(encoding.encode_with_unstable("text"), tuple[list[int], list[list[int]]])
assert_type(encoding.decode_tokens_bytes([1, 2]), list[bytes])
assert_type(encoding.is_special_token(1), bool)
assert_type(cbpe.core.Encoding, type[cbpe.Encoding])
assert_type(cbpe.model.MODEL_TO_ENCODING, dict[str, str])
assert_type(cbpe.recover_merges({b"a": 0}), dict[tuple[int, int], int])

custom = cbpe.Encoding("custom", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={"<|end|>": 1})
assert_type(custom.name, str)

loaded = cbpe.load(Path("own.tiktoken"), pattern=".", special_tokens={"<|end|>": 1}, name="own")
assert_type(loaded, cbpe.Tokenizer)
loaded.save("own.json")
hugging_face = cbpe.HuggingFaceTokenizer.from_tokenizer(loaded, {"normalizer": "NFC"})
assert_type(hugging_face.encode("text", add_special_tokens=False), list[int])
assert_type(hugging_face.count_stream(["text"], add_special_tokens=False), int)
assert_type(hugging_face.count_batch(["text"], num_threads=1), list[int])
assert_type(hugging_face.encode_batch_flat(["text"]), tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]])
assert_type(cbpe.from_bpeasy({b"a": 0}, "."), cbpe.Encoding)

trained = cbpe.train(
    "the cat sat on the mat", 260, pattern=None, special_tokens=["<|end|>"], tie_break="first", min_count=2
)
assert_type(trained.encode("the cat"), list[int])
assert_type(trained, cbpe.BasicTokenizer)
assert_type(cbpe.train("the cat", 261, initial=trained), cbpe.BasicTokenizer)
assert_type(cbpe.train("the cat", 261, initial=loaded), cbpe.BasicTokenizer | cbpe.HuggingFaceTokenizer)
over_characters = cbpe.train("the cat sat on the mat", 290, alphabet="characters", character_coverage=0.99)
assert_type(over_characters, cbpe.SentencePieceTokenizer)

counts = cbpe.count_words(["the cat", b"the mat", Path("corpus.txt")], workers=2, max_words=1000, progress=True)
assert_type(counts, cbpe.WordCounts)
assert_type(counts + counts, cbpe.WordCounts)
assert_type(sum([counts, counts]), cbpe.WordCounts | Literal[0])
assert_type(dict(counts), dict[bytes, int])
assert_type(cbpe.WordCounts.load("counts").most_common(3), list[tuple[bytes, int]])
cbpe.train(counts, 300, progress=lambda stage, done, total: print(stage, done, total))
cbpe.BasicTokenizer().train(Path("corpus.jsonl"), 300, field="text", errors="replace")
