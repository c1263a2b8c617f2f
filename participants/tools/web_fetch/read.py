"""What is readable in a body, whatever it is?

Runs in a process of its own, one for each page: `python -m participants.tools.web_fetch.read`. It takes the job on
standard input and writes the page to standard output. What comes from outside can take any amount of memory and time
to read, or bring the parser down; this process has bounds, knows no bus, and is the only thing that ends.
"""

from __future__ import annotations

import contextlib
import resource
import sys

import msgspec
from msgspec import Struct

_MEMORY = 768 * 1024 * 1024


class Job(Struct, frozen=True, kw_only=True):
    """A body to read. The bytes follow the job's line."""

    url: str
    content_type: str
    cpu_s: int


def read(body: bytes, content_type: str, url: str) -> bytes:
    """The page as JSON."""
    from participants.tools.web_fetch.content import decode, kind_of  # after the limits are in force
    from participants.tools.web_fetch.page import read_html
    from participants.tools.web_fetch.result import Page
    from participants.web.text import clean

    kind, name = kind_of(body, content_type.partition(";")[0].strip().lower())
    if kind == "binary":
        page = Page(url=url, problem=f"This is {name}, not a page: there is no text to read. Try another address.")
    elif kind == "pdf":
        from participants.tools.web_fetch.pdf import read_pdf

        page = read_pdf(body, url)
    elif kind == "html":
        page = read_html(decode(body, content_type), url)
    else:
        text = clean(decode(body, content_type)).strip()
        page = Page(url=url, text=text, problem="" if text else "The page is empty. Try another address.")
    return msgspec.json.encode(page)


def _bound(cpu_s: int) -> None:
    limits = {
        resource.RLIMIT_AS: _MEMORY,
        resource.RLIMIT_CPU: cpu_s,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 32,
    }
    for what, most in limits.items():
        with contextlib.suppress(ValueError, OSError):  # macOS knows some of these by name only
            resource.setrlimit(what, (most, most))


def main() -> int:
    """Do the one job."""
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
    _bound(job.cpu_s)
    body = sys.stdin.buffer.read()
    sys.stdout.buffer.write(read(body, job.content_type, job.url))
    return 0


if __name__ == "__main__":
    sys.exit(main())
