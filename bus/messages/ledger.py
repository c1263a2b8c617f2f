"""What may be asked of the turn ledger, besides submitting and cancelling?

All requests are idempotent. Envelopes carry user_id; whoever asks for another user's
session or turn gets `not_found`.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Struct

from bus import subjects
from bus.messages.approval import ApprovalInfo
from bus.messages.base import Message, about
from bus.messages.critique import Grade, Sentiment
from bus.messages.memory import MemoryRef


class ToolRecord(Struct, frozen=True, kw_only=True):
    """One tool call and how it ended."""

    call_id: Annotated[str, about("The call's id.")]
    tool: Annotated[str, about("The tool's name.")]
    args: Annotated[dict[str, Any], about("The arguments after validation.")] = {}
    outcome: Annotated[str, about("`running`, or how it ended.")] = "running"
    result: Annotated[str, about("What the model was told.")] = ""
    sources: Annotated[list[dict[str, Any]], about("Each {title, url}.")] = []
    seconds: Annotated[float, about("How long it took.")] = 0.0
    untrusted: Annotated[bool, about("Whether the result is content from outside: data, never instructions.")] = False
    approval: Annotated[str, about("The approval that it needs; empty for none.")] = ""
    boot: Annotated[str, about("The process that it is sent to: that one runs it once, however often it is sent.")] = ""


class Step(Struct, frozen=True, kw_only=True):
    """One journalled step of a turn: a model round that called tools, or a tool's result."""

    n: Annotated[int, about("Counts the steps of a turn from 0.", ge=0)]
    kind: Annotated[str, about("`round` (text before the calls, and the calls) or `result`.")]
    text: Annotated[str, about("For a round: what the model said before it called.")] = ""
    calls: Annotated[
        list[ToolRecord], about("For a round: its calls in request order. For a result: the one call.")
    ] = []


class PastTurn(Struct, frozen=True, kw_only=True):
    """An earlier turn of the session, as the prompt needs it."""

    query: Annotated[str, about("The question.")]
    answer: Annotated[str, about("The answer; partial where it was stopped.")]
    status: Annotated[str, about("answered, failed or cancelled.")]
    steps: Annotated[list[Step], about("Its journalled steps.")] = []
    query_id: Annotated[str, about("Its id.")] = ""
    untrusted: Annotated[bool, about("Whether content from outside was before the model.")] = False


class Summary(Struct, frozen=True, kw_only=True):
    """What stands in the prompt for a session's older turns."""

    text: Annotated[str, about("The summary.")]
    upto: Annotated[str, about("The last turn that it stands for.")]
    turns: Annotated[int, about("For how many turns it stands.")] = 0
    created_at: Annotated[str, about("ISO 8601.")] = ""
    untrusted: Annotated[bool, about("Whether one of these turns is.")] = False


class ClaimTurn(Message, frozen=True):
    """Ask for the right to answer a turn (envelope: query_id). Answered by `TurnClaimed`.

    Refused with `conflict` while another process holds it, `ended` when it is over, `waiting` when it is not its turn.
    """

    SUBJECT = "conversation.claim"

    holder: Annotated[str, about("The claiming process: its boot id.")]
    pid: Annotated[int, about("Its process id, so that the lease ends when it dies.")] = 0
    name: Annotated[str, about("Its program name.")] = ""
    takes_grants: Annotated[bool, about("Whether it may be given further turns unasked, as `TurnGranted`.")] = False


