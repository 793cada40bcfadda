"""Special tokens of a tokenizer: which a text may hold, and how they are registered."""

import re
import threading
import warnings

import numpy as np
import pytest
from toys import END, SPECIAL, facts

import cbpe


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        ("all", [97, 100257, 98, 100259, 100258]),
        ("none", list(f"a{END}b<|fim|>2<|fim|>".encode())),
        (set(), list(f"a{END}b<|fim|>2<|fim|>".encode())),
        ({END}, [97, 100257, *b"b<|fim|>2<|fim|>"]),
        (frozenset({"<|fim|>"}), [*f"a{END}b".encode(), 100258, ord("2"), 100258]),
        (["<|fim|>", END], [97, 100257, 98, 100258, ord("2"), 100258]),
        (("<|fim|>2", "<|fim|>"), [*f"a{END}b".encode(), 100259, 100258]),
        ({END: 1, "no such": 2}, [97, 100257, *b"b<|fim|>2<|fim|>"]),
    ],
)
def test_allowed_special_in_all_its_forms(allowed, expected):
    tok = cbpe.RegexTokenizer()
    tok.register_special_tokens(SPECIAL)
    text = f"a{END}b<|fim|>2<|fim|>"
    assert tok.encode(text, allowed_special=allowed) == expected
    assert tok.count(text, allowed_special=allowed) == len(expected)
    ids = tok.encode_to_numpy(text, allowed_special=allowed)
    assert (ids.tolist(), ids.dtype) == (expected, np.uint32)
    assert tok.decode(expected) == text


def test_the_default_raises_on_any_special_token(toy):
    for text in (END, "a<|fim|>b"):
        for arguments in ({}, {"allowed_special": "none_raise"}):
            for method in (toy.encode, toy.count, toy.encode_to_numpy):
                with pytest.raises(ValueError, match=r"the text holds the special token '<\|"):
                    method(text, **arguments)
    assert toy.encode("<|endoftext") == list(b"<|endoftext")
    assert cbpe.BasicTokenizer().encode(END) == list(END.encode())


def test_tiktokens_defaults_raise_on_any_special_token():
    enc = cbpe.get_encoding("cl100k_base")
    for method in (enc.encode, enc.count, enc.encode_to_numpy):
        with pytest.raises(ValueError, match=r"allowed_special=\{'<\|endoftext\|>'\}"):
            method(END)
        with pytest.raises(ValueError, match="at character 5"):
            method(f"héllo{END}")
    assert enc.encode(END, allowed_special="none") == enc.encode_ordinary(END)
    with pytest.raises(ValueError, match="the text holds"):
        enc.encode(END, allowed_special="none_raise")


def test_what_is_disallowed_counts_without_a_word_on_what_is_allowed(toy):
    """As in tiktoken; toy's own default refuses all."""
    text = f"a{END}<|fim|>"
    for choice in ({}, {"allowed_special": "none_raise"}, {"allowed_special": "none"}):
        for nothing in ((), set(), ""):
            options = {**choice, "disallowed_special": nothing}
            assert toy.encode(text, **options) == list(text.encode())
            assert toy.count(text, **options) == len(text)
            assert toy.encode_batch([text], **options) == [list(text.encode())]
            assert [token for ids in toy.encode_stream([text], **options) for token in ids] == list(text.encode())
        with pytest.raises(ValueError, match=r"'<\|fim\|>'"):
            toy.encode(text, **choice, disallowed_special={"<|fim|>"})
        assert toy.encode(f"a{END}", **choice, disallowed_special={"<|fim|>"}) == list(f"a{END}".encode())
    with pytest.raises(ValueError, match="the text holds"):
        toy.encode(text, disallowed_special="all")
    assert toy.encode(text, allowed_special=set()) == list(text.encode())  # as minbpe has it


