"""Does recall find what answers a question, for its own user alone, and how long does it take?

recall@1, recall@5  of 40 people with 25 facts each (people.py), by the sort of question; bare is plain cosine over the
                    same vectors of the same user
for nothing         engrams that are recalled for a question about something else
leaks               memories of another user among all that was recalled, in percent
recall              milliseconds of one recall among so many engrams of one user, with the question's vector known
vectors found       of the ten nearest by exact search those that Chroma's index finds, among the most engrams
kept                milliseconds to save an engram for good, with its vector

The record and Chroma are real; vectors of people come from the embedded model, those of crowds are noise round them.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np

from bus.messages.memory import Memory
from participants.backend.embed import Embedder
from participants.offload import OffloadPool
from participants.services.memory_store.config import MemoryStoreConfig
from participants.services.memory_store.meaning import Meaning
from participants.services.memory_store.recall import Recaller
from participants.services.memory_store.store import Store
from participants.services.memory_store.vectors import Place, Vectors
from participants.services.model_server.catalogue import EMBEDDING, model_of
from participants.services.model_server.embed import MiniLm
from scripts.benchmarks import people
from scripts.benchmarks.report import Report

MODEL = "all-minilm-l6-v2"
CONFIG = MemoryStoreConfig(id="memory")
CROWDS = (1_000, 10_000, 100_000)
GOALS = {10_000: "p95 <= 5", 100_000: "p95 <= 10"}
ASKED, KEPT, NEAREST = 200, 100, 10
NOISE = 0.03
"""Per dimension: a crowd's vectors are about 0.85 like the one that they were made from."""


class KnownVectors:
    """Gives each text the vector that it was told, in the place of an Embedder."""

    def __init__(self) -> None:
        self.known: dict[str, list[float]] = {}

    async def model(self) -> str:
        """Its name."""
        return MODEL

    async def query(self, text: str, _model: str) -> list[float]:
        """A question's."""
        return self.known[text]

    async def vectors(self, texts: Sequence[str], _model: str) -> list[list[float]]:
        """Memories'."""
        return [self.known[text] for text in texts]

    def forget_queries(self) -> None:
        """Nothing is kept."""


class Bench:
    """A store in a folder of its own."""

    def __init__(self, home: Path) -> None:
        self.known = KnownVectors()
        self.store = Store(home / "memory.db")
        self.store.open()
        self.pool = OffloadPool("chroma", 1)
        self.vectors = Vectors(home / "memory")
        embedder = cast("Embedder", self.known)
        self.meaning = Meaning(self.store, self.vectors, self.pool, embedder, lambda _words: None)
        self.recaller = Recaller(self.store, self.meaning, lambda: CONFIG)

    async def keep(self, memories: Sequence[Memory]) -> None:
        """Save memories, and give them their vectors."""
        self.store.add_missing(memories)
        while await self.meaning.some():
            pass

    async def recall(self, user: str, question: str, limit: int = CONFIG.recall_limit) -> list[Memory]:
        """What a prompt would get."""
        limits = {"engram": limit, "insight": CONFIG.insight_limit}
        found, reason = await self.recaller.find(user, question, limits)
        if reason:
            raise RuntimeError(reason)
        return found["engram"]

    def close(self) -> None:
        """Let go of the files."""
        self.store.close()
        self.pool.close()


async def run(report: Report) -> None:
    """Measure people first, then crowds."""
    texts = sorted({text for person in range(people.PEOPLE) for text in _texts(person)} | set(people.CHATTER))
    model = model_of(EMBEDDING)
    minilm = MiniLm(model.paths[0], model.paths[1])
    vectors, _ = await minilm.embed(texts)
    minilm.close()
    known = dict(zip(texts, ([float(x) for x in unit] for unit in _unit(vectors)), strict=True))
    with tempfile.TemporaryDirectory() as home:
        await _people(report, Bench(Path(home)), known)
    for size in CROWDS:
        with tempfile.TemporaryDirectory() as home:
            await _crowd(report, Bench(Path(home)), known, size)


def _texts(person: int) -> list[str]:
    return people.facts(person) + [question.text for question in people.questions(person)]


