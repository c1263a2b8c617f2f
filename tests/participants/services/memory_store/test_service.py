"""Keeping, recalling and forgetting, over the bus, with a real Chroma."""

from __future__ import annotations

from pathlib import Path

import pytest

from bus import paths
from bus.messages.base import Message
from bus.messages.control import Done
from bus.messages.memory import (
    DeleteAllMemories,
    DeleteMemory,
    EditMemory,
    ForgetTurns,
    GetMemories,
    ImportMemories,
    KeepEngram,
    ListMemories,
    MemoriesTaken,
    Memory,
    MemoryPage,
    Recall,
    RememberFact,
    SearchMemory,
    UpdateEngram,
    UserContext,
    UserContextRequest,
)
from participants.services.memory_store.config import MemoryStoreConfig
from tests.participants.services.memory_store.desk import Desk
from tests.support.scripted_ollama import ScriptedOllama

USERS = ("ann", "a.b", "a_b", "alice@example.com", "ab", "用户", "a" * 200)


async def test_what_was_kept_is_recalled_by_meaning_and_after_a_restart(desk: Desk) -> None:
    await desk.keep(1, "Where is the boat?", "The boat lies in the harbour of Kiel.")
    await desk.keep(2, "What is a monad?", "A monoid in a category of endofunctors.")
    await desk.settled()
    assert await desk.recalled("Where in the harbour is the boat?") == ["The boat lies in the harbour of Kiel."]
    await desk.restart()
    assert await desk.recalled("Where in the harbour is the boat?") == ["The boat lies in the harbour of Kiel."]


async def test_facts_come_always_oldest_first(desk: Desk) -> None:
    for fact in ("Nora is her sister.", "She likes tea.", "Her car is red."):
        await desk.pin(fact)
    found = await desk.recall("Something else entirely")
    assert [fact.text for fact in found.facts] == ["Nora is her sister.", "She likes tea.", "Her car is red."]
    context = await desk.ask(UserContextRequest(), UserContext)
    assert context.facts == found.facts
    assert desk.updated == ["ann"] * 3


async def test_an_empty_store_answers(desk: Desk) -> None:
    found = await desk.recall("Anything?")
    assert (found.facts, found.engrams, found.insights, found.reason) == ([], [], [], "")
    assert (await desk.search("Anything?"), await desk.all()) == ([], [])


# ---------------------------------------------------------------------- whose


@pytest.mark.parametrize("user", USERS)
async def test_any_users_memory_is_its_own(desk: Desk, user: str) -> None:
    for number, other in enumerate(USERS):
        await desk.keep(number, "What is the secret?", f"The secret of {number} is a blue whale.", user=other)
        await desk.pin(f"Secret {number} is a blue whale.", user=other)
    await desk.settled()
    number = USERS.index(user)
    own = [f"The secret of {number} is a blue whale.", f"Secret {number} is a blue whale."]
    assert await desk.recalled("What is the secret whale?", user) == own[:1]
    assert sorted(await desk.search("secret blue whale", user)) == sorted(own)
    assert sorted(memory.text for memory in await desk.all(user)) == sorted(own)
    assert [fact.text for fact in (await desk.recall("x", user)).facts] == own[1:]


async def test_an_id_of_another_user_opens_nothing(desk: Desk) -> None:
    kept = await desk.pin("The PIN hint is blue whale.")
    for message in (
        DeleteMemory(memory_id=kept.fact_id),
        EditMemory(memory_id=kept.fact_id, text="Mine now."),
    ):
        assert await desk.refused(message, "bob") == "not_found"
    assert (await desk.ask(GetMemories(memory_ids=[kept.fact_id]), MemoryPage, "bob")).memories == []
    await desk.keep(1, "PIN?", "Blue whale.", user="ann")
    assert await desk.refused(UpdateEngram(text="Mine."), "bob", "q1") == "not_found"
    await desk.ask(ForgetTurns(query_ids=["q1"]), Done, "bob", session_id="s1")
    await desk.ask(DeleteAllMemories(), Done, "bob")
    assert len(await desk.all()) == 2


