"""Does a SearXNG answer as web_search needs it, and if not, what is wrong?

It is asked without a question: it says then that there is none, in JSON, and searches nothing.
"""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

NOT_RUNNING = "Nothing runs there."
_LIMIT_S = 5.0
_BYTES = 1_000_000
_FORMATS = "It does not give out JSON: `search: formats: [html, json]` is missing in its settings.yml."
_FAULTS = {
    403: _FORMATS,
    429: "It refuses programs: `server: limiter: false` is missing in its settings.yml.",
}


def ask(url: str, timeout_s: float = _LIMIT_S) -> str:
    """What is wrong with the SearXNG there, in words; empty where it serves JSON as it must."""
    connection, path = None, ""
    try:
        parts = urlsplit(url)
        kind = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}[parts.scheme]
        connection, path = kind(parts.hostname or "", parts.port, timeout=timeout_s), parts.path.rstrip("/")
        connection.request("GET", f"{path}/search?format=json", headers={"Accept": "application/json"})
        response = connection.getresponse()
        return _fault(response.status, response.read(_BYTES))
    except (KeyError, ValueError, http.client.InvalidURL):
        return f"{url!r} is no address such as http://127.0.0.1:8080."
    except TimeoutError:
        return f"It does not answer within {timeout_s:g} s."
    except ConnectionRefusedError:
        return NOT_RUNNING
    except (OSError, http.client.HTTPException) as error:
        return f"It cannot be reached: {error or type(error).__name__}."
    finally:
        if connection is not None:
            connection.close()


def _fault(status: int, body: bytes) -> str:
    if status in _FAULTS:
        return _FAULTS[status]
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    if isinstance(answer, dict) and status in (200, 400) and ("results" in answer or "error" in answer):
        return ""
    if status == 200 and body.lstrip()[:1] == b"<":
        return _FORMATS
    return f"What runs there does not answer as SearXNG does (status {status})."
