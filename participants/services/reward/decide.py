"""How do a critic's score and a user's vote become one figure?"""

from __future__ import annotations

_CRITIC_SHARE = 0.5
"""A critic alone moves it half as far as a user: it is a model, too."""


def reward(sentiment: int, score: int | None) -> float:
    """From -1 to 1; 0 says nothing.

    The user's vote counts whole. Where there is none, the critic's score counts half: 3 is 0, 5 is 0.5.

    Args:
        sentiment: -1, 0 or 1.
        score: 1 to 5; None for none.
    """
    if sentiment:
        return float(sentiment)
    return 0.0 if score is None else _CRITIC_SHARE * (score - 3) / 2
