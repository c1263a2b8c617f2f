"""Sessions, models, participants and the page, over REST."""

from __future__ import annotations

import pytest

from bus.envelope import TurnRef
from bus.messages.control import Presence, Processes, ProcessesRequest, ProcessInfo
from bus.messages.ledger import (
    CreateSession,
    DeleteSession,
    DeleteTurn,
    ListSessions,
    RenameSession,
    SearchTurns,
    ShowBranch,
    ToolRecord,
    TurnEnd,
)
from bus.messages.persona import GetPersonas, PersonaInfo, Personas
from bus.messages.tool import ToolSchema


async def test_the_list_of_sessions(stage):
    answer = await stage.http("GET", "/api/sessions?limit=5")
    message, turn = await stage.ledger.was_asked(ListSessions)
    assert [session["session_id"] for session in answer.json()["sessions"]] == ["s1"]
    assert (message, turn) == (ListSessions(limit=5), TurnRef("", "default", ""))


async def test_turns_are_found_by_their_words(stage):
    answer = await stage.http("GET", "/api/search?q=rain%20boots&limit=3&user_id=bob")
    message, turn = await stage.ledger.was_asked(SearchTurns)
    assert (message, turn) == (SearchTurns(text="rain boots", limit=3), TurnRef("", "bob", ""))
    (hit,) = answer.json()["hits"]
    assert (hit["query_id"], hit["snippet"], hit["marks"]) == ("q1", "boots", [{"start": 0, "end": 5}])


@pytest.mark.parametrize("query", ["", "q=x&limit=0", "q=" + "x" * 501])
async def test_a_bad_search_gets_words(stage, query):
    answer = await stage.http("GET", f"/api/search?{query}")
    assert answer.status_code == 422
    assert answer.json()["error"]["message"]


async def test_another_users_list_is_empty(stage):
    assert (await stage.http("GET", "/api/sessions?user_id=bob")).json() == {"sessions": []}


@pytest.mark.parametrize("query", ["limit=0", "limit=many", "user_id=" + "x" * 65])
async def test_a_bad_parameter_gets_words(stage, query):
    answer = await stage.http("GET", f"/api/sessions?{query}")
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["message"]


async def test_a_session_is_made(stage):
    answer = await stage.http("POST", "/api/sessions", json={})
    await stage.ledger.was_asked(CreateSession)
    assert (answer.status_code, answer.json()["session_id"]) == (201, "made")


async def test_a_session_is_made_without_a_body(stage):
    assert (await stage.http("POST", "/api/sessions")).status_code == 201
    message, _turn = await stage.ledger.was_asked(CreateSession)
    assert message.incognito is False


async def test_an_incognito_session_is_made(stage):
    assert (await stage.http("POST", "/api/sessions", json={"incognito": True})).status_code == 201
    message, _turn = await stage.ledger.was_asked(CreateSession)
    assert message.incognito is True


async def test_a_session_with_its_turns(stage):
    call = ToolRecord(call_id="c1", tool="get_datetime", outcome="ok", result="noon", seconds=0.5, untrusted=True)
    end = TurnEnd(
        status="answered", finish_reason="stop", answer="because", tool_calls=[call], model="m", answer_tokens=3
    )
    stage.ledger.put("q1", status="answered", end=end)
    body = (await stage.http("GET", "/api/sessions/s1")).json()
    (turn,) = body["turns"]
    assert body["session"] == {
        "session_id": "s1",
        "title": "A title",
        "created_at": turn["created_at"],
        "updated_at": turn["created_at"],
        "turns": 1,
        "running": False,
        "persona": "",
        "incognito": False,
    }
    assert body["summary"] is None
    assert turn == {
        "query_id": "q1",
        "query": "why?",
        "created_at": turn["created_at"],
        "status": "answered",
        "position": 0,
        "finish_reason": "stop",
        "reason": "",
        "code": "",
        "retryable": False,
        "answer": "because",
        "thinking": "",
        "tool_calls": [
            {
                "call_id": "c1",
                "tool": "get_datetime",
                "args": {},
                "outcome": "ok",
                "result": "noon",
                "sources": [],
                "seconds": 0.5,
                "untrusted": True,
            }
        ],
        "approvals": [],
        "model": "m",
        "demo": False,
        "prompt_tokens": None,
        "answer_tokens": 3,
        "num_ctx": None,
        "left_out": 0,
        "first_token_s": None,
        "seconds": None,
        "facts": [],
        "recalled": [],
        "not_recalled": "",
        "groundedness": "knowledge",
        "grade": None,
        "sentiment": 0,
        "after": "",
        "versions": [],
    }


async def test_another_users_session_is_not_there(stage):
    stage.ledger.put("q1", user="ann")
    answer = await stage.http("GET", "/api/sessions/s1?user_id=bob")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


