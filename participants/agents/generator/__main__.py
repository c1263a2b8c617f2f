"""`python -m participants.agents.generator`."""

import sys

from participants.agents.generator.agent import GeneratorAgent
from participants.participant import main

sys.exit(main(GeneratorAgent))
