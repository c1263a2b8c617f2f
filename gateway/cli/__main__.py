"""`python -m gateway.cli`, for a checkout without the console script."""

import sys

from gateway.cli import main

sys.exit(main())
