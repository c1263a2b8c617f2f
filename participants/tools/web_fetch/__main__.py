"""The process of web_fetch."""

import sys

from participants.participant import main
from participants.tools.web_fetch.tool import WebFetchTool

sys.exit(main(WebFetchTool))