async def test_one_users_import_never_touches_anothers(desk: Desk) -> None:
    kept = await desk.pin("The PIN hint is blue whale.")
    stolen = Memory(memory_id=kept.fact_id, user_id="ann", kind="fact", text="Bob's own fact.")
    taken = await desk.ask(ImportMemories(memories=[stolen]), MemoriesTaken, "bob")
    assert (taken.added, [m.text for m in await desk.all("bob")]) == (1, ["Bob's own fact."])
    assert [m.text for m in await desk.all()] == ["The PIN hint is blue whale."]


async def test_sharing_is_off_by_default_and_by_hand(desk: Desk) -> None:
    await desk.keep(1, "How is the printer fixed?", "Turn the printer off and on.")
    await desk.settled()
    (engram,) = await desk.all()
    assert await desk.refused(EditMemory(memory_id=engram.memory_id, shared=True)) == "refused"
    await desk.restart(MemoryStoreConfig(id="memory", collective=True, embed_s=5.0))
    assert await desk.recalled("How is the printer fixed?", "bob") == []
    await desk.ask(EditMemory(memory_id=engram.memory_id, shared=True), MemoryPage)
    await desk.keep(2, "How is the printer fixed?", "With my secret hammer on the printer.")
    await desk.settled()
    assert await desk.recalled("How is the printer fixed?", "bob") == ["Turn the printer off and on."]
    fact = await desk.pin("The printer hides behind the printer shelf.")
    await desk.ask(EditMemory(memory_id=fact.fact_id, shared=True), MemoryPage)
    await desk.settled()
    found = await desk.recall("Where is the printer?", "bob")
    assert (found.facts, "The printer hides behind the printer shelf." in [m.text for m in found.engrams]) == ([], True)
    assert {(m.session_id, m.query_id) for m in found.engrams} == {("", "")}
    assert [m.text for m in (await desk.recall("Where is the printer?")).facts] == [fact.fact]
    await desk.restart()
    assert await desk.recalled("How is the printer fixed?", "bob") == []


# ---------------------------------------------------------------------- once


async def test_the_same_turn_again_is_the_same_engram(desk: Desk) -> None:
    await desk.keep(1, "Boat?", "In Kiel.")
    (engram,) = await desk.all()
    await desk.ask(EditMemory(memory_id=engram.memory_id, text="In Kiel, at the quay."), MemoryPage)
    await desk.keep(1, "Boat?", "In Kiel.")
    (engram,) = await desk.all()
    assert (engram.text, engram.query_id, engram.session_id) == ("In Kiel, at the quay.", "q1", "s1")


async def test_better_words_replace_only_those_that_they_were_made_of(desk: Desk) -> None:
    await desk.keep(1, "Boat?", "In Kiel.")
    await desk.ask(UpdateEngram(text="It lies in Kiel.", instead_of=" In Kiel."), Done, query_id="q1")
    (engram,) = await desk.all()
    assert engram.text == "It lies in Kiel."
    await desk.ask(EditMemory(memory_id=engram.memory_id, text="It lies in Lübeck."), MemoryPage)
    late = UpdateEngram(text="It is in Kiel.", instead_of="It lies in Kiel.", intent="fact", entities=["Kiel"])
    await desk.ask(late, Done, query_id="q1")
    (engram,) = await desk.all()
    assert (engram.text, "Kiel" in engram.entities) == ("It lies in Lübeck.", False)


async def test_what_is_said_of_an_answer_later_changes_only_that(desk: Desk) -> None:
    await desk.keep(1, "Boat?", "In Kiel.", intent="fact")
    await desk.ask(UpdateEngram(critic_score=2, sentiment=-1), Done, query_id="q1")
    (engram,) = await desk.all()
    assert (engram.text, engram.intent, engram.critic_score, engram.sentiment) == ("In Kiel.", "fact", 2, -1)
    assert await desk.refused(UpdateEngram(sentiment=1), query_id="q9") == "not_found"


