"""The decisions of ops, without processes or clocks."""

from __future__ import annotations

from typing import Any

import pytest

from bus.messages.control import Heartbeat, PoolInfo, Presence
from participants.services.ops import decide
from participants.services.ops.decide import BY_HAND, Beat, Event, Known, Program, Silence, Usage

POOLS = [PoolInfo(name="calls", workers=4, running=4, waiting=2)]
ASKED = "it was asked to stop"
UNSEEN = "it ended unseen"


def program(state: str, pid: int = 0, **rest: Any) -> Program:
    return Program(name="web", full_name="web", state=state, pid=pid, **rest)


def beat(pid: int = 7, name: str = "web", state: str = "ready", **rest: Any) -> Heartbeat:
    return Heartbeat(name=name, instance="here", kind="tool", state=state, pid=pid, **rest)


RUNS = Known(pid=7, state="RUNNING", lives=1)
DEAD = Known(buried=7, state="RUNNING", lives=1, reason="killed by SIGKILL")
GIVEN_UP = Known(buried=7, state="FATAL", lives=4, fatal=2, reason="exit status 1")


@pytest.mark.parametrize(
    ("known", "reading", "events", "now"),
    [
        pytest.param(Known(), program("STOPPED"), [], Known(state="STOPPED"), id="never started"),
        pytest.param(
            Known(state="STOPPED"),
            program("STARTING", 7),
            [Event("started", 7)],
            Known(pid=7, state="STARTING", lives=1),
            id="first start",
        ),
        pytest.param(RUNS, program("RUNNING", 7), [], RUNS, id="nothing new"),
        pytest.param(
            DEAD,
            program("STARTING", 8),
            [Event("started", 8, "killed by SIGKILL")],
            Known(pid=8, buried=7, state="STARTING", lives=2),
            id="restarted",
        ),
        pytest.param(DEAD, program("RUNNING", 7), [], DEAD, id="a reading from before the death"),
        pytest.param(
            RUNS,
            program("RUNNING", 9),
            [Event("died", 7, UNSEEN), Event("started", 9, UNSEEN)],
            Known(pid=9, buried=7, state="RUNNING", lives=2),
            id="died and restarted while nobody looked",
        ),
        pytest.param(
            RUNS,
            program("BACKOFF"),
            [Event("died", 7, UNSEEN)],
            Known(buried=7, state="BACKOFF", lives=1, reason=UNSEEN),
            id="died unseen",
        ),
        pytest.param(
            Known(state="BACKOFF", reason="exit status 1"),
            program("FATAL", problem="Exited too quickly"),
            [Event("fatal", 0, "exit status 1")],
            Known(state="FATAL", lives=1, fatal=1, reason="exit status 1"),
            id="given up",
        ),
        pytest.param(
            Known(),
            program("FATAL", problem="no such file"),
            [Event("fatal", 0, "no such file")],
            Known(state="FATAL", lives=1, fatal=1, reason="no such file"),
            id="given up before we came",
        ),
        pytest.param(GIVEN_UP, program("FATAL"), [], GIVEN_UP, id="still given up"),
        pytest.param(
            GIVEN_UP,
            program("RUNNING", 8),
            [Event("started", 8, "exit status 1")],
            Known(pid=8, buried=7, state="RUNNING", lives=5),
            id="came back for good",
        ),
        pytest.param(
            DEAD,
            program("STOPPED"),
            [Event("stopped", 0, ASKED)],
            Known(buried=7, state="STOPPED", lives=1, reason=ASKED),
            id="a person stopped it",
        ),
        pytest.param(
            Known(pid=7, state=BY_HAND, lives=1),
            program("STOPPED"),
            [],
            Known(pid=7, state=BY_HAND, lives=1),
            id="it runs by hand, whatever supervisord says of its own",
        ),
        pytest.param(
            Known(pid=7, state=BY_HAND, lives=1),
            program("RUNNING", 7),
            [],
            Known(pid=7, state="RUNNING", lives=1),
            id="supervisord can be asked at last",
        ),
    ],
)
def test_what_is_new_in_a_reading(known: Known, reading: Program, events: list[Event], now: Known) -> None:
    assert decide.advance(known, reading) == (now, events)


def test_nothing_is_said_of_what_ran_before_we_came() -> None:
    assert decide.found(program("RUNNING", 7)) == RUNS
    assert decide.found(program("STOPPED")) == Known(state="STOPPED")


def test_only_the_process_that_is_known_can_be_buried() -> None:
    assert decide.buried(RUNS, 7, "killed by SIGKILL") == DEAD
    assert decide.buried(RUNS, 6, "late news") == RUNS


