"""What can be set for the memory's store?"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bus.config import Section


class MemoryStoreConfig(Section, frozen=True, kw_only=True):
    """memory_store.yaml."""

    write_enabled: Annotated[bool, Meta(description="false: nothing new is kept; what is there is still used.")] = True
    collective: Annotated[
        bool, Meta(description="Whether users may share single memories, which all users then recall.")
    ] = False
    recall_limit: Annotated[int, Meta(description="Engrams that are recalled at most.", ge=0, le=50)] = 6
    insight_limit: Annotated[int, Meta(description="Insights that are recalled at most.", ge=0, le=20)] = 2
    threshold: Annotated[
        float, Meta(description="What fits a question less than this is not recalled, from 0 to 1.", ge=0, le=1)
    ] = 0.4
    minilm_threshold: Annotated[
        float,
        Meta(description="The same with the small model inside LoCAL2, whose figures are lower.", ge=0, le=1),
    ] = 0.2
    embed_s: Annotated[
        float, Meta(description="Seconds that the vector of a question may take; then words alone decide.", gt=0)
    ] = 0.5
    chroma_path: Annotated[str, Meta(description="The vectors' folder; empty: `memory` beside memory.db.")] = ""
    chroma_url: Annotated[str, Meta(description="A Chroma server, instead of a folder; empty for none.")] = ""