@pytest.mark.parametrize("again", ["She likes tea.", "  she LIKES tea", "She likes tea!", "tea she likes"])
async def test_a_fact_that_says_the_same_is_merged(desk: Desk, again: str) -> None:
    first = await desk.pin("She likes tea.")
    await desk.settled()
    second = await desk.pin(again)
    assert (second.merged, second.fact_id, second.fact) == (True, first.fact_id, again.strip())
    assert len(await desk.all()) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("She likes tea.", "She likes not tea."),
        ("Her number is 5551 in Kiel", "Her number is 5552 in Kiel"),
        ("The sister of the user is Nora", "The sister of the user is Lena"),
    ],
)
async def test_a_fact_that_differs_in_what_matters_is_another_one(desk: Desk, one: str, other: str) -> None:
    await desk.pin(one)
    await desk.settled()
    assert not (await desk.pin(other)).merged
    assert len(await desk.all()) == 2


# ---------------------------------------------------------------------- gone


def rests_of(home: Path, word: str) -> list[str]:
    """The files of a home that hold a word."""
    files = [file for file in home.rglob("*") if file.is_file()]
    return [file.name for file in files if word.encode() in file.read_bytes()]


async def test_a_deleted_memory_is_gone_everywhere_at_once(desk: Desk, local2_home: Path) -> None:
    await desk.keep(1, "What about the zebrafish?", "Zebrafish are small.")
    await desk.keep(2, "What about whales?", "Whales are large.")
    await desk.settled()
    gone = next(memory for memory in await desk.all() if memory.query_id == "q1")
    await desk.ask(DeleteMemory(memory_id=gone.memory_id), Done)
    for _ in range(2):
        assert "Zebrafish are small." not in await desk.recalled("What about the zebrafish?")
        assert "Zebrafish are small." not in await desk.search("zebrafish small")
        assert (await desk.ask(GetMemories(memory_ids=[gone.memory_id]), MemoryPage)).memories == []
        assert [memory.query_id for memory in await desk.all()] == ["q2"]
        await desk.restart()
    assert rests_of(local2_home, "ebrafish") == []
    assert not any(name.startswith("memory.db") for name in rests_of(local2_home, gone.memory_id))


async def test_a_deleted_engram_does_not_come_back(desk: Desk) -> None:
    await desk.keep(1, "Boat?", "In Kiel.")
    (engram,) = await desk.all()
    await desk.ask(DeleteMemory(memory_id=engram.memory_id), Done)
    await desk.keep(1, "Boat?", "In Kiel.")
    assert await desk.all() == []


async def test_deleting_a_fact_deletes_the_turn_in_which_it_was_told(desk: Desk) -> None:
    kept = await desk.pin("My PIN hint is blue whale.", query_id="q1")
    await desk.keep(1, "Remember that my PIN hint is blue whale.", "Remembered.")
    await desk.ask(DeleteMemory(memory_id=kept.fact_id), Done)
    assert await desk.all() == []
    assert desk.updated == ["ann", "ann"]


async def test_forgetting_turns_leaves_other_sessions_and_pinned_facts(desk: Desk) -> None:
    await desk.pin("She likes tea.", query_id="q1")
    for number, session in ((1, 1), (2, 1), (3, 2)):
        await desk.keep(number, f"Question {number}?", f"Answer {number}.", session=session)
    await desk.ask(ForgetTurns(query_ids=["q2"]), Done, session_id="s1")
    assert [memory.text for memory in await desk.all()] == ["Answer 3.", "Answer 1.", "She likes tea."]
    await desk.ask(ForgetTurns(), Done, session_id="s1")
    assert [memory.text for memory in await desk.all()] == ["Answer 3.", "She likes tea."]


async def test_deleting_all_of_one_user_touches_no_other(desk: Desk) -> None:
    for user in ("ann", "bob"):
        await desk.pin("She likes tea.", user)
        await desk.keep(1, "What about whales?", f"Whales are large, says {user}.", user=user)
    await desk.settled()
    await desk.ask(DeleteAllMemories(), Done, "ann")
    assert (await desk.all("ann"), len(await desk.all("bob"))) == ([], 2)
    assert await desk.recalled("What about whales?", "bob") == ["Whales are large, says bob."]


