"""How do participants announce themselves, beat, change state and answer requests?"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Struct

from bus import subjects
from bus.messages.base import Message, about


class Probe(Message, frozen=True):
    """Sent by a client to itself: once it is back, the client is connected both ways."""

    SUBJECT = subjects.INBOX

    nonce: Annotated[str, about("Tells this probe from older ones.")]


class Refusal(Message, frozen=True):
    """A service's answer to a request that it will not or cannot fulfil."""

    SUBJECT = subjects.INBOX

    code: Annotated[str, about("A stable word to act on, such as `conflict` or `not_found`.")]
    message: Annotated[str, about("What happened, and what to do about it.")]


class Done(Message, frozen=True):
    """A service's answer where there is nothing to say."""

    SUBJECT = subjects.INBOX


class Presence(Message, frozen=True):
    """A participant says that it is there, or that it goes."""

    SUBJECT = subjects.PARTICIPANT_PRESENCE

    name: Annotated[str, about("The program's name in supervisord.conf.")]
    instance: Annotated[str, about("The machine: system.yaml `instance_id`, else the host name.")]
    kind: Annotated[str, about("proxy, agent, tool, service or gateway.")]
    state: Annotated[str, about("starting, ready, draining or gone.")]
    pid: Annotated[int, about("The process id.")]
    version: Annotated[str, about("LoCAL2's version.")] = ""
    note: Annotated[str, about("In words, where something is odd.")] = ""


class PoolInfo(Struct, frozen=True, kw_only=True):
    """A pool of threads for blocking work."""

    name: Annotated[str, about("The pool's name.")]
    workers: Annotated[int, about("Threads.")]
    running: Annotated[int, about("Threads that work.")]
    waiting: Annotated[int, about("Calls that wait for a thread.")]


class Heartbeat(Message, frozen=True):
    """A participant is alive, with its load. Heard by ops alone."""

    SUBJECT = subjects.PARTICIPANT_HEARTBEAT

    name: Annotated[str, about("The program's name.")]
    instance: Annotated[str, about("The machine.")]
    kind: Annotated[str, about("proxy, agent, tool, service or gateway.")]
    state: Annotated[str, about("starting, ready or draining.")]
    pid: Annotated[int, about("The process id.")]
    quiet_s: Annotated[float, about("It may be silent for so long from now: it does what cannot be interrupted.")] = 0.0
    loop_lag_s: Annotated[float, about("How late the event loop ran the last beat, in seconds.")] = 0.0
    queued: Annotated[int, about("Messages waiting in this process.")] = 0
    pools: Annotated[list[PoolInfo], about("Its pools for blocking work.")] = []
    sent: Annotated[int, about("Messages sent since the start.")] = 0
    received: Annotated[int, about("Messages received since the start.")] = 0
    gaps: Annotated[int, about("Messages that went missing on their way here.")] = 0
    dropped: Annotated[int, about("Messages dropped here because a queue was full.")] = 0
    refused: Annotated[int, about("Messages that were malformed.")] = 0


class PresenceRequest(Message, frozen=True):
    """Everybody, say your presence again: somebody who listens has just come."""

    SUBJECT = "participant.presence.request"


class ConfigReload(Message, frozen=True):
    """Read your yaml again; a bad value keeps the old one."""

    SUBJECT = subjects.CONFIG_RELOAD

    section: Annotated[str, about("The yaml's name; empty for all.")] = ""


class AgentTransition(Message, frozen=True):
    """A state machine of an agent moved."""

    SUBJECT = subjects.AGENT_TRANSITION

    agent: Annotated[str, about("The program's name.")]
    before: Annotated[str, about("The state left.")]
    action: Annotated[str, about("What happened.")]
    after: Annotated[str, about("The state entered.")]
    note: Annotated[str, about("Words for the user; may be empty.")] = ""