class TurnClaimed(Message, frozen=True):
    """The turn is the asker's while its lease lasts."""

    SUBJECT = subjects.INBOX

    fence: Annotated[int, about("Grows with each claim; a write with an older one is refused.")]
    attempt: Annotated[int, about("From 1; chunks carry it.")]
    lease_s: Annotated[float, about("Seconds; each journal entry renews it.")]
    query: Annotated[str, about("The question.")]
    created_at: Annotated[str, about("When it was accepted.")]
    model: Annotated[str, about("A role or a model's name; empty for the default role.")]
    persona: Annotated[str, about("The session's persona; empty for none.")]
    history: Annotated[list[PastTurn], about("The session's earlier turns of this branch, oldest first.")]
    steps: Annotated[list[Step], about("Steps journalled by an earlier attempt.")]
    left_out: Annotated[int, about("Still older turns, too many to hand over.")] = 0
    summary: Annotated[Summary | None, about("Stands for turns before `history`.")] = None
    incognito: Annotated[bool, about("Whether nothing may be recalled or kept.")] = False


class TurnGranted(Message, frozen=True):
    """A turn is given to the one process that answers, as if it had claimed it (envelope: query_id).

    Who cannot take it says nothing: the lease is short until the holder first speaks, and the turn is then offered.
    """

    SUBJECT = "conversation.granted"
    KEY = "holder"

    holder: Annotated[str, about("The process: its boot id.")]
    claim: Annotated[TurnClaimed, about("What a claim would have been answered with.")]


class JournalTurn(Message, frozen=True):
    """Save the text so far and renew the lease (envelope: query_id).

    Answered by `TurnHeld`, refused with `conflict`.
    """

    SUBJECT = "conversation.journal"

    fence: Annotated[int, about("From the claim.")]
    n: Annotated[int, about("The last chunk number that the text holds; -1 for none.")]
    thinking: Annotated[str | None, about("The thinking so far; null where it did not change.")] = None
    answer: Annotated[str | None, about("The answer so far; null where it did not change.")] = None


class TurnHeld(Message, frozen=True):
    """The lease is renewed."""

    SUBJECT = subjects.INBOX

    cancelled: Annotated[bool, about("Somebody asked to stop this turn.")] = False


class JournalStep(Message, frozen=True):
    """Save a step (envelope: query_id). Answered by `TurnHeld`, refused with `conflict`."""

    SUBJECT = "conversation.step"

    fence: Annotated[int, about("From the claim.")]
    step: Annotated[Step, about("The step; the same n again replaces it.")]


class TurnEnd(Struct, frozen=True, kw_only=True):
    """How a turn ended, and its figures."""

    status: Annotated[str, about("answered, failed or cancelled.")]
    finish_reason: Annotated[str, about("stop, length, incomplete, cancelled or error.")]
    reason: Annotated[str, about("In words, where finish_reason is not stop.")] = ""
    retryable: Annotated[bool, about("Whether asking again may help.")] = False
    code: Annotated[str, about("A stable word for the error, such as `model_unreachable`.")] = ""
    answer: Annotated[str, about("The whole answer, or what there is of it.")] = ""
    thinking: Annotated[str, about("The whole thinking.")] = ""
    tool_calls: Annotated[list[ToolRecord], about("In request order.")] = []
    model: Annotated[str, about("The model that answered.")] = ""
    demo: Annotated[bool, about("Whether the embedded demo model answered.")] = False
    prompt_tokens: Annotated[int | None, about("Of the last model round.")] = None
    answer_tokens: Annotated[int | None, about("Of all rounds.")] = None
    num_ctx: Annotated[int | None, about("Tokens that the prompt was fitted to.")] = None
    left_out: Annotated[int, about("Older messages that did not fit.")] = 0
    first_token_s: Annotated[float | None, about("From the claim to the first token.")] = None
    seconds: Annotated[float | None, about("From the claim to the end.")] = None
    facts: Annotated[list[MemoryRef], about("Pinned facts that the prompt held.")] = []
    recalled: Annotated[list[MemoryRef], about("Engrams and insights that the prompt held, the best first.")] = []
    not_recalled: Annotated[str, about("In words: why nothing was recalled, where that is no plain lack.")] = ""
    groundedness: Annotated[
        str, about("web (sources from outside), grounded (memory, documents or tools) or knowledge (the model's own).")
    ] = "knowledge"
    untrusted: Annotated[
        bool, about("Whether content from outside was before the model: the answer may say what that wants.")
    ] = False


