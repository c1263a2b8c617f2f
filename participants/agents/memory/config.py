"""What can be set for the memory agent?"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bus.config import Section


class MemoryConfig(Section, frozen=True, kw_only=True):
    """memory.yaml."""

    recall_s: Annotated[
        float, Meta(description="Seconds that recalling may take; then a turn goes on without.", gt=0)
    ] = 0.8
    use_model: Annotated[
        bool,
        Meta(description="Whether a model sums up what is kept; else rules do, and no insights are made."),
    ] = True
    model_s: Annotated[float, Meta(description="Seconds that the model may take for one of these.", gt=0)] = 60.0
    insights: Annotated[bool, Meta(description="Whether memories that agree become one insight.")] = True
    insights_pause_s: Annotated[
        float, Meta(description="Seconds without a turn before insights are looked for.", ge=0)
    ] = 30.0
