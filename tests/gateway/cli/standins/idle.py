"""A participant that does nothing: ends on SIGTERM and with its supervisor. Argument `deaf`: ends by SIGKILL only."""

import os
import signal
import sys

DEAF = "deaf" in sys.argv
PARENT = os.getppid()


def _leave(*_: object) -> None:
    if not DEAF:
        os._exit(0)


def _with_parent(*_: object) -> None:
    if os.getppid() != PARENT:
        _leave()


signal.signal(signal.SIGTERM, _leave)
signal.signal(signal.SIGALRM, _with_parent)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
sys.stdout.write(f"here {os.environ['SUPERVISOR_PROCESS_NAME']}\n")
sys.stdout.flush()
while True:
    signal.pause()