@pytest.mark.parametrize(
    ("reading", "over"),
    [
        (program("RUNNING", 7), False),
        (program("EXITED"), False),
        (program("STOPPING", 7), False),
        (program("STARTING", 8), True),
        (program("STOPPED"), True),
        (program("BACKOFF"), True),
        (program("FATAL"), True),
    ],
)
def test_when_supervisord_is_done_with_a_death(reading: Program, over: bool) -> None:
    assert decide.settled(reading, 7) is over


@pytest.mark.parametrize(
    ("fatal", "after_s"), [(0, 1.0), (1, 1.0), (2, 2.0), (3, 4.0), (6, 32.0), (7, 60.0), (10_000, 60.0)]
)
def test_the_wait_for_a_given_up_program_doubles_up_to_a_limit(fatal: int, after_s: float) -> None:
    assert decide.retry_after_s(fatal, 1.0, 60.0) == after_s


def test_programs_that_were_taken_out_are_forgotten_but_not_those_started_by_hand() -> None:
    before = {"gone": program("STOPPED"), "stays": program("STOPPED"), "hand": program(BY_HAND, 7)}
    assert decide.removed(before, {"stays": program("STOPPED")}) == ["gone"]


# --------------------------------------------------------------------------- silence

PIDS = {"proxy": 1, "ops": 2, "web": 7, "idle": 8}
"""`idle` never beats."""


def silence(limit_s: float = 10.0) -> Silence:
    return Silence("ops", limit_s, 2.0, 0.0)


def beats(watch: Silence, names: dict[str, int], start: int, stop: int) -> None:
    """A beat every two seconds of each of `names`."""
    for now in range(start, stop, 2):
        for name, pid in names.items():
            watch.heard(name, pid, float(now))


BEATING = {"ops": 2, "web": 7}


def test_who_beats_is_left_alone() -> None:
    watch = silence()
    beats(watch, BEATING, 0, 100)
    assert watch.wedged(PIDS, 99.0) == []
    assert not watch.quiet("web", 99.0)


def test_who_stops_beating_while_we_are_heard_is_wedged() -> None:
    watch = silence()
    beats(watch, BEATING, 0, 20)
    beats(watch, {"ops": 2}, 20, 30)
    assert watch.quiet("web", 27.0)
    assert watch.wedged(PIDS, 28.0) == []
    assert watch.wedged(PIDS, 28.5) == ["web"]


def test_a_process_that_has_not_beaten_yet_is_not_judged() -> None:
    watch = silence()
    beats(watch, BEATING, 0, 20)
    beats(watch, {"ops": 2}, 20, 60)
    assert watch.wedged({"ops": 2, "web": 9, "idle": 8}, 59.0) == []
    assert not watch.quiet("idle", 59.0)


def test_when_all_are_silent_the_proxy_alone_is_wedged() -> None:
    watch = silence()
    beats(watch, BEATING, 0, 20)
    said = [(now, watch.wedged(PIDS, float(now))) for now in range(19, 40)]
    assert [(now, names) for now, names in said if names] == [(29, ["proxy"])]


def test_the_others_get_their_time_after_the_proxy_stood_still() -> None:
    watch = silence()
    beats(watch, BEATING, 0, 20)
    beats(watch, {"ops": 2}, 30, 40)
    assert watch.wedged(PIDS, 38.0) == []
    beats(watch, {"ops": 2}, 40, 42)
    assert watch.wedged(PIDS, 41.0) == ["web"]


@pytest.mark.parametrize("out_of_step_s", [0.0, 0.5, 1.0, 1.9])
def test_at_the_shortest_limit_a_dead_proxy_is_still_not_blamed_on_others(out_of_step_s: float) -> None:
    watch = silence(limit_s=0.1)
    for now in range(0, 20, 2):
        watch.heard("web", 7, float(now))
        watch.heard("ops", 2, now + out_of_step_s)
    said = [name for tenth in range(190, 500) for name in watch.wedged(PIDS, tenth / 10)]
    assert set(said) == {"proxy"}


def test_nobody_is_wedged_after_a_suspend() -> None:
    watch = silence()
    beats(watch, BEATING, 0, 20)
    watch.disturbed(5000.0)
    assert watch.wedged(PIDS, 5000.5) == []
    beats(watch, BEATING, 5002, 5006)
    assert watch.wedged(PIDS, 5005.0) == []


