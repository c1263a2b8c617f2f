"""`python -m participants.services.reward`."""

import sys

from participants.participant import main
from participants.services.reward.service import RewardService

sys.exit(main(RewardService))
