"""What do all REST answers have in common: errors as `{error: {code, message}}`, and who is asking?"""

from __future__ import annotations

from typing import Annotated

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from bus.command import local2
from bus.errors import ConfigError, EnvelopeError, RequestFailed, RequestTimeout
from gateway.auth import BodyTooLarge, InvalidUser, principal
from gateway.settings import UnknownSection

_STATUS = {"not_found": 404, "conflict": 409, "ended": 409, "forbidden": 403, "internal": 500, "too_many": 429}
_CODES = {400: "bad_request", 404: "not_found", 405: "method_not_allowed"}
_WHO = {
    "conversation": "The conversation store",
    "memory_store": "The memory",
    "generator": "The generator",
    "ops": "The process watcher",
}


def user(user_id: Annotated[str | None, Query()] = None) -> str:
    """Who is asking: a dependency of the routes."""
    return principal(user_id)


def refusal(status: int, code: str, message: str) -> JSONResponse:
    """An error as JSON."""
    return JSONResponse({"error": {"code": code, "message": message}}, status)


def install(app: FastAPI) -> None:
    """Turn exceptions into readable answers."""
    app.add_exception_handler(RequestFailed, _refused)
    app.add_exception_handler(RequestTimeout, _silent)
    app.add_exception_handler(EnvelopeError, _garbled)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(InvalidUser, _bad_user)
    app.add_exception_handler(ConfigError, _bad_setting)
    app.add_exception_handler(UnknownSection, _no_section)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _fault)


def _refused(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestFailed)  # noqa: S101  for the type checker: registered for it alone
    return refusal(_STATUS.get(error.code, 422), error.code, error.message)


def _silent(_request: Request, error: Exception) -> JSONResponse:
    service = getattr(error, "subject", "").partition(".")[0]
    who = _WHO.get(service, "The participant that knows")
    return refusal(503, f"{service or 'participant'}_unavailable", f"{who} does not answer. Try again in a moment.")


def _garbled(_request: Request, _error: Exception) -> JSONResponse:
    return refusal(502, "bad_answer", "A participant answered with something unexpected: are all of one version?")


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101  see _refused
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:])
    return refusal(422, "invalid", f"{where}: {first['msg']}" if where else str(first["msg"]))


def _bad_user(_request: Request, error: Exception) -> JSONResponse:
    return refusal(400, "bad_user", str(error))


def _bad_setting(_request: Request, error: Exception) -> JSONResponse:
    return refusal(422, "bad_setting", str(error))


def _no_section(_request: Request, error: Exception) -> JSONResponse:
    return refusal(404, "not_found", f"There is no section {str(error)!r}.")


def _http(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101  see _refused
    if isinstance(error.__cause__, BodyTooLarge):
        denied = error.__cause__.denied
        return refusal(denied.status, denied.code, denied.message)
    return refusal(error.status_code, _CODES.get(error.status_code, "http"), str(error.detail))


def _fault(_request: Request, _error: Exception) -> JSONResponse:
    log = local2("logs gateway")
    return refusal(500, "internal", f"Something went wrong in the gateway; its log says what: {log}")
