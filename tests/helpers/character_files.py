"""Files of tokenizers over characters, of every kind that SentencePiece's are converted to, trained by `tokenizers`."""

import json
import random
from functools import cache
from itertools import product

import pytest
from tokenizer_json import added

from cbpe.formats.hugging_face.reading import loads
from cbpe.tokenizers.kinds import tokenizer_of

tokenizers = pytest.importorskip("tokenizers")

MARK = "\u2581"
TRAINED_ON = [
    "the cat sat on the mat, the other cat did not sit",
    "  two  spaces   three ",
    "caf\u00e9 na\u00efve \u4e2d\u6587\u4e2d\u5b57 \u4e2d\u6587",
    "x> </y> </x> <a> </a>",
    "1 2 3 12 123",
    "tab\there\nand\nthere\n\n",
]
HOSTILE = [
    "",
    " ",
    "   ",
    " a",
    "a ",
    "  a   b  ",
    MARK,
    f"{MARK}{MARK} {MARK}the",
    f"a{MARK}b",
    "\n\n",
    "\t\ta",
    "<s>",
    "<s> the",
    "the<s>cat",
    "<s></s>",
    "the </s> cat<unk>",
    f"{MARK}<s>{MARK}",
    "<mask> and <mask>the",
    "\u00e9\u20ac\U0001f600\u0301",
    "\u4e2d\u6587\u672a\u4e2d",
    "\x00\x01\x7f",
    "<0x0A>",
    "x> </y> > </ >  <",
    "the cat sat on the mat",
]
FIXED = {
    "replace": {"type": "Replace", "pattern": {"String": " "}, "content": MARK},
    "prepend": {"type": "Prepend", "prepend": MARK},
    "back": {"type": "Replace", "pattern": {"String": MARK}, "content": " "},
    "strip": {"type": "Strip", "content": " ", "start": 1, "stop": 0},
}
SPLIT = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
CASELESS = {"type": "Lowercase"}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
}
SPECIAL = [added(text, i) for i, text in enumerate(("<unk>", "<s>", "</s>"))]
ALONE = {"added_tokens": SPECIAL}


def metaspace(scheme, split):
    return {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme, "split": split}


def sequence(kind, *steps):
    return {"type": "Sequence", kind: list(steps)}


@cache
def trained(split, bytes_too):
    """The model of a small tokenizer that `tokenizers` has trained, over characters."""
    judge = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    judge.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(split=split)
    special = ["<unk>", "<s>", "</s>", *([f"<0x{byte:02X}>" for byte in range(256)] if bytes_too else [])]
    judge.train_from_iterator(
        TRAINED_ON, tokenizers.trainers.BpeTrainer(vocab_size=len(special) + 110, special_tokens=special)
    )
    return json.loads(judge.to_str())["model"]


def a_file(normalizer, pre_tokenizer, decoder, *, split=True, byte_fallback=True, fuse_unk=False, **parts):
    model = trained(split, byte_fallback) | {"byte_fallback": byte_fallback, "fuse_unk": fuse_unk}
    mask = added("<mask>", len(model["vocab"]), normalized=True, special=False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [*SPECIAL, mask],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": TEMPLATE,
        "decoder": decoder,
        "model": model,
        **parts,
    }


def decoder_of(*, byte_fallback, strips):
    steps = [FIXED["back"], *([{"type": "ByteFallback"}] if byte_fallback else []), {"type": "Fuse"}]
    return sequence("decoders", *steps, *([FIXED["strip"]] if strips else []))


def kinds():
    """Files of all kinds, by name."""
    for fallback, fuses in ((True, False), (False, False), (False, True)):
        options = {"byte_fallback": fallback, "fuse_unk": fuses}
        name = "bytes" if fallback else "fused" if fuses else "unknown"
        plain = decoder_of(byte_fallback=fallback, strips=False)
        strips = decoder_of(byte_fallback=fallback, strips=True)
        llama = sequence("normalizers", FIXED["prepend"], FIXED["replace"])
        yield f"llama {name}", a_file(llama, None, strips, split=False, **options)
        yield f"gemma {name}", a_file(FIXED["replace"], SPLIT, plain, split=False, **options)
        for scheme, split in product(("always", "first", "never"), (True, False)):
            decoder = strips if fallback else metaspace(scheme, split)
            yield f"{scheme} {split} {name}", a_file(None, metaspace(scheme, split), decoder, split=split, **options)
    # Without a token that is looked for in normalized text, all that is done to a text is to put spaces into it.
    decoder = decoder_of(byte_fallback=True, strips=True)
    yield "llama spaced", a_file(llama, None, decoder, split=False, **ALONE)
    for scheme, split in product(("always", "first"), (True, False)):
        yield f"{scheme} {split} spaced", a_file(None, metaspace(scheme, split), decoder, split=split, **ALONE)


KINDS = dict(kinds())


@cache
def both(name):
    data = json.dumps(KINDS[name])
    return tokenizer_of(loads(data.encode())), tokenizers.Tokenizer.from_str(data)


def hostile_texts(seed, n):
    rng = random.Random(seed)
    atoms = [
        "the",
        "cat",
        " ",
        "  ",
        MARK,
        "<s>",
        "</s>",
        "<mask>",
        "\u4e2d",
        "\u6587",
        "\u00e9",
        "\u672a",
        "\n",
        "> </",
        "x",
    ]
    return ["".join(rng.choices(atoms, k=rng.randrange(9))) for _ in range(n)]
