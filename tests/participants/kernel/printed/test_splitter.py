"""Are printed calls found in any notation and however they are cut, and is all else passed on unchanged?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bus.messages.tool import Policies, ToolSchema
from participants.kernel.printed.known import CAP
from participants.kernel.printed.splitter import CallSplitter

TEXT = {"type": "string"}


def tool(
    name: str, properties: dict[str, Any], required: Iterable[str] = (), aliases: Iterable[str] = ()
) -> ToolSchema:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    policies = Policies(aliases=list(aliases))
    return ToolSchema(tool=name, name=name, description=name, parameters=parameters, policies=policies)


TOOLS = [
    tool("web_search", {"query": TEXT, "limit": {"type": "integer"}}, ["query"]),
    tool("get_datetime", {"tz": TEXT}, aliases=["datetime"]),
    tool("get_location", {}),
    tool("notes.add", {"text": TEXT, "tags": {"type": "array", "items": TEXT}}, ["text"]),
    tool("persona", {"action": {"enum": ["list", "switch"]}}, ["action"]),
]
Result = tuple[str, list[tuple[str, Any]]]


def split(*chunks: str, question: str = "find rain boots", tools: list[ToolSchema] = TOOLS) -> Result:
    """The text that is shown, and the calls by their tool's name."""
    splitter = CallSplitter(tools, question)
    parts = [*itertools.chain.from_iterable(map(splitter.feed, chunks)), *splitter.close()]
    return "".join(part.shown for part in parts), [(call.name, call.arguments) for part in parts for call in part.calls]


SEARCH = '{"name": "web_search", "arguments": {"query": "rain boots"}}'
NOW = '{"name": "datetime", "arguments": {}}'
ARGS = {"query": "rain boots"}
ONE = [("web_search", ARGS)]