def test_before_our_own_first_beat_nothing_is_known() -> None:
    watch = silence()
    beats(watch, {"web": 7}, 0, 4)
    assert watch.wedged(PIDS, 500.0) == []


def test_who_is_wedged_again_and_again_gets_more_and_more_time() -> None:
    watch = silence()
    beats(watch, BEATING, 0, 2)
    found: list[int] = []
    for now in range(2, 100):
        beats(watch, {"ops": 2}, now, now + 1)
        found += [now] * ("web" in watch.wedged(PIDS, float(now)))
    assert found == [11, 21, 41, 81]


def test_a_limit_of_zero_turns_it_off() -> None:
    watch = silence(0.0)
    beats(watch, BEATING, 0, 20)
    beats(watch, {"ops": 2}, 20, 90)
    assert watch.wedged(PIDS, 89.0) == []
    watch.set_limit(10.0)
    assert watch.wedged(PIDS, 89.0) == ["web"]


# --------------------------------------------------------------------------- what is told of a program


@pytest.mark.parametrize(
    ("known", "reading", "heard", "quiet", "state"),
    [
        pytest.param(RUNS, program("RUNNING", 7), beat(7), False, "ready", id="beats"),
        pytest.param(RUNS, program("RUNNING", 7), beat(7, state="draining"), False, "draining", id="as it says"),
        pytest.param(RUNS, program("RUNNING", 7), beat(7), True, "silent", id="beats are missing"),
        pytest.param(RUNS, program("RUNNING", 7), beat(6), False, "starting", id="only its predecessor beat"),
        pytest.param(RUNS, program("STARTING", 7), None, False, "starting", id="no beat yet"),
        pytest.param(DEAD, program("EXITED"), beat(7), False, "stopped", id="ended"),
        pytest.param(DEAD, program("BACKOFF"), beat(7), False, "backoff", id="waits"),
        pytest.param(GIVEN_UP, program("FATAL"), beat(7), False, "fatal", id="given up"),
        pytest.param(Known(state="STOPPED"), program("STOPPED"), None, False, "stopped", id="never started"),
        pytest.param(Known(), None, None, False, "stopped", id="known by nobody"),
        pytest.param(Known(), None, beat(7), False, "ready", id="beats, and is watched by nobody yet"),
    ],
)
def test_the_state_that_is_told(
    known: Known, reading: Program | None, heard: Heartbeat | None, quiet: bool, state: str
) -> None:
    said = decide.info("web", known, reading, heard and Beat(heard, "web_tool"), None, quiet)
    assert (said.name, said.state) == ("web", state)


def test_the_proxy_is_ready_when_it_runs_for_it_does_not_beat() -> None:
    said = decide.info("proxy", RUNS, program("RUNNING", 7), None, None, False)
    assert (said.state, said.kind, said.sender_id) == ("ready", "proxy", "proxy")


def test_all_figures_are_passed_on() -> None:
    heard = Beat(
        beat(7, loop_lag_s=0.1, queued=2, pools=POOLS, sent=3, received=4, gaps=5, dropped=6, refused=8), "web_tool"
    )
    said = decide.info("web", RUNS, program("RUNNING", 7, up_s=9.0), heard, Usage(1.5, 1024), False)
    assert (said.kind, said.sender_id, said.pid, said.uptime_s) == ("tool", "web_tool", 7, 9.0)
    assert (said.cpu_percent, said.rss_bytes, said.loop_lag_s, said.queued, said.pools) == (1.5, 1024, 0.1, 2, POOLS)
    assert (said.sent, said.received, said.gaps, said.dropped, said.refused) == (3, 4, 5, 6, 8)


def test_a_presence_changes_the_state_and_keeps_the_figures() -> None:
    said = Presence(name="web", instance="here", kind="tool", state="draining", pid=7)
    assert decide.presence(Beat(beat(7, sent=3), "old"), said, "new") == Beat(beat(7, state="draining", sent=3), "new")
    assert decide.presence(Beat(beat(6, sent=3), "old"), said, "new") == Beat(beat(7, state="draining"), "new")


def test_process_that_announced_its_silence_is_left_alone() -> None:
    """Loading a model holds up everything else in that process."""
    silence = Silence("ops", limit_s=10, beat_s=2, now=0)
    silence.heard("model_server", 7, 0 + 60)
    for now in range(0, 60, 2):
        silence.heard("ops", 1, now)
        assert silence.wedged({"model_server": 7}, now) == []
    for now in range(60, 80, 2):
        silence.heard("ops", 1, now)
    assert silence.wedged({"model_server": 7}, 79) == ["model_server"]