def test_disallowed_special_in_all_its_forms(toy):
    with pytest.raises(ValueError, match=r"'<\|fim\|>'"):
        toy.encode(f"a{END}<|fim|>", allowed_special={END}, disallowed_special="all")
    with pytest.raises(ValueError, match=r"'<\|fim\|>'"):
        toy.encode(f"a{END}<|fim|>", allowed_special={END}, disallowed_special={"<|fim|>"})
    with pytest.raises(ValueError, match=r"'<\|fim\|>'"):
        toy.encode(f"a{END}<|fim|>", allowed_special="all", disallowed_special=["<|fim|>"])
    with pytest.raises(ValueError, match="'ordinary'"):
        toy.encode("an ordinary text", allowed_special=set(), disallowed_special={"ordinary"})
    assert toy.encode(f"d{END}<|fim|>", allowed_special={END}, disallowed_special={"<|fim|>2"})[:2] == [100, 100257]
    assert toy.encode(f"d{END}", allowed_special="all", disallowed_special="all") == [100, 100257]
    ordinary = list(f"d{END}".encode())  # "all" is an Encoding's default, which "none" is not to run into
    assert toy.encode(f"d{END}", allowed_special="none", disallowed_special="all") == ordinary


def test_an_error_advises_what_helps_where_the_token_is_disallowed_by_name(toy):
    both = (
        rf"^the text holds .*{re.escape(END)}.* allowed_special names it, and disallowed_special as well: leave it out"
    )
    with pytest.raises(ValueError, match=both):
        toy.encode(f"a{END}", allowed_special="all", disallowed_special={END})
    with pytest.raises(ValueError, match="disallowed_special names it: leave it out there"):
        toy.encode(f"a{END}", allowed_special=(), disallowed_special=[END])
    with pytest.raises(ValueError, match=re.escape("pass allowed_special={'<|fim|>'}, or 'all' for all of them; to ")):
        toy.encode("a<|fim|>", allowed_special={END}, disallowed_special="all")


@pytest.mark.parametrize("wrong", ["ALL", "", END, "some"])
def test_a_choice_that_is_a_str_of_another_kind_is_refused(toy, wrong):
    with pytest.raises(ValueError, match=f"allowed_special is '{wrong}'".replace("|", r"\|")):
        toy.encode("a", allowed_special=wrong)
    if wrong:  # an empty one is no token, as an empty tuple is
        with pytest.raises(ValueError, match=f"disallowed_special is '{wrong}'".replace("|", r"\|")):
            toy.encode("a", allowed_special=set(), disallowed_special=wrong)


@pytest.mark.parametrize("wrong", [5, True, 2.5, b"a", [5], ["a", None], [["a"]]])
@pytest.mark.parametrize("option", ["allowed_special", "disallowed_special"])
def test_a_choice_that_holds_no_texts_is_refused_by_the_name_of_the_argument(toy, option, wrong):
    for tok in (toy, cbpe.get_encoding("gpt2")):
        for method in (tok.encode, tok.count, tok.encode_to_numpy):
            with pytest.raises(TypeError, match=f"^{option} (is|holds) "):
                method("a", **{option: wrong})


def test_none_is_no_choice_of_allowed_special_tokens(toy):
    for tok in (toy, cbpe.get_encoding("gpt2")):
        with pytest.raises(TypeError, match=r"^allowed_special is None"):
            tok.encode("a", allowed_special=None)


def test_any_collection_of_texts_is_a_choice(toy):
    for choice in ({END}, frozenset([END]), [END], (END,), {END: 1}, iter([END])):
        assert toy.encode(f"d{END}", allowed_special=choice) == [100, 100257]


def test_many_different_choices_are_all_right():
    """More than are kept ready."""
    tok = cbpe.RegexTokenizer()
    tok.register_special_tokens({f"<{i}>": 1000 + i for i in range(200)})
    for _ in range(2):
        for i in range(200):
            assert tok.encode(f"<{i}><x>", allowed_special={f"<{i}>"}) == [1000 + i, *b"<x>"]


