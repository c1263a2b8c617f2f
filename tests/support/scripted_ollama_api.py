"""Which endpoint does what: Ollama's own, and those by which a test in another process controls the server?"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from typing import Any

import msgspec

from tests.support import scripted_ollama_default as default
from tests.support.scripted_ollama_http import Exchange, Request, RequestLog
from tests.support.scripted_ollama_play import Player, now, sink_for
from tests.support.scripted_ollama_script import GENERATING, Default, Done, Order, Script, Step

VERSION = "0.12.6"
_LAYER_BYTES = 4_000_000
_Handler = Callable[[Exchange], Awaitable[None]]


class Refusal(Exception):
    """A request that is answered with an error status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Api:
    """Ollama's endpoints over a script."""

    def __init__(self, script: Script, models: list[str], slots: int | None) -> None:
        self._script = script
        self._models = models
        self._loaded: dict[str, None] = {}
        self._slot = asyncio.Semaphore(slots) if slots else nullcontext()
        self._routes: dict[tuple[str, str], _Handler] = {
            ("GET", "/"): self._root,
            ("GET", "/api/version"): self._version,
            ("GET", "/api/tags"): self._tags,
            ("GET", "/api/ps"): self._ps,
            ("POST", "/api/show"): self._show,
            ("POST", "/api/chat"): self._generate,
            ("POST", "/api/generate"): self._generate,
            ("POST", "/api/embed"): self._embed,
            ("POST", "/api/embeddings"): self._embeddings,
            ("POST", "/api/pull"): self._pull,
        }

    async def answer(self, exchange: Exchange) -> None:
        """Answer as the script says, else as the real server would."""
        request = exchange.request
        handler = self._routes.get(("GET" if request.method == "HEAD" else request.method, request.path))
        if handler is None:
            await exchange.answer(404, "text/plain", b"404 page not found")
            return
        try:
            _check(exchange)
            if request.path in GENERATING or not await self._scripted(exchange):
                await handler(exchange)
        except Refusal as refusal:
            await exchange.answer_json(refusal.status, {"error": str(refusal)})

    def _steps(self, request: Request) -> list[Step]:
        reply = self._script.take(request.path, request.model, request.said)
        return reply.steps if reply else [Default()]

    async def _scripted(self, exchange: Exchange) -> bool:
        """Whether the script took care of the whole answer."""
        steps = self._steps(exchange.request)
        as_ever = isinstance(steps[-1], Default)
        await Player(exchange, self._script).play(steps[:-1] if as_ever else steps)
        return not as_ever

    async def _generate(self, exchange: Exchange) -> None:
        request = exchange.request
        _check_abilities(exchange)
        if not request.messages:
            await self._load(exchange)
            return
        self._loaded[request.model] = None
        async with self._slot:
            steps = self._steps(request)
            if isinstance(last := steps[-1], Default):
                steps = [*steps[:-1], *default.answer(request, last), Done()]
            await Player(exchange, self._script).play(steps)

    async def _load(self, exchange: Exchange) -> None:
        unload = exchange.request.body.get("keep_alive") in (0, "0", "0s")
        if unload:
            self._loaded.pop(exchange.request.model, None)
        else:
            self._loaded[exchange.request.model] = None
        empty = {"message": {"role": "assistant", "content": ""}} if exchange.request.path == "/api/chat" else {}
        reason = "unload" if unload else "load"
        head = {"model": exchange.request.model, "created_at": now(), "done": True, "done_reason": reason}
        await exchange.answer_json(200, head | (empty or {"response": ""}))

    async def _root(self, exchange: Exchange) -> None:
        await exchange.answer(200, "text/plain; charset=utf-8", b"Ollama is running")

    async def _version(self, exchange: Exchange) -> None:
        await exchange.answer_json(200, {"version": VERSION})

    async def _tags(self, exchange: Exchange) -> None:
        models = [default.describe(name) | {"modified_at": now()} for name in self._models]
        await exchange.answer_json(200, {"models": models})

    async def _ps(self, exchange: Exchange) -> None:
        more = {"expires_at": now(), "size_vram": 0, "context_length": 4096}
        await exchange.answer_json(200, {"models": [default.describe(name) | more for name in self._loaded]})

    async def _show(self, exchange: Exchange) -> None:
        shown = {
            "license": "",
            "modelfile": f"FROM {exchange.request.model}",
            "parameters": "",
            "template": "{{ .Prompt }}",
            "details": default.details(),
            "model_info": {"general.architecture": "scripted", "scripted.context_length": 4096},
            "capabilities": default.capabilities(exchange.request.model),
            "modified_at": now(),
        }
        await exchange.answer_json(200, shown)

    async def _embed(self, exchange: Exchange) -> None:
        body, model = exchange.request.body, exchange.request.model
        given: str | list[str] = body.get("input") or []
        texts = [given] if isinstance(given, str) else given
        vectors = [default.embed(model, text, body.get("dimensions")) for text in texts]
        counted = {"total_duration": 1_000_000, "load_duration": 1_000_000, "prompt_eval_count": len(texts)}
        await exchange.answer_json(200, {"model": model, "embeddings": vectors} | counted)

    async def _embeddings(self, exchange: Exchange) -> None:
        vector = default.embed(exchange.request.model, exchange.request.said)
        await exchange.answer_json(200, {"embedding": vector})

    async def _pull(self, exchange: Exchange) -> None:
        model, sink = exchange.request.model, sink_for(exchange)
        if "missing" in model:
            await sink.fail("pull model manifest: file does not exist")
            return
        for progress in _pulling(model):
            await sink.part(progress)
        if model not in self._models:
            self._models.append(model)
        await sink.end()


