"""Small contents of Mistral's tekken.json."""

import base64
import json

PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TOKENS = [*(bytes([byte]) for byte in range(256)), b"th", b"the", b" the"]
# What mistral-common gives to files that list no special tokens.
FIRST = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"]
FIRST += ["[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"]
FIRST += ["[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"]


def vocab_of(tokens):
    """Tokens and their ranks."""
    return {token: rank for rank, token in enumerate(tokens)}


def as_json(content):
    return json.dumps(content).encode()


def tekken_content(tokens=TOKENS, n_special=20, special=None, n_used=None, pattern=PATTERN, version="v3"):
    """The JSON value of a file; special=None leaves the list of special tokens out."""
    content = {
        "config": {
            "pattern": pattern,
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": n_special + (len(tokens) if n_used is None else n_used),
            "default_num_special_tokens": n_special,
            "version": version,
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
    }
    if special is not None:
        content["special_tokens"] = [
            {"rank": rank, "token_str": text, "is_control": True} for rank, text in enumerate(special)
        ]
    return content