def _unit(vectors: Any) -> Any:
    rows = np.asarray(vectors, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


# ---------------------------------------------------------------------- people


async def _people(report: Report, bench: Bench, known: dict[str, list[float]]) -> None:
    bench.known.known = known
    for person in range(people.PEOPLE):
        await bench.keep([_engram(f"p{person}", n, text, 60 - n) for n, text in enumerate(people.facts(person))])
    ours: dict[tuple[str, int], list[float]] = {}
    bare: dict[tuple[str, int], list[float]] = {}
    recalled: list[bool] = []
    for person in range(people.PEOPLE):
        for question in people.questions(person):
            found = await bench.recall(f"p{person}", question.text)
            recalled += [memory.user_id != f"p{person}" for memory in found]
            plain = _plain(people.facts(person), question.text, known)
            for first in (1, 5):
                for sort in (question.sort, "all"):
                    hit = question.fact in [memory.text for memory in found[:first]]
                    ours.setdefault((sort, first), []).append(100.0 * hit)
                    bare.setdefault((sort, first), []).append(100.0 * (question.fact in plain[:first]))
    for (sort, first), hits in sorted(ours.items(), key=lambda pair: (pair[0][1], pair[0][0])):
        report.add(f"recall@{first}, {sort} ({len(hits)})", "%", [_mean(hits)], [_mean(bare[sort, first])], "> bare")
    report.add(
        f"leaks between users ({len(recalled)})", "%", [100.0 * _mean([float(one) for one in recalled])], goal="0"
    )
    idle = [await bench.recall(f"p{n}", text) for n in range(people.PEOPLE) for text in people.CHATTER]
    report.add(f"recalled for nothing ({len(idle)})", "engrams", [_mean([len(found) for found in idle])])
    bench.close()


def _plain(texts: list[str], question: str, known: dict[str, list[float]]) -> list[str]:
    """All of a person's facts, those with the nearest vectors first."""
    asked = np.asarray(known[question])
    return sorted(texts, key=lambda text: -float(np.asarray(known[text]) @ asked))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _engram(user: str, number: int, text: str, days: float) -> Memory:
    when = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    return Memory(
        memory_id=f"e-{user}-{number}",
        user_id=user,
        kind="engram",
        text=text,
        created_at=when,
        query_id=f"q-{number}",
        session_id=f"s-{number}",
    )


# ---------------------------------------------------------------------- crowds


async def _crowd(report: Report, bench: Bench, known: dict[str, list[float]], size: int) -> None:
    rows, texts = _noise(known, size), [f"{list(known)[n % len(known)]} ({n})" for n in range(size)]
    bench.known.known = known | dict(zip(texts, rows.tolist(), strict=True))
    for start in range(0, size, 5_000):
        await bench.keep([_engram("crowd", n, texts[n], n / 1_000) for n in range(start, min(size, start + 5_000))])
    questions = sorted({question.text for person in range(people.PEOPLE) for question in people.questions(person)})
    taken: list[float] = []
    for n in range(ASKED):
        begun = time.perf_counter()
        await bench.recall("crowd", questions[n % len(questions)])
        taken.append((time.perf_counter() - begun) * 1e3)
    report.add(f"recall among {size:,}", "ms", taken, goal=GOALS.get(size, ""))
    if size == CROWDS[-1]:
        report.add("vectors found by the index", "%", [await _found(bench, rows, known, questions)], goal=">= 98")
    report.add(f"kept among {size:,}", "ms", await _kept(bench, size))
    bench.close()


def _noise(known: dict[str, list[float]], size: int) -> Any:
    random = np.random.default_rng(1)
    around = np.asarray(list(known.values()), dtype=np.float32)
    rows = around[np.arange(size) % len(around)]
    return _unit(rows + random.normal(0.0, NOISE, rows.shape).astype(np.float32))


async def _found(bench: Bench, rows: Any, known: dict[str, list[float]], questions: Sequence[str]) -> float:
    shares: list[float] = []
    for question in questions:
        asked = np.asarray(known[question], dtype=np.float32)
        exact = {f"e-crowd-{n}" for n in np.argsort(-(rows @ asked))[:NEAREST]}
        near = await bench.pool.run(bench.vectors.near, Place("crowd", "engram", MODEL), known[question], NEAREST)
        shares.append(100.0 * len(exact & {one.memory_id for one in near}) / NEAREST)
    return _mean(shares)


async def _kept(bench: Bench, size: int) -> list[float]:
    taken: list[float] = []
    for n in range(size, size + KEPT):
        text = f"Something new ({n})"
        bench.known.known[text] = bench.known.known[f"{next(iter(bench.known.known))}"]
        begun = time.perf_counter()
        await bench.keep([_engram("crowd", n, text, 0.0)])
        taken.append((time.perf_counter() - begun) * 1e3)
    return taken
