"""Text to vectors: all-MiniLM-L6-v2 as an int8 ONNX file, 384 dimensions, unit length."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

from participants.services.model_server.errors import EngineUnavailable, Refused

DIMENSIONS = 384
MAX_TOKENS = 256
_AT_ONCE = 32


class MiniLm:
    """Loaded when first used; calls run one after the other in a thread of its own."""

    def __init__(self, model: Path, tokenizer: Path, threads: int = 2) -> None:
        self._model = model
        self._tokenizer_file = tokenizer
        self._threads = threads
        self._pool = ThreadPoolExecutor(1, "minilm")
        self._session: Any = None
        self._tokenizer: Any = None

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._session is not None

    async def embed(self, texts: Sequence[str], truncate: bool = True) -> tuple[list[list[float]], int]:
        """Vectors in the order of `texts`, and how many tokens were read. Raises Refused, EngineUnavailable."""
        loop = asyncio.get_running_loop()
        vectors: list[list[float]] = []
        tokens = 0
        for start in range(0, len(texts), _AT_ONCE):  # between batches a cancelled request ends
            batch = list(texts[start : start + _AT_ONCE])
            some, count = await loop.run_in_executor(self._pool, self._embed, batch, truncate)
            vectors += some
            tokens += count
        return vectors, tokens

    def close(self) -> None:
        """Let go of the model and its thread."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._session = self._tokenizer = None

    def _load(self) -> None:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it writes a device id and phones home otherwise
        onnxruntime: Any = import_module("onnxruntime")  # has no types
        import tokenizers

        try:
            tokenizer = tokenizers.Tokenizer.from_file(str(self._tokenizer_file))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self._threads
            options.inter_op_num_threads = 1
            session = onnxruntime.InferenceSession(str(self._model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise kinds of their own
            raise EngineUnavailable(f"the embedding model could not be loaded: {error}") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer, self._session = tokenizer, session

    def _embed(self, texts: list[str], truncate: bool) -> tuple[list[list[float]], int]:
        if self._session is None:
            self._load()
        rows = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        longest = max(map(len, rows))
        if longest > MAX_TOKENS and not truncate:
            raise Refused(f"the input length exceeds the context length: {longest} tokens of at most {MAX_TOKENS}")
        # The last token is the model's end mark: keep it when cutting.
        rows = [row if len(row) <= MAX_TOKENS else [*row[: MAX_TOKENS - 1], row[-1]] for row in rows]
        return self._vectors(rows), sum(map(len, rows))

    def _vectors(self, rows: list[list[int]]) -> list[list[float]]:
        import numpy as np

        ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)] = row
            mask[index, : len(row)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = {node.name for node in self._session.get_inputs()}
        hidden: Any = self._session.run(None, {name: value for name, value in inputs.items() if name in wanted})[0]
        weights: Any = mask[:, :, None].astype(hidden.dtype)
        mean: Any = (hidden * weights).sum(axis=1) / weights.sum(axis=1).clip(min=1e-9)
        return (mean / np.linalg.norm(mean, axis=1, keepdims=True).clip(min=1e-12)).tolist()


def shortened(vector: list[float], dimensions: int | None) -> list[float]:
    """The first `dimensions` numbers, at unit length again. Raises Refused."""
    if dimensions is None or dimensions == len(vector):
        return vector
    if not 0 < dimensions <= len(vector):
        raise Refused(f"dimensions must be between 1 and {len(vector)}, and is {dimensions}")
    part = vector[:dimensions]
    length = sum(number * number for number in part) ** 0.5 or 1.0
    return [number / length for number in part]
