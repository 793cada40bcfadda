"""When the program ends while daemon threads work, they do not take the GIL back: Python has freed what that takes."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted in /proc")

# What Py_AtExit is given, Python calls at the very end: there it waits for a line of input.
PROGRAM = """
import ctypes, sys, threading, time
import cbpe

ctypes.pythonapi.Py_AtExit(ctypes.CDLL(None).getchar)
tok = cbpe.BasicTokenizer()
text, ids = "ab", [97]
{call}  # what is imported by the first call, threads do not import while Python ends
text, ids = "ab" * {n}, [97] * {n}  # made once: a thread that made them would keep the others waiting for Python

def work():
    while True:
        {call}

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
"""

# How long the text is, and whether a thread is nearly always without the GIL. Another may wait for it just then, and
# Python ends such threads. Each call takes long, and does little in Python: a thread that Python starts, or that waits
# for Python, while it ends may read what Python has freed, up to 3.12, and no module can keep it from that.
CALLS = {
    "tok.count(text)": (10_000_000, True),
    "tok.encode_batch_flat([text] * 20, num_threads=2)": (500_000, True),
    "cbpe.train(text, 270)": (20_000_000, False),
    "cbpe.count_words([text], workers=1)": (20_000_000, False),
    "tok.encode_batch([text] * 2, num_threads=2)": (2_500_000, False),
    "tok.decode_batch([ids] * 2, num_threads=2)": (10_000_000, False),
}


@pytest.mark.parametrize("call", CALLS)
def test_threads_wait_for_the_process_to_end(call):
    n, leaves_python_alone = CALLS[call]
    program = [sys.executable, "-c", PROGRAM.format(call=call, n=n)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        try:
            tasks = Path(f"/proc/{child.pid}/task")
            main = tasks / str(child.pid) / "wchan"
            counted = []
            # Those that Python ends are gone soon; those that wait are there for good.
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline and (len(counted) < 10 or len(set(counted[-10:])) > 1):
                time.sleep(0.05)
                if "read" in main.read_text():
                    counted.append(len(list(tasks.iterdir())))
            _, told = child.communicate(b"\n", timeout=60)
            assert child.returncode == 0, told.decode()
        finally:
            child.kill()
    if not counted:
        pytest.skip("this kernel does not tell what a thread waits for")
    assert counted[-1] > 1 or not leaves_python_alone


def test_the_thread_that_ends_python_may_still_encode():
    program = """
import cbpe

class Last:
    def __init__(self):
        self.tok = cbpe.BasicTokenizer()
        self.text = "ab" * 5_000_000

    def __del__(self):
        print(self.tok.count(self.text), len(self.tok.encode_batch([self.text] * 2, num_threads=1)))

import builtins
builtins.last = Last()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "10000000 2\n"), done.stderr
