"""How llama.cpp is driven inside this process: blocking calls only, made from worker threads."""

from __future__ import annotations

import gc
import os
import platform
import secrets
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import msgspec

from participants.services.model_server.errors import ContextOverflow, EngineUnavailable, Refused
from participants.services.model_server.generation import Json, Work

# The engine turns a schema into a grammar without a chance to cancel: this much takes it up to four seconds.
MAX_SCHEMA_BYTES = 20_000
MAX_SCHEMA_DEPTH = 64
OnChunk = Callable[[Json], bool]


class LlamaConfig(msgspec.Struct, frozen=True):
    """How the engine is built. `threads` 0: as many as the machine has real cores for."""

    model_path: Path
    num_ctx: int
    slots: int
    batch: int
    threads: int = 0


class Llama:
    """A loaded model. Every method blocks, and lets go of the interpreter lock while it does."""

    def __init__(self, config: LlamaConfig) -> None:
        check_cpu()
        try:
            # llama.cpp opens a listener come what may. Its socket is unlinked at once: no way in, no remains.
            with tempfile.TemporaryDirectory(prefix="local2-llama-") as folder:
                self._server: Any = _open(config, Path(folder) / "llama.sock")  # ".sock" makes it a Unix socket
        except (RuntimeError, ValueError, OSError) as error:
            raise EngineUnavailable(f"the model {config.model_path.name} could not be loaded: {error}") from error

    def run(self, work: Work, slot: int, on_chunk: OnChunk) -> None:
        """Generate; each chunk goes to `on_chunk`, which returns True to cancel. Raises Refused."""
        handle = self._server.handle_completions if work.raw else self._server.handle_chat_completions
        try:
            answer = handle(request_of(work, slot), on_chunk)
        except (RuntimeError, ValueError, TypeError) as error:  # TypeError: "Recursion limit reached"
            raise Refused(f"the engine refused the request: {error}") from error
        if isinstance(answer, dict):
            raise_error(cast(Json, answer))

    def close(self) -> None:
        """Free the model's memory; waits for the engine's threads."""
        self._server = None
        gc.collect()


def _open(config: LlamaConfig, socket: Path) -> Any:
    # Its OpenMP threads wait for each other in a loop: beside other work on the same cores that made two engines ten
    # times slower each. A short wait costs 1.5 % alone. It is read when the library is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    module: Any = import_module("xllamacpp")  # compiled, without types
    params = module.CommonParams()
    params.model.path = str(config.model_path)
    params.model_alias = {config.model_path.stem}
    params.n_ctx = config.num_ctx
    params.n_parallel = config.slots
    params.kv_unified = True  # else each slot gets its share of the context only
    params.n_batch = params.n_ubatch = config.batch  # a cancel acts after the running batch
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = config.threads or thread_count()
    params.load_mode = module.llama_load_mode.LLAMA_LOAD_MODE_NONE
    params.cache_ram_mib = 0  # 8 GiB by default
    params.use_jinja = True
    params.warmup = False  # our own warm-up runs a prompt that is of use
    params.verbosity = -1
    params.hostnames = [str(socket)]
    params.api_keys = [secrets.token_urlsafe(32)]
    params.ui = False
    params.endpoint_slots = False
    return module.Server(params)


# As the makers of the default model advise; llama.cpp's own suit larger models.
DEFAULT_SAMPLING: Json = {"temperature": 0.7, "top_p": 0.8, "top_k": 20, "repeat_penalty": 1.05}


def request_of(work: Work, slot: int) -> Json:
    """The engine's request for `work`."""
    request: Json = {
        "stream": True,
        "stream_options": {"include_usage": True},
        "return_progress": True,  # a chunk after each batch of the prompt: the only chance to cancel there
        "cache_prompt": True,
        "id_slot": slot,
    }
    request |= {"prompt": work.raw} if work.raw else {"messages": list(work.messages)}
    given = {name: value for name, value in msgspec.structs.asdict(work.sampling).items() if value not in (None, ())}
    request |= DEFAULT_SAMPLING | given
    if work.schema is not None:
        request["json_schema"] = _bounded(work.schema)
    return request


def _bounded(schema: Json) -> Json:
    if _is_deeper(schema, MAX_SCHEMA_DEPTH):
        raise Refused("the JSON schema is nested too deeply")
    length = len(msgspec.json.encode(schema))
    if length > MAX_SCHEMA_BYTES:
        raise Refused(f"the JSON schema is too long: {length} bytes of at most {MAX_SCHEMA_BYTES}")
    return schema


def _is_deeper(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        return not levels or any(_is_deeper(inner, levels - 1) for inner in cast(Json, value).values())
    if isinstance(value, list):
        return not levels or any(_is_deeper(inner, levels - 1) for inner in cast(list[Any], value))
    return False


def raise_error(answer: Json) -> None:
    """Raise what an `{"error": …}` answer says, in our words."""
    error = answer.get("error")
    if not error:
        return
    details: Json = cast(Json, error) if isinstance(error, dict) else {"message": str(error)}
    if details.get("type") == "exceed_context_size_error":
        raise ContextOverflow(int(details.get("n_prompt_tokens", 0)), int(details.get("n_ctx", 0)))
    message = str(details.get("message", "unknown error"))
    if "context size has been exceeded" in message.lower():
        raise Refused("the context is full: several conversations share it; try again, or start a new one")
    raise Refused(f"the engine refused the request: {message}", 400 if details.get("code") == 400 else 500)


def thread_count() -> int:
    """Cores that this process may use; more than the real ones slow llama.cpp down."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return usable if usable <= 4 else min(usable // 2 + 1, 8)


def check_cpu() -> None:
    """The wheels are compiled for AVX2: elsewhere the process would die of an illegal instruction."""
    if platform.machine().lower() not in {"x86_64", "amd64"} or sys.platform != "linux":
        return
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    if "avx2" not in flags.split():
        raise EngineUnavailable(
            "this computer's processor has no AVX2, which the built-in engine needs: install Ollama "
            "(https://ollama.com), or set OLLAMA_HOST to a machine that runs it"
        )
