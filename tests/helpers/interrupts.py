"""Whether a call can be stopped by Ctrl-C while it works, and not only when it is done.

No time is measured: how fast a machine is, and how busy, is not known here. A timer raises a signal every millisecond,
and signals are counted when Python handles them. Those that arrive while compiled code looks at none are handled as
one when it returns; so a call that gets to handle several looked at them while it worked.
"""

import signal
import subprocess
import sys

# A signal may be handled before the call begins to work and another when it is done: the third came within. What a call
# imports when it is made for the first time is imported before.
PROGRAM = """
import signal
{setup}

whole, text = text, text[:100]
{call}
text = whole
handled = 0

class Interrupt(BaseException):
    pass

def interrupt(number, frame):
    global handled
    handled += 1
    if handled == 3:
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise Interrupt

signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
try:
    {call}
    signal.setitimer(signal.ITIMER_REAL, 0)
except Interrupt:
    print("interrupted")
else:
    print("done, with signals handled:", handled)
{afterwards}
"""


def stop_while_it_works(setup, call, afterwards="", cwd=None):
    """A call must be interrupted before it is done. setup, call and afterwards are lines of Python: the first of them
    make a `text` that is long, the call works on it."""
    program = PROGRAM.format(setup=setup, call=call, afterwards=afterwards)
    done = subprocess.run([sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "interrupted\n"


def heed_ctrl_c():
    """For a child process, before its program starts: a shell has those ignore Ctrl-C that it runs in the background,
    and their children too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
