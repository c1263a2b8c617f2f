"""Who may come in: the table, then the same over real HTTP and WebSocket."""

from __future__ import annotations

import pytest
import websockets

from gateway.auth import (
    CSP,
    Head,
    InvalidUser,
    Policy,
    admit,
    is_id,
    is_origin,
    principal,
    split_authority,
)

HERE = "localhost:7800"
OWN = "http://localhost:7800"
JSON = "application/json"


def head(kind: str = "http", method: str = "GET", **headers: str) -> Head:
    values = {"host": HERE, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return Head(kind, method, "/", {name: [value] for name, value in values.items()})


ADMITTED = [
    head(),
    head(host="127.0.0.1:7800"),
    head(host="127.0.0.1"),
    head(host="LOCALHOST:7800"),
    head(host="[::1]:7800"),
    head(host="localhost:9000", origin="http://localhost:9000"),
    head(origin=OWN),
    head(sec_fetch_site="same-origin"),
    head(sec_fetch_site="none", sec_fetch_mode="navigate"),
    head(sec_fetch_site="cross-site", sec_fetch_mode="navigate"),
    head("websocket"),
    head("websocket", origin=OWN),
    head("websocket", origin=OWN, sec_fetch_site="same-origin"),
    head("websocket", origin="http://localhost:5173"),
    head(method="POST", content_type=JSON, content_length="2", origin=OWN),
    head(method="POST", content_type="application/json; charset=utf-8", content_length="2"),
    head(method="POST"),
    head(method="DELETE", origin=OWN),
]
REFUSED = [
    (head(host=""), 403),
    (head(host="evil.example"), 403),
    (head(host="evil.example", origin="http://evil.example"), 403),
    (head(host="localhost.evil.example:7800"), 403),
    (head(host="localhost:90000"), 403),
    (head(host="localhost:0"), 403),
    (head(host="localhost:7800@evil.example"), 403),
    (head(host="127.0.0.1.nip.io:7800"), 403),
    (head(host="0.0.0.0:7800"), 403),
    (head(origin="null"), 403),
    (head(origin=""), 403),
    (head(origin="http://evil.example"), 403),
    (head(origin="http://localhost:90000"), 403),
    (head(origin="http://localhost:3000"), 403),
    (head(origin="https://localhost:7800"), 403),
    (head(origin="http://localhost"), 403),
    (head(origin="http://localhost:7800/"), 403),
    (head(origin="http://LOCALHOST:7800"), 403),
    (head(origin="http://127.0.0.1:7800"), 403),
    (head(origin="http://localhost:7800.evil.example"), 403),
    (head(origin="http://localhost:7800 http://evil.example"), 403),
    (head(sec_fetch_site="cross-site", sec_fetch_mode="no-cors"), 403),
    (head(sec_fetch_site="same-site", sec_fetch_mode="cors"), 403),
    (head("websocket", origin="null"), 403),
    (head("websocket", origin="https://evil.example"), 403),
    (head("websocket", origin="http://localhost:90000"), 403),
    (head("websocket", sec_fetch_site="same-origin"), 403),
    (head("websocket", host="evil.example"), 403),
    (head("websocket", host="evil.example", origin="http://evil.example"), 403),
    (head(method="POST", sec_fetch_site="same-origin", content_type=JSON), 403),
    (head(method="POST", content_type="text/plain", content_length="2"), 415),
    (head(method="POST", content_type="application/x-www-form-urlencoded", content_length="2"), 415),
    (head(method="POST", content_type="multipart/form-data; boundary=x"), 415),
    (head(method="POST", content_length="2"), 415),
    (head(method="PATCH", transfer_encoding="chunked"), 415),
    (head(method="DELETE", content_type="text/plain", content_length="2"), 415),
    (head(method="POST", content_type=JSON, content_length="1000001"), 413),
    (head(method="POST", content_type=JSON, content_length="many"), 400),
    (head(method="POST", content_type=JSON, content_length="-1"), 400),
    (Head("http", "GET", "/", {"host": [HERE, "evil.example"]}), 400),
    (Head("websocket", "GET", "/", {"host": [HERE], "origin": [OWN, "http://evil.example"]}), 400),
]
POLICY = Policy(origins=frozenset({"http://localhost:5173"}), max_body_bytes=1_000_000)


@pytest.mark.parametrize("given", ADMITTED, ids=str)
def test_admitted(given):
    assert admit(given, POLICY) is None


@pytest.mark.parametrize(("given", "status"), REFUSED, ids=str)
def test_refused(given, status):
    denied = admit(given, POLICY)
    assert denied is not None
    assert denied.status == status
    assert denied.message.endswith(".")


def test_a_configured_host_is_admitted():
    assert admit(head(host="box:7800"), Policy(hosts=frozenset({"box:7800"}))) is None


@pytest.mark.parametrize(
    ("claimed", "user"), [(None, "default"), ("", "default"), ("ann", "ann"), ("Zoë W.", "Zoë W.")]
)
def test_principal(claimed, user):
    assert principal(claimed) == user


@pytest.mark.parametrize("claimed", ["x" * 65, "a\nb", "a\x00", "   ", "a\u202eb"])
def test_no_principal(claimed):
    with pytest.raises(InvalidUser, match="user_id: expected"):
        principal(claimed)


def test_ids_may_be_longer_than_users():
    assert is_id("x" * 128, 128)
    assert not is_id("x" * 129, 128)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("localhost", ("localhost", None)),
        ("localhost:1", ("localhost", 1)),
        ("[::1]:65535", ("[::1]", 65535)),
        ("localhost:", None),
        ("localhost:65536", None),
        ("::1", None),
        ("a b", None),
    ],
)
def test_authorities(text, parts):
    assert split_authority(text) == parts


