"""Start the turn ledger: `python -m participants.services.conversation`."""

from __future__ import annotations

import sys

from participants.participant import main
from participants.services.conversation.service import ConversationService

sys.exit(main(ConversationService))
