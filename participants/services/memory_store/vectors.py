"""Where are the vectors, and which are near one?

Chroma, from one thread alone, with vectors and ids and nothing else: whatever is lost here is made again from
memory.db. A collection belongs to one user, one kind and one embedding model, so that no query can reach another
user's, and vectors of two models never meet.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import structlog

from bus import paths

log = structlog.get_logger()
_MARK = "local2-memory"
_INDEX = {"hnsw": {"space": "cosine", "ef_construction": 200, "ef_search": 200, "max_neighbors": 32}}
"""Recall against exact search: see docs/adr/0009-memory-store.md."""
_MOST_OPEN = 256
Vector = Sequence[float]


class Place(NamedTuple):
    """Which collection."""

    user_id: str
    kind: str
    model: str

    @property
    def name(self) -> str:
        """Hashed: Chroma refuses names such as alice@example.com, and takes some others for the same."""
        return f"{self.kind}-{_hash(self.user_id)}-{_hash(self.model)[:12]}"


class Near(NamedTuple):
    """A memory that is near."""

    memory_id: str
    similarity: float
    vector: Any
    """A numpy array."""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Vectors:
    """Chroma. All methods block, and are called from one thread.

    Args:
        folder: Where it lies.
        url: A server instead; empty for none.
    """

    def __init__(self, folder: Path, url: str = "") -> None:
        self._folder, self._url = folder, url
        self._client: Any = None
        self._open: dict[str, Any] = {}

    def open(self, mark: str) -> str:
        """Open it; what cannot be read is put aside. Returns the mark of the record that it belongs to.

        Args:
            mark: Of the record that is there: a new or foreign Chroma gets it, and has to be filled.
        """
        try:
            return self._connect(mark)
        except Exception as error:  # its errors have no common kind, and some come out of Rust
            if self._url or not self._folder.exists():
                raise
            aside = self._folder.with_name(f"{self._folder.name}-unreadable-{time.time_ns()}")
            log.error("chroma_put_aside", reason=str(error)[:300], folder=str(aside))
            shutil.move(self._folder, aside)
            return self._connect(mark)

    def _connect(self, mark: str) -> str:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # chromadb imports onnxruntime, which phones home otherwise
        chromadb: Any = import_module("chromadb")  # 0.6 s and 90 MiB: when it is needed
        settings = chromadb.Settings(anonymized_telemetry=False, allow_reset=False)
        if self._url:
            host, _, port = self._url.removeprefix("http://").removeprefix("https://").partition(":")
            ssl = self._url.startswith("https://")
            self._client = chromadb.HttpClient(host=host, port=int(port or 8000), ssl=ssl, settings=settings)
        else:
            paths.private(self._folder)
            self._client = chromadb.PersistentClient(path=str(self._folder), settings=settings)
        self._open.clear()
        found: Any = self._client.get_or_create_collection(
            _MARK, metadata={"record": mark}, embedding_function=None, configuration=_INDEX
        )
        metadata: dict[str, Any] = found.metadata or {}
        known = str(metadata.get("record", ""))
        if known != mark:
            self._client.delete_collection(_MARK)
            self._client.create_collection(
                _MARK, metadata={"record": mark}, embedding_function=None, configuration=_INDEX
            )
        return known

    @property
    def is_fresh(self) -> bool:
        """Whether it holds no vectors at all."""
        return self._client.count_collections() <= 1

    def put(self, place: Place, ids: Sequence[str], vectors: Sequence[Vector]) -> None:
        """Save vectors; the same id again replaces its own."""
        collection = self._collection(place, len(vectors[0]))
        collection.upsert(ids=list(ids), embeddings=[list(vector) for vector in vectors])

    def near(self, place: Place, vector: Vector, limit: int) -> list[Near]:
        """The nearest, best first; empty where there is no such collection."""
        collection = self._known(place)
        if collection is None or limit < 1:
            return []
        found = collection.query(query_embeddings=[list(vector)], n_results=limit, include=["distances", "embeddings"])
        ids, distances, vectors = found["ids"][0], found["distances"][0], found["embeddings"][0]
        return [
            Near(memory_id, 1.0 - float(distance), vector)
            for memory_id, distance, vector in zip(ids, distances, vectors, strict=True)
        ]

    def of(self, place: Place, ids: Sequence[str]) -> dict[str, Any]:
        """The vectors of some memories as numpy arrays, as far as they are there."""
        collection = self._known(place)
        if collection is None or not ids:
            return {}
        found = collection.get(ids=list(ids), include=["embeddings"])
        return {memory_id: vector for memory_id, vector in zip(found["ids"], found["embeddings"], strict=True)}

    def delete(self, place: Place, ids: Sequence[str]) -> None:
        """Take vectors out; those that are not there are no fault."""
        collection = self._known(place)
        if collection is not None and ids:
            collection.delete(ids=list(ids))

    def drop(self, place: Place) -> None:
        """Take a whole collection out."""
        if self._known(place) is not None:
            self._client.delete_collection(place.name)
            self._open.pop(place.name, None)

    def _collection(self, place: Place, dimensions: int) -> Any:
        found = self._known(place)
        if found is None:
            found = self._client.get_or_create_collection(
                place.name,
                metadata={"model": place.model, "dimensions": dimensions},
                embedding_function=None,
                configuration=_INDEX,
            )
            self._remember(place.name, found)
        return found

    def _known(self, place: Place) -> Any:
        if place.name not in self._open:
            try:
                self._remember(place.name, self._client.get_collection(place.name, embedding_function=None))
            except Exception as error:  # chromadb.errors.NotFoundError; older ones said ValueError
                if "does not exist" not in str(error) and "NotFound" not in type(error).__name__:
                    raise
                return None
        return self._open[place.name]

    def _remember(self, name: str, collection: Any) -> None:
        if len(self._open) >= _MOST_OPEN:
            self._open.pop(next(iter(self._open)))
        self._open[name] = collection
