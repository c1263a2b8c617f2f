"""The process of semantic_scholar."""

import sys

from participants.participant import main
from participants.tools.semantic_scholar.tool import SemanticScholarTool

sys.exit(main(SemanticScholarTool))
