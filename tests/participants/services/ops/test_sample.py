"""What processes take, read from this very process."""

from __future__ import annotations

import os

from participants.services.ops.sample import Sampler


def test_a_process_is_read() -> None:
    sampler = Sampler()
    sampler.sample([os.getpid(), 2**22 + 1])
    usage = sampler.usage(os.getpid())
    assert usage is not None
    assert usage.rss_bytes > 1_000_000
    assert usage.cpu_percent >= 0
    assert sampler.usage(2**22 + 1) is None


def test_what_is_no_longer_asked_for_is_forgotten() -> None:
    sampler = Sampler()
    sampler.sample([os.getpid()])
    sampler.sample([])
    assert sampler.usage(os.getpid()) is None
