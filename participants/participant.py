"""What does every process of LoCAL2 do, whatever its task?

It reads its yaml, holds a lock on its name, joins the bus, says that it is there, beats, reads its
yaml again when told, and drains when it is asked to stop. The hooks `setup`, `started`,
`reconfigured` and `drain` are for subclasses; each does nothing by default.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, ParamSpec, TypeVar

import structlog

from bus.client import BusClient
from bus.config import BusConfig, Section, SystemConfig, load
from bus.envelope import Envelope
from bus.errors import ConfigError, Local2Error
from bus.messages.control import ConfigReload, Heartbeat, PoolInfo, Presence, PresenceRequest
from bus.process import supervisor, take_lock
from participants import logs
from participants.offload import OffloadPool

log = structlog.get_logger()
P = ParamSpec("P")
R = TypeVar("R")
VERSION = "0.1.0"
_FAREWELL_S = 1.0


class Participant:
    """One process on the bus.

    Class attributes:
        CONFIG_NAME: The yaml's name, the program's name in supervisord.conf, and the lock's name.
        KIND: agent, tool, service or gateway.
        Config: The struct that the yaml is read into.
        ALSO_READS: Further yaml sections that it loads in `setup` and anew in `reconfigured`.
    """

    CONFIG_NAME: ClassVar[str] = ""
    KIND: ClassVar[str] = "service"
    Config: ClassVar[type[Section]] = Section
    ALSO_READS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, config: Any, bus: BusClient, system: SystemConfig) -> None:
        self.config, self.bus, self.system = config, bus, system
        self.state = "starting"
        self.pools = {"default": OffloadPool("default")}
        self._stop = asyncio.Event()
        self._lag_s = self._quiet_s = 0.0
        self._parent = supervisor()

    # ------------------------------------------------------------------ hooks

    async def setup(self) -> None:
        """Called once before the bus opens: register handlers, open stores."""

    async def started(self) -> None:
        """Called once when the bus is ready, before `ready` is announced."""

    def linked(self) -> None:
        """Called each time that the bus is ready, the first time included."""

    def reconfigured(self, before: Any) -> None:
        """Called after `self.config` was read anew; `before` is the old one."""

    async def drain(self) -> None:
        """Called on SIGTERM: finish or hand back what runs. Bounded by system.yaml's `drain_s`."""

    async def farewell(self) -> None:
        """Called after `drain`, while the bus is still open: withdraw what was announced, close stores."""

    # ------------------------------------------------------------------ for subclasses

    def spawn(self, work: Any, *, name: str) -> asyncio.Task[Any]:
        """Run a coroutine beside; a fault in it is logged, and it ends with the process."""
        return self.bus.spawn(work, name=name)

    async def offload(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run blocking work in this process's bounded pool."""
        return await self.pools["default"].run(work, *args, **kwargs)

    def add_pool(self, name: str, workers: int) -> OffloadPool:
        """A pool of its own for one kind of blocking work, so that it cannot starve others; heartbeats show it."""
        if name in self.pools:
            self.pools[name].close()
        pool = self.pools[name] = OffloadPool(name, workers)
        return pool

    def expect_silence(self, seconds: float) -> None:
        """Tell ops that what comes now holds up the event loop; 0 once it is over."""
        self._quiet_s = seconds
        self.bus.publish(self._heartbeat())

    @property
    def load(self) -> int:
        """Work that waits or runs here, for the heartbeat."""
        return self.bus.queued + sum(pool.load for pool in self.pools.values())

    # ------------------------------------------------------------------ life

    async def run(self) -> None:
        """Live until asked to stop."""
        self._listen_for_signals()
        await self.setup()
        self.bus.on(ConfigReload, self._reload)
        self.bus.on(PresenceRequest, lambda _message, _envelope: self._announce(self.state))
        self.bus.on_ready = self._linked
        self.bus.open()
        try:
            if await self._unless_stopped(self.bus.wait_ready()) and await self._unless_stopped(self.started()):
                await self._live()
        finally:
            await self.bus.close()
            for pool in self.pools.values():
                pool.close()

    async def _unless_stopped(self, work: Coroutine[Any, Any, None]) -> bool:
        """Wait for `work`; False when asked to stop before it was done."""
        task, stop = asyncio.create_task(work), asyncio.create_task(self._stop.wait())
        await asyncio.wait([task, stop], return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if task.done():
            task.result()
            return True
        task.cancel()
        await asyncio.wait([task])
        return False

    async def _live(self) -> None:
        self._announce("ready")
        log.info("ready", pid=os.getpid())
        beat = self.spawn(self._beat(), name="beat")
        await self._stop.wait()
        await self._leave()
        beat.cancel()

    def stop(self) -> None:
        """Ask this participant to drain and end."""
        self._stop.set()

    async def _leave(self) -> None:
        """Each step has its reason: say it, so that nobody sends more; finish; say goodbye last."""
        self._announce("draining")
        await self._within("drain", self.drain(), self.system.drain_s)
        await self._within("farewell", self.farewell(), _FAREWELL_S)
        self._announce("gone")
        log.info("stopped")

    async def _within(self, step: str, work: Coroutine[Any, Any, None], limit_s: float) -> None:
        """One step of leaving: neither its time nor a fault in it keeps us here."""
        try:
            async with asyncio.timeout(limit_s):
                await work
        except TimeoutError:
            log.warning("cut_short", step=step, after_s=limit_s)
        except Exception:
            log.exception("leaving_failed", step=step)

    def _listen_for_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(ValueError, RuntimeError):  # not in the main thread: a test runs us
                loop.add_signal_handler(number, self._stop.set)

    def _linked(self) -> None:
        if self.state != "starting":
            self._announce(self.state)  # the proxy came back: whoever watches may have missed us
        self.linked()

    def _announce(self, state: str, note: str = "") -> None:
        self.state = state
        self.bus.publish(
            Presence(
                name=self.CONFIG_NAME,
                instance=instance_of(self.system),
                kind=self.KIND,
                state=state,
                pid=os.getpid(),
                version=VERSION,
                note=note,
            )
        )

    async def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + self.system.heartbeat_s
            self.bus.publish(self._heartbeat())
            if os.getppid() != self._parent:
                self.stop()
                log.warning("supervisor_gone")
            await asyncio.sleep(self.system.heartbeat_s)
            self._lag_s = max(0.0, loop.time() - due)

    def _heartbeat(self) -> Heartbeat:
        counters = self.bus.counters
        return Heartbeat(
            name=self.CONFIG_NAME,
            instance=instance_of(self.system),
            kind=self.KIND,
            state=self.state,
            pid=os.getpid(),
            quiet_s=self._quiet_s,
            loop_lag_s=round(self._lag_s, 4),
            queued=self.load,
            pools=[
                PoolInfo(name=pool.name, workers=pool.workers, running=pool.running, waiting=pool.waiting)
                for pool in self.pools.values()
                if pool.used
            ],
            sent=counters.sent,
            received=counters.received,
            gaps=counters.gaps,
            dropped=counters.dropped,
            refused=counters.refused,
        )

    def _reload(self, message: ConfigReload, _envelope: Envelope) -> None:
        if message.section not in ("", self.CONFIG_NAME, *self.ALSO_READS):
            return
        before = self.config
        try:
            self.config = load(self.CONFIG_NAME, self.Config)
            self.bus.sender_id = self.config.id
            if before != self.config or message.section != self.CONFIG_NAME:
                self.reconfigured(before)
                log.info("config_reloaded")
        except ConfigError as error:
            log.error("config_kept", reason=str(error))
            self._announce(self.state, note=f"old settings kept: {error}")


def instance_of(system: SystemConfig) -> str:
    """This machine's name on the bus."""
    return system.instance_id or socket.gethostname()


def main(kind: type[Participant]) -> int:
    """Entry point of a participant's process: `python -m participants.<…>`.

    Returns:
        0 after a clean stop; 1 where it refuses to start, with the reason on standard error.
    """
    try:
        system = load("system", SystemConfig)
        logs.configure(kind.CONFIG_NAME, system.log_level)
        config = load(kind.CONFIG_NAME, kind.Config)
        bus_config = load("bus", BusConfig)
        lock = take_lock(kind.CONFIG_NAME)
        busy = asyncio.run(_run(kind, config, bus_config, system))
        lock.close()
    except Local2Error as error:
        sys.stderr.write(f"{kind.CONFIG_NAME}: {error}\n")
        return 1
    if busy:
        log.warning("threads_left")
        sys.stdout.flush()
        os._exit(0)  # the interpreter would wait for threads that may never end
    return 0


async def _run(kind: type[Participant], config: Section, bus_config: BusConfig, system: SystemConfig) -> bool:
    """Run it to its end. Returns whether blocking work still goes on, for which nobody waits any more."""
    bus = BusClient(bus_config, name=kind.CONFIG_NAME, instance=instance_of(system), sender_id=config.id)
    participant = kind(config, bus, system)
    await participant.run()
    return any(pool.load for pool in participant.pools.values())
