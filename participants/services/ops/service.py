"""What does ops do about a process that died, that was given up, or that is silent?

It decides in decide.py; here the readings come in and the decisions go out.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from typing import Annotated, Any, ClassVar

import structlog
from msgspec import Meta

from bus import paths
from bus.config import Section
from bus.envelope import Envelope
from bus.messages.control import Heartbeat, OpsProcess, Presence, PresenceRequest, Processes, ProcessesRequest
from participants.participant import instance_of
from participants.services.base import BaseService
from participants.services.ops import decide
from participants.services.ops.decide import Beat, Event, Known, Program, Silence
from participants.services.ops.sample import Sampler
from participants.services.ops.supervisor import Supervisor, SupervisorSilent
from participants.services.ops.watch import PidWatcher

log = structlog.get_logger()
_AT_ONCE_S = 0.03
"""A death is told so late at most; until then supervisord may say how it came."""
_EAGER_CALLS, _CALLS, _CALL_PAUSE_S = 6, 60, 0.02
"""supervisord needs one call to reap and one to respawn; while it is busy, it is asked for a second more."""
_CHANGING_S = 0.25
_TICK_S = 1.0
_LATE_S = 1.0


class OpsConfig(Section, frozen=True, kw_only=True):
    """ops.yaml."""

    wedged_s: Annotated[
        float, Meta(description="So long without a beat: killed, to be started again; 0: never.", ge=0)
    ] = 10.0
    rescan_s: Annotated[float, Meta(description="How often supervisord is asked what came or went.", ge=0.1)] = 10.0
    retry_first_s: Annotated[
        float, Meta(description="First wait before a given-up program is started again.", gt=0)
    ] = 1.0
    retry_longest_s: Annotated[float, Meta(description="Longest such wait; it doubles up to here.", gt=0)] = 60.0
    sample_s: Annotated[float, Meta(description="How often CPU and memory are read; 0: only when asked.", ge=0)] = 0.0


class OpsService(BaseService):
    """Watches the stack's processes."""

    CONFIG_NAME: ClassVar[str] = "ops"
    Config: ClassVar[type[Section]] = OpsConfig
    config: OpsConfig

    # ------------------------------------------------------------------ life

    async def setup(self) -> None:
        """Listen to beats, and start watching as soon as the bus is there."""
        self._supervisor = Supervisor(paths.runtime_dir() / "supervisor.sock")
        self._supervisor_says = "not asked yet"
        self._watcher = PidWatcher(self._on_death)
        self._sampler = Sampler()
        self._programs: dict[str, Program] = {}
        self._known: dict[str, Known] = {}
        self._beats: dict[str, Beat] = {}
        self._look = asyncio.Event()
        self._meeting: set[str] = set()
        self._dying: set[str] = set()
        self._wedged: set[int] = set()
        self._first_look = True
        self._silence = Silence(self.CONFIG_NAME, self.config.wedged_s, self.system.heartbeat_s, time.monotonic())
        self.bus.on(Heartbeat, self._on_beat)
        self.bus.on(Presence, self._on_presence)
        self.bus.serve(ProcessesRequest, self._on_processes)

    async def started(self) -> None:
        """Look once before anybody hears that we are ready, so that no death after that is missed."""
        await self._rescan()
        self.spawn(self._rescan_often(), name="rescan")
        self.spawn(self._tick(), name="tick")
        self.spawn(self._sample_often(), name="sample")

    def linked(self) -> None:
        """Everybody says who they are: only who was heard once can fall silent."""
        self.bus.publish(PresenceRequest())

    def reconfigured(self, before: Any) -> None:
        """The limit may have changed."""
        self._silence.set_limit(self.config.wedged_s)
        self._look.set()

    async def farewell(self) -> None:
        """Nothing is restarted by us any more: supervisord stops the others, too, or starts us again."""
        self._watcher.close()
        self._supervisor.close()

    # ------------------------------------------------------------------ readings

    def _on_beat(self, beat: Heartbeat, envelope: Envelope) -> None:
        if beat.instance != instance_of(self.system):
            return  # another machine's ops looks after its own
        now = time.monotonic()
        self._silence.heard(beat.name, beat.pid, now + beat.quiet_s)
        self._beats[beat.name] = Beat(beat, envelope.sender_id)
        self._meet(beat.name, beat.pid)

    def _on_presence(self, presence: Presence, envelope: Envelope) -> None:
        if presence.instance != instance_of(self.system):
            return
        last = self._beats.get(presence.name)
        self._beats[presence.name] = decide.presence(last, presence, envelope.sender_id)
        if presence.state != "gone":
            self._silence.heard(presence.name, presence.pid, time.monotonic())
            self._meet(presence.name, presence.pid)

    def _meet(self, name: str, pid: int) -> None:
        """Somebody spoke. If we do not watch that process, ask supervisord, or else watch it without."""
        known = self._known.get(name, Known())
        if pid not in (known.pid, known.buried) and name not in self._meeting:
            self._meeting.add(name)
            self.spawn(self._look_up(name, pid), name=f"look up {name}")

    async def _look_up(self, name: str, pid: int) -> None:
        await self._rescan()
        self._meeting.discard(name)
        if not self._known.get(name, Known()).pid:
            self._take(decide.by_hand(name, pid))

    async def _rescan_often(self) -> None:
        while True:
            changing = any(known.changing for known in self._known.values())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CHANGING_S if changing else self.config.rescan_s):
                    await self._look.wait()
            self._look.clear()
            await self._rescan()

    async def _rescan(self) -> None:
        try:
            programs = await self.offload(self._supervisor.programs)
        except SupervisorSilent as error:
            self._say_supervisor(str(error))
            return
        self._say_supervisor("ok")
        for name in decide.removed(self._programs, programs):
            self._forget(name)
        for name in programs.keys() - self._dying:  # whose death is being told, its reason comes first
            self._take(programs[name])
        self._first_look = False

    def _forget(self, name: str) -> None:
        """A person took the program out of supervisord."""
        self._watcher.forget(name)
        for table in (self._programs, self._known, self._beats):
            table.pop(name, None)

    def _say_supervisor(self, says: str) -> None:
        if says != self._supervisor_says:
            self._supervisor_says = says
            log.info("supervisor", says=says)

    def _take(self, program: Program) -> None:
        """Note a reading of one program, and tell what is new in it."""
        name = program.name
        known = self._known.get(name)
        if known is None and self._first_look and program.state != "FATAL":
            self._known[name] = decide.found(program)
        else:
            self._known[name], events = decide.advance(known or Known(), program)
            for event in events:
                self._tell(name, event)
        self._programs[name] = program
        if self._known[name].pid:
            self._watcher.watch(name, self._known[name].pid)

    def _tell(self, name: str, event: Event) -> None:
        restarts = self._known[name].restarts
        self.bus.publish(
            OpsProcess(name=name, event=event.event, pid=event.pid, reason=event.reason, restarts=restarts)
        )
        log.info("process", program=name, happened=event.event, pid=event.pid, reason=event.reason, restarts=restarts)
        if event.event == "fatal":
            self.spawn(self._retry(name), name=f"retry {name}")

    # ------------------------------------------------------------------ a death

    def _on_death(self, name: str, pid: int) -> None:
        if self._programs[name].state != decide.BY_HAND:  # supervisord made it the head of its group
            _end_group(pid)
        self.spawn(self._after_death(name, pid), name=f"after the death of {name}")

    async def _after_death(self, name: str, pid: int) -> None:
        """Tell, and keep supervisord awake until it has dealt with it."""
        program = self._programs[name]
        self._dying.add(name)
        cause = self.spawn(self._cause(program, pid), name=f"cause of {name}")
        await asyncio.wait([cause], timeout=_AT_ONCE_S)
        self._dying.discard(name)
        if pid in self._wedged:  # told only now: through a wedged proxy nothing is heard
            self._wedged.discard(pid)
            self._tell(name, Event("wedged", pid, "it was silent, and was killed"))
        if self._known[name].pid == pid:
            self._known[name] = decide.buried(self._known[name], pid, cause.result() if cause.done() else "")
            self._tell(name, Event("died", pid, self._known[name].reason))
        if program.state != decide.BY_HAND:
            await self._wake(program, pid)
        self._look.set()

    async def _cause(self, program: Program, pid: int) -> str:
        try:
            return await self.offload(self._supervisor.cause, program.full_name, pid)
        except SupervisorSilent:
            return ""

    async def _wake(self, program: Program, pid: int) -> None:
        try:
            for number in range(_CALLS):
                program = await self.offload(self._supervisor.program, program.full_name)
                if decide.settled(program, pid):
                    break
                await asyncio.sleep(0 if number < _EAGER_CALLS else _CALL_PAUSE_S)
            else:
                self._tell(program.name, Event("stopped", 0, "supervisord does not start it again"))
        except SupervisorSilent:
            return
        self._take(program)

    async def _retry(self, name: str) -> None:
        """Start a program that supervisord gave up, until it leaves that state. One that a person stopped stays so."""
        fatal = self._known[name].fatal
        while True:
            await asyncio.sleep(decide.retry_after_s(fatal, self.config.retry_first_s, self.config.retry_longest_s))
            if name not in self._programs or not await self._still_given_up(name):
                return
            fatal += 1

    async def _still_given_up(self, name: str) -> bool:
        """Try once; True where nothing came of it, as when supervisord did not answer in time."""
        full_name = self._programs[name].full_name
        try:
            if (await self.offload(self._supervisor.program, full_name)).state == "FATAL":
                await self.offload(self._supervisor.start, full_name)
            program = await self.offload(self._supervisor.program, full_name)
        except SupervisorSilent as error:
            log.info("retry_failed", program=name, reason=str(error))
            return True
        self._take(program)
        self._look.set()
        return program.state == "FATAL"

    # ------------------------------------------------------------------ silence

    async def _tick(self) -> None:
        due, slept = time.monotonic(), _asleep_s()
        while True:
            await asyncio.sleep(_TICK_S)
            now, asleep = time.monotonic(), _asleep_s()
            if now - due > _TICK_S + _LATE_S or abs(asleep - slept) > _LATE_S:
                self._silence.disturbed(now)
            due, slept = now, asleep
            pids = {name: known.pid for name, known in self._known.items() if known.ours}
            for name in self._silence.wedged(pids, now):
                self.spawn(self._end_wedged(name, pids[name]), name=f"end {name}")

    async def _end_wedged(self, name: str, pid: int) -> None:
        """Kill a silent process, if supervisord still says that it is its own, and will start it again."""
        try:
            program = await self.offload(self._supervisor.program, self._programs[name].full_name)
        except SupervisorSilent:
            return
        if program.pid != pid or program.state not in ("RUNNING", "STARTING"):
            return
        self._wedged.add(pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)

    # ------------------------------------------------------------------ answers

    async def _on_processes(self, _request: ProcessesRequest, _envelope: Envelope) -> Processes:
        await self._sample()
        now = time.monotonic()
        rows = [
            decide.info(
                name,
                self._known.get(name, Known()),
                self._programs.get(name),
                self._beats.get(name),
                self._sampler.usage(self._known.get(name, Known()).pid),
                self._silence.quiet(name, now),
            )
            for name in sorted({*self._programs, *self._beats, decide.PROXY})
        ]
        return Processes(processes=rows, supervisor=self._supervisor_says)

    async def _sample(self) -> None:
        await self.offload(self._sampler.sample, [known.pid for known in self._known.values() if known.pid])

    async def _sample_often(self) -> None:
        while True:
            await asyncio.sleep(self.config.sample_s or _TICK_S)
            if self.config.sample_s:
                await self._sample()


def _end_group(pid: int) -> None:
    """What a process leaves running when it crashes: supervisord ends a group only where it stops a program."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _asleep_s() -> float:
    """How long the machine has slept, from an arbitrary zero: only its changes mean something."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
    return time.time() - time.monotonic()
