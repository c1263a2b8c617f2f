"""The web UI's files."""

from __future__ import annotations

import re

import httpx
import pytest

from gateway.routes.page import DIST

WEB = DIST.parent


@pytest.fixture
def dist(tmp_path):
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<title>LoCAL2</title>")
    (folder / "theme.js").write_text("1")
    (folder / "assets" / "index-abc.js").write_text("2")
    (folder / "assets" / "font-abc.woff2").write_bytes(b"3")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


ROUTED = re.findall(r'<Route path="([^"]+)"', (WEB / "src" / "components" / "app.tsx").read_text(encoding="utf-8"))
"""All addresses that the page's router knows: each can be opened and reloaded."""


@pytest.mark.parametrize("path", [path.replace(":sessionId", "any-session") for path in ROUTED])
async def test_each_view_is_the_page(dist, stage, path):
    answer = await stage.http("GET", path)
    assert (answer.status_code, answer.text) == (200, "<title>LoCAL2</title>")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("path", "kind", "cache"),
    [
        ("/theme.js", "text/javascript; charset=utf-8", "no-cache"),
        ("/assets/index-abc.js", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"),
        ("/assets/font-abc.woff2", "font/woff2", "public, max-age=31536000, immutable"),
    ],
)
async def test_files(dist, stage, path, kind, cache):
    headers = (await stage.http("GET", path)).headers
    assert (headers["content-type"], headers["cache-control"]) == (kind, cache)


async def test_an_unchanged_file_is_not_sent_again(dist, stage):
    etag = (await stage.http("GET", "/")).headers["etag"]
    again = await stage.http("GET", "/", headers={"if-none-match": etag})
    (dist / "index.html").write_text("<title>Rebuilt</title>")
    changed = await stage.http("GET", "/", headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert (changed.status_code, changed.text) == (200, "<title>Rebuilt</title>")


async def test_head(dist, stage):
    answer = await stage.http("HEAD", "/")
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/assets/..%2f..%2fsecret.txt",
        "/%2fetc%2fpasswd",
        "//etc/passwd",
        "/link.txt",
        "/assets",
        "/a%00b",
        "/" + "x" * 5000,
        "/nothing.js",
    ],
)
async def test_nothing_else_is_served(dist, stage, path):
    url = httpx.URL(stage.url).copy_with(raw_path=path.encode())
    async with httpx.AsyncClient() as client:
        answer = await client.get(url)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


async def test_without_a_build_the_page_says_how_to_get_one(stage):
    answer = await stage.http("GET", "/")
    assert answer.status_code == 503
    assert "./scripts/run" in answer.text
