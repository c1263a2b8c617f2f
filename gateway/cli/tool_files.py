"""What does a new tool consist of? Four files that work as they are, and say what each is for."""

from __future__ import annotations

YAML = """\
# What the model is told of @name@. After a change: local2 reload
id: @name@_tool
tool: @name@
# The small embedded model reads the first sentence alone, 160 characters of it.
description: >-
  Repeats a text in capital letters. Call it when the user wants something to be shouted.
parameters:
  type: object
  properties:
    text: {type: string, description: The text to repeat.}
  required: [text]
policies:
  idempotent: true        # running it twice does no harm
  timeout_s: 10.0
"""

MODULE = '''\
"""What does @name@ do? It repeats a text in capital letters. After a change: local2 restart @name@"""

import sys

from participants.participant import main
from participants.tools.base import BaseTool, ToolFailed


def work(text):
    """The answer for the model.

    Raises:
        ToolFailed: With words for the model: what is wrong, and what to try instead.
    """
    if not text.strip():
        raise ToolFailed("The text is empty: call again with the text that the user means.")
    return text.upper()


class @Class@(BaseTool):
    """@name@."""

    CONFIG_NAME = "@name@"

    async def run_call(self, args):
        """`args` fit the schema in @name@.yaml. What blocks goes through `await self.offload(function, …)`."""
        return work(args["text"])


if __name__ == "__main__":
    sys.exit(main(@Class@))
'''

PROGRAM = """\
; How supervisord runs @name@. After a change: local2 reload
[program:@name@]
command=python "%(here)s/@name@.py"
autorestart=true
startsecs=1
stopwaitsecs=10
stopasgroup=true
killasgroup=true
redirect_stderr=true
stdout_logfile=%(here)s/../logs/%(program_name)s.log
stdout_logfile_maxbytes=2MB
stdout_logfile_backups=2
"""

TEST = '''\
"""Does @name@ do what it says? `python test_@name@.py`, with the Python that runs LoCAL2, tells."""

import unittest

from @name@ import work

from participants.tools.base import ToolFailed


class Test(unittest.TestCase):
    def test_answer(self):
        self.assertEqual(work("hello"), "HELLO")

    def test_refusal(self):
        self.assertRaises(ToolFailed, work, " ")


if __name__ == "__main__":
    unittest.main()
'''


def files(name: str) -> dict[str, str]:
    """The files of a tool, by their names; all belong into participants/."""
    kind = "".join(word.capitalize() for word in name.split("_")) + "Tool"
    texts = {f"{name}.yaml": YAML, f"{name}.py": MODULE, f"{name}.conf": PROGRAM, f"test_{name}.py": TEST}
    return {file: text.replace("@name@", name).replace("@Class@", kind) for file, text in texts.items()}
