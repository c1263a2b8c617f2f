"""Which personas are there?"""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from bus import subjects
from bus.messages.base import Message, about

NO_PERSONA = frozenset({"default", "none"})
"""Names that mean: no persona any more."""


def folded(name: str) -> str:
    """A persona's name without its case and separators, so that `Sea Dog` finds `sea-dog`."""
    return "".join(c for c in name.casefold() if c.isalnum())


class PersonaInfo(Struct, frozen=True, kw_only=True):
    """One persona."""

    name: Annotated[str, about("Its name.")]
    description: Annotated[str, about("What it is for, in a few words.")]
    seed: Annotated[str, about("What the model is told.")]


class Personas(Message, frozen=True):
    """All personas: published at each change, and the answer to `GetPersonas`."""

    SUBJECT = subjects.PERSONAS_LIST

    personas: Annotated[list[PersonaInfo], about("In the order of personas.yaml, the user's own last.")]

    def named(self, name: str) -> PersonaInfo | None:
        """The one of that name, in any case and with any separators."""
        wanted = folded(name)
        return next((persona for persona in self.personas if folded(persona.name) == wanted), None)

    @property
    def names(self) -> str:
        """All names, for people."""
        return ", ".join(persona.name for persona in self.personas) or "none"


class GetPersonas(Message, frozen=True):
    """Ask for all personas. Answered by `Personas`."""

    SUBJECT = "personas.get"
