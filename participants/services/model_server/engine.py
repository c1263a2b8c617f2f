"""When the model is in memory, who uses it, and how its chunks reach the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

import structlog

from participants.services.model_server.errors import ContextOverflow, EngineUnavailable
from participants.services.model_server.generation import Delta, Done, Event, Json, OnState, Work
from participants.services.model_server.llama import Llama, LlamaConfig, raise_error
from participants.services.model_server.slots import SlotPool

log = structlog.get_logger()
T = TypeVar("T")
STOPPING = "the embedded model is stopping; ask again in a moment"


class LlamaEngine:
    """One model, loaded when first used and dropped when idle. Belongs to one event loop."""

    def __init__(self, config: LlamaConfig, on_state: OnState, keep_s: float | None = 300.0) -> None:
        self.num_ctx = config.num_ctx
        self.expires_at: float | None = None
        self._config = config
        self._on_state = on_state
        self._default_keep_s = keep_s
        self._slots = SlotPool(config.slots - 1)
        self._threads = ThreadPoolExecutor(config.slots + 1, "llama")
        self._llama: Llama | None = None
        self._lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._unloading: asyncio.Task[None] | None = None
        self._calls: set[_Call] = set()
        self._closing = False

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._llama is not None

    @property
    def busy(self) -> bool:
        """Whether anything runs or waits."""
        return not self._slots.idle

    async def load(self) -> None:
        """Bring the model into memory. Raises EngineUnavailable."""
        await self._loaded()

    async def _loaded(self) -> Llama:
        async with self._lock:
            if self._closing:
                raise EngineUnavailable(STOPPING)
            if self._llama is None:
                self._on_state("loading", "")
                started = time.monotonic()
                try:
                    self._llama = await self._in_thread(lambda: Llama(self._config))
                except EngineUnavailable as error:
                    self._on_state("error", str(error))
                    raise
                log.info("model_loaded", seconds=round(time.monotonic() - started, 2))
                self._on_state("ready", "")
                self.keep(self._default_keep_s)
            return self._llama

    async def unload(self) -> None:
        """Free the model's memory, once what runs is done."""
        while not await self._unload_if_idle():
            await self._slots.wait_idle()

    async def _unload_if_idle(self) -> bool:
        async with self._lock:
            # Whoever holds a slot may be waiting for the lock: never wait for slots while holding it.
            if not self._slots.idle:
                return False
            llama, self._llama = self._llama, None
            self._cancel_timer()
            if llama is not None:
                self._slots.forget()
                await self._in_thread(llama.close)
                self._on_state("idle", "")
            return True

    async def close(self) -> None:
        """End what runs and waits with an error, unload, and let the threads go."""
        self._closing = True
        for call in self._calls:
            call.fail(EngineUnavailable(STOPPING))
        await self.unload()
        self._threads.shutdown(wait=False)

    def keep(self, seconds: float | None) -> None:
        """Unload after so many idle seconds (None: never) from now on."""
        self._cancel_timer()
        if seconds is not None and self._llama is not None:
            self.expires_at = time.time() + seconds
            self._timer = asyncio.get_running_loop().call_later(seconds, self._expire, seconds)

    def _expire(self, seconds: float) -> None:
        if self._slots.idle:
            self._unloading = asyncio.get_running_loop().create_task(self.unload(), name="unload idle model")
        else:
            self.keep(max(seconds, 1.0))

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.expires_at = None

    async def stream(self, work: Work) -> AsyncGenerator[Event, None]:
        """Generate. Closing the generator, or cancelling the task, stops the engine within one batch or token."""
        async with self._slots.take(work.lane, work.key) as slot:
            llama = await self._loaded()
            call = _Call(work.num_ctx or self.num_ctx)
            async for event in self._follow(llama, work, slot.number, call):
                yield event

    async def run(self, jobs: Sequence[Work]) -> None:
        """Process the prompts and throw the answers away, giving way to every real request: the warm-up."""
        for work in jobs:
            finished = False
            while not finished:
                await self._slots.wait_idle()
                call = _Call(self.num_ctx)
                async with self._slots.take(work.lane, work.key, call.cancel) as slot:
                    llama = await self._loaded()
                    async for event in self._follow(llama, work, slot.number, call):
                        finished = finished or isinstance(event, Done)

    async def _follow(self, llama: Llama, work: Work, slot: int, call: _Call) -> AsyncGenerator[Event, None]:
        running = asyncio.get_running_loop().run_in_executor(self._threads, llama.run, work, slot, call.on_chunk)
        running.add_done_callback(call.on_end)
        self._calls.add(call)
        try:
            while (chunk := await call.chunks.get()) is not None:
                for event in call.events_of(chunk):
                    yield event
                if call.is_full:
                    call.cancel()
                    yield call.cut_short()
                    break
            else:
                await running  # raises what the engine raised
        finally:
            self._calls.discard(call)
            call.cancel()
            await asyncio.wait([running])  # until then the slot is not free
            _ = running.cancelled() or running.exception()  # else asyncio warns that nobody looked

    async def _in_thread(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function)


