"""`python -m participants.agents.critic`."""

import sys

from participants.agents.critic.agent import CriticAgent
from participants.participant import main

sys.exit(main(CriticAgent))
