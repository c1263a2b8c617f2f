"""`python -m gateway`: the gateway's process."""

from __future__ import annotations

import sys

from gateway.participant import GatewayParticipant
from participants.participant import main

if __name__ == "__main__":
    sys.exit(main(GatewayParticipant))