async def test_vectors_of_what_was_deleted_are_taken_out_later_where_it_stopped_between(desk: Desk) -> None:
    await desk.keep(1, "What about whales?", "Whales are large.")
    await desk.settled()
    desk.service.store.delete(await desk.all(), never_again=True)  # and then it was killed
    await desk.restart()
    await desk.settled()
    assert desk.service.store.doomed(9) == []


# ---------------------------------------------------------------------- listing, editing, moving


async def test_a_long_list_comes_in_pages(desk: Desk) -> None:
    for number in range(7):
        await desk.keep(number, f"Question {number}?", f"Answer {number}.")
    first = await desk.ask(ListMemories(limit=3), MemoryPage)
    second = await desk.ask(ListMemories(limit=3, before=first.next), MemoryPage)
    last = await desk.ask(ListMemories(limit=3, before=second.next), MemoryPage)
    texts = [memory.text for page in (first, second, last) for memory in page.memories]
    assert (texts, last.next, first.total) == ([f"Answer {number}." for number in range(6, -1, -1)], "", 7)


async def test_a_list_is_filtered_by_kind_and_words(desk: Desk) -> None:
    await desk.pin("100 % of her tea is green.")
    await desk.keep(1, "Tea?", "Green tea.")
    assert [memory.kind for memory in await desk.all(kind="fact")] == ["fact"]
    assert [memory.text for memory in await desk.all(text="100 %")] == ["100 % of her tea is green."]
    assert await desk.all(text="_") == []
    assert await desk.refused(ListMemories(kind="dream")) == "bad_request"
    assert await desk.refused(ListMemories(before="x")) == "bad_request"


async def test_a_memory_in_other_words_is_found_by_them(desk: Desk) -> None:
    await desk.keep(1, "Where?", "The boat lies in Kiel.")
    await desk.settled()
    (engram,) = await desk.all()
    await desk.ask(EditMemory(memory_id=engram.memory_id, text="The yacht is in Lübeck now."), MemoryPage)
    await desk.settled()
    assert await desk.search("yacht Lübeck") == ["The yacht is in Lübeck now."]
    assert await desk.search("boat Kiel") == []


async def test_an_export_can_be_taken_in_twice(desk: Desk) -> None:
    await desk.pin("She likes tea.")
    await desk.keep(1, "Boat?", "In Kiel.")
    exported = await desk.all()
    assert (await desk.ask(ImportMemories(memories=exported), MemoriesTaken)).added == 0
    await desk.ask(DeleteAllMemories(), Done)
    for added in (2, 0):
        taken = await desk.ask(ImportMemories(memories=exported), MemoriesTaken)
        assert (taken.added, taken.known) == (added, 2 - added)
    assert sorted(memory.text for memory in await desk.all()) == ["In Kiel.", "She likes tea."]
    await desk.ask(ImportMemories(memories=exported), MemoriesTaken, "bob")
    assert len(await desk.all("bob")) == 2


# ---------------------------------------------------------------------- switched off


async def test_without_writing_what_is_there_is_still_used(desk: Desk) -> None:
    await desk.keep(1, "What about whales?", "Whales are large.")
    await desk.settled()
    await desk.restart(MemoryStoreConfig(id="memory", write_enabled=False, embed_s=5.0))
    assert await desk.refused(RememberFact(fact="She likes tea.")) == "refused"
    await desk.keep(2, "New?", "New.")
    assert await desk.recalled("What about whales?") == ["Whales are large."]
    assert len(await desk.all()) == 1


# ---------------------------------------------------------------------- models that fail or change