async def test_a_session_is_renamed(stage):
    answer = await stage.http("PATCH", "/api/sessions/s1", json={"title": "Better"})
    message, turn = await stage.ledger.was_asked(RenameSession)
    assert (answer.status_code, message, turn.session_id) == (204, RenameSession(title="Better"), "s1")


@pytest.mark.parametrize("body", [{}, {"title": ""}, {"title": "x" * 201}, {"title": 5}, [1]])
async def test_a_bad_title_gets_words(stage, body):
    answer = await stage.http("PATCH", "/api/sessions/s1", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")


async def test_a_body_that_is_no_json_gets_words(stage):
    headers = {"content-type": "application/json"}
    answer = await stage.http("PATCH", "/api/sessions/s1", content="{", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "invalid")


async def test_another_branch_is_shown(stage):
    stage.ledger.put("q2", status="answered", after="q1", versions=["q2", "q3"])
    answer = await stage.http("PUT", "/api/sessions/s1/shown", json={"query_id": "q2"})
    _, turn = await stage.ledger.was_asked(ShowBranch)
    assert turn == TurnRef("s1", "default", "q2")
    assert [(t["query_id"], t["after"], t["versions"]) for t in answer.json()["turns"]] == [("q2", "q1", ["q2", "q3"])]


@pytest.mark.parametrize("body", [{}, {"query_id": ""}, {"query_id": 7}, [], {"query_id": "x" * 1000}])
async def test_a_branch_needs_a_turn(stage, body):
    assert (await stage.http("PUT", "/api/sessions/s1/shown", json=body)).status_code == 422


async def test_a_turn_is_deleted(stage):
    answer = await stage.http("DELETE", "/api/sessions/s1/turns/q1?user_id=bob")
    _, turn = await stage.ledger.was_asked(DeleteTurn)
    assert (answer.status_code, turn) == (204, TurnRef("s1", "bob", "q1"))


async def test_a_session_is_deleted(stage):
    answer = await stage.http("DELETE", "/api/sessions/s1")
    await stage.ledger.was_asked(DeleteSession)
    assert (answer.status_code, answer.content) == (204, b"")


async def test_a_missing_session_is_not_deleted(stage):
    assert (await stage.http("DELETE", "/api/sessions/missing")).status_code == 404


async def test_a_silent_ledger_is_said(stage):
    await stage.ledger.bus.close()
    answer = await stage.http("GET", "/api/sessions")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "conversation_unavailable")
    assert answer.json()["error"]["message"].startswith("The conversation store does not answer")


async def test_models(stage):
    body = (await stage.http("GET", "/api/models")).json()
    assert (body["backend"]["kind"], body["tools"], body["roles"]) == ("ollama", ["get_datetime"], [])
    assert (body["commands"], body["refused"], body["counts"]) == ([], [], {})


async def test_personas(stage):
    async def known(_message, _request):
        return Personas(personas=[PersonaInfo(name="pirate", description="At sea", seed="Arr.")])

    assert (await stage.http("GET", "/api/personas")).json()["error"]["code"] == "personas_unavailable"
    (await stage.other("personas")).serve(GetPersonas, known)
    body = (await stage.http("GET", "/api/personas")).json()
    assert body == {"personas": [{"name": "pirate", "description": "At sea"}]}


async def test_participants_as_ops_knows_them(stage):
    async def answer(_message, _envelope):
        return Processes(processes=[ProcessInfo(name="datetime", state="ready", pid=7, restarts=2)])

    ops = await stage.other("ops")
    ops.serve(ProcessesRequest, answer)
    schema = ToolSchema(tool="get_datetime", name="datetime", description="x", parameters={"type": "object"})
    ops.publish(schema)
    body = (await stage.http("GET", "/api/participants")).json()
    (process,) = body["participants"]
    assert (body["source"], body["supervisor"]) == ("ops", "ok")
    assert [process[key] for key in ("name", "pid", "restarts", "tool")] == ["datetime", 7, 2, "get_datetime"]


async def test_participants_without_ops(stage):
    stage.generator.bus.publish(Presence(name="generator", instance="there", kind="agent", state="ready", pid=7))
    body = (await stage.http("GET", "/api/participants")).json()
    (process,) = body["participants"]
    assert (body["source"], process["name"], process["state"]) == ("presence", "generator", "ready")
    assert "ops does not answer" in body["supervisor"]


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json", "/api/unheard-of"])
async def test_there_are_no_other_pages(stage, path):
    answer = await stage.http("GET", path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


async def test_a_wrong_method_gets_words(stage):
    answer = await stage.http("PUT", "/api/sessions")
    assert answer.status_code in (404, 405)
    assert answer.json()["error"]["message"]