@pytest.mark.parametrize(
    ("special_tokens", "error", "message"),
    [
        ({"": 1000}, ValueError, "the special token with id 1000 is empty"),
        ({"<a>": 1000, "<b>": 1000}, ValueError, "the special tokens '<a>' and '<b>' have the same id 1000"),
        ({"<a>": 97}, ValueError, "the id 97 of the special token '<a>' is in use"),
        ({"<a>": 258}, ValueError, "the id 258 of the special token '<a>' is in use"),
        ({"<a>": -1}, ValueError, "the id -1 of the special token '<a>'"),
        ({"<a>": 2**32 - 1}, ValueError, "the id 4294967295 of the special token '<a>'"),
        ({"<a>": 10**30}, ValueError, "special token '<a>'"),
        ({"<a>": "1000"}, TypeError, "the id of the special token '<a>' is an int, not str"),
        ({"<a>": True}, TypeError, "the id of the special token '<a>' is an int, not bool"),
        ({"<a>": 1e3}, TypeError, "the id of the special token '<a>' is an int, not float"),
        ({b"<a>": 1000}, TypeError, "a special token is a str, not bytes"),
        ({5: 1000}, TypeError, "a special token is a str, not int"),
        (["<a>"], TypeError, r"are a dict of texts and their ids, not list: give each its id, as \{'<\|end\|>': ID\}"),
        ({"<good>": 1000, "": 1001}, ValueError, "empty"),
    ],
)
def test_special_tokens_that_are_none_are_refused_and_nothing_is_changed(toy, special_tokens, error, message):
    before = facts(toy)
    with pytest.raises(error, match=message):
        toy.register_special_tokens(special_tokens)
    assert facts(toy) == before
    assert toy.encode(END, allowed_special="all") == [100257]


def test_registering_takes_the_place_of_those_there_were(toy):
    toy.register_special_tokens({"<|new|>": 259})
    assert toy.special_tokens == {"<|new|>": 259}
    assert toy.vocab[259] == b"<|new|>"
    assert 100257 not in toy.vocab
    assert toy.encode(f"<|new|>{END}", allowed_special="all") == [259, *END.encode()]
    with pytest.raises(KeyError, match="100257"):
        toy.decode([100257])
    toy.register_special_tokens({})
    assert toy.encode("<|new|>") == list(b"<|new|>")


def test_what_is_given_is_copied_and_what_is_returned_refuses_changes(toy):
    given_tokens = {"<a>": 1000}
    toy.register_special_tokens(given_tokens)
    given_tokens["<b>"] = 1001
    with pytest.raises(TypeError, match="change a copy"):
        toy.special_tokens["<c>"] = 1002
    assert toy.special_tokens == {"<a>": 1000}
    toy.register_special_tokens({**toy.special_tokens, "<c>": 1002})
    copied = toy.special_tokens.copy()
    copied["<d>"] = 1003
    assert toy.special_tokens == {"<a>": 1000, "<c>": 1002}


def test_a_trained_tokenizer_tells_its_size_and_special_tokens_as_an_encoding_does(toy):
    special = {"<|endoftext|>": 1000, "<|end|>": 1001}
    toy.register_special_tokens(special)
    assert (toy.n_vocab, toy.max_token_value, toy.eot_token) == (1002, 1001, 1000)
    assert toy.special_tokens_set == set(special)
    assert [toy.is_special_token(token) for token in (999, 1000, 1001)] == [False, True, True]
    assert toy.token_byte_values() == sorted(token for i, token in toy.vocab.items() if i < 1000)
    toy.register_special_tokens({})
    assert toy.n_vocab == len(toy.vocab)
    with pytest.raises(KeyError, match="endoftext"):
        _ = toy.eot_token


