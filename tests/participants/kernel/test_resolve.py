"""Does a name find its tool, and never a neighbour?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus.messages.tool import Policies, ToolSchema
from participants.kernel.resolve import bare, nearest, resolve, spoken


def tools(*given: str | tuple[str, list[str]]) -> dict[str, ToolSchema]:
    named = [(one, []) if isinstance(one, str) else one for one in given]
    return {
        tool: ToolSchema(tool=tool, name=tool, description="", parameters={}, policies=Policies(aliases=aliases))
        for tool, aliases in named
    }


TOOLS = tools(
    "web_search", "web_fetch", "notes.add", "persona", "c", ("get_datetime", ["datetime", "get_time"]), "search_memory"
)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("web_search", "web_search"),
        ("Web-Search", "web_search"),
        ("WEB SEARCH", "web_search"),
        ("webSearch", "web_search"),
        ("web.search", "web_search"),
        ("web_search\x00", "web_search"),
        (" web_search\n", "web_search"),
        ("functions.web_search", "web_search"),
        ("functions.web_search<|channel|>commentary", "web_search"),
        ("web_search<|constrain|>json", "web_search"),
        ("<|channel|>commentary to=functions.web_search <|constrain|>json", "web_search"),
        ("commentary to=web_search", "web_search"),
        ("<｜tool▁sep｜>web_search", "web_search"),
        ("functions.web_search:0", "web_search"),
        ("tools.Web-Search", "web_search"),
        ("functions.functions.web_search", "web_search"),
        ("default_api:web_search", "web_search"),
        ("`web_search`", "web_search"),
        ("web_search()", "web_search"),
        ("web_search</tool_call>", "web_search"),
        ("datetime", "get_datetime"),
        ("Get-Time", "get_datetime"),
        ("functions.datetime", "get_datetime"),
        ("notes.add", "notes.add"),
        ("notes__add", "notes.add"),
        ("notes_add", "notes.add"),
        ("functions.notes.add", "notes.add"),
        ("search_web", None),
        ("web", None),
        ("search", None),
        ("web_searches", None),
        ("web_search2", None),
        ("my_web_search", None),
        ("other.web_search", None),
        ("call_web_search", None),
        ("web_search web_fetch", None),
        ("add", None),
        ("e", None),
        ("c#", None),
        ("c++", None),
        ("time", None),
        ("", None),
        ("functions.", None),
        ("<|channel|>", None),
        ("_", None),
        ("x" * 1_000_000, None),
        ("functions." * 20_000, None),
    ],
)
def test_name_never_means_a_neighbour(asked: str, meant: str | None) -> None:
    found = resolve(asked, TOOLS)
    assert (found.tool if found else None) == meant


def test_two_candidates_are_none() -> None:
    both = tools("web_search", "websearch", ("a", ["find"]), ("b", ["find"]))
    assert resolve("Web-Search", both) is None
    assert resolve("find", both) is None
    assert resolve("websearch", both) == both["websearch"]


def test_real_name_comes_before_an_alias() -> None:
    both = tools("datetime", ("get_datetime", ["datetime", "Date-Time"]))
    assert resolve("datetime", both) == both["datetime"]
    assert resolve("Date_Time", both) == both["datetime"]


@given(st.text(max_size=40))
def test_what_is_found_has_the_letters_that_were_asked_for(name: str) -> None:
    found = resolve(name, TOOLS)
    letters = "".join(c for c in bare(name).casefold() if c.isalnum())
    known = {s.tool: [s.tool, *s.policies.aliases] for s in TOOLS.values()}
    spellings = [n.replace("_", "").replace(".", "") for n in known[found.tool]] if found else [letters]
    assert letters in spellings


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("search_web", "web_search"),
        ("fetch_web_page", "web_fetch"),
        ("memory_search", "search_memory"),
        ("functions.getDateTimeNow", "get_datetime"),
        ("", "c"),
    ],
)
def test_nearest_names_come_first(asked: str, first: str) -> None:
    names = nearest(asked, [spoken(name) for name in TOOLS])
    assert names[0] == first
    assert sorted(names) == sorted(spoken(name) for name in TOOLS)