async def test_without_an_embedding_model_words_find_it_and_vectors_come_later(
    desk: Desk, models: ScriptedOllama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL2_MODELS__EMBEDDING", "absent-embed")
    await desk.restart()
    await desk.pin("She likes green tea.")
    await desk.keep(1, "What about whales?", "Whales are large.")
    found = await desk.recall("whales")
    assert [memory.text for memory in found.engrams] == ["Whales are large."]
    assert desk.service.store.count_pending("x") == (2, 0)
    monkeypatch.setenv("LOCAL2_MODELS__EMBEDDING", "scripted-embed")
    await desk.restart()
    await desk.settled()
    assert desk.service.store.count_pending("scripted-embed:latest") == (0, 0)


async def test_a_new_embedding_model_takes_over_while_the_old_vectors_serve(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        await desk.keep(number, f"Question {number}?", f"Answer about topic{number}.")
    await desk.settled()
    models = desk.service.store.models("ann", "engram")
    monkeypatch.setenv("LOCAL2_MODELS__EMBEDDING", "scripted-embed-768d")
    await desk.restart()
    assert "Answer about topic7." in await desk.recalled("Answer about topic7")
    await desk.settled()
    assert (models, desk.service.store.models("ann", "engram")) == (["scripted-embed:latest"], ["scripted-embed-768d"])
    assert "Answer about topic7." in await desk.recalled("Answer about topic7")
    assert desk.service.meaning.dimensions == 768


def harm_chroma(home: Path, harm: str) -> None:
    """Take Chroma's files away, or overwrite them."""
    folder = next(home.rglob("chroma.sqlite3")).parent
    for file in [file for file in folder.rglob("*") if file.is_file()]:
        file.unlink() if harm == "lost" else file.write_bytes(b"\0" * 4096)


@pytest.mark.parametrize("harm", ["lost", "damaged"])
async def test_a_lost_or_damaged_chroma_is_filled_again(desk: Desk, local2_home: Path, harm: str) -> None:
    await desk.keep(1, "What about whales?", "Whales are large.")
    await desk.settled()
    await desk.close()
    harm_chroma(local2_home, harm)
    await desk.open()
    await desk.settled()
    assert await desk.recalled("What about the whales, please") == ["Whales are large."]


# ---------------------------------------------------------------------- hostile


@pytest.mark.parametrize("user", ["", " ", "a" * 201, "a\0b"])
@pytest.mark.parametrize(
    "message",
    [
        Recall(query="x"),
        SearchMemory(query="x"),
        ListMemories(),
        RememberFact(fact="x"),
        DeleteAllMemories(),
        UserContextRequest(),
    ],
)
async def test_nobody_is_nobody(desk: Desk, message: Message, user: str) -> None:
    assert (
        await desk.refused(message, user.encode("utf-8", "replace").decode() if "\ud800" in user else user)
        in ("bad_request",)
        or user == "\ud800"
    )


@pytest.mark.parametrize(
    "text",
    ['" OR 1=1 --', "NEAR(a b)", "a* -b ^c", "\x00\x01", "*" * 3000, "😀😀", "الحوت", "{text} : x", "(" * 500, "  "],
)
async def test_no_text_breaks_a_search(desk: Desk, text: str) -> None:
    await desk.keep(1, "What about whales?", f"Whales {text}")
    await desk.recall(text)
    await desk.search(text[:2000])
    assert len(await desk.all()) == 1


async def test_an_engram_that_cannot_be_one_is_refused_or_mended(desk: Desk) -> None:
    empty = Memory(memory_id="", user_id="", kind="engram", text=" \x00 ")
    assert await desk.refused(KeepEngram(engram=empty), query_id="q1") == "bad_request"
    assert await desk.refused(KeepEngram(engram=empty)) == "bad_request"
    odd = Memory(
        memory_id="../../x",
        user_id="bob",
        kind="fact",
        text="x" * 9000,
        critic_score=7,
        sentiment=-9,
        entities=["a"] * 99,
    )
    await desk.ask(KeepEngram(engram=odd), Done, query_id="q1")
    (kept,) = await desk.all()
    assert (kept.user_id, kept.kind, len(kept.text), kept.critic_score, kept.sentiment, kept.entities) == (
        "ann",
        "engram",
        4000,
        None,
        -1,
        ["a"],
    )


async def test_a_damaged_record_says_so_and_is_left_as_it_is(desk: Desk) -> None:
    await desk.close()
    path = paths.data_dir() / "memory.db"
    path.write_bytes(b"no database" * 500)
    await desk.open()
    assert await desk.refused(Recall(query="x")) == "storage"
    assert path.read_bytes().startswith(b"no database")