def test_registering_while_others_encode(toy):
    """No call mixes old and new ids, and none of the old stays behind."""
    texts = {"<a>": {(1000,), (2000,)}}
    wrong, stop = [], threading.Event()

    def work():
        while not stop.is_set():
            ids = tuple(toy.encode("<a>", allowed_special={"<a>"}))
            if ids not in texts["<a>"]:
                wrong.append(ids)

    toy.register_special_tokens({"<a>": 1000})
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(300):
        toy.register_special_tokens({"<a>": 2000 if i % 2 else 1000})
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert toy.encode("<a>", allowed_special={"<a>"}) == [2000]


def test_tokens_that_are_special_too_are_counted_once(tmp_path):
    """As Gemma's file has them."""
    tok = cbpe.train("low lower lowest\n" * 20, 274, alphabet="characters")
    assert len(tok) == tok.vocab_size + 3 == 274
    tok.register_special_tokens({**tok.special_tokens, tok.vocab[273].decode(): 273})
    assert (tok.vocab_size, len(tok.special_tokens), len(tok), len(tok.vocab)) == (271, 4, 274, 274)
    assert "4, of which 1 has the id of another token" in tok._repr_html_()
    tok.save(tmp_path / "low.json")
    found = cbpe.inspect(tmp_path / "low.json")
    assert (found.vocab_size, len(found.special_tokens), found.all_tokens) == (271, 4, 274)
    assert ("special tokens", "4, of which 1 has the id of another token") in found.pairs()
    assert ("special tokens", 3) not in found.pairs()


def test_who_asks_for_an_end_of_text_that_there_is_not_is_told_how_to_register_it(toy):
    toy.register_special_tokens({"<|x|>": 300})
    with pytest.raises(KeyError, match=r"no special token '<\|endoftext\|>'.*register_special_tokens.*: 301\}"):
        _ = toy.eot_token
    toy.register_special_tokens({"<|end_of_text|>": 300})
    with pytest.raises(
        KeyError, match=r"if '<\|end_of_text\|>' is meant, special_tokens\['<\|end_of_text\|>'\] is its id"
    ):
        _ = toy.eot_token
    toy.register_special_tokens({"<|end|>": 300, "<end_of_turn>": 301})
    with pytest.raises(KeyError, match=r"'<\|endoftext\|>': special_tokens are those it has; register"):
        _ = toy.eot_token
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = cbpe.Encoding("mine", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={"<|x|>": 300})
    with pytest.raises(KeyError, match=r"no special token .*make another one .* special_tokens=.*: 301\}\)"):
        _ = encoding.eot_token


def test_an_allowed_text_that_is_no_special_token_is_told(toy):
    toy.register_special_tokens({"<|x|>": 300})
    told = r"allowed_special names '<\|y\|>', which this tokenizer does not have; its special tokens are '<\|x\|>'$"
    calls = (
        lambda allowed: toy.encode("<|x|>", allowed_special=allowed),
        lambda allowed: toy.encode_batch(["<|x|>"], allowed_special=allowed),
        lambda allowed: toy.count("<|x|>", allowed_special=allowed),
    )
    for call in calls:
        with pytest.warns(UserWarning, match=told):
            call({"<|x|>", "<|y|>"})
        with pytest.warns(UserWarning, match=told):
            call(["<|y|>"])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for allowed in ({"<|x|>"}, set(), "all", "none"):
                call(allowed)
    with pytest.warns(UserWarning, match="its special tokens are none$"):
        cbpe.RegexTokenizer().encode("a", allowed_special={"<|x|>"})


def test_a_column_names_the_row_of_a_special_token(toy):
    pyarrow = pytest.importorskip("pyarrow")
    column = pyarrow.chunked_array([["a", None], [f"b{END}", END]])
    for method in (toy.encode_arrow, toy.count_arrow):
        with pytest.raises(ValueError, match=r"^row 2 of the column \(.*'<\|endoftext\|>' \(at character 1\)"):
            method(column)


# ---- Decoding without them


SKIPPING = {"skip_special_tokens": True}


