"""Requests as they come in."""

from __future__ import annotations

import pytest

from participants.services.model_server import wire
from participants.services.model_server.errors import Refused
from participants.services.model_server.wire import Options


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (None, 300.0),
        (0, 0.0),
        (10, 10.0),
        (-1, None),
        ("-1", None),
        ("-1m", None),
        ("5m", 300.0),
        ("1h30m", 5400.0),
        ("1.5s", 1.5),
        ("250ms", 0.25),
        ("90", 90.0),
        ("0", 0.0),
    ],
)
def test_keep_alive(given: float | str | None, seconds: float | None) -> None:
    assert wire.seconds_of(given, 300.0) == seconds


@pytest.mark.parametrize("given", ["", "soon", "5 m", "m", "5x", "--"])
def test_keep_alive_that_means_nothing(given: str) -> None:
    with pytest.raises(Refused, match="keep_alive"):
        wire.seconds_of(given, 300.0)


@pytest.mark.parametrize(("asked", "given"), [(None, 8192), (0, 8192), (-1, 8192), (2048, 2048), (10**9, 8192)])
def test_the_context_is_bounded(asked: int | None, given: int) -> None:
    assert wire.context_of(Options(num_ctx=asked), 8192) == given


@pytest.mark.parametrize(("predict", "tokens"), [(None, None), (-1, None), (-2, None), (0, 0), (7, 7)])
def test_num_predict(predict: int | None, tokens: int | None) -> None:
    assert wire.sampling_of(Options(num_predict=predict)).max_tokens == tokens


@pytest.mark.parametrize("stop", ["end", ["end", ""]])
def test_stop_is_one_text_or_several(stop: str | list[str]) -> None:
    assert wire.sampling_of(Options(stop=stop)).stop == ("end",)


@pytest.mark.parametrize("options", [Options(temperature=-1), Options(top_p=1.5), Options(temperature=float("nan"))])
def test_options_out_of_range(options: Options) -> None:
    with pytest.raises(Refused, match="must be between"):
        wire.sampling_of(options)


@pytest.mark.parametrize(
    ("form", "schema"), [(None, None), ("", None), ("json", {"type": "object"}), ({"type": "array"}, {"type": "array"})]
)
def test_formats(form: str | dict[str, str] | None, schema: dict[str, str] | None) -> None:
    assert wire.schema_of(form) == schema
