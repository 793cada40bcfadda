"""The files that take the most to read, for each format: small ones that a slow reader works on for minutes.

Run as a program with files, it loads each, and prints as JSON what came of it and what it took:
`python worst_files.py FILE...` -> {file: [what was raised, the message, seconds, bytes]}
"""

import base64
import json
import sys
import time
from itertools import count
from pathlib import Path
from random import Random

ALL_BYTES = [bytes([byte]) for byte in range(256)]
END = "<|endoftext|>"


# ---- Tokens that are hard to merge, about `size` bytes together


def upto(size, tokens):
    """The first of some tokens, as many as take up `size` bytes."""
    found = []
    for token in tokens:
        size -= len(token) + 1
        if size < 0:
            break
        found.append(token)
    return found


def hard_tokens(size):
    """Lists of distinct tokens of two bytes and more by what is hard about them."""
    chain = upto(size, (b"a" * n for n in count(2)))
    doubled = upto(size, (b"a" * 2**n for n in count(1)))
    branches = upto(size, (b"ab" * n + b"c" * (n % 3) for n in count(1)))
    return {
        "a chain": chain,
        "a chain, the longest first": chain[::-1],
        "a token that takes it all": [b"ab" * (size // 2)],
        "a token that takes it all, of pairs": [b"ab", b"ab" * (size // 2 - 2)],
        "a token that takes it all, of pairs of higher rank": [b"ab" * (size // 2 - 2), b"ab"],
        "a token that is doubled": doubled,
        "a token that is doubled, the longest first": doubled[::-1],
        "branches, the longest first": branches[::-1],
        "half a chain and a run, the run first": [b"a" * (size // 2), *upto(size // 2, (b"a" * n for n in count(2)))],
        "short ones": upto(size, (n.to_bytes(3, "big") for n in count())),
    }


# ---- Expressions that are hard to read, and names that are hard to look for


def hard_patterns(size):
    """Split patterns by what is hard about them."""
    parts = {
        "flags": "(?i",
        "groups with flags": "(?i:s)",
        "flags of many letters": "(?imimimimi",
        "classes without an end": "[a",
        "classes": "[a-z]",
        "classes of everything": r"[\x00-\x7f]",
        "atomic groups": "(?>a{1})",
        "atomic groups without an end": "(?>a",
        "atomic classes without an end": "(?>[a",
        "braces": "a{1",
        "optional letters": "a?",
        "possessive letters": "a?+",
        "many letters": "a{1000}",
        "many groups": "(?:ab){1000}",
        "groups in groups": "(?:",
        "looking back": "(?<=x)",
        "choices": "a|",
        "choices of words": "ab*c|",
        "looking ahead": "(?=a)",
        "escapes": r"\p{Lu}",
        "backslashes": "\\",
        "categories without an end": r"\p{a",
    }
    patterns = {name: part * (size // len(part)) for name, part in parts.items()}
    patterns |= {f"{name}, by `regex`": "(?<=x)|" + pattern for name, pattern in list(patterns.items())}
    patterns["few counts that are large, by `regex`"] = "(?<=x)" + "a{99999}b" * (min(size, 60_000) // 9)
    patterns["groups in groups in groups"] = "(?:" * (size // 2) + ")" * (size // 2)
    return patterns


def hard_names(size):
    """Special tokens by what is hard about them."""
    long = min(size // 8, 1000)
    return {
        "many": [f"<{n}>" for n in range(size // 10)],
        "a chain": ["a" * n for n in range(1, int((2 * size) ** 0.5))][: size // 100],
        "one": ["a" * (size // 2)],
        "long ones that begin alike": ["a" * long + f"{n:05}" for n in range(size // (long + 5))],
        "long ones that end alike": [f"{n:05}" + "a" * long for n in range(size // (long + 5))],
    }


# ---- Files


def tiktoken_file(tokens):
    lines = (base64.b64encode(token) + b" %d" % rank for rank, token in enumerate([*ALL_BYTES, *tokens]))
    return b"\n".join(lines) + b"\n"


def tiktoken_files(size):
    # Three quarters of base64 are bytes.
    return {f"tokens: {name}": {"x.tiktoken": tiktoken_file(tokens)} for name, tokens in hard_tokens(size // 2).items()}


def llm_c_files(size):
    import struct

    files = {}
    for name, tokens in hard_tokens(size).items():
        short = [*ALL_BYTES, *(token for token in tokens if len(token) < 256), END.encode()]
        head = struct.pack("<256I", 20240328, 2, len(short), len(short) - 1, *[0] * 252)
        data = head + b"".join(bytes([len(token)]) + token for token in short)
        files[f"tokens: {name}"] = {"gpt2_tokenizer.bin": data}
    return files


def minbpe_file(pattern="", special=(), merges=()):
    lines = ["minbpe v1", pattern, str(len(special)), *(f"{token} {100_000 + i}" for i, token in enumerate(special))]
    return "\n".join([*lines, *(f"{left} {right}" for left, right in merges), ""]).encode()


def minbpe_files(size):
    n = size // 10
    merges = {
        "a chain": [(97, 97), *((256 + i, 97) for i in range(n))],
        "doubled": [(97, 97), *((256 + i, 256 + i) for i in range(n))],
        "pairs": [(left, right) for left in range(256) for right in range(256)][:n],
    }
    return {
        **{f"merges: {name}": {"x.model": minbpe_file(merges=found)} for name, found in merges.items()},
        **{f"pattern: {name}": {"x.model": minbpe_file(found)} for name, found in hard_patterns(size).items()},
        **{f"special: {name}": {"x.model": minbpe_file("a", found)} for name, found in hard_names(size).items()},
    }


def spelled(token):
    from cbpe.formats.gpt2 import spell

    return spell(token)


def with_merges(tokens):
    """Tokens and merges of them: each of the first byte and the rest, and of the rest and the last byte, if there."""
    ids = {token: number for number, token in enumerate([*ALL_BYTES, *tokens])}
    ways = [(token[:cut], token[cut:]) for token in tokens for cut in {1, len(token) // 2, len(token) - 1}]
    return ids, [pair for pair in ways if pair[0] in ids and pair[1] in ids]


def gpt2_files(size):
    files = {}
    for name, tokens in hard_tokens(size // 4).items():
        ids, merges = with_merges(tokens)
        lines = "\n".join(["#version: 0.2", *(f"{spelled(a)} {spelled(b)}" for a, b in merges), ""])
        made = {a + b for a, b in merges}
        kept = {spelled(token): number for token, number in ids.items() if len(token) == 1 or token in made}
        files[f"tokens: {name}"] = {"encoder.json": json.dumps(kept).encode(), "vocab.bpe": lines.encode()}
    return files


def a_tokenizer_json(tokens=(), pattern=None, added=(), **parts):
    ids, merges = with_merges(list(tokens))
    vocab = {spelled(token): number for token, number in ids.items()}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed", "invert": True}
    steps = [byte_level] if pattern is None else [split, byte_level]
    content = {
        "version": "1.0",
        "added_tokens": [{"id": len(vocab) + i, "content": text, **flags} for i, (text, flags) in enumerate(added)],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "decoder": byte_level,
        "model": {"type": "BPE", "vocab": vocab, "merges": [[spelled(a), spelled(b)] for a, b in merges]},
        **parts,
    }
    return {"tokenizer.json": json.dumps(content, ensure_ascii=False).encode("utf-8")}


def over_characters(tokens):
    """A file whose model is over characters."""
    texts = dict.fromkeys([*map(chr, range(1, 127)), *map(chr, range(161, 256)), *(text for text in tokens if text)])
    listed = [text for text in texts if " " not in text]
    ways = [
        (text[:cut], text[cut:]) for text in listed for cut in dict.fromkeys((1, len(text) // 2, len(text) - 1)) if cut
    ]
    merges = [pair for pair in ways if pair[0] in texts and pair[1] in texts and " " not in pair[0] + pair[1]]
    mark = {"type": "Metaspace", "replacement": "\u2581"}
    model = {"type": "BPE", "vocab": {text: i for i, text in enumerate(listed)}, "merges": merges}
    content = {"version": "1.0", "pre_tokenizer": mark, "decoder": mark, "model": model}
    return {"tokenizer.json": json.dumps(content).encode()}


def over_words(tokens, affixes):
    """A file whose model is over words, with a prefix or a suffix."""
    prefix, suffix = affixes.get("continuing_subword_prefix", ""), affixes.get("end_of_word_suffix", "")
    texts = dict.fromkeys([*map(chr, range(33, 127)), *(text for text in tokens if text.isascii() and " " not in text)])

    def marked(text, begins, ends):
        return ("" if begins else prefix) + text + (suffix if ends else "")

    listed = {marked(text, begins, ends) for text in texts for begins in (True, False) for ends in (True, False)}
    ways = [
        (text[:cut], text[cut:]) for text in texts for cut in dict.fromkeys((1, len(text) - 1)) if 0 < cut < len(text)
    ]
    merges = [
        (marked(left, True, False), marked(right, False, ends))
        for left, right in ways
        if left in texts and right in texts
        for ends in (False, True)[: 1 + bool(suffix)]
    ]
    model = {"type": "BPE", "vocab": {text: i for i, text in enumerate(sorted(listed))}, "merges": merges, **affixes}
    content = {"pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": {"type": "Fuse"}, "model": model}
    return {"tokenizer.json": json.dumps(content).encode()}


def template(names, ids):
    """A template of so many pieces, all of them one special token with so many ids."""
    piece = {"SpecialToken": {"id": "x", "type_id": 0}}
    whole = [*[piece] * names, {"Sequence": {"id": "A", "type_id": 0}}]
    both = [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}]
    tokens = {"x": {"id": "x", "ids": [0] * ids, "tokens": ["!"] * ids}}
    return {"type": "TemplateProcessing", "single": whole, "pair": both, "special_tokens": tokens}


def hugging_face_files(size):
    files = {f"tokens: {name}": a_tokenizer_json(tokens) for name, tokens in hard_tokens(size // 4).items()}
    files |= {f"pattern: {name}": a_tokenizer_json(pattern=found) for name, found in hard_patterns(size).items()}
    for name, found in hard_names(size // 2).items():
        for normalized in (False, True):
            added = [(text[:1000], {"normalized": normalized}) for text in dict.fromkeys(found)]
            files[f"added: {name}, normalized: {normalized}"] = a_tokenizer_json(added=added)
    for name, tokens in hard_tokens(size // 4).items():
        files[f"characters: {name}"] = over_characters([token.decode("latin-1") for token in tokens])
    for name, tokens in hard_tokens(size // 16).items():
        for field, affix in (("end_of_word_suffix", "</w>"), ("continuing_subword_prefix", "##")):
            found = over_words([token.decode("latin-1") for token in tokens], {field: affix})
            files[f"words: {name}, {field}"] = found
    files["a template of its size squared"] = a_tokenizer_json(post_processor=template(size // 120, size // 20))
    deep = {"type": "ByteLevel"}
    for _ in range(min(size // 60, 300)):
        deep = {"type": "Sequence", "pretokenizers": [deep]}
    files["steps in steps"] = a_tokenizer_json(pre_tokenizer=deep)
    wide = {"type": "Sequence", "processors": [{"type": "ByteLevel"}] * (size // 25)}
    files["many steps"] = a_tokenizer_json(post_processor=wide)
    nfc = {"type": "Sequence", "normalizers": [{"type": "NFC"}] * (size // 20)}
    files["many normalizers"] = a_tokenizer_json(normalizer=nfc)
    return files


def tekken_files(size):
    from tekken_json import tekken_content

    def file_of(tokens=(), pattern=".", special=("x",), n_special=None):
        n_special = len(special) if n_special is None else n_special
        content = tekken_content([*ALL_BYTES, *tokens], n_special, special, pattern=pattern)
        return {"tekken.json": json.dumps(content).encode()}

    files = {f"tokens: {name}": file_of(tokens) for name, tokens in hard_tokens(size // 2).items()}
    files |= {f"pattern: {name}": file_of(pattern=found) for name, found in hard_patterns(size).items()}
    for name, found in hard_names(size // 2).items():
        files[f"special: {name}"] = file_of(special=list(dict.fromkeys(text[:1000] for text in found)))
    return {**files, "100,000 fillers": file_of(special=[], n_special=100_000)}


def gguf_files(size):
    from gguf_files import KINDS, TOKENS, gguf_file, numbers, texts, tokenizer

    def file_of(**changes):
        return {"x.gguf": gguf_file(tokenizer(**changes))}

    files = {}
    for name, tokens in hard_tokens(size // 4).items():
        ids, merges = with_merges(tokens)
        changes = {"tokens": texts(list(map(spelled, ids))), "token_type": numbers([1] * len(ids))}
        merges = texts([f"{spelled(a)} {spelled(b)}" for a, b in dict.fromkeys(merges)])
        files[f"tokens: {name}"] = file_of(**changes, merges=merges)
    for name, found in hard_names(size // 2).items():
        names = list(dict.fromkeys(text[:1000] for text in found if text[:1000] not in TOKENS))
        kinds = numbers(KINDS + [3] * len(names))
        files[f"special: {name}"] = file_of(tokens=texts(TOKENS + names), token_type=kinds)
    empty = (9, (8).to_bytes(4, "little") + (size // 8).to_bytes(8, "little") + bytes(size // 8 * 8))
    return {**files, "empty texts": {"x.gguf": gguf_file({"a": empty})}, "empty tokens": file_of(tokens=empty)}


def sentencepiece_files(size):
    from sentencepiece_model import field, model_file

    texts = {name: [token for token in tokens if token.isascii()] for name, tokens in hard_tokens(size).items()}
    files = {f"tokens: {name}": {"x.model": model_file(tokens)} for name, tokens in texts.items()}
    for name, found in hard_names(size).items():
        listed = [text.encode() for text in dict.fromkeys(found) if len(text) > 1]
        files[f"user-defined: {name}"] = {"x.model": model_file([], listed)}
    tied = [letter.encode() * n for letter in map(chr, range(97, 123)) for n in range(2, 2 + size // 2000)]
    files["scores: equal ones"] = {"x.model": model_file([]) + equal_pieces(tied)}
    for name, charsmap in hard_charsmaps(size).items():
        files[f"charsmap: {name}"] = {"x.model": model_file([]) + field(3, field(2, charsmap))}
    return files


def hard_charsmaps(size):
    """Maps of characters: the size of a trie, the trie, and what it maps to."""
    half = size // 8 * 4
    head = half.to_bytes(4, "little")
    rng = Random(13)
    return {
        "all zeros": head + bytes(half) + bytes(half),
        "all ones": head + b"\xff" * half + b"a\0" * (half // 2),
        "nodes that lead to themselves": head + b"\x61\x01\0\0" * (half // 4) + b"a\0" * (half // 2),
        "random": head + rng.randbytes(half) + b"a\0" * (half // 2),
        "a long text": head + rng.randbytes(half) + b"a" * half,
        "a trie that is larger than the map": (1 << 31).to_bytes(4, "little") + bytes(half),
        "nothing but its size": head,
    }


def equal_pieces(tokens):
    from sentencepiece_model import piece

    return b"".join(piece(token, -1.0) for token in tokens)


FILES = {
    "tiktoken": tiktoken_files,
    "llm.c": llm_c_files,
    "minbpe": minbpe_files,
    "tekken": tekken_files,
    "gguf": gguf_files,
    "sentencepiece": sentencepiece_files,
    "gpt2": gpt2_files,
    "hugging face": hugging_face_files,
}


# ---- In the program


def memory(kind):
    """VmRSS or VmHWM, the most that it was since forget_peak, in bytes (of Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(kind))


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def tried(path):
    """What loading a file raises, its message, and the seconds of processor and the bytes that it took."""
    import cbpe

    options = {"pattern": "."} if path.endswith((".tiktoken", ".bin")) else {}
    forget_peak()
    before, used = memory("VmRSS"), time.process_time()
    raised, message = None, ""
    try:
        cbpe.load(path, **options)
    except Exception as error:
        raised, message = type(error).__name__, str(error)
    return raised, message, time.process_time() - used, memory("VmHWM") - before


def main(*paths):
    print(json.dumps({path: tried(path) for path in paths}))


if __name__ == "__main__":
    main(*sys.argv[1:])
