"""Whether a call is stopped by Ctrl-C while it works, and not only when it is done.

How fast a machine is, and how busy, is not known here: what is compared is the time of the whole call and that of one
that is interrupted early, in a process of their own, and several times over.
"""

import signal
import subprocess
import sys

PROGRAM = """
import signal, time
{setup}

def run():
    started = time.perf_counter()
    try:
        {call}
        interrupted = False
    except KeyboardInterrupt:
        interrupted = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return interrupted, time.perf_counter() - started

signal.signal(signal.SIGALRM, signal.default_int_handler)
run()                                   # the first call takes memory, which the later ones find
for attempt in range(6):
    _, whole = run()
    signal.setitimer(signal.ITIMER_REAL, whole / 10)
    interrupted, part = run()
    if interrupted and part < whole / 2:
        break
print(interrupted, "after", part, "of", whole)
print("in time" if interrupted and part < whole / 2 else "too late")
{afterwards}
"""


def stop_in_time(setup, call, afterwards="", cwd=None):
    """Whether a call is interrupted before half of its work is done; setup, call and afterwards are lines of Python."""
    program = PROGRAM.format(setup=setup, call=call, afterwards=afterwards)
    done = subprocess.run([sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told, verdict = done.stdout.splitlines()
    assert verdict == "in time", told


def heed_ctrl_c():
    """For a child process, before its program starts: a shell has those ignore Ctrl-C that it runs in the background,
    and their children too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
