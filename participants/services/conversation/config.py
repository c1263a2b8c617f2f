"""What may be set in conversation.yaml?"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from bus.config import Section

Seconds = Annotated[float, Meta(gt=0)]


class ConversationConfig(Section, frozen=True, kw_only=True):
    """conversation.yaml: bounds and times of turns."""

    max_active: Annotated[int, Meta(description="Turns that are answered at once, over all sessions.", ge=1)] = 8
    max_open: Annotated[int, Meta(description="Unanswered turns that one session may have.", ge=1)] = 20
    query_chars: Annotated[int, Meta(description="The longest question.", ge=1, le=2_000_000)] = 200_000
    history_chars: Annotated[
        int, Meta(description="Earlier turns handed to the generator: the newest that fit.", ge=0, le=2_000_000)
    ] = 200_000
    lease_s: Annotated[float, Meta(description="A holder that is silent for so long loses its turn.", gt=0)] = 2.0
    offer_s: Annotated[
        tuple[Seconds, ...],
        Meta(description="Pauses before an unclaimed turn is offered again; the last one repeats.", min_length=1),
    ] = (0.5, 1.0, 2.0, 4.0)
    give_up_s: Annotated[float, Meta(description="A turn that nobody claims for so long fails.", gt=0)] = 30.0
    max_attempts: Annotated[int, Meta(description="A turn whose holders died so often fails.", ge=1)] = 4
    cancel_grace_s: Annotated[float, Meta(description="How long a holder may take to stop.", gt=0)] = 3.0
    cancel_again_s: Annotated[float, Meta(description="A stop is announced again after this.", ge=0.01)] = 0.5
    approval_s: Annotated[
        float, Meta(description="A tool's request for approval that nobody answers for so long is denied.", gt=0)
    ] = 300.0
    drain_grace_s: Annotated[
        float, Meta(description="On a stop, how long to watch for holders that stop as well.", ge=0)
    ] = 0.3
