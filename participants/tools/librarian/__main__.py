"""`python -m participants.tools.librarian` starts it."""

from __future__ import annotations

import sys

from participants.participant import main
from participants.tools.librarian.tool import LibraryAgentTool

if __name__ == "__main__":
    sys.exit(main(LibraryAgentTool))
