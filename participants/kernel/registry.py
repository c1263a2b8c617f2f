"""Which tools are there now?

A name belongs to its first live announcer: what is dropped in later cannot take over another
tool's name. The kernel compares no tool's name with a constant.
"""

from __future__ import annotations

import difflib
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator

from bus.messages.tool import ToolSchema


def folded(name: str) -> str:
    """A name without its case and separators, so that Web-Search finds web_search."""
    return "".join(c for c in name.casefold() if c.isalnum())


class Registry:
    """Definitions by tool name."""

    def __init__(self) -> None:
        self._tools: dict[str, ToolSchema] = {}
        self.refused: dict[str, str] = {}

    def announce(self, schema: ToolSchema) -> bool:
        """Take or withdraw a definition. Returns whether anything changed; `refused` keeps refusals by program."""
        held = self._tools.get(schema.tool)
        if schema.withdrawn:
            return held is not None and held.name == schema.name and self.process_gone(schema.name)
        reason = self._fault(schema, held)
        if reason:
            self.refused[schema.name] = reason
            return False
        self.refused.pop(schema.name, None)
        self._tools[schema.tool] = schema
        return held != schema

    def _fault(self, schema: ToolSchema, held: ToolSchema | None) -> str:
        if held is not None and held.name != schema.name:
            return f"the name {schema.tool!r} belongs to {held.name!r}"
        if schema.parameters.get("type") != "object":
            return "parameters: expected a JSON schema of type object"
        try:
            Draft202012Validator.check_schema(schema.parameters)
        except SchemaError as error:
            return f"parameters: {error.message}"
        return ""

    def process_gone(self, name: str, pid: int = 0) -> bool:
        """Drop what a program announced; with `pid` only if that process did. Returns whether anything changed."""
        gone = [t for t, schema in self._tools.items() if schema.name == name and pid in (0, schema.pid)]
        for tool in gone:
            del self._tools[tool]
        return bool(gone)

    def get(self, name: str) -> ToolSchema | None:
        """The enabled tool that a model means by `name`: exact, else in other case or separators, else by alias."""
        enabled = self.enabled()
        for schema in enabled:
            if schema.tool == name:
                return schema
        wanted = folded(name)
        alike = [s for s in enabled if folded(s.tool) == wanted]
        alike = alike or [s for s in enabled if wanted in map(folded, s.policies.aliases)]
        return alike[0] if len(alike) == 1 else None

    def enabled(self) -> list[ToolSchema]:
        """What the model is told of, by name: a stable order keeps the prompt's head stable."""
        return [self._tools[name] for name in sorted(self._tools) if self._tools[name].policies.enabled]

    def definitions(self) -> list[dict[str, Any]]:
        """The enabled tools as a chat request's `tools`."""
        return [
            {"type": "function", "function": {"name": s.tool, "description": s.description, "parameters": s.parameters}}
            for s in self.enabled()
        ]

    def nearest(self, name: str) -> list[str]:
        """All enabled names, the most similar to `name` first."""
        names = [schema.tool for schema in self.enabled()]
        return sorted(names, key=lambda real: -difflib.SequenceMatcher(None, folded(name), folded(real)).ratio())
