"""A program that uses cbpe's public names with their types: mypy --strict checks it against what was installed."""

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
assert_type(encoding.encode_to_numpy("text"), npt.NDArray[np.uint32])
assert_type(encoding.encode_single_token(b"the"), int)
assert_type(encoding.n_vocab, int)
assert_type(encoding.eot_token, int)
assert_type(encoding.special_tokens_set, set[str])
assert_type(cbpe.list_encoding_names(), list[str])
assert_type(cbpe.recover_merges({b"a": 0}), dict[tuple[int, int], int])

custom = cbpe.Encoding("custom", pat_str=".", mergeable_ranks={b"a": 0}, special_tokens={"<|end|>": 1})
assert_type(custom.name, str)

trained = cbpe.train(
    "the cat sat on the mat", 260, pattern=None, special_tokens=["<|end|>"], tie_break="first", min_count=2
)
assert_type(trained.encode("the cat"), list[int])