class ToolTransition(Message, frozen=True):
    """A tool's state machine moved."""

    SUBJECT = subjects.TOOL_TRANSITION

    tool: Annotated[str, about("The tool's name, as the model calls it.")]
    before: Annotated[str, about("The state left.")]
    action: Annotated[str, about("What happened.")]
    after: Annotated[str, about("The state entered.")]


class OpsProcess(Message, frozen=True):
    """A supervised process started, died or was restarted: sent by ops at once."""

    SUBJECT = subjects.OPS_PROCESS

    name: Annotated[str, about("The program's name.")]
    event: Annotated[str, about("died, started, fatal, stopped or wedged.")]
    pid: Annotated[int, about("The process meant; 0 where there is none.")]
    reason: Annotated[str, about("In words: the signal, the exit code.")] = ""
    restarts: Annotated[int, about("How often it was started again since ops watches.")] = 0


class ProcessInfo(Struct, frozen=True, kw_only=True):
    """What ops knows of one process."""

    name: Annotated[str, about("The program's name.")]
    kind: Annotated[str, about("proxy, agent, tool, service, gateway; empty before its first beat.")] = ""
    sender_id: Annotated[str, about("The `id:` of its yaml.")] = ""
    state: Annotated[str, about("starting, ready, draining, stopped, backoff, fatal or silent.")] = ""
    pid: Annotated[int, about("The process id; 0 where none runs.")] = 0
    uptime_s: Annotated[float, about("Seconds since it started.")] = 0.0
    restarts: Annotated[int, about("Restarts since ops watches.")] = 0
    cpu_percent: Annotated[float, about("Of one core, since the last sample.")] = 0.0
    rss_bytes: Annotated[int, about("Resident memory.")] = 0
    loop_lag_s: Annotated[float, about("From its last beat.")] = 0.0
    queued: Annotated[int, about("From its last beat.")] = 0
    pools: Annotated[list[PoolInfo], about("From its last beat.")] = []
    sent: Annotated[int, about("From its last beat.")] = 0
    received: Annotated[int, about("From its last beat.")] = 0
    gaps: Annotated[int, about("From its last beat.")] = 0
    dropped: Annotated[int, about("From its last beat.")] = 0
    refused: Annotated[int, about("From its last beat.")] = 0
    reason: Annotated[str, about("Why it is not running, in words.")] = ""


class ProcessesRequest(Message, frozen=True):
    """Ask ops for all processes. Answered by `Processes`."""

    SUBJECT = "ops.processes"


class Processes(Message, frozen=True):
    """All processes of the stack."""

    SUBJECT = subjects.INBOX

    processes: Annotated[list[ProcessInfo], about("One entry a program, sorted by name.")]
    supervisor: Annotated[str, about("`ok`, or why supervisord cannot be reached.")] = "ok"


class BackendRequest(Message, frozen=True):
    """Ask model_server for the embedded backend's state. Answered by `Backend`."""

    SUBJECT = "model_server.status"


class Warm(Message, frozen=True):
    """Ask model_server to read the prompt's stable head ahead of the first question. Answered by `Done`."""

    SUBJECT = "model_server.warm"

    system: Annotated[str, about("The system prompt.")]
    tools: Annotated[list[dict[str, Any]], about("The tool definitions, in request order.")]


class Backend(Message, frozen=True):
    """The embedded backend."""

    SUBJECT = subjects.INBOX

    state: Annotated[str, about("absent, installed, loading, ready, idle or error.")]
    url: Annotated[str, about("Where it serves Ollama's API; empty while it does not.")] = ""
    model: Annotated[str, about("The model's name, as /api/tags gives it.")] = ""
    message: Annotated[str, about("In words: what is missing, and the command that brings it.")] = ""


class BackendChanged(Message, frozen=True):
    """The embedded backend's state is another one now. While it loads it may be unable to answer."""

    SUBJECT = "model_server.changed"

    state: Annotated[str, about("As in `Backend`.")]
