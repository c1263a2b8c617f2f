"""In which persona is this conversation answered, and which are there?

The ledger keeps a session's persona; this program keeps their texts, and gives them to whoever asks.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

from bus.config import Section, merge
from bus.envelope import Envelope
from bus.messages.control import Done
from bus.messages.ledger import GetSession, Session, SetPersona
from bus.messages.persona import NO_PERSONA, GetPersonas, PersonaInfo, Personas, folded
from participants.participant import main
from participants.tools.base import BaseTool, ToolConfig, ToolFailed

Name = Annotated[str, Meta(pattern=r"^[^\W_](?:[\w .'-]{0,38}\w)?$")]
_LEDGER = "The conversation store"


class Persona(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One persona in personas.yaml."""

    description: Annotated[str, Meta(description="What it is for, in a few words.", min_length=1, max_length=200)]
    seed: Annotated[str, Meta(description="What the model is told.", min_length=1, max_length=4000)]


class PersonasConfig(ToolConfig, frozen=True, kw_only=True):
    """personas.yaml."""

    personas: Annotated[
        dict[Name, Persona | None], Meta(description="By name; null takes one away that LoCAL2 brings.", max_length=50)
    ] = {}

    def __post_init__(self) -> None:
        """Names that people could not tell apart are refused."""
        seen: dict[str, str] = {}
        for name, persona in self.personas.items():
            if persona is not None and folded(name) in NO_PERSONA:
                raise ValueError(f"personas: {name!r} means that there is none: choose another name")
            if (other := seen.setdefault(folded(name), name)) != name:
                raise ValueError(f"personas: {name!r} and {other!r} are one name in other letters")


class PersonaTool(BaseTool):
    """persona."""

    CONFIG_NAME: ClassVar[str] = "personas"
    Config: ClassVar[type[Section]] = PersonasConfig
    config: PersonasConfig  # pyright: ignore[reportIncompatibleVariableOverride]  set by the base class alone

    async def setup(self) -> None:
        """Serve the texts, too."""
        await super().setup()
        self.bus.serve(GetPersonas, self._asked)

    async def _asked(self, _message: GetPersonas, _request: Envelope) -> Personas:
        return all_of(self.config)

    def announce(self) -> None:
        """Say which there are, beside the schema."""
        super().announce()
        self.bus.publish(all_of(self.config))

    def parameters_of(self, config: PersonasConfig) -> dict[str, Any]:
        """The model chooses among those that there are now."""
        words = f"{', '.join([p.name for p in all_of(config).personas])} or default. Leave it out to list them."
        return merge(config.parameters, {"properties": {"name": {"description": words}}})

    async def run_call(self, args: dict[str, Any]) -> str:
        """Args: `name`; left out to list them."""
        name = args.get("name") or ""
        if not isinstance(name, str):
            raise ToolFailed(f"name: expected text, got {type(name).__name__}.")
        if not self.turn.session_id:
            raise ToolFailed("This call belongs to no conversation, so there is none to change.")
        if not name.strip():
            session = await self.ask(GetSession(open_only=True), Session, who=_LEDGER)
            return listed(all_of(self.config), session.session.persona)
        return await self._switch(name)

    async def _switch(self, name: str) -> str:
        known = all_of(self.config)
        chosen = known.named(name)
        if chosen is None and folded(name) not in NO_PERSONA:
            raise ToolFailed(f"There is no persona {name[:80]!r}. There are: {known.names}, or default for none.")
        await self.ask(SetPersona(persona=chosen.name if chosen else ""), Done, who=_LEDGER)
        if chosen is None:
            return "This conversation has no persona any more: answer as usual from here on."
        return f"This conversation is answered in the persona {chosen.name} from here on. Its text:\n{chosen.seed}"


def all_of(config: PersonasConfig) -> Personas:
    """The personas of the settings."""
    return Personas(
        personas=[
            PersonaInfo(name=name, description=" ".join(persona.description.split()), seed=persona.seed.strip())
            for name, persona in config.personas.items()
            if persona is not None
        ]
    )


def listed(personas: Personas, active: str) -> str:
    """All of them, the active one marked."""
    now = personas.named(active)
    lines = [f"{persona.name}: {persona.description}" for persona in personas.personas]
    head = f"Active now: {now.name if now else 'default'}. To switch: the persona's name, or default for none."
    return "\n".join([head, *(f"- {line}" for line in [*lines, "default: no persona"])])


if __name__ == "__main__":
    sys.exit(main(PersonaTool))
