"""What can be set for compaction?"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bus.config import Section


class CompactionConfig(Section, frozen=True, kw_only=True):
    """compaction.yaml."""

    automatic: Annotated[bool, Meta(description="Whether long conversations are summed up by themselves.")] = True
    threshold: Annotated[
        float, Meta(description="The share of num_ctx that a conversation fills before that.", gt=0, le=1)
    ] = 0.7
    tail_turns: Annotated[int, Meta(description="The newest questions and answers, which stay as they are.", ge=1)] = 4
    summary_tokens: Annotated[int, Meta(description="How long a summary may be.", ge=50)] = 500
    model_s: Annotated[float, Meta(description="Seconds that summing up may take each time.", gt=0)] = 180.0
    rest_turns: Annotated[
        int, Meta(description="After a failure, answers before it is tried again by itself.", ge=0)
    ] = 5
