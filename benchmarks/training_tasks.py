"""Measures trainers: seconds and peak memory, with the text already in memory as documents of some 8 KB."""

import corpora
from measuring import Figure, peak_memory, restart_peak_memory, timed

PATTERNS = {"GPT-4": "GPT4_SPLIT_PATTERN", "GPT-2": "GPT2_SPLIT_PATTERN", None: None}


class Train:
    """A vocabulary of a size from a corpus, a part of it, or several copies one after the other.

    pattern is the name of the split pattern; None: the whole text is one piece.
    """

    cores = 2

    def __init__(self, name, title, corpus, vocab_size, *, times=1, pattern="GPT-4"):
        self.name = name
        self.corpora = (corpus,)
        self.vocab_size = vocab_size
        self.times = times
        self.pattern = pattern
        self.figures = {"seconds": Figure(title, "s"), "memory": Figure(f"{title}, peak memory", "MB")}

    def offered_by(self, peer):
        return self.pattern is not None or peer.only_pattern is None

    def measure(self, peer, materials):
        import cbpe

        pattern = self.pattern and getattr(cbpe, PATTERNS[self.pattern])
        source = peer.prepared(self.documents(materials))
        before = restart_peak_memory()
        seconds, trained = timed(lambda source: peer.train(source, self.vocab_size, pattern), source)
        yield "seconds", seconds
        if before is not None:
            yield "memory", peak_memory() - before
        yield "output", as_hex(peer.learned_tokens(trained))
        for tie_break in peer.other_tie_breaks:
            trained = peer.train(source, self.vocab_size, pattern, tie_break)
            yield f"output {tie_break}", as_hex(peer.learned_tokens(trained))

    def documents(self, materials):
        text = materials.text(*self.corpora)
        text = text[: round(len(text) * self.times)] if self.times < 1 else text * self.times
        return [text] if self.pattern is None else corpora.documents(text)


def as_hex(tokens):
    return [token.hex() for token in tokens]


TASKS = [
    Train("english", "English to 32,000", "english", 32_000),
    Train("code", "code to 50,000", "code", 50_000),
    Train("multilingual", "multilingual to 50,000", "multilingual", 50_000),
    Train("chinese", "Chinese to 32,000", "chinese", 32_000),
    Train("unsplit", "English without splitting to 4,096", "english", 4_096, pattern=None),
    Train("code_gpt2", "code to 50,000, GPT-2's pattern", "code", 50_000, pattern="GPT-2"),
    Train("tenth", "a tenth of English to 32,000", "english", 32_000, times=0.1),
    Train("tenfold", "ten times English to 32,000", "english", 32_000, times=10),
]
