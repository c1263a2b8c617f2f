"""`python -m participants.agents.memory`."""

import sys

from participants.agents.memory.agent import MemoryAgent
from participants.participant import main

sys.exit(main(MemoryAgent))
