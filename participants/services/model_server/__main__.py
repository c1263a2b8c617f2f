"""`python -m participants.services.model_server`."""

import sys

from participants.participant import main
from participants.services.model_server.participant import ModelServer

sys.exit(main(ModelServer))
