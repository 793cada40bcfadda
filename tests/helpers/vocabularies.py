"""Small random vocabularies for the tests of the encoder, and encoders over them that do nothing else."""

from array import array

from hypothesis import strategies as st

from cbpe._core.calls.encoder import Encoder
from cbpe._core.splitting.split import Splitter
from cbpe._core.vocabulary.vocabulary import Vocabulary
from cbpe.formats.parts import Parts

# Of merge.pyx.
SHORT = 32  # bytes of the longest piece that merging keeps in an array
WORTH_WALKING = 1 << 15  # bytes of longer pieces from which on they are walked, if the vocabulary is monotone


def by_merges(merges):
    """The vocabulary of a trained model: the 256 bytes, and token 256 + i for merge i."""
    left, right = (array("I", [pair[side] for pair in merges]) for side in (0, 1))
    return Vocabulary(left, right, array("I", range(256 + len(merges))))


def minbpe_parts(pattern, special_tokens, merges):
    """The parts of such a model."""
    return Parts(by_merges(merges), pattern, special_tokens)


def by_merges_in_heap(merges):
    """The same as by_merges for all UTF-8, but not monotone: long pieces are merged in a heap, not by walking.

    The two more merges, the first of which is made of the second, are of bytes that no UTF-8 has.
    """
    last = 256 + len(merges)
    return by_merges([*merges, (last + 1, 0xFE), (0xFE, 0xFF)])


def encoder(vocabulary, special_tokens=None, pattern=None, **options):
    """An Encoder with nothing around it."""
    made = Encoder()
    made._install(vocabulary, Splitter(pattern), special_tokens or {}, **options)
    return made


def encode(vocabulary, text):
    """Text as one piece, without a cache."""
    return encoder(vocabulary, cache_bytes=0).encode_ordinary(text)


def encode_walking(vocabulary, text):
    """Text as one piece, which is walked if it is longer than SHORT: enough was encoded before."""
    assert vocabulary.monotone
    made = encoder(vocabulary, cache_bytes=0)
    made.encode_ordinary("z" * (WORTH_WALKING + 1))
    return made.encode_ordinary(text)


@st.composite
def merge_lists(draw, alphabet=b"ab", max_size=12):
    """Merges of any tokens there are, each pair once: ties, runs, and tokens that never come up, everywhere."""
    symbols = list(alphabet)
    merges = []
    for _ in range(draw(st.integers(0, max_size))):
        pair = (draw(st.sampled_from(symbols)), draw(st.sampled_from(symbols)))
        if pair not in merges:
            symbols.append(256 + len(merges))
            merges.append(pair)
    return merges


@st.composite
def shuffled_merge_lists(draw, alphabet=b"ab", max_size=12):
    """The same in any order: most are made of later ones."""
    merges = draw(merge_lists(alphabet, max_size))
    places = draw(st.permutations(range(len(merges))))
    numbers = {256 + i: 256 + place for i, place in enumerate(places)}
    shuffled = {
        place: tuple(numbers.get(symbol, symbol) for symbol in pair) for place, pair in zip(places, merges, strict=True)
    }
    return [shuffled[place] for place in range(len(merges))]


@st.composite
def rank_dicts(draw, alphabet=b"ab", max_size=14, max_length=6, all_bytes=True):
    """Ranks in any order, for any tokens: many cannot be joined, or only from tokens of higher rank."""
    letters = st.sampled_from([bytes([byte]) for byte in alphabet])
    token = st.lists(letters, min_size=2, max_size=max_length).map(b"".join)
    tokens = draw(st.lists(token, max_size=max_size, unique=True))
    singles = [bytes([byte]) for byte in alphabet if all_bytes or draw(st.booleans())]
    tokens = draw(st.permutations(singles + tokens))
    gap = draw(st.integers(1, 3))
    return {token: gap * i for i, token in enumerate(tokens)}


@st.composite
def lists_of_merges(draw):
    """Ids and merges in any order: several to one token, of tokens that nothing makes or that come later."""
    token = st.lists(st.sampled_from([b"a", b"b"]), min_size=2, max_size=6).map(b"".join)
    tokens = draw(st.lists(token, max_size=14, unique=True))
    numbers = draw(st.permutations(range(256, 256 + len(tokens))))
    ids = {bytes([byte]): byte for byte in range(256)} | dict(zip(tokens, numbers, strict=True))
    ways = [(t[:i], t[i:]) for t in tokens for i in range(1, len(t)) if t[:i] in ids and t[i:] in ids]
    merges = draw(st.lists(st.sampled_from(ways), unique=True)) if ways else []
    if draw(st.booleans()):
        merges.sort(key=lambda pair: (len(pair[0] + pair[1]), ids[pair[0] + pair[1]], ids[pair[0]]))
    return ids, merges


def texts(alphabet="ab", min_size=0, max_size=200):
    """Texts of few letters, and runs of one: [("a", 3), ("b", 1)] -> "aaab" """
    runs = st.tuples(st.sampled_from(alphabet), st.integers(1, 12)).map(lambda run: run[0] * run[1])
    text = st.one_of(st.text(alphabet, max_size=max_size), st.lists(runs, max_size=max_size // 6).map("".join))
    return text.map(lambda text: (text + alphabet * min_size)[: max(min_size, min(len(text), max_size))])
