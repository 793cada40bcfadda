"""Memory while text is encoded: the caches stay within their bound, and no copy is larger than what is encoded.

Each measurement is a process of its own, which tells how far its memory has risen.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import cbpe

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux to tell the memory")

MEASURE = """
import random, cbpe

def memory(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(key + ":"))

def rise(call):
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")     # the highest is from now on
    before = memory("VmRSS")
    call()
    return memory("VmHWM") - before
"""

NEW_WORDS = """
letters = bytes(97 + byte % 26 if byte < 230 else 32 for byte in range(256))
numbers = random.Random(1)
enc = cbpe.get_encoding("cl100k_base", cache_bytes={cache_bytes})

def encode(n):
    for _ in range(n):
        enc.count(numbers.randbytes(1 << 20).translate(letters).decode())

encode(2)   # the tables that long pieces are merged with
print(rise(lambda: encode(8)))
"""


def measured(program):
    child = subprocess.run([sys.executable, "-c", MEASURE + program], capture_output=True, text=True, check=True)
    return float(child.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("cache_bytes", [0, 1 << 20, 8 << 20])
def test_new_words_take_no_more_than_the_cache_may(cache_bytes):
    """8 MB of words that never come twice, which would take over 32 MB. While a cache divides its room anew, it needs
    as much again; 6 MB are for the texts themselves."""
    assert measured(NEW_WORDS.format(cache_bytes=cache_bytes)) < 2 * cache_bytes / 2**20 + 6


@pytest.mark.slow
def test_caches_of_many_threads_together_take_no_more_than_one_may():
    """64 threads at once, each with new words that would fill a cache of its own."""
    program = """
import threading
letters = bytes(97 + byte % 26 if byte < 230 else 32 for byte in range(256))
enc = cbpe.get_encoding("cl100k_base", cache_bytes=16 << 20)
texts = [random.Random(i).randbytes(1 << 18).translate(letters).decode() for i in range(66)]
enc.count(texts[64] * 2)

def at_once():
    threads = [threading.Thread(target=lambda text=text: [enc.count(text) for _ in range(3)]) for text in texts[:64]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

print(rise(at_once))
"""
    assert measured(program) < 2 * 16 + 64 * 0.25  # each thread has a stack and a workspace


TEXTS = {
    "words": "'hello world. ' * 1_000_000",
    "one piece": "'a' * 12_000_000",
    "spaces": "' ' * 12_000_000",
    "accents": r"'\u00e9t\u00e9 ' * 2_500_000",
    "chinese": r"'\u4e2d\u6587\u5b57' * 1_500_000",
    "emoji": r"'\U0001f609 ' * 2_000_000",
    "a lone surrogate": r"'a' * 16_000_000 + '\ud800'",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_counting_takes_no_copy_that_is_larger_than_the_text(text):
    """ASCII is encoded where it stands. Else Python makes the text's UTF-8, which takes as much again while it does;
    and a text with halves of characters is made anew without them. One long piece takes its tokens and a bit a byte."""
    program = f"""
enc = cbpe.get_encoding("cl100k_base", cache_bytes=1 << 20)
enc.count("x" * 100_000 + "\\u4e2d" * 1000)
text = {text}
print(rise(lambda: enc.count(text)))
"""
    whole = eval(text)
    size = 0 if whole.isascii() else 2 * len(whole.encode("utf-8", "replace"))
    if whole[-1] == "\ud800":
        size += 2 * len(whole)  # as Python keeps a text with characters of two bytes
    if len(set(whole)) == 1:
        size += 4 * cbpe.get_encoding("cl100k_base").count(whole) + len(whole) // 8
    assert measured(program) < size / 2**20 + 6


def test_an_array_of_tokens_is_what_encoding_to_it_takes():
    program = """
enc = cbpe.get_encoding("cl100k_base")
text = "hello world, and so on. " * 1_000_000
enc.encode_to_numpy(text[:1000])    # numpy is imported then
print(rise(lambda: enc.encode_to_numpy(text)))
"""
    assert measured(program) < 7e6 * 4 / 2**20 + 8
