"""Small whole files of every format."""

import json
import struct

from gguf_files import gguf_file, tokenizer
from sentencepiece_model import field, model_file
from tekken_json import tekken_content
from tokenizer_json import TEMPLATE, a_file, as_json
from vocabularies import minbpe_parts

import cbpe
from cbpe._core.conversion.ranks import vocabulary_from_ranks
from cbpe.formats import gpt2, minbpe
from cbpe.formats.parts import Parts
from cbpe.formats.ranks import llm_c, tiktoken

RANKS = {**{bytes([i]): i for i in range(256)}, b"th": 256, b"the": 257, b" the": 258}
OF_WORDS = {
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "decoder": {"type": "BPEDecoder", "suffix": "</w>"},
    "model": {
        "type": "BPE",
        "vocab": {text: i for i, text in enumerate(["<unk>", "c", "a", "t", "h", "t</w>", "e</w>", "th", "the</w>"])},
        "merges": [["t", "h"], ["th", "e</w>"]],
        "unk_token": "<unk>",
        "end_of_word_suffix": "</w>",
    },
}
# A map of characters, as SentencePiece's files have them: a trie in which "Z" stands alone, and what replaces it.
TRIE = {0: 256 << 10, 256 ^ 90: 90 | 1 << 8 | (512 ^ 256 ^ 90) << 10, 512: 1 << 31}
Z_TO_X = struct.pack("<I1024I", 4096, *(TRIE.get(i, 0) for i in range(1024))) + b"x\0"
ADDED = [("<s>", {}), ("</s>", {})]


def good_files():
    """Whole files of every format: name -> {file: content}, the first of which is loaded."""
    tok = cbpe.train("the cat the cat", 260, special_tokens=["<|end|>"])
    merges = [(ids[0], ids[1]) for ids in tok.merges]
    model = minbpe_parts(tok.pattern, tok.special_tokens, merges)
    ranks = Parts(vocabulary_from_ranks(RANKS), None, {"<|endoftext|>": 259})
    encoder = {gpt2.spell(token): token_id for token, token_id in RANKS.items()} | {"<|endoftext|>": 259}
    pair = {"encoder.json": json.dumps(encoder).encode(), "vocab.bpe": "t h\nth e\n\u0120 the\n".encode()}
    return {
        "minbpe": {"toy.model": minbpe.dumps(model).encode()},
        "tiktoken": {"toy.tiktoken": tiktoken.dumps(RANKS)},
        "llm.c": {"gpt2_tokenizer.bin": llm_c.dump(ranks)[0]},
        "gguf": {"model.gguf": gguf_file(tokenizer())},
        "sentencepiece": {"tokenizer.model": model_file([b"th", b"the"], [b"<sep>"])},
        "sentencepiece with a map": {"tokenizer.model": model_file([b"th", b"the"]) + field(3, field(2, Z_TO_X))},
        "words": {"tokenizer.json": as_json(OF_WORDS)},
        "tekken": {"tekken.json": as_json(tekken_content())},
        "gpt2 ids": pair,
        "gpt2 merges": dict(reversed(pair.items())),
        "hugging face": {"tokenizer.json": as_json(a_file(post_processor=TEMPLATE, added_tokens=ADDED))},
    }
