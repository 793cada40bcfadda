"""The files that take the most to read are read, or refused by a ValueError, in time and memory that grow with their
size."""

import contextlib
import os
import tempfile
import time
from pathlib import Path

import worst_files
from hypothesis import strategies as st
from worst_files import forget_peak, memory

import cbpe

ALONE = True
SECONDS = 100
MEMORY = 6 << 30
# Of one second and 100 MB for each MB: machines are slow and busy, and what is quadratic takes many times as much.
MOST_SECONDS = 5
MOST_BYTES = 100 << 20
LONGEST_MESSAGE = 1500

cases = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(sorted(worst_files.FILES)),
        "which": st.integers(0, 100),
        "size": st.integers(1_000, 60_000) | st.integers(1_000, 60_000) | st.sampled_from([200_000, 500_000]),
    }
)


def check(case):
    files = worst_files.FILES[case["kind"]](case["size"])
    name = sorted(files)[case["which"] % len(files)]
    with tempfile.TemporaryDirectory(prefix="cbpe_hostile_") as folder:
        for part, data in files[name].items():
            Path(folder, part).write_bytes(data)
        path = os.path.join(folder, next(iter(files[name])))
        size = os.path.getsize(path)
        del files
        options = {"pattern": "."} if path.endswith((".tiktoken", ".bin")) else {}
        forget_peak()
        before, start = memory("VmRSS"), time.process_time()
        message = None
        try:
            tok = cbpe.load(path, **options)
        except ValueError as error:
            message = str(error)
        else:
            with contextlib.suppress(KeyError):
                tok.decode(tok.encode("the cat" * 100, allowed_special="all"))
        seconds, taken = time.process_time() - start, memory("VmHWM") - before
    assert message is None or 0 < len(message) < LONGEST_MESSAGE, f"{name}: a message of {len(message)} characters"
    megabytes = 1 + size / 1e6
    assert seconds < MOST_SECONDS * megabytes, f"{name}: {seconds:.1f} seconds for {size} bytes"
    assert taken < MOST_BYTES * megabytes, f"{name}: {taken} bytes of memory for {size} bytes"