NOTATIONS = [
    SEARCH,
    f"\n\n{SEARCH}\n",
    f"```json\n{SEARCH}\n```",
    f"```\n{SEARCH}\n```\n",
    f"```tool_call\n{SEARCH}\n```",
    f"~~~json\n{SEARCH}\n~~~",
    f"```json\n{SEARCH}",
    f"{SEARCH}\n```",
    f"{SEARCH}</s>",
    f"{SEARCH}<|im_end|>",
    f"{SEARCH}<end_of_turn>",
    f"[{SEARCH}]",
    '{"name": "web_search", "parameters": {"query": "rain boots"}}',
    '{"tool": "web_search", "args": {"query": "rain boots"}}',
    '{"function": "web_search", "kwargs": {"query": "rain boots"}}',
    '{"tool_name": "web_search", "input": {"query": "rain boots"}}',
    '{"action": "web_search", "action_input": "rain boots"}',
    '{"action": "web_search", "action_input": {"query": "rain boots"}}',
    '{"arguments": {"query": "rain boots"}, "name": "web_search"}',
    '{"name": "web_search", "arguments": "{\\"query\\": \\"rain boots\\"}"}',
    '{"id": "1", "type": "function", "function": {"name": "web_search", "arguments": {"query": "rain boots"}}}',
    '{"tool_calls": [{"function": {"name": "web_search", "arguments": "{\\"query\\": \\"rain boots\\"}"}}]}',
    '{"role": "assistant", "content": "", "tool_calls": [{"name": "web_search", "args": {"query": "rain boots"}}]}',
    '{"type": "tool_use", "name": "web_search", "input": {"query": "rain boots"}}',
    '{"tool": "web_search", "query": "rain boots"}',
    '{"web_search": {"query": "rain boots"}}',
    "{'name': 'web_search', 'arguments': {'query': 'rain boots'}}",
    '{\n  "name": "web_search",\n  "arguments": {\n    "query": "rain boots"\n  }\n}',
    f"<tool_call>{SEARCH}</tool_call>",
    f"<tool_call>\n{SEARCH}\n</tool_call>\n",
    f"<tool_call>{SEARCH}",
    f"{SEARCH}</tool_call>",
    f"<tool_call>{SEARCH[:-1]}</tool_call>",
    f"<tool_call>\n```json\n{SEARCH}\n```\n</tool_call>",
    f"<tools>{SEARCH}</tools>",
    f"<TOOLCALL>[{SEARCH}]</TOOLCALL>",
    f"<function_call>{SEARCH}</function_call>",
    f"<function_calls>[{SEARCH}]</function_calls>",
    f"<|tool_call|>[{SEARCH}]",
    f"<|tool_call>{SEARCH}<tool_call|>",
    f"<|python_tag|>{SEARCH}<|eom_id|>",
    f"[TOOL_CALLS] [{SEARCH}]",
    f"[TOOL_CALLS]{SEARCH}",
    '[TOOL_CALLS]web_search[ARGS]{"query": "rain boots"}',
    '[TOOL_CALLS]web_search{"query": "rain boots"}',
    '<|python_tag|>web_search.call(query="rain boots")',
    '<|channel|>commentary to=web_search <|constrain|>json<|message|>{"query": "rain boots"}<|call|>',
    '<|start|>assistant to=web_search<|channel|>commentary json<|message|>{"query": "rain boots"}<|call|>',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>web_search\n```json\n{"query": "rain boots"}\n```'
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    '<｜tool▁call▁begin｜>web_search<｜tool▁sep｜>{"query": "rain boots"}<｜tool▁call▁end｜>',
    '<|tool_call_begin|>web_search<|tool_call_argument_begin|>{"query": "rain boots"}<|tool_call_end|>',
    "<tool_call>web_search\n<arg_key>query</arg_key>\n<arg_value>rain boots</arg_value>\n</tool_call>",
    "<function=web_search>\n<parameter=query>\nrain boots\n</parameter>\n</function>",
    "<function=web_search>\n<parameter=query>\nrain boots\n</parameter>",
    "<function=web_search><parameter=query>rain boots</function>",
    '<function=web_search>{"query": "rain boots"}</function>',
    '<function name="web_search"><parameter name="query">rain boots</parameter></function>',
    "<tool_call>\n<function=web_search>\n<parameter=query>\nrain boots\n</parameter>\n</function>\n</tool_call>",
    '<invoke name="web_search">\n<parameter name="query">rain boots</parameter>\n</invoke>',
    '<ns:tool_call><invoke name="web_search"><parameter name="query">rain boots</parameter></invoke></ns:tool_call>',
    "<tool_use><name>web_search</name><arguments><query>rain boots</query></arguments></tool_use>",
    '<tool_call>\n<name>web_search</name>\n<arguments>{"query": "rain boots"}</arguments>\n</tool_call>',
    '<function_call><function_name>web_search</function_name><input>{"query": "rain boots"}</input></function_call>',
    "<web_search>\n<query>rain boots</query>\n</web_search>",
    '<web_search>{"query": "rain boots"}</web_search>',
    'web_search(query="rain boots")',
    'web_search("rain boots")',
    'web_search({"query": "rain boots"})',
    '[web_search(query="rain boots")]',
    'print(web_search(query="rain boots"))',
    '```tool_code\nweb_search(query="rain boots")\n```',
    '```python\nprint(web_search(\n    query="rain boots",\n))\n```',
    'Action: web_search\nAction Input: {"query": "rain boots"}',
]


@pytest.mark.parametrize("text", NOTATIONS)
def test_every_notation_is_a_call_and_nothing_of_it_is_shown(text: str) -> None:
    for result in (split(text), split(*text)):
        assert (result[0].strip(), result[1]) == ("", ONE)


@pytest.mark.parametrize("text", NOTATIONS)
def test_no_notation_runs_a_tool_that_is_not_announced(text: str) -> None:
    others = [tool("web_fetch", {"query": TEXT}, ["query"])]
    assert split(*text, tools=others) == (text, [])
    assert split(text, tools=[]) == (text, [])