class FinishTurn(Message, frozen=True):
    """Commit a turn's end (envelope: query_id). Answered by `Done`, refused with `conflict` or `ended`."""

    SUBJECT = "conversation.finish"

    fence: Annotated[int, about("From the claim.")]
    end: Annotated[TurnEnd, about("The end.")]


class ReleaseTurn(Message, frozen=True):
    """Hand a turn back without an end, as in a drain (envelope: query_id). Answered by `Done`.

    It is offered again at once.
    """

    SUBJECT = "conversation.release"

    fence: Annotated[int, about("From the claim.")]


class SessionInfo(Struct, frozen=True, kw_only=True):
    """One conversation in a list."""

    session_id: Annotated[str, about("Its id.")]
    title: Annotated[str, about("From its first question, or as the user named it.")]
    created_at: Annotated[str, about("ISO 8601.")]
    updated_at: Annotated[str, about("ISO 8601.")]
    turns: Annotated[int, about("How many turns.")]
    running: Annotated[bool, about("Whether a turn is open.")]
    persona: Annotated[str, about("The persona that answers its next question; empty for none.")] = ""
    incognito: Annotated[bool, about("Whether nothing of it is remembered, and nothing recalled in it.")] = False


class TurnInfo(Struct, frozen=True, kw_only=True):
    """One turn, whole."""

    query_id: Annotated[str, about("Its id.")]
    session_id: Annotated[str, about("Its conversation.")]
    query: Annotated[str, about("The question.")]
    created_at: Annotated[str, about("ISO 8601.")]
    status: Annotated[str, about("received, claimed, waiting (for an approval), answered, failed or cancelled.")]
    position: Annotated[int, about("For an open turn: how many turns come before it.")] = 0
    attempt: Annotated[int, about("The last attempt; 0 before the first.")] = 0
    n: Annotated[int, about("The last journalled chunk number; -1 for none.")] = -1
    end: Annotated[TurnEnd, about("Its end; for an open turn what is journalled so far.")]
    after: Annotated[str, about("The turn that it follows; empty for the first.")] = ""
    versions: Annotated[
        list[str], about("Turns in the same place, oldest first: the question asked again or reworded, itself too.")
    ] = []
    approvals: Annotated[list[ApprovalInfo], about("For an open turn: what its user was asked, oldest first.")] = []
    grade: Annotated[Grade | None, about("The critic's grade; null before it has spoken.")] = None
    sentiment: Sentiment = 0


class CreateSession(Message, frozen=True):
    """Make an empty session (envelope: session_id or empty, user_id). Answered by `Session`."""

    SUBJECT = "conversation.create"

    title: Annotated[str, about("Empty: taken from the first question.")] = ""
    incognito: Annotated[bool, about("Whether nothing of it is to be remembered.")] = False


class Session(Message, frozen=True):
    """A session with turns, oldest first."""

    SUBJECT = subjects.INBOX

    session: Annotated[SessionInfo, about("The session.")]
    turns: Annotated[list[TurnInfo], about("Its turns.")] = []
    summary: Annotated[Summary | None, about("What stands in the prompt for its older turns; null for none.")] = None


class GetSession(Message, frozen=True):
    """Ask for a session and the turns of the branch that is shown (envelope: session_id, user_id).

    Answered by `Session`.
    """

    SUBJECT = "conversation.get"

    open_only: Annotated[bool, about("Instead the open turns, of all branches.")] = False


class ShowBranch(Message, frozen=True):
    """Show the branch on which a turn is, up to its newest end (envelope: query_id, user_id). Answered by `Session`."""

    SUBJECT = "conversation.show"


class DeleteTurn(Message, frozen=True):
    """Delete a turn and whatever follows it, on any branch (envelope: query_id, user_id). Answered by `Done`.

    What runs of it is cancelled first.
    """

    SUBJECT = "conversation.delete_turn"


