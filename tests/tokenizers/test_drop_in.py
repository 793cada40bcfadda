"""Programs written for tiktoken run unchanged with `import cbpe as tiktoken`, and print the same."""

import pytest
import tiktoken

import cbpe

COUNT_CHAT_MESSAGES = """
PER_MESSAGE, PER_NAME, REPLY = 3, 1, 3

def count(messages, model):
    try:
        encoding = tiktoken.encoding_for_model(model)
    except KeyError:
        print("unknown model:", model)
        encoding = tiktoken.get_encoding("o200k_base")
    total = REPLY
    for message in messages:
        total += PER_MESSAGE + sum(len(encoding.encode(value)) for value in message.values())
        total += PER_NAME if "name" in message else 0
    return total

conversation = [
    {"role": "system", "content": "You translate corporate jargon into plain English."},
    {"role": "system", "name": "example_user", "content": "Let's circle back when there's more bandwidth."},
    {"role": "user", "content": "Ça va? \U0001f600 這個最後的變化意味著我們沒有時間"},
]
for model in ["gpt-4o-2024-05-13", "gpt-4-0613", "gpt-3.5-turbo", "davinci", "no-such-model", "gpt-oss-120b"]:
    print(model, count(conversation, model))
try:
    count([{"role": "user", "content": "What does <|endoftext|> do?"}], "gpt-4")
except ValueError as error:
    print("refused:", "<|endoftext|>" in str(error))
"""

TRUNCATE_TO_A_BUDGET = """
def truncate(text, budget, encoding):
    tokens = encoding.encode(text, disallowed_special=())
    if len(tokens) <= budget:
        return text
    return encoding.decode(tokens[:budget], errors="ignore")

text = "Grüße aus 東京! \U0001f469\u200d\U0001f52c the quick brown fox\\n" * 5 + "<|endoftext|>"
for name in ["gpt2", "p50k_base", "cl100k_base", "o200k_base"]:
    encoding = tiktoken.get_encoding(name)
    for budget in range(0, 120, 7):
        kept = truncate(text, budget, encoding)
        print(name, budget, repr(kept), len(encoding.encode_ordinary(kept)))
    tokens = encoding.encode(text, allowed_special={"<|endoftext|>"})
    print(tokens[-1] == encoding.eot_token, encoding.decode_single_token_bytes(tokens[-1]))
"""

SPLIT_A_LONG_DOCUMENT = """
def windows(text, encoding, size, overlap):
    tokens = encoding.encode(text, allowed_special=set(), disallowed_special="all")
    for start in range(0, max(1, len(tokens) - overlap), size - overlap):
        yield tokens[start : start + size]

paragraphs = ["The %d. chapter, in which naïve café-goers (%d of them) meet. " % (i, i * i) * 3 for i in range(40)]
document = "\\n\\n".join(paragraphs)
encoding = tiktoken.get_encoding("cl100k_base")
chunks = list(windows(document, encoding, size=100, overlap=20))
texts = encoding.decode_batch(chunks)
print(len(chunks), [len(chunk) for chunk in chunks], chunks[:2])
print(texts[3], b"".join(encoding.decode_tokens_bytes(chunks[4])))
print([len(tokens) for tokens in encoding.encode_ordinary_batch(paragraphs, num_threads=4)])
print([len(tokens) for tokens in encoding.encode_batch(texts, disallowed_special=())])
print(encoding.decode_with_offsets(chunks[5]), encoding.encode_to_numpy(texts[6]).dtype)
print(encoding.n_vocab, encoding.max_token_value, encoding.name, encoding, sorted(encoding.special_tokens_set))
"""


@pytest.fixture
def offline(monkeypatch):
    """tiktoken's named encodings made of our vocabularies, which are its own, in place of what it would fetch."""
    from tiktoken import registry

    def make(name):
        enc = cbpe.get_encoding(name)
        parts = {"pat_str": enc._pat_str, "mergeable_ranks": enc._mergeable_ranks}
        return {"name": name, **parts, "special_tokens": enc._special_tokens}

    constructors = {name: lambda name=name: make(name) for name in cbpe.list_encoding_names()}
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setattr(registry, "ENCODING_CONSTRUCTORS", constructors)


@pytest.mark.parametrize("program", [COUNT_CHAT_MESSAGES, TRUNCATE_TO_A_BUDGET, SPLIT_A_LONG_DOCUMENT])
def test_a_program_written_for_tiktoken_prints_the_same(program, offline, capsys):
    printed = []
    for line in ("import tiktoken", "import cbpe as tiktoken"):
        names = {}
        exec(f"{line}\n{program}", names)
        assert names["tiktoken"] is (cbpe if "cbpe" in line else tiktoken)
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert len(printed[0]) > 100
