"""What address does a model mean, and where does a redirect lead?"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import urljoin

import httpx

from participants.web.errors import Refused

_LONGEST = 2000
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_HOST_AND_PORT = re.compile(r"[^/?#\s:@]+:(\d+)(?:[/?#]|$)")


def normalise(text: str) -> str:
    """A URL as somebody wrote it, as one that can be asked for.

    Raises:
        Refused: It is none, or not one of the web; the text says what is expected.
    """
    bare = text.strip().strip("<>\"'`").strip()
    if bare.startswith("//"):
        bare = f"https:{bare}"
    elif port := _HOST_AND_PORT.match(bare):
        bare = f"{'https' if port[1] == '443' else 'http'}://{bare}"
    elif not _SCHEME.match(bare):
        bare = f"https://{bare}"
    return _checked(bare)


def redirected(url: str, location: str) -> str:
    """The address that a redirect from `url` leads to.

    Raises:
        Refused: It leads to something that is not of the web.
    """
    try:
        target = urljoin(url, location.strip())
    except ValueError as error:
        raise Refused(f"The page redirects to {location[:80]!r}, which is no address.") from error
    return _checked(target)


def _checked(text: str) -> str:
    if len(text) > _LONGEST:
        raise Refused(f"The address is longer than {_LONGEST} characters.")
    try:
        url = httpx.URL(_host_as_ascii(text)).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError) as error:
        raise Refused(f"{text[:80]!r} is no web address. Give one such as https://example.com/page.") from error
    if url.scheme not in ("http", "https"):
        raise Refused(f"Only http and https addresses can be fetched, not {url.scheme[:20]!r}.")
    if url.userinfo:
        raise Refused("An address with a user name or password in it is not fetched: give it without.")
    if not url.host:
        raise Refused(f"{text[:80]!r} names no host. Give an address such as https://example.com/page.")
    return str(url)


def _host_as_ascii(text: str) -> str:
    """Digits and dots of other scripts read as digits and dots, as browsers do; so they are checked as such."""
    scheme, separator, rest = text.partition("://")
    end = next((at for at, char in enumerate(rest) if char in "/?#\\"), len(rest))
    return scheme + separator + unicodedata.normalize("NFKC", rest[:end]) + rest[end:]
