"""Which subjects are there, in the order in which a turn passes them?

A subject is a list of words joined by dots. A message class names its subject; a keyed one
(`tool.call.NAME`) adds one escaped word. Subjects match whole words: ZeroMQ matches prefixes,
so the client checks again. No subject holds what only one broker understands.
"""

from __future__ import annotations

from urllib.parse import quote, unquote

QUERY_RECEIVED = "query.received"
MEMORY_CONTEXT = "memory.context"
GENERATION_THINKING = "generation.thinking"
GENERATION_TOKEN = "generation.token"  # noqa: S105  a subject, no secret
GENERATION_CANCEL = "generation.cancel"
TOOL_SCHEMA = "tool.schema"
TOOL_SCHEMA_REQUEST = "tool.schema.request"
TOOL_CALL = "tool.call"
TOOL_RESULT = "tool.result"
TOOL_ACTIVITY = "tool.activity"
TOOL_TRANSITION = "tool.transition"
PERSONAS_LIST = "personas.list"
TOOL_APPROVAL_REQUEST = "tool.approval.request"
TOOL_APPROVAL_RESULT = "tool.approval.result"
RESPONSE_GENERATION = "response.generation"
ANSWER_DIALOG = "answer.dialog"
CRITIQUE_RESULT = "critique.result"
USER_FEEDBACK = "user.feedback"
REWARD_EVENT = "reward.event"
USER_CONTEXT_REQUEST = "user.context.request"
USER_CONTEXT = "user.context"
USER_CONTEXT_UPDATED = "user.context.updated"
COMPACTION_REQUEST = "compaction.request"
COMPACTION_RESULT = "compaction.result"

AGENT_TRANSITION = "agent.transition"
GENERATOR_STATUS = "generator.status"
CONFIG_RELOAD = "config.reload"
PARTICIPANT_PRESENCE = "participant.presence"
PARTICIPANT_HEARTBEAT = "participant.heartbeat"
OPS_PROCESS = "ops.process"
OPS_METRICS = "ops.metrics"
INBOX = "inbox"


def escape(word: str) -> str:
    """One word of a subject: letters, digits, `_` and `-` stay, all else (a dot too) becomes %XX."""
    return quote(word, safe="").replace(".", "%2E").replace("~", "%7E")


def unescape(word: str) -> str:
    """The inverse of `escape`."""
    return unquote(word)


def keyed(base: str, key: str) -> str:
    """`tool.call` and a name: the subject of that tool's calls."""
    return f"{base}.{escape(key)}"


def parent(subject: str) -> str:
    """The subject without its last word; empty for a single word."""
    return subject.rpartition(".")[0]
