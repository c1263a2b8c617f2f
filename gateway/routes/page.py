"""`/` and its files: the web UI, as Vite built it."""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from gateway.routes.replies import refusal

DIST = Path(__file__).resolve().parent.parent / "web" / "dist"
_VIEWS = ("/", "/c/{session_id}", "/status", "/memory", "/settings")
"""Addresses inside the page, those of its router: each is the one index.html."""
_HASHED = "public, max-age=31536000, immutable"
_TYPES = {".js": "text/javascript", ".woff2": "font/woff2", ".svg": "image/svg+xml", ".webmanifest": "application/json"}
_NOT_BUILT = """\
<!doctype html><html lang="en"><meta charset="utf-8"><title>LoCAL2</title>
<h1>The page is not built yet</h1>
<p>LoCAL2 runs, but its web page is missing. <code>./scripts/run</code> builds it.</p></html>
"""


class Asset(NamedTuple):
    """One file in memory."""

    stamp: tuple[int, int]
    body: bytes
    etag: str


class Page:
    """Serves the built files; each is read again when it has changed.

    Args:
        folder: Where they are.
    """

    def __init__(self, folder: Path = DIST) -> None:
        self._folder = folder.resolve()
        self._assets: dict[Path, Asset] = {}

    def routes(self) -> list[BaseRoute]:
        """The views, and then any file."""
        views: list[BaseRoute] = [Route(path, self.index, methods=["GET"]) for path in _VIEWS]
        return [*views, Route("/{path:path}", self.file, methods=["GET"])]

    async def index(self, request: Request) -> Response:
        """The page itself."""
        asset = self._load(self._folder / "index.html")
        if asset is None:
            return Response(_NOT_BUILT, 503, media_type="text/html")
        return self._reply(request, asset, "text/html; charset=utf-8", "no-cache")

    async def file(self, request: Request) -> Response:
        """One file of it."""
        path = self._inside(request.path_params["path"])
        asset = self._load(path) if path is not None else None
        if path is None or asset is None:
            return refusal(404, "not_found", "There is nothing at this address.")
        kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        hashed = self._folder / "assets" in path.parents
        return self._reply(request, asset, kind, _HASHED if hashed else "no-cache")

    def _inside(self, name: str) -> Path | None:
        """The file of that name, unless it lies elsewhere."""
        try:
            path = (self._folder / name).resolve()
        except (ValueError, OSError):
            return None
        return path if self._folder in path.parents else None

    def _load(self, path: Path) -> Asset | None:
        try:
            info = path.stat()
            stamp = (info.st_mtime_ns, info.st_size)
            known = self._assets.get(path)
            if known is not None and known.stamp == stamp:
                return known
            body = path.read_bytes()
        except (OSError, ValueError):
            return None
        asset = self._assets[path] = Asset(stamp, body, f'"{hashlib.sha256(body).hexdigest()[:20]}"')
        return asset

    @staticmethod
    def _reply(request: Request, asset: Asset, kind: str, cache: str) -> Response:
        headers = {"etag": asset.etag, "cache-control": cache}
        if request.headers.get("if-none-match") == asset.etag:
            return Response(status_code=304, headers=headers)
        return Response(asset.body, headers=headers, media_type=kind)