class Control:
    """`POST /_script`, `GET /_requests`, and waiting for what happens; see each handler for its parameters."""

    def __init__(self, script: Script, log: RequestLog) -> None:
        self._script = script
        self._log = log

    async def answer(self, exchange: Exchange) -> None:
        """Find the handler of a path that starts with an underscore."""
        handlers: dict[str, _Handler] = {
            "_script": self._obey,
            "_requests": self._requests,
            "_closed": self._closed,
            "_reached": self._reached,
        }
        handler = handlers.get(exchange.request.path.split("/")[1])
        if handler is None:
            await exchange.answer_json(404, {"error": f"no such control: {exchange.request.path!r}"})
            return
        try:
            await handler(exchange)
        except (msgspec.ValidationError, msgspec.DecodeError, LookupError, ValueError) as error:
            await exchange.answer_json(400, {"error": str(error)})

    async def _obey(self, exchange: Exchange) -> None:
        """`POST /_script` with an Order."""
        self._script.obey(msgspec.json.decode(exchange.request.raw, type=Order))
        await exchange.answer_json(200, {})

    async def _requests(self, exchange: Exchange) -> None:
        """`GET /_requests?since=INDEX&path=/api/chat&wait_s=5`: waits until there is one, at most so long."""
        query = exchange.request.query
        since, path = int(query.get("since", 0)), query.get("path")
        await _at_most(exchange, self._log.wait_since(since, path))
        await exchange.answer_json(200, [request.to_json() for request in self._log.since(since, path)])

    async def _closed(self, exchange: Exchange) -> None:
        """`GET /_closed/INDEX?wait_s=5`: has the client of this request hung up, and when?"""
        request = self._log.all[int(exchange.request.path.split("/")[2])]
        await _at_most(exchange, request.closed.wait())
        await exchange.answer_json(200, request.to_json())

    async def _reached(self, exchange: Exchange) -> None:
        """`GET /_reached/NAME?wait_s=5`: does a reply wait at this gate?"""
        gate = self._script.gate(exchange.request.path.split("/")[2])
        await _at_most(exchange, gate.reached.wait())
        await exchange.answer_json(200, {"reached": gate.reached.is_set()})


async def _at_most(exchange: Exchange, waiting: Awaitable[Any]) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(waiting, float(exchange.request.query.get("wait_s", 0)))


def _check(exchange: Exchange) -> None:
    request = exchange.request
    if request.method != "POST":
        return
    if not request.raw:
        raise Refusal(400, "missing request body")
    try:
        json.loads(request.raw)
    except ValueError as error:
        raise Refusal(400, str(error)) from error
    if "missing" in request.model and request.path != "/api/pull":
        raise Refusal(404, f"model '{request.model}' not found")
    if not request.model:
        raise Refusal(400, "model is required")


def _check_abilities(exchange: Exchange) -> None:
    body, model = exchange.request.body, exchange.request.model
    able = default.capabilities(model)
    if "completion" not in able:
        raise Refusal(400, f'"{model}" does not support {exchange.request.path.removeprefix("/api/")}')
    if body.get("think") and "thinking" not in able:
        raise Refusal(400, f'"{model}" does not support thinking')
    if body.get("tools") and "tools" not in able:
        raise Refusal(400, f"{default.full_name(model)} does not support tools")


def _pulling(model: str) -> list[dict[str, Any]]:
    digest = default.describe(model)["digest"]
    layer = {"status": f"pulling {digest[:12]}", "digest": f"sha256:{digest}", "total": _LAYER_BYTES}
    done = [layer | {"completed": _LAYER_BYTES * quarter // 4} for quarter in range(5)]
    steps = ["verifying sha256 digest", "writing manifest", "success"]
    return [{"status": "pulling manifest"}, *done, *({"status": step} for step in steps)]
