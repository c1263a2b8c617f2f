"""`python -m participants.tools.location` starts it."""

from __future__ import annotations

import sys

from participants.participant import main
from participants.tools.location.tool import LocationTool

if __name__ == "__main__":
    sys.exit(main(LocationTool))
