"""What follows from what supervisord, the pids and the heartbeats say?

Functions and values without I/O: a reading comes in, decisions go out. Times are seconds of a
monotonic clock, given by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from bus.messages.control import Heartbeat, Presence, ProcessInfo

PROXY = "proxy"
"""The one program that does not beat: it knows nothing of messages."""

BY_HAND = "BY_HAND"
"""The state of a program that supervisord did not start: seen by its beats, watched, but never killed."""
_RUNS = frozenset({"STARTING", "RUNNING", "STOPPING", BY_HAND})
_SUPERVISOR_STATES = {
    "FATAL": "fatal",
    "BACKOFF": "backoff",
    "STOPPED": "stopped",
    "EXITED": "stopped",
    BY_HAND: "stopped",
}
_MOST_DOUBLINGS = 16
_OWN_BEATS, _QUIET_BEATS, _FEWEST_BEATS = 2.5, 3.0, 5.0
"""In times between two beats: our own is missing; a missing one is shown; the shortest limit. When the proxy
stands still, our own is missed before anybody else reaches the limit: 2.5 and one for being out of step."""


class Program(Struct, frozen=True, kw_only=True):
    """One program as supervisord sees it."""

    name: str
    full_name: str
    """With its group, as supervisord wants to be asked."""
    state: str
    pid: int = 0
    up_s: float = 0.0
    exit_status: int = 0
    problem: str = ""

    @property
    def runs(self) -> bool:
        """Whether its pid is one of a process."""
        return self.state in _RUNS and self.pid > 0


class Event(NamedTuple):
    """What others are told: see `OpsProcess`."""

    event: str
    pid: int
    reason: str = ""


class Known(Struct, frozen=True, kw_only=True):
    """What was said of one program so far."""

    pid: int = 0
    """The process that was said to run; 0 after its death."""
    buried: int = 0
    """The last process that was said to be dead: a reading from before its death is stale."""
    state: str = ""
    lives: int = 0
    fatal: int = 0
    """How often in a row supervisord gave it up."""
    reason: str = ""

    @property
    def restarts(self) -> int:
        """How often it was started again."""
        return max(0, self.lives - 1)

    @property
    def changing(self) -> bool:
        """Whether supervisord will do something soon, without anything that wakes us."""
        return self.state == "BACKOFF"

    @property
    def ours(self) -> bool:
        """Whether it is a running process that supervisord started and nobody stops."""
        return bool(self.pid) and self.state in ("STARTING", "RUNNING")


def by_hand(name: str, pid: int) -> Program:
    """A process that speaks on the bus, and that supervisord does not know."""
    return Program(name=name, full_name=name, state=BY_HAND, pid=pid)


def found(program: Program) -> Known:
    """A program that was there before we looked: nothing is said of it."""
    return Known(pid=program.pid if program.runs else 0, state=program.state, lives=1 if program.runs else 0)


def buried(known: Known, pid: int, reason: str) -> Known:
    """`known` after the death of its process `pid` was said."""
    return replace(known, pid=0, buried=pid, reason=reason) if known.pid == pid else known


def advance(known: Known, program: Program) -> tuple[Known, list[Event]]:
    """What is new in a reading, and what is known then. Deaths that nobody told us of are found here too."""
    stale = program.runs and program.pid == known.buried
    elsewhere = known.state == BY_HAND and known.pid and not program.runs
    if stale or elsewhere:
        return known, []
    events: list[Event] = []
    now = replace(known, state=program.state)
    if known.pid and (not program.runs or program.pid != known.pid):
        events.append(Event("died", known.pid, "it ended unseen"))
        now = buried(now, known.pid, "it ended unseen")
    if program.runs and program.pid != known.pid:
        events.append(Event("started", program.pid, now.reason))
        now = replace(now, pid=program.pid, lives=now.lives + 1, reason="")
    if program.state == "RUNNING":
        now = replace(now, fatal=0)
    if program.state == "FATAL" and known.state != "FATAL":
        reason = now.reason or program.problem or "supervisord gave it up"
        events.append(Event("fatal", 0, reason))
        # It lived, also where each life was too short for us to see.
        now = replace(now, fatal=now.fatal + 1, lives=max(1, now.lives), reason=reason)
    if program.state == "STOPPED" and known.state not in ("STOPPED", ""):
        events.append(Event("stopped", 0, "it was asked to stop"))
        now = replace(now, reason="it was asked to stop")
    return now, events


def settled(program: Program, dead_pid: int) -> bool:
    """Whether supervisord is done with the death of `dead_pid`: a new process runs, or none will soon.

    EXITED does not settle: it is what lies between a death and its restart.
    """
    return (program.runs and program.pid != dead_pid) or program.state in ("STOPPED", "FATAL", "BACKOFF")


def retry_after_s(fatal: int, first_s: float, longest_s: float) -> float:
    """How long to wait before the start of a program that was given up `fatal` times in a row."""
    return min(longest_s, first_s * 2.0 ** min(max(0, fatal - 1), _MOST_DOUBLINGS))


class Beat(NamedTuple):
    """The last that was heard of a process."""

    message: Heartbeat
    sender_id: str


def presence(last: Beat | None, said: Presence, sender_id: str) -> Beat:
    """What a process says of itself between two beats changes its state, and not its figures."""
    if last and last.message.pid == said.pid:
        return Beat(replace(last.message, state=said.state), sender_id)
    first = Heartbeat(name=said.name, instance=said.instance, kind=said.kind, state=said.state, pid=said.pid)
    return Beat(first, sender_id)


def removed(before: Mapping[str, Program], after: Mapping[str, Program]) -> list[str]:
    """The programs that supervisord no longer knows; those started by hand it never knew."""
    return [name for name, program in before.items() if name not in after and program.state != BY_HAND]


class Silence:
    """Who has been silent for too long?

    A process that beats is judged only over the time in which our own beats came back to us through the
    proxy, and the proxy only over the time in which we ourselves were awake: when everything is silent,
    the proxy alone is to blame, and after a suspend nobody is.

    Args:
        own_name: Our program's name.
        limit_s: So long may a process be silent; 0 for ever.
        beat_s: The usual time between two beats.
        now: The time.
    """

    def __init__(self, own_name: str, limit_s: float, beat_s: float, now: float) -> None:
        self._own = own_name
        self._beat_s = beat_s
        self.set_limit(limit_s)
        self._awake_since = self._clear_since = now
        self._own_at: float | None = None
        self._last: dict[str, tuple[int, float]] = {}
        self._kills: dict[str, int] = {}

    def set_limit(self, limit_s: float) -> None:
        """Another limit, from the next look on."""
        self._off, self._limit_s = limit_s <= 0, max(limit_s, _FEWEST_BEATS * self._beat_s)

    def heard(self, name: str, pid: int, now: float) -> None:
        """A beat."""
        if name == self._own:
            if self._own_at is None or now - self._own_at > _OWN_BEATS * self._beat_s:
                self._clear_since = now
            self._own_at = now
            self._kills.pop(PROXY, None)
        self._last[name] = pid, now
        self._kills.pop(name, None)

    def disturbed(self, now: float) -> None:
        """The machine slept, or our own loop stood still: silence before now says nothing."""
        self._awake_since = self._clear_since = now

    def wedged(self, pids: Mapping[str, int], now: float) -> list[str]:
        """The programs to kill, of those with a living process in `pids`. Naming one counts as killing it."""
        if self._off or self._own_at is None:
            return []
        if now - max(self._own_at, self._awake_since) > _OWN_BEATS * self._beat_s:
            names = [PROXY] if pids.get(PROXY) and self._over(PROXY, max(self._own_at, self._awake_since), now) else []
        else:
            names = [name for name, pid in pids.items() if self._is_wedged(name, pid, now)]
        for name in names:
            self._kills[name] = self._kills.get(name, 0) + 1
        if PROXY in names:
            self.disturbed(now)
        return names

    def quiet(self, name: str, now: float) -> bool:
        """Whether beats are missing that should have come."""
        last = self._last.get(name)
        return last is not None and now - max(last[1], self._clear_since) > _QUIET_BEATS * self._beat_s

    def _is_wedged(self, name: str, pid: int, now: float) -> bool:
        last = self._last.get(name)
        return (
            name != self._own
            and last is not None
            and last[0] == pid
            and self._over(name, max(last[1], self._clear_since), now)
        )

    def _over(self, name: str, since: float, now: float) -> bool:
        return now - since > self._limit_s * 2.0 ** min(self._kills.get(name, 0), _MOST_DOUBLINGS)


class Usage(NamedTuple):
    """What a process takes."""

    cpu_percent: float
    rss_bytes: int


def info(
    name: str, known: Known, program: Program | None, beat: Beat | None, usage: Usage | None, quiet: bool
) -> ProcessInfo:
    """All that is known of one program; a beat of an older process of it says nothing of this one."""
    pid = known.pid or (beat.message.pid if beat and program is None else 0)
    told = beat.message if beat and beat.message.pid == pid else None
    return ProcessInfo(
        name=name,
        kind=told.kind if told else beat.message.kind if beat else PROXY if name == PROXY else "",
        sender_id=beat.sender_id if beat else PROXY if name == PROXY else "",
        state=_state(name, pid, program, told, quiet),
        pid=pid,
        uptime_s=program.up_s if program else 0.0,
        restarts=known.restarts,
        cpu_percent=usage.cpu_percent if usage else 0.0,
        rss_bytes=usage.rss_bytes if usage else 0,
        loop_lag_s=told.loop_lag_s if told else 0.0,
        queued=told.queued if told else 0,
        pools=told.pools if told else [],
        sent=told.sent if told else 0,
        received=told.received if told else 0,
        gaps=told.gaps if told else 0,
        dropped=told.dropped if told else 0,
        refused=told.refused if told else 0,
        reason="" if pid else known.reason,
    )


def _state(name: str, pid: int, program: Program | None, told: Heartbeat | None, quiet: bool) -> str:
    if not pid:
        return _SUPERVISOR_STATES.get(program.state, "starting") if program else "stopped"
    if quiet:
        return "silent"
    if told:
        return told.state
    return "ready" if name == PROXY else "starting"