@pytest.mark.parametrize("text", NOTATIONS)
@pytest.mark.parametrize(
    "question",
    [
        "show me the JSON of a web_search call",
        "What does a tool call look like?",
        "Print an example of a web_search call, don't run it",
        "How do I call the search function?",
        "explain the <tool_call> notation",
    ],
)
def test_nothing_runs_where_the_notation_was_asked_for(text: str, question: str) -> None:
    assert split(*text, question=question) == (text, [])


@pytest.mark.parametrize(
    "question",
    [
        "Use web_search to find rain boots",
        "search the web for a JSON parser",
        "find examples of phone calls",
        "what time is it? answer in JSON",
        "Who should I call about a leak?",
        "what is the syntax of a for loop in C",
    ],
)
def test_questions_that_only_sound_alike_let_calls_run(question: str) -> None:
    assert split(SEARCH, question=question) == ("", ONE)


@pytest.mark.parametrize(
    ("text", "shown", "names"),
    [
        (f"{SEARCH}{NOW}", "", ["web_search", "datetime"]),
        (f"{SEARCH}\n{NOW}", "", ["web_search", "datetime"]),
        (f"```json\n{SEARCH}\n{NOW}\n```", "", ["web_search", "datetime"]),
        (f"```json\n{SEARCH}\n```\n\n```json\n{NOW}\n```", "", ["web_search", "datetime"]),
        (f"[{SEARCH}, {NOW}]", "", ["web_search", "datetime"]),
        (f"<tool_call>{SEARCH}</tool_call><tool_call>{NOW}</tool_call>", "", ["web_search", "datetime"]),
        (f"<tool_call>{SEARCH}\n{NOW}</tool_call>", "", ["web_search", "datetime"]),
        (f"Let me look.\n{SEARCH}", "Let me look.\n", ["web_search"]),
        (f"Let me look.\n\n```json\n{SEARCH}\n```", "Let me look.\n\n", ["web_search"]),
        (f"Let me look.<tool_call>{SEARCH}</tool_call>\n\nDone.", "Let me look.\n\nDone.", ["web_search"]),
        (f"a <tool_call>{SEARCH}</tool_call> b <tool_call>{NOW}</tool_call> c", "a b c", ["web_search", "datetime"]),
        ("<function=datetime>\n</function>", "", ["datetime"]),
        ("<function=get_location>", "", ["get_location"]),
        ("<tool_call>get_location</tool_call>{}", "<tool_call>get_location</tool_call>{}", []),
        ('{"tool": "get_location"}', "", ["get_location"]),
        ("<tool_call><name>get_location</name></tool_call>", "", ["get_location"]),
        ("<get_location></get_location>", "", ["get_location"]),
        (f'<tool_call>{{"name": "nope", "arguments": {{}}}}</tool_call>{SEARCH}', "", ["nope", "web_search"]),
        (f"<tool_call>{SEARCH}</tool_call><tool_call>" + '{"name": "web_se', '{"name": "web_se', ["web_search"]),
        ("Yes.\nget_location()\n", "Yes.\n", ["get_location"]),
        ('functions.notes.add(text="x", tags=["a"])', "", ["functions.notes.add"]),
        ('{"name": "Web-Search", "arguments": {"query": "x"}}', "", ["Web-Search"]),
    ],
)
def test_prose_is_kept_and_calls_are_taken_out_in_order(text: str, shown: str, names: list[str]) -> None:
    for result in (split(text), split(*text)):
        assert (result[0], [name for name, _ in result[1]]) == (shown, names)


def test_call_without_its_opening_tag() -> None:
    text = "Let me look.\n\n<function=datetime>\n<parameter=tz>\nEurope/Paris\n</parameter>\n</function>\n</tool_call>"
    assert split(*text) == ("Let me look.\n\n", [("datetime", {"tz": "Europe/Paris"})])


