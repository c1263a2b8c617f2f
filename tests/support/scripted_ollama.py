"""A model server that says what a test wants: Ollama's wire protocol, with every fault a test can think of.

In a test:

    async with ScriptedOllama() as server:
        server.reply(Think("hm"), Say(["Hel", "lo"]), Wait("more"), Drop(), match="greet")
        ...  # point the program at server.url
        request = await server.next_request("/api/chat")
        server.release("more")

As a process, steered over HTTP: `python -m tests.support.scripted_ollama --port 0` prints its address as JSON.
Without a script it answers "You said: …"; asked to "use TOOL {json}" it calls that tool and quotes the result.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from tests.support.scripted_ollama_api import Api, Control
from tests.support.scripted_ollama_http import Connection, Exchange, Request, RequestLog
from tests.support.scripted_ollama_script import (
    BadJson,
    Call,
    Default,
    Done,
    DoneLoad,
    Drop,
    ErrorLine,
    Hang,
    Line,
    NoDone,
    Order,
    RawCall,
    Reply,
    Say,
    Script,
    SplitBytes,
    Status,
    Step,
    Think,
    Wait,
)

__all__ = [
    "BadJson",
    "Call",
    "Default",
    "Done",
    "DoneLoad",
    "Drop",
    "ErrorLine",
    "Hang",
    "Line",
    "NoDone",
    "Order",
    "RawCall",
    "Reply",
    "Request",
    "Say",
    "ScriptedOllama",
    "SplitBytes",
    "Status",
    "Step",
    "Think",
    "Wait",
]

MODELS = ("scripted:latest", "scripted-nothink:latest", "scripted-notools:latest", "scripted-embed:latest")


class ScriptedOllama:
    """The server, on a loopback port of its own while the block lasts.

    `models` are listed as installed; others answer too unless their name contains "missing". `slots`: how many
    generations run at once, others wait; None means all.
    """

    def __init__(self, *, port: int = 0, models: Sequence[str] = MODELS, slots: int | None = None) -> None:
        self.port = port
        self._log = RequestLog()
        self._script = Script()
        self._api = Api(self._script, list(models), slots)
        self._control = Control(self._script, self._log)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._mistakes: list[Exception] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
        if self._mistakes and error is None:
            raise ExceptionGroup("the script could not be played", self._mistakes)

    async def stop(self) -> None:
        """Die as a process does: the port refuses, open connections end at once. Harmless when stopped already."""
        if self._server is None:
            return
        self._server.close()
        connections = list(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        await self._server.wait_closed()
        self._server = None

    @property
    def url(self) -> str:
        """Where clients find it, as `OLLAMA_HOST` takes it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> list[Request]:
        """All requests so far but those that control the server."""
        return self._log.all

    def reply(
        self,
        *steps: Step,
        model: str | None = None,
        match: str | Callable[[str], bool] | None = None,
        path: str | None = None,
        times: int | None = 1,
    ) -> None:
        """Queue a reply. The first one that fits a request answers it; see `Reply` for the filters."""
        pattern, test = (match, None) if isinstance(match, str) else (None, match)
        self._script.add(Reply(list(steps), model=model, match=pattern, path=path, times=times), test)

    def release(self, name: str) -> None:
        """Let replies that wait for this name go on, now and later."""
        self._script.gate(name).released.set()

    async def reached(self, name: str, *, within_s: float = 5.0) -> None:
        """Return when a reply waits for this name."""
        async with asyncio.timeout(within_s):
            await self._script.gate(name).reached.wait()

    def reset(self) -> None:
        """Forget the replies not yet given, and all gates."""
        self._script.obey(Order(reset=True))

    async def next_request(self, path: str | None = None, *, within_s: float = 5.0) -> Request:
        """The next request to this path, each one once; those that came before the call count too."""
        async with asyncio.timeout(within_s):
            return await self._log.next(path)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Not a coroutine: asyncio before 3.12 reports the cancelled task of one as an error.
        task = asyncio.create_task(Connection(reader, writer, self._answer).run())
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _answer(self, exchange: Exchange) -> None:
        if exchange.request.path.startswith("/_"):
            await self._control.answer(exchange)
            return
        self._log.add(exchange.request)
        try:
            await self._api.answer(exchange)
        except ConnectionError:
            raise
        except Exception as error:  # noqa: BLE001 - a mistake in a test's script shall fail that test, not this server
            self._mistakes.append(error)
            exchange.cut(reset=False)


async def _serve(port: int, models: Sequence[str], slots: int | None) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with ScriptedOllama(port=port, models=models, slots=slots) as server:
        sys.stdout.write(json.dumps({"port": server.port, "url": server.url}) + "\n")
        sys.stdout.flush()
        await stopped.wait()


def main() -> None:
    """Run as a process until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.scripted_ollama", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--model", action="append", help="list this one as installed; may be repeated")
    parser.add_argument("--slots", type=int, help="how many generations run at once")
    given = parser.parse_args()
    asyncio.run(_serve(given.port, given.model or MODELS, given.slots))


if __name__ == "__main__":
    main()
