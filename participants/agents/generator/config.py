"""What can be set for the generator?"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bus.config import Section


class GeneratorConfig(Section, frozen=True, kw_only=True):
    """generator.yaml."""

    system_prompt: Annotated[str, Meta(description="What the model is told of itself.")]
    num_ctx: Annotated[int, Meta(description="Tokens of context, always sent to the model server.", ge=512)] = 8192
    answer_tokens: Annotated[int, Meta(description="Of these, kept free for the answer.", ge=64)] = 2048
    temperature: Annotated[
        Annotated[float, Meta(ge=0, le=2)] | None,
        Meta(description="How freely words are chosen; empty: the model's own."),
    ] = None
    seed: Annotated[int | None, Meta(description="The same one gives the same answer; empty: a new one each time.")] = (
        None
    )
    think: Annotated[bool, Meta(description="Whether models that can think do.")] = True
    keep_alive: Annotated[str, Meta(description="How long the server keeps the model loaded.")] = "30m"
    first_chunk_s: Annotated[float, Meta(description="Seconds a model may take to its first chunk.", gt=0)] = 300.0
    stall_s: Annotated[float, Meta(description="Seconds that a stream may say nothing.", gt=0)] = 60.0
    turn_s: Annotated[float, Meta(description="Seconds that a turn may take in all.", gt=0)] = 1800.0
    max_answer_chars: Annotated[
        int, Meta(description="A longer answer is ended; its thinking counts, too.", ge=1000)
    ] = 400_000
    retries: Annotated[int, Meta(description="After a model error, while nothing was streamed.", ge=0, le=5)] = 1
    max_tool_iterations: Annotated[int, Meta(description="Model rounds with tools in one turn.", ge=1)] = 8
    max_identical_calls: Annotated[int, Meta(description="The same tool with the same arguments.", ge=1)] = 3
    max_calls_at_once: Annotated[int, Meta(description="Tool calls in one message of the model.", ge=1)] = 8
    max_turns: Annotated[int, Meta(description="Turns at once.", ge=1)] = 8
    embedded_max_turns: Annotated[int, Meta(description="Turns at once on the embedded model.", ge=1)] = 2
    recall_s: Annotated[
        float, Meta(description="Seconds that the memory is waited for, while it runs; 0: not at all.", ge=0)
    ] = 1.0
    journal_s: Annotated[float, Meta(description="Seconds between two saves of the text so far.", ge=0.01)] = 0.25