ORDINARY = [
    "",
    "It is 4.",
    '{"name": "Alice", "age": 5}',
    '{"name": "search_web", "arguments": {"query": "x"}}',
    '{"name": "web_search"}',
    '{"name": "web_search", "price": 5}',
    '{"action": "persona"}',
    '[{"name": "web_search", "description": "Searches.", "parameters": {"type": "object", "properties": {}}}]',
    '{"name": "datetime", "parameters": {"type": "object", "properties": {"tz": {"type": "string"}}}}',
    '{"name": "web_search", "arguments": {"query": "<your query>"}}',
    '{"name": "web_search", "arguments": {"query": "..."}}',
    f"{SEARCH}\n\nThat is how a search is written.",
    f"```json\n{SEARCH}\n```\nHere `name` is the tool.",
    f"A call is written like this:\n```json\n{SEARCH}\n```\nThen the tool runs.",
    f"For example:\n```json\n{SEARCH}\n```",
    f"It would look so:\n{SEARCH}",
    f"Zum Beispiel:\n```json\n{SEARCH}\n```",
    f"{'Much was said. ' * 40}\n```json\n{SEARCH}\n```",
    f"```xml\n<tool_call>{SEARCH}</tool_call>\n```",
    f"```\n<tool_call>{SEARCH}</tool_call>\n```",
    f"    <tool_call>{SEARCH}</tool_call>",
    f"> <tool_call>{SEARCH}</tool_call>",
    f"Write `<tool_call>{SEARCH}</tool_call>` then.",
    "Use `<think>` and `<tool_call>`.",
    "```html\n<think>a</think>\n```",
    "The tag <tool_call> opens it, </tool_call> closes it.",
    "<tool_call>\n</tool_call>",
    "<persona><action>list</action></persona>",
    "<web_search> is a tag, <query>x</query> another",
    "<web_search></web_search>",
    "```xml\n<web_search><query>x</query></web_search>\n```",
    "a <web_search><query>x</query></web_search>",
    "<name>web_search</name>",
    f"I would send {SEARCH} now",
    f"- {SEARCH}",
    '<tool_call>{"name": "search_web", "arguments": {}}</tool_call>',
    '<tool_call>{"name": "web_search", "argum',
    '{"name": "web_search", "arguments": {"query": "x"}',
    "<function=search_web><parameter=query>x</parameter></function>",
    "<function=web_search><parameter=query>x",
    "[1] a source\n[2] another\n- [ ] to do\n[a](https://example.org)\n",
    "a < b, <3, <b>bold</b>, <br/>, x <- y",
    "<tool",
    "[TOOL",
    "[TOOL_CALLS] is a marker.",
    "if ready: web_search('x')",
    "web_search is a tool",
    "web_search(query)",
    "web_search(words='x')",
    "persona(1, 2)",
    "print('hello')",
    "```python\nprint(web_search('x'))\nprint(1)\n```",
    "```python\nimport os\n```\n",
    "Action: call the plumber\nAction Input: none",
    "Action: web_search\nThen wait.",
    '{"tool_calls": []}',
    "{}",
    "[]",
    "{ this is no JSON }",
    "{" * 100,
    '{"name": ' * 100,
    "<|im_start|>assistant\nHi<|im_end|>",
    '[{"name": "a"}, 1]',
]


@pytest.mark.parametrize("text", ORDINARY)
def test_what_is_no_call_arrives_unchanged(text: str) -> None:
    assert split(text) == (text, [])
    assert split(*text) == (text, [])


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("It is 4", "It is 4"),
        ('{"users": ', '{"users": '),
        ('{"name": "Alice"', '{"name": "Alice"'),
        ('[{"id": 1, "title"', '[{"id": 1, "title"'),
        ("[1] a", "[1] a"),
        ("a <b> c", "a <b> c"),
        ("a <tool", "a "),
        ('Yes.\n{"name": "web_sea', "Yes.\n"),
        ("web is", "web is"),
        ("The", "The"),
        ("```python\nimport", "```python\nimport"),
        ("```json\n{", ""),
        ('{"arguments": {"query": "x', ""),
    ],
)
def test_only_what_may_still_become_a_call_is_held_back(text: str, given: str) -> None:
    splitter = CallSplitter(TOOLS)
    assert "".join(part.shown for chunk in text for part in splitter.feed(chunk)) == given
    assert given + splitter.held == text


