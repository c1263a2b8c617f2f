"""`python -m participants.services.compaction`."""

import sys

from participants.participant import main
from participants.services.compaction.service import ModelService

sys.exit(main(ModelService))
