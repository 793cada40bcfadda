"""Looking into a vocabulary."""

import pytest

import cbpe
from cbpe.analysis.lookup import find_tokens, merge_tree
from cbpe.common.trained_vocabulary import trained_vocabulary


@pytest.fixture(scope="module")
def tok():
    tok = cbpe.train("low lower lowest café", 262)
    tok.register_special_tokens({"<|low|>": 400})
    return tok


def test_all_tokens_come_by_rising_id(tok):
    found = list(find_tokens(tok))
    assert dict(found) == tok.vocab
    assert [token_id for token_id, _ in found] == sorted(tok.vocab)


def test_tokens_are_found_by_text_bytes_and_expression(tok):
    assert all("low" in token.decode() for _, token in find_tokens(tok, contains="low"))
    assert {b"low", b" low", b"<|low|>"} <= {token for _, token in find_tokens(tok, contains="low")}
    assert [token for _, token in find_tokens(tok, contains=b"\xa9")] == [
        token for _, token in sorted(tok.vocab.items()) if b"\xa9" in token
    ]
    assert {token for _, token in find_tokens(tok, pattern=r"^\p{L}{3,}$")} == {
        token for token in tok.vocab.values() if token.isalpha() and len(token) >= 3
    }
    assert list(find_tokens(tok, contains="low", pattern="zz")) == []
    with pytest.raises(ValueError, match=r"'\(' is not a valid expression"):
        list(find_tokens(tok, pattern="("))


def leaves(tree):
    return [leaf for part in tree.parts for leaf in leaves(part)] if tree.parts else [tree]


@pytest.mark.parametrize("name", ["trained", "gpt2", "cl100k_base"])
def test_a_tree_has_the_merges_and_ends_in_bytes(tok, name):
    tok = tok if name == "trained" else cbpe.get_encoding(name)
    pairs = {merged: pair for pair, merged in tok.merges.items()}
    for token_id in list(pairs)[:: max(1, len(pairs) // 50)]:
        tree = merge_tree(tok, token_id)
        assert (tree.id, tree.token) == (token_id, tok.vocab[token_id])
        assert tuple(part.id for part in tree.parts) == pairs[token_id]
        assert b"".join(leaf.token for leaf in leaves(tree)) == tree.token
        assert all(len(leaf.token) == 1 for leaf in leaves(tree))


def test_a_byte_and_a_special_token_have_no_parts(tok):
    assert merge_tree(tok, 97).parts == ()
    assert merge_tree(tok, 400).token == b"<|low|>"
    assert merge_tree(tok, 400).parts == ()
    with pytest.raises(KeyError, match="no token with the id 399"):
        merge_tree(tok, 399)


def test_a_tree_may_be_as_deep_as_its_token_is_long():
    text = "".join(chr(97 + i % 26) for i in range(3000))
    left, right = list(range(255, 255 + 2998)), [ord(character) for character in text[1:2999]]
    left[0] = ord("a")
    tok = cbpe.Tokenizer(trained_vocabulary(zip(left, right, strict=True)), None)
    tree = merge_tree(tok, 256 + 2997)
    assert tree.token == text[:2999].encode()