class ListSessions(Message, frozen=True):
    """Ask for a user's sessions, newest first. Answered by `Sessions`."""

    SUBJECT = "conversation.list"

    limit: Annotated[int, about("At most so many.", ge=1, le=1000)] = 200
    before: Annotated[str, about("Only those updated before this time; empty for all.")] = ""


class Sessions(Message, frozen=True):
    """A user's sessions."""

    SUBJECT = subjects.INBOX

    sessions: Annotated[list[SessionInfo], about("Newest first.")]


class RenameSession(Message, frozen=True):
    """Give a session a title (envelope: session_id, user_id). Answered by `Done`."""

    SUBJECT = "conversation.rename"

    title: Annotated[str, about("The new title.", min_length=1, max_length=200)]


class SetPersona(Message, frozen=True):
    """Have a session answered in a persona (envelope: session_id, user_id). Answered by `Done`.

    It holds from the next question on. Questions that wait follow, unless they named another one; the one that is
    being answered (envelope: query_id) stays as it is.
    """

    SUBJECT = "conversation.persona"

    persona: Annotated[str, about("Its name; `default`, `none` or empty for none.")]


class DeleteSession(Message, frozen=True):
    """Delete a session and all its turns (envelope: session_id, user_id). Answered by `Done`.

    What runs is cancelled first.
    """

    SUBJECT = "conversation.delete"


class GetTurn(Message, frozen=True):
    """Ask for one turn (envelope: query_id, user_id). Answered by `Turn`."""

    SUBJECT = "conversation.turn"


class Turn(Message, frozen=True):
    """One turn."""

    SUBJECT = subjects.INBOX

    turn: Annotated[TurnInfo, about("The turn.")]


class SearchTurns(Message, frozen=True):
    """Ask for a user's turns that hold some words (envelope: user_id). Answered by `TurnsFound`."""

    SUBJECT = "conversation.search"

    text: Annotated[str, about("Words as typed; the last one may be unfinished.")]
    limit: Annotated[int, about("At most so many.", ge=1, le=200)] = 50


class Mark(Struct, frozen=True, kw_only=True):
    """A place in a text, in characters."""

    start: Annotated[int, about("From here.")]
    end: Annotated[int, about("Up to here, without it.")]


class TurnHit(Struct, frozen=True, kw_only=True):
    """A turn that holds the words."""

    session_id: Annotated[str, about("Its conversation.")]
    title: Annotated[str, about("The conversation's title.")]
    query_id: Annotated[str, about("The turn.")]
    created_at: Annotated[str, about("ISO 8601.")]
    snippet: Annotated[str, about("The part of question or answer where the words stand.")]
    marks: Annotated[list[Mark], about("Where in the snippet.")] = []


class TurnsFound(Message, frozen=True):
    """What was found."""

    SUBJECT = subjects.INBOX

    hits: Annotated[list[TurnHit], about("The best first.")]


class SessionChanged(Message, frozen=True):
    """A session was made, renamed or deleted, or something in it changed (envelope: session_id, user_id)."""

    SUBJECT = "conversation.changed"

    change: Annotated[
        str,
        about("created, renamed, deleted, turns (a turn was deleted, or another branch is shown), or updated."),
    ]


class EndedTurn(Struct, frozen=True, kw_only=True):
    """An answered turn that somebody has still to work on."""

    session_id: Annotated[str, about("Its conversation.")]
    user_id: Annotated[str, about("Whose it is.")]
    query_id: Annotated[str, about("Its id.")]
    query: Annotated[str, about("The question.")]
    created_at: Annotated[str, about("ISO 8601.")]
    end: Annotated[TurnEnd, about("Its end.")]
    revision: Annotated[int, about("Grows with each grade and vote: what was done for an older one is done again.")] = 0
    grade: Annotated[Grade | None, about("The critic's grade; null before it has spoken.")] = None
    sentiment: Sentiment = 0
    previous: Annotated[str, about("The question before it on its branch; empty for none.")] = ""


