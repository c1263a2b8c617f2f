"""`python -m participants.services.ops` starts it."""

from __future__ import annotations

import sys

from participants.participant import main
from participants.services.ops.service import OpsService

if __name__ == "__main__":
    sys.exit(main(OpsService))
