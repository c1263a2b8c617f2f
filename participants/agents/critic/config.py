"""What can be set for the critic?"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bus.config import Section


class CriticConfig(Section, frozen=True, kw_only=True):
    """critic.yaml."""

    enabled: Annotated[bool, Meta(description="Whether answers are graded.")] = True
    rubric: Annotated[
        str, Meta(description="The rubric for answers whose tools name none: realistic, style, clarity or sources.")
    ] = "realistic"
    model_s: Annotated[float, Meta(description="Seconds that grading one answer may take.", gt=0)] = 120.0
    tries: Annotated[int, Meta(description="So often a model is asked that fails.", ge=1, le=10)] = 3
    again_s: Annotated[float, Meta(description="Seconds before it is asked again, doubled each time.", gt=0)] = 5.0
    oldest_s: Annotated[float, Meta(description="An answer older than this is graded no more.", gt=0)] = 86_400.0
