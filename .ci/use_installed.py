"""Uses an installed cbpe, outside of its checkout, in an environment that holds only what it depends on."""

import tempfile
from pathlib import Path

import cbpe
from store import ModelStore

text = "the cat sat on the mat, the cat sat still: 안녕하세요 😉\n" * 20

tokenizer = cbpe.RegexTokenizer()
tokenizer.train(text, 300)
with tempfile.TemporaryDirectory() as folder:
    prefix = str(Path(folder, "cats"))
    tokenizer.save(prefix)
    loaded = cbpe.RegexTokenizer()
    loaded.load(prefix + ".model")
    assert loaded.merges == tokenizer.merges
    assert loaded.decode(loaded.encode(text)) == text

encoding = cbpe.get_encoding("cl100k_base")
assert encoding.encode("hello world") == [15339, 1917]
assert encoding.decode(encoding.encode(text)) == text
for name in cbpe.list_encoding_names():
    assert cbpe.get_encoding(name).decode([0]) == "!"

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "models.db")
    with ModelStore(path) as models:
        models.save(tokenizer, "cats", aliases=["prod"])
    with ModelStore(path, read_only=True) as models:
        assert models.load("cats@prod").merges == tokenizer.merges
        assert models.verify().ok

print(
    f"cbpe {cbpe.__version__} from {Path(cbpe.__file__).parent} trains, saves, loads, encodes, decodes and keeps models"
)
