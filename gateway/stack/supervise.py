"""supervisord, on a disk that may become full. `python -m gateway.stack.supervise -c CONF` is it.

What it cannot write to a log it reports on standard error. Where that goes to a file on the same disk,
the report failed, too, and ended supervisord.
"""

from __future__ import annotations

import sys
from typing import TextIO, cast

from supervisor import supervisord

from participants.logs import Output

if __name__ == "__main__":
    sys.stderr = cast("TextIO", Output(sys.stderr))
    supervisord.main()