class OverdueTurns(Message, frozen=True):
    """Ask for answered turns that were not graded, or not ingested, yet. Answered by `Overdue`.

    The truth behind the hints: `response.generation`, `critique.result` and `user.feedback` say that there are some.
    """

    SUBJECT = "conversation.overdue"

    stage: Annotated[str, about("graded or ingested.")]
    limit: Annotated[int, about("At most so many.", ge=1, le=100)] = 20


class Overdue(Message, frozen=True):
    """Of all users, oldest first. Turns of an incognito session are none."""

    SUBJECT = subjects.INBOX

    turns: Annotated[list[EndedTurn], about("To work on.")]


class GradeTurn(Message, frozen=True):
    """Save an answer's grade (envelope: the turn). Answered by `Done`; the first grade stays."""

    SUBJECT = "conversation.grade"

    grade: Annotated[Grade, about("The grade, or why there is none.")]


class IngestedTurn(Message, frozen=True):
    """Say that the memory has a turn, or has nothing to keep of it (envelope: the turn). Answered by `Done`."""

    SUBJECT = "conversation.ingested"

    revision: Annotated[int, about("As it was got: a turn that has changed since stays overdue.")]


class VoteTurn(Message, frozen=True):
    """Save the user's vote on an answer (envelope: query_id, user_id). Answered by `Done`; `UserFeedback` follows.

    Refused with `not_answered` while there is no answer.
    """

    SUBJECT = "conversation.vote"

    sentiment: Sentiment


class SummariseTurns(Message, frozen=True):
    """Ask for what is to be summed up of a session (envelope: session_id, user_id). Answered by `TurnsToSummarise`.

    Refused with `not_found`, or `running` while a turn of it runs.
    """

    SUBJECT = "conversation.to_summarise"

    tail: Annotated[int, about("The newest turns, which stay as they are.", ge=0)]


class TurnsToSummarise(Message, frozen=True):
    """The older turns of the shown branch since its last summary, as many of the oldest as fit into a message."""

    SUBJECT = subjects.INBOX

    turns: Annotated[list[PastTurn], about("Oldest first; empty where there is nothing to sum up.")]
    upto: Annotated[str, about("The last of them; empty for none.")] = ""
    before: Annotated[Summary | None, about("What stands for still older ones.")] = None


class SaveSummary(Message, frozen=True):
    """Save a summary (envelope: session_id, user_id). Answered by `Done`.

    Refused with `running` while a turn of the session runs, `conflict` where its turns are not what they were.
    """

    SUBJECT = "conversation.save_summary"

    upto: Annotated[str, about("As it was got.")]
    text: Annotated[str, about("The summary, for all turns up to there.", min_length=1, max_length=40_000)]
    before: Annotated[str, about("The `upto` of the summary that it builds on; empty for none.")] = ""


class Deletion(Struct, frozen=True, kw_only=True):
    """A deleted session, or some deleted turns of one. Ids alone: its words are gone."""

    deletion_id: Annotated[int, about("Its id.")]
    user_id: Annotated[str, about("Whose it was.")]
    session_id: Annotated[str, about("The conversation.")]
    query_ids: Annotated[list[str] | None, about("The turns; null for the whole session.")] = None


class OverdueDeletions(Message, frozen=True):
    """Ask for deletions that the memory has not followed yet. Answered by `Deletions`."""

    SUBJECT = "conversation.overdue_deletions"

    limit: Annotated[int, about("At most so many.", ge=1, le=100)] = 20


class Deletions(Message, frozen=True):
    """Of all users, oldest first."""

    SUBJECT = subjects.INBOX

    deletions: Annotated[list[Deletion], about("To follow.")]


class FollowedDeletion(Message, frozen=True):
    """Say that the memory has forgotten what was deleted. Answered by `Done`."""

    SUBJECT = "conversation.followed_deletion"

    deletion_id: Annotated[int, about("Which.")]
