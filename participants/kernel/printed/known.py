"""What does the reader of printed calls ask of the tools that the model was told of?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from bus.messages.tool import ToolSchema
from participants.kernel.resolve import resolve, spoken
from participants.kernel.validate import InvalidArguments, decode, fit

CAP = 65_536
"""Characters: what is longer is no call, so that no more than this is ever held back."""


class PrintedCall(NamedTuple):
    """One call, as the model wrote it."""

    name: str
    arguments: Any


class Known:
    """The announced tools.

    Args:
        tools: Those that the model may call now.
    """

    def __init__(self, tools: Sequence[ToolSchema]) -> None:
        self._tools: Mapping[str, ToolSchema] = {tool.tool: tool for tool in tools}
        self.spellings = sorted({*self._tools, *(spoken(tool) for tool in self._tools)})

    def tool(self, name: str) -> ToolSchema | None:
        """The tool that a name means, by the strict rules."""
        return resolve(name, self._tools)

    def declares(self, name: str) -> list[str]:
        """The names of a tool's parameters."""
        tool = self.tool(name)
        return list(_declared(tool)) if tool else []

    def takes(self, call: PrintedCall) -> bool:
        """Whether the arguments fit the tool, and it declares each of them."""
        tool = self.tool(call.name)
        if tool is None:
            return False
        try:
            fitted = fit(call.arguments, tool.parameters)
        except InvalidArguments:
            return False
        return fitted.keys() <= _declared(tool).keys()

    def arguments(self, name: str, given: Any) -> Any:
        """What stands where arguments are expected: plain text is meant for the one parameter that a tool needs."""
        tool = self.tool(name)
        if tool is None or not isinstance(given, str):
            return given
        try:
            return decode(given)
        except InvalidArguments:
            required = cast("list[str]", tool.parameters.get("required") or [])
            return {required[0]: given} if len(required) == 1 else given

    def is_schema(self, name: str, arguments: Any) -> bool:
        """Whether these are not arguments but the description of a tool's parameters."""
        tool = self.tool(name)
        own = _declared(tool) if tool else {}
        return isinstance(arguments, dict) and "properties" in arguments and "properties" not in own


def _declared(tool: ToolSchema) -> dict[str, Any]:
    properties = tool.parameters.get("properties")
    return cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
