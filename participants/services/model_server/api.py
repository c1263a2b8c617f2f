"""Ollama's HTTP API, as routes: from a request to a response, with the engine behind it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from participants.services.model_server import about, wire
from participants.services.model_server.about import Backend
from participants.services.model_server.catalogue import Model
from participants.services.model_server.chat import respond, tools_of
from participants.services.model_server.embed import shortened
from participants.services.model_server.errors import EngineUnavailable, Refused
from participants.services.model_server.generation import Json, Work
from participants.services.model_server.guard import LoopbackOnly
from participants.services.model_server.hangup import HungUp, body_of, until_hangup
from participants.services.model_server.prompt import plain_messages
from participants.services.model_server.turn import Turn, chat_shape, generate_shape

log = structlog.get_logger()
Handler = Callable[[Request], Awaitable[Response]]
_NOT_HERE = {
    "/api/pull": "models cannot be pulled into the embedded server: `local2` installs it; for others install Ollama",
    "/api/push": "the embedded server pushes nothing",
    "/api/create": "the embedded server creates no models: install Ollama for that",
    "/api/copy": "the embedded server copies no models",
    "/api/delete": "the embedded server deletes no models: remove the file that /api/show names",
    "/api/blobs/{digest}": "the embedded server keeps no blobs",
}


class OllamaApi:
    """The routes that need a model."""

    def __init__(self, backend: Backend, max_body_bytes: int) -> None:
        self._backend = backend
        self._max_body_bytes = max_body_bytes

    def routes(self) -> list[Route]:
        """Every address that Ollama has."""
        served = [
            Route("/", self._hello, methods=["GET"]),
            Route("/api/version", self._version, methods=["GET"]),
            Route("/api/tags", self._tags, methods=["GET"]),
            Route("/api/ps", self._ps, methods=["GET"]),
            Route("/api/show", self._show, methods=["POST"]),
            Route("/api/chat", self._chat, methods=["POST"]),
            Route("/api/generate", self._generate, methods=["POST"]),
            Route("/api/embed", self._embed, methods=["POST"]),
            Route("/api/embeddings", self._embeddings, methods=["POST"]),
        ]
        return served + [Route(path, _refuse_with(words), methods=_ANY) for path, words in _NOT_HERE.items()]

    async def _hello(self, _request: Request) -> Response:
        return PlainTextResponse("Ollama is running (LoCAL2's embedded model)")

    async def _version(self, _request: Request) -> Response:
        return JSONResponse(about.version())

    async def _tags(self, _request: Request) -> Response:
        return JSONResponse(about.tags(self._backend))

    async def _ps(self, _request: Request) -> Response:
        return JSONResponse(about.running(self._backend))

    async def _show(self, request: Request) -> Response:
        asked: wire.ShowRequest = await self._read(request, wire.ShowRequest)
        model = about.find(self._backend, asked.model or asked.name)
        return JSONResponse(about.show(self._backend, model))

    async def _chat(self, request: Request) -> Response:
        asked: wire.ChatRequest = await self._read(request, wire.ChatRequest)
        model = self._chat_model(asked)
        _refuse_thinking(model, asked.think)
        if any(message.images for message in asked.messages):
            _refuse_images(model)
        tools = tools_of(asked.tools)
        if tools and not model.tools:
            raise Refused(f"{model.name!r} does not support tools".replace("'", '"'))
        if not asked.messages:
            return await self._load_or_unload(asked, {"message": {"role": "assistant", "content": ""}})
        work = self._work(asked, messages=tuple(plain_messages(asked.messages)), schema=wire.schema_of(asked.format))
        # Only a question is routed: after a tool's result the model answers.
        routed = tools if asked.messages[-1].role == "user" else []
        turn = Turn(self._backend, asked, asked.stream is not False, chat_shape)
        return await turn.answer(request, lambda engine: respond(engine, work, routed))

    async def _generate(self, request: Request) -> Response:
        asked: wire.GenerateRequest = await self._read(request, wire.GenerateRequest)
        model = self._chat_model(asked)
        _refuse_thinking(model, asked.think)
        if asked.images:
            _refuse_images(model)
        for name in ("suffix", "template", "context"):
            if getattr(asked, name):
                raise Refused(f"{model.name} does not support {name!r} here")
        if not asked.prompt:
            return await self._load_or_unload(asked, {"response": ""})
        schema = wire.schema_of(asked.format)
        if asked.raw:
            work = self._work(asked, raw=asked.prompt, schema=schema)
        else:
            system = ({"role": "system", "content": asked.system},) if asked.system else ()
            work = self._work(asked, messages=(*system, {"role": "user", "content": asked.prompt}), schema=schema)
        turn = Turn(self._backend, asked, asked.stream is not False, generate_shape)
        return await turn.answer(request, lambda engine: engine.stream(work))

    async def _embed(self, request: Request) -> Response:
        asked: wire.EmbedRequest = await self._read(request, wire.EmbedRequest)
        model = self._embedding_model(asked)
        started = time.monotonic()
        texts = [asked.input] if isinstance(asked.input, str) else asked.input
        texts = [text for text in texts if text] if isinstance(asked.input, str) else texts
        vectors, tokens = await self._vectors(request, texts, asked.truncate is not False)
        took = int((time.monotonic() - started) * 1e9)
        return JSONResponse(
            {
                "model": model.name,
                "embeddings": [shortened(vector, asked.dimensions) for vector in vectors],
                "total_duration": took,
                "load_duration": 0,
                "prompt_eval_count": tokens,
            }
        )

    async def _embeddings(self, request: Request) -> Response:
        asked: wire.EmbeddingsRequest = await self._read(request, wire.EmbeddingsRequest)
        self._embedding_model(asked)
        vectors, _tokens = await self._vectors(request, [asked.prompt] if asked.prompt else [], True)
        return JSONResponse({"embedding": vectors[0] if vectors else []})

    async def _vectors(self, request: Request, texts: list[str], truncate: bool) -> tuple[list[list[float]], int]:
        if not texts:
            return [], 0
        return await until_hangup(request.receive, self._backend.embed(texts, truncate))

    async def _load_or_unload(self, asked: wire.Request, empty: Json) -> Response:
        keep_s = wire.seconds_of(asked.keep_alive, self._backend.keep_alive_s)
        engine = self._backend.engine()
        if keep_s == 0:
            await engine.unload()
        else:
            await engine.load()
            engine.keep(keep_s)
        reason = "unload" if keep_s == 0 else "load"
        return JSONResponse(
            {"model": asked.model, "created_at": wire.now(), **empty, "done": True, "done_reason": reason}
        )

    async def _read(self, request: Request, kind: Any) -> Any:
        body = await body_of(request, self._max_body_bytes)
        if body is None:
            raise Refused(f"the request is longer than {self._max_body_bytes >> 20} MB", 413)
        if not body:
            raise Refused("missing request body")
        return wire.decode(body, kind)

    def _chat_model(self, asked: wire.Request) -> Model:
        model = about.find(self._backend, asked.model)
        if model.kind != "chat":
            raise Refused(f'"{model.name}" does not support chat')
        return model

    def _embedding_model(self, asked: wire.Request) -> Model:
        model = about.find(self._backend, asked.model)
        if model.kind != "embedding":
            raise Refused(f'"{model.name}" does not support embeddings')
        return model

    def _work(self, asked: wire.Request, **what: Any) -> Work:
        num_ctx = wire.context_of(asked.options, self._backend.num_ctx)
        return Work(sampling=wire.sampling_of(asked.options), num_ctx=num_ctx, **what)


def _refuse_thinking(model: Model, think: bool | str | None) -> None:
    if think:
        raise Refused(f'"{model.name}" does not support thinking')


def _refuse_images(model: Model) -> None:
    raise Refused(f'"{model.name}" does not support images: install Ollama and pull a vision model, such as qwen2.5vl')


_ANY = ["GET", "POST", "PUT", "DELETE", "HEAD"]


def _refuse_with(words: str) -> Handler:
    async def handler(_request: Request) -> Response:
        return _error(words, 501)

    return handler


def _error(words: str, status: int) -> Response:
    # After 413 the client may still be sending: only closing the connection ends that.
    return JSONResponse({"error": words}, status, {"connection": "close"} if status == 413 else None)


async def _on_refused(_request: Request, error: Exception) -> Response:
    return _error(str(error), error.status if isinstance(error, Refused) else 400)


async def _on_unavailable(_request: Request, error: Exception) -> Response:
    return _error(str(error), 503)


async def _on_gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=499)  # nobody reads it


async def _on_http_error(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 500)
    words = {404: f"no such address: {request.url.path}", 405: f"{request.method} is not for {request.url.path}"}
    return _error(words.get(status, str(error)), status)


async def _on_bug(_request: Request, error: Exception) -> Response:
    log.error("request_failed", exc_info=error)
    return _error(f"internal error: {type(error).__name__}", 500)


def build_app(backend: Backend, max_body_bytes: int = 16 << 20) -> Starlette:
    """The application for an HTTP server."""
    handlers: dict[Any, Any] = {
        Refused: _on_refused,
        EngineUnavailable: _on_unavailable,
        HungUp: _on_gone,
        ClientDisconnect: _on_gone,
        404: _on_http_error,
        405: _on_http_error,
        Exception: _on_bug,
    }
    routes = OllamaApi(backend, max_body_bytes).routes()
    return Starlette(routes=routes, middleware=[Middleware(LoopbackOnly)], exception_handlers=handlers)