class _Call:
    """One generation: carries chunks from the engine's thread to the loop, and the wish to stop the other way."""

    def __init__(self, num_ctx: int) -> None:
        self.chunks: asyncio.Queue[Json | EngineUnavailable | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._num_ctx = num_ctx
        self._cancelled = False
        self._started = time.monotonic()
        self._first: float | None = None
        self._prompt_tokens = 0
        self._cached_tokens = 0
        self._pieces = 0
        self._reason = "stop"

    def cancel(self) -> None:
        """Stop at the next chance."""
        self._cancelled = True

    def fail(self, error: EngineUnavailable) -> None:
        """Stop, and let the one who waits for chunks know why."""
        self.cancel()
        self.chunks.put_nowait(error)

    def on_chunk(self, chunk: Json) -> bool:
        """Called by the engine in its thread; True cancels."""
        self._loop.call_soon_threadsafe(self.chunks.put_nowait, chunk)
        return self._cancelled

    def on_end(self, _running: asyncio.Future[None]) -> None:
        """Called in the loop when the engine's call has returned."""
        self.chunks.put_nowait(None)

    @property
    def is_full(self) -> bool:
        """Whether the request's own context, which may be smaller than the engine's, is used up."""
        return bool(self._prompt_tokens) and self._prompt_tokens + self._pieces >= self._num_ctx

    def events_of(self, chunk: Json | EngineUnavailable) -> list[Event]:
        """What a chunk means. Raises Refused, EngineUnavailable."""
        if isinstance(chunk, EngineUnavailable):
            raise chunk
        raise_error(chunk)
        if progress := chunk.get("prompt_progress"):
            self._note_prompt(progress)
        if "timings" in chunk and (usage := chunk.get("usage")):
            return [self._done(usage, chunk["timings"])]
        return [event for choice in chunk.get("choices", ()) if (event := self._piece(choice))]

    def _note_prompt(self, progress: Json) -> None:
        self._prompt_tokens, self._cached_tokens = int(progress["total"]), int(progress["cache"])
        if self._prompt_tokens >= self._num_ctx:
            raise ContextOverflow(self._prompt_tokens, self._num_ctx)

    def _piece(self, choice: Json) -> Delta | None:
        self._reason = choice.get("finish_reason") or self._reason
        delta = cast(Json, choice.get("delta") or {"content": choice.get("text")})
        text, thinking = delta.get("content") or "", delta.get("reasoning_content") or ""
        if not text and not thinking:
            return None
        self._pieces += 1
        self._first = self._first or time.monotonic()
        return Delta(text, thinking)

    def _done(self, usage: Json, timings: Json) -> Done:
        return Done(
            reason="length" if self._reason == "length" else "stop",
            prompt_tokens=int(usage["prompt_tokens"]),
            cached_tokens=int(timings["cache_n"]),
            answer_tokens=int(usage["completion_tokens"]),
            prompt_s=float(timings["prompt_ms"]) / 1e3,
            answer_s=float(timings["predicted_ms"]) / 1e3,
        )

    def cut_short(self) -> Done:
        """The end that the engine does not give when it is stopped; a piece is about a token."""
        first = self._first or time.monotonic()
        return Done(
            "length",
            self._prompt_tokens,
            self._cached_tokens,
            self._pieces,
            first - self._started,
            time.monotonic() - first,
        )