def test_decoding_leaves_special_tokens_out_where_it_is_asked_to(toy):
    ids = toy.encode(f"the{END} cat<|fim|>", allowed_special="all")
    assert toy.decode(ids) == toy.decode(ids, skip_special_tokens=False) == f"the{END} cat<|fim|>"
    assert toy.decode(ids, **SKIPPING) == "the cat"
    assert toy.decode_bytes(ids, **SKIPPING) == b"the cat"
    assert toy.decode_batch(iter([ids, [100257]]), **SKIPPING) == ["the cat", ""]
    assert toy.decode_bytes_batch([ids, []], **SKIPPING) == [b"the cat", b""]
    stream = toy.stream_decoder(**SKIPPING)
    assert [stream.push(100257), stream.extend(np.array([*ids, 0xC3])), stream.push(100257)] == ["", "the cat", ""]
    assert [stream.push(0xA9), stream.flush()] == ["é", ""]
    assert cbpe.RegexTokenizer().decode(b"abc", **SKIPPING) == "abc"  # there are none
    for kind in (tuple, iter, np.array, lambda each: np.array(each, dtype=np.uint32)[::1]):
        assert toy.decode(kind(ids), **SKIPPING) == "the cat"
    toy.register_special_tokens({END: 100257})
    assert toy.decode([100257, 97], **SKIPPING) == "a"
    with pytest.raises(KeyError, match="100258"):
        toy.decode([100258], **SKIPPING)


@pytest.mark.parametrize("wrong", [1.0, 100257.0, True, "a", None, [97], -1, 2**40, 999])
def test_what_is_no_id_is_refused_where_special_tokens_are_left_out(toy, wrong):
    toy.register_special_tokens({END: 100257, "<|one|>": 1_000})

    def decode_as_a_stream(ids, **skipping):
        return toy.stream_decoder(**skipping).extend(ids)

    hugging_face = cbpe.HuggingFaceTokenizer.from_tokenizer(toy)
    for decode in (toy.decode, toy.decode_bytes, hugging_face.decode, decode_as_a_stream):
        with pytest.raises((KeyError, TypeError)) as refused:
            decode([97, wrong])
        with pytest.raises(refused.type) as skipping:
            decode([97, 100257, wrong], **SKIPPING)
        assert str(skipping.value) == str(refused.value)
    with pytest.raises(TypeError):
        toy.decode(97, **SKIPPING)
    with pytest.raises(TypeError):
        toy.decode([97], "replace", True)  # by its name alone


def test_special_tokens_registered_while_the_skipped_ones_are_listed_are_skipped_from_then_on(toy):
    class Registering(cbpe.HuggingFaceTokenizer):
        """Registers one more, as another thread may, while it is asked for what its file calls special."""

        more = None

        def _processing(self):
            if self.more:
                self.more, more = None, self.more
                self.register_special_tokens(more)
            return super()._processing()

    tok = Registering.from_tokenizer(toy)
    tok.register_special_tokens({**tok.special_tokens, END: 1000})
    tok.more = {**tok.special_tokens, "<|new|>": 1001}
    assert tok.decode([97, 1000], **SKIPPING) == "a"
    assert tok.more is None
    assert tok.decode([97, 1000, 1001], **SKIPPING) == "a"


def test_disallowing_all_where_all_are_allowed_is_told_as_of_no_use(tmp_path):
    """A tokenizer.json's special tokens are found unless something else is said, as in tokenizers."""
    trained = cbpe.train("low lower", 258, special_tokens=["<e>"])
    trained.save(tmp_path / "a.json")
    loaded = cbpe.load(tmp_path / "a.json")
    with pytest.warns(UserWarning, match="disallows nothing here, where allowed_special is 'all' unless you say other"):
        assert loaded.encode("low<e>", disallowed_special="all")[-1] == trained.special_tokens["<e>"]
    for tok in (loaded, trained):
        with pytest.raises(ValueError, match="the text holds the special token '<e>'"):
            tok.encode("low<e>", allowed_special=(), disallowed_special="all")
