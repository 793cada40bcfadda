"""Byte-pair encoding in its slowest and most obvious form: the judge of everything compiled.

Text is cut into pieces, a piece is a list of token ids, and a merge replaces two neighbouring ids by one. Nothing here
is cached, updated in place or clever: every step looks at the whole text again. Read it to learn the algorithm; never
call it on more than a few kilobytes.
"""

from itertools import pairwise


def count_pairs(pieces):
    """How often each pair of neighbours occurs, in order of first occurrence: [[1, 2, 3, 1, 2]] -> {(1, 2): 2, (2, 3):
    1, (3, 1): 1}"""
    counts = {}
    for piece in pieces:
        for pair in pairwise(piece):
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge(piece, pair, new_id):
    """Replace the pair by the new id, from left to right: [1, 1, 1, 2], (1, 1), 9 -> [9, 1, 2]"""
    merged = []
    i = 0
    while i < len(piece):
        if tuple(piece[i : i + 2]) == pair:
            merged.append(new_id)
            i += 2
        else:
            merged.append(piece[i])
            i += 1
    return merged


def choose_pair(counts, tie_break):
    """The pair with the highest count; of several: the "first" in the text, the "largest" or the "smallest" pair of
    ids."""
    best = max(counts.values())
    tied = [pair for pair, count in counts.items() if count == best]
    return {"first": lambda: tied[0], "largest": lambda: max(tied), "smallest": lambda: min(tied)}[tie_break]()


def train(pieces, n_merges, tie_break="first", min_count=1, max_token_length=None, initial=()):
    """Learn up to n_merges merges from pieces (a list of bytes) -> {(left id, right id): new id}, the counts, the
    tokens remaining after each.

    Training ends early when no pair is left whose count is at least min_count and whose token is no longer than
    max_token_length bytes. With initial merges it goes on from these: they are the first merges of the result, whatever
    the options say, and the counts and tokens are of the new ones.
    """
    pieces = [list(piece) for piece in pieces]
    vocab = {i: bytes([i]) for i in range(256)}
    merges, counts_of_merges, remaining = {}, [], []
    for new_id, pair in enumerate(initial, 256):
        pieces = [merge(piece, pair, new_id) for piece in pieces]
        merges[pair] = new_id
        vocab[new_id] = vocab[pair[0]] + vocab[pair[1]]
    first_new_id = 256 + len(merges)
    for new_id in range(first_new_id, first_new_id + n_merges):
        counts = count_pairs(pieces)
        if max_token_length is not None:
            counts = {(a, b): n for (a, b), n in counts.items() if len(vocab[a] + vocab[b]) <= max_token_length}
        if not counts or max(counts.values()) < min_count:
            break
        pair = choose_pair(counts, tie_break)
        pieces = [merge(piece, pair, new_id) for piece in pieces]
        merges[pair] = new_id
        vocab[new_id] = vocab[pair[0]] + vocab[pair[1]]
        counts_of_merges.append(counts[pair])
        remaining.append(sum(len(piece) for piece in pieces))
    return merges, counts_of_merges, remaining


def words_of(text, add_dummy_prefix=True):
    """The words of a text that is learned from over characters: "a b\\nc" -> [" a", " b", " c"]

    Each line that is not empty gets a space before it; each space, also if it is shown as the mark, begins a word.
    """
    words = []
    for line in text.replace("\u2581", " ").split("\n"):
        if line:
            first, *rest = (" " * add_dummy_prefix + line).split(" ")
            words += [first] * bool(first) + [" " + word for word in rest]
    return words


def train_over_characters(words, n_merges, tie_break="shortest", min_count=1, may_be_token=lambda text: True):
    """Learn up to n_merges merges from words (a list of str) -> the texts that they make, the counts, the tokens
    remaining after each.

    A token is its text here. No merge makes a text that another one has made, or that may_be_token says no to. Of
    several pairs with the highest count, "shortest" is the one of the fewest characters, of these the one whose text
    sorts first, with a mark for each space, of these the one with the shorter left token.
    """
    pieces = [list(word) for word in words]
    made, counts_of_merges, remaining = [], [], []
    while len(made) < n_merges:
        counts = count_pairs(pieces)
        counts = {(a, b): n for (a, b), n in counts.items() if a + b not in made and may_be_token(a + b)}
        if not counts or max(counts.values()) < min_count:
            break
        tied = [pair for pair, count in counts.items() if count == max(counts.values())]
        shortest = min(tied, key=lambda pair: (len("".join(pair)), "".join(pair).replace(" ", "\u2581"), len(pair[0])))
        left, right = shortest if tie_break == "shortest" else tied[0]
        pieces = [merge(piece, (left, right), left + right) for piece in pieces]
        made.append(left + right)
        counts_of_merges.append(counts[left, right])
        remaining.append(sum(len(piece) for piece in pieces))
    return made, counts_of_merges, remaining


def encode_with_merges(piece, merges):
    """Encode bytes by pairs of ids (minbpe's semantics): the pair that was learned first is merged first.

    b"aaab" with {(97, 97): 256, (256, 97): 257} -> [257, 98]
    """
    ids = list(piece)
    while True:
        known = [pair for pair in pairwise(ids) if pair in merges]
        if not known:
            return ids
        pair = min(known, key=merges.get)
        ids = merge(ids, pair, merges[pair])


def encode_with_dropout(ids, merges, p, random):
    """BPE-dropout (arXiv 1910.13267): at each step each possible merge is dropped with the probability p, and the best
    of the others is applied, the leftmost of several; until there is none.

    random() is asked once a step for a number from 0 to 1, which serves for one possible merge after the other, the
    best first: below p, that merge is dropped, and what is below p is as random as before when it is stretched to 1.
    """
    ids = list(ids)
    while True:
        possible = sorted((merges[pair], i) for i, pair in enumerate(pairwise(ids)) if pair in merges)
        if not possible:
            return ids
        number = random()
        while possible and number < p:
            possible.pop(0)
            number /= p
        if not possible:
            return ids
        new_id, i = possible[0]
        ids[i : i + 2] = [new_id]


def encode_with_ranks(piece, ranks):
    """Encode bytes by the ranks of joined bytes (tiktoken's semantics): a piece that is a token is that token, whatever
    the merges say.

    Of the neighbours whose joined bytes are a token, those with the lowest rank are joined first, the leftmost of
    several.
    """
    if piece in ranks:
        return [ranks[piece]]
    parts = [bytes([byte]) for byte in piece]
    while True:
        joinable = [(ranks[a + b], i) for i, (a, b) in enumerate(pairwise(parts)) if a + b in ranks]
        if not joinable:
            return [ranks[part] for part in parts]
        _, i = min(joinable)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