def test_origins():
    assert is_origin("http://localhost:5173")
    assert not is_origin("localhost:5173")
    assert not is_origin("http://localhost:5173/page")


# ------------------------------------------------------------------ over the wire


@pytest.mark.parametrize("path", ["/ws/chat", "/ws/chat/s1", "/ws/bus", "/ws/bus/s1"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:90000"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
async def test_a_foreign_page_cannot_open_a_socket(stage, path, headers):
    with pytest.raises(websockets.InvalidStatus, match="403"):
        await stage.connect(path, additional_headers=headers)


async def test_the_own_page_can(stage):
    client = await stage.connect(additional_headers={"Origin": stage.url, "Sec-Fetch-Site": "same-origin"})
    assert await client.pong() == []


async def test_an_allowed_origin_can(stage):
    stage.set(allowed_origins=("http://localhost:5173",))
    client = await stage.connect(additional_headers={"Origin": "http://localhost:5173"})
    assert await client.pong() == []


async def test_a_foreign_page_gets_readable_words(stage):
    answer = await stage.http("GET", "/api/sessions", headers={"Origin": "http://evil.example"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_refused")


async def test_a_form_is_refused(stage):
    answer = await stage.http("POST", "/api/sessions", content="{}", headers={"Content-Type": "text/plain"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "not_json")


async def test_a_preflight_of_a_foreign_page_is_refused(stage):
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = await stage.http("OPTIONS", "/api/sessions", headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


async def test_a_body_without_a_length_is_bounded_too(stage):
    stage.set(max_body_bytes=2000)

    async def parts():
        for _ in range(30):
            yield b" " * 100

    answer = await stage.http("POST", "/api/sessions", content=parts(), headers={"Content-Type": JSON})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


@pytest.mark.parametrize("path", ["/", "/health", "/api/sessions", "/nothing-here"])
async def test_every_answer_has_the_security_headers(stage, path):
    headers = (await stage.http("GET", path)).headers
    assert headers["content-security-policy"] == CSP
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"


def test_the_policy_allows_no_foreign_code():
    assert "unsafe" not in CSP
    assert "http" not in CSP