def test_nothing_of_a_call_is_shown_before_it_is_recognised() -> None:
    splitter = CallSplitter(TOOLS)
    assert [splitter.feed(chunk) for chunk in SEARCH] == [[]] * len(SEARCH)
    assert [part.calls for part in splitter.close()] == [(ONE[0],)]


@pytest.mark.parametrize(
    "endless",
    [
        "<tool_call>" + " " * CAP * 2,
        '{"name": "web_search", "arguments": {"query": "' + "x" * CAP * 2,
        '{"name": "web_search", "arguments": ' + "[" * CAP * 2,
        SEARCH + "\n" * CAP * 2,
        "<function=web_search><parameter=query>" + "x" * CAP * 2,
        "web_search(query='" + "x" * CAP * 2,
        "```json\n" + " " * CAP * 2,
        "<" * CAP * 2,
        "<tool_call>" * CAP,
        "`" * CAP * 2,
        "{" * CAP * 2,
    ],
)
def test_endless_texts_are_let_go(endless: str) -> None:
    splitter = CallSplitter(TOOLS)
    chunks = [endless[at : at + 1000] for at in range(0, len(endless), 1000)]
    most = 0
    parts = [part for chunk in chunks for part in splitter.feed(chunk)]
    most = max(most, len(splitter.held))
    parts += splitter.close()
    assert "".join(part.shown for part in parts) == endless
    assert most <= CAP


FRAGMENTS = [
    *("<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "<|channel|>", "<|message|>", "<|call|>"),
    *("commentary to=functions.web_search ", "web_search", "json", "[ARGS]", "<function=datetime>", "</function>"),
    *("<parameter=tz>", "</parameter>", "<arg_key>query</arg_key>", "<arg_value>x</arg_value>", "Action: web_search\n"),
    *("Action Input: ", SEARCH, NOW, '{"query": "x"}', '{"name": "nope", "arguments": {}}', '{"a": [1, 2]}', "{", "}"),
    *(
        "[",
        "]",
        '"',
        "'",
        ",",
        ":",
        "```json\n",
        "\n```\n",
        "```",
        "`",
        "\n",
        "\n\n",
        " ",
        "    ",
        "> ",
        "Let me see. ",
    ),
    *(
        "web_search(query='x')",
        "get_location()",
        "print(",
        ")",
        "(",
        "<",
        ">",
        "</",
        "<|",
        "|>",
        "x",
        "日本",
        "🙂",
        "\r\n",
    ),
    *("<name>", "</name>", "<arguments>", "</arguments>", "<query>", "</query>", "<web_search>", "</web_search>"),
    *('"name"', '"arguments"', '"web_search"', '"tool_calls": [', "For example: ", "<tool", "[TOOL"),
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)


@given(TEXTS, st.lists(st.integers(0, 300), max_size=8))
@example(SEARCH, [10])
def test_where_the_text_is_cut_changes_nothing(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    chunks = [text[a:b] for a, b in itertools.pairwise(edges)]
    assert split(*chunks) == split(text)
    assert split(*text) == split(text)


@given(TEXTS)
def test_what_is_shown_and_what_is_not_make_up_the_whole(text: str) -> None:
    splitter = CallSplitter(TOOLS)
    parts = [*splitter.feed(text), *splitter.close()]
    assert "".join(part.written for part in parts) == text
    assert all(
        any(name in part.written for name in ("web_search", "datetime", "location")) for part in parts if part.calls
    )


@given(TEXTS)
def test_a_text_is_unchanged_where_no_tool_is_announced(text: str) -> None:
    assert split(*text, tools=[tool("zzz", {})]) == (text, [])


@given(st.text())
def test_any_other_text_is_unchanged(text: str) -> None:
    assert split(*text) == (text, [])
