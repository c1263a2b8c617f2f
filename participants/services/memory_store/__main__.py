"""`python -m participants.services.memory_store`."""

import sys

from participants.participant import main
from participants.services.memory_store.service import MemoryService

sys.exit(main(MemoryService))
