"""The process of web_search."""

import sys

from participants.participant import main
from participants.tools.web_search.tool import WebSearchTool

sys.exit(main(WebSearchTool))
