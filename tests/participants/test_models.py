"""Where models are served: any way of writing it, and words for what is no address."""

from __future__ import annotations

import pytest

from bus import config
from bus.errors import ConfigError
from participants.models import ModelsConfig, normalise_host, ollama_url

WRONG = [
    "127.0.0.1:114340",
    "127.0.0.1:abc",
    "http://[",
    "http://[::1",
    "http://[fe80::1%eth0]",
    "http://é..x",
    "http://a\x7fb",
    "http://a b:1",
    "http://%zz",
    "ftp://here",
    "://",
    "z" * 70_000,
]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", "http://127.0.0.1:11434"),
        (" :1234 ", "http://127.0.0.1:1234"),
        ("0.0.0.0", "http://127.0.0.1:11434"),  # noqa: S104  read, not listened on
        ("[::]:80", "http://127.0.0.1:80"),
        ("[::1]", "http://[::1]:11434"),
        ("http://gpu_box.local:8080/v1", "http://gpu_box.local:8080"),
        ("https://models.example", "https://models.example:443"),
        ("bücher.example", "http://xn--bcher-kva.example:11434"),
        ("host:0", "http://host:11434"),
    ],
)
def test_each_way_of_writing_an_address(text: str, address: str) -> None:
    assert normalise_host(text) == address
    assert ollama_url(ModelsConfig(ollama_host=text)) == address


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_address_is_said_where_it_stands(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"models\.yaml: ollama_host: expected .* got") as caught:
        config.convert({"ollama_host": text}, ModelsConfig, "models.yaml")
    assert len(str(caught.value)) < 300
    monkeypatch.setenv("OLLAMA_HOST", text)
    with pytest.raises(ConfigError, match=r"OLLAMA_HOST: expected .* got"):
        ollama_url(ModelsConfig(ollama_host="127.0.0.1"))
