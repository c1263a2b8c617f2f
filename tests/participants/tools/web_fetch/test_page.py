"""What a page says, and what it hides. The pages are of the shapes that sites have."""

from __future__ import annotations

from pathlib import Path

import pytest

from participants.tools.web_fetch.page import read_html

PAGES = Path(__file__).parent / "pages"
URL = "https://site.example/a/b"


@pytest.mark.parametrize(
    ("name", "title", "wanted", "unwanted"),
    [
        (
            "article",
            "Harbour seals return to the estuary | The Tidal Post",
            ["37 animals", "tannery closed", "## Why now?", "- Dredging stopped", "12 hectares", "> A seal is a"],
            ["842 partners", "Subscribe now", "Imprint", "Sport desk", "dataLayer", "enable tracking",
             "Skip to content", "lamplighter"],
        ),
        (
            "docs",
            "Retries — Kelpie 4.2 documentation",
            ["max_tries", "```\nfrom kelpie import job\n\n@job(max_tries=5", "\n    if mail.to < 1:\n        raise ",
             "Factor between two pauses", "must be idempotent", "4.2 | Retries survive a restart"],
            ["Installation", "next: Cron", "Built with", "¶"],
        ),
        (
            "forum",
            "Boiler loses pressure every night - Heating forum",
            ["0.4 bar", "bled all radiators", "expansion vessel", "Solved!", "pipewright"],
            ["spam.example", "Register"],
        ),
        (
            "table",
            "Ferry timetable, winter 2026",
            ["No ferry on 25 December", "13:45 | 14:40 | MV Petrel | no", "Adult | 8.40 €", "stormy"],
            ["Contact"],
        ),
        ("short", "Bakery Finch", ["6:30 to 13:00", "Mill Lane 4", "3 to 17 August"], []),
        (
            "shop",
            "Trail boots Corrie GTX – Outfell",
            ["149.95 €", "In stock: 7 pairs", "540 g", "Sole | Rubber, 4 mm lugs"],
            ["newsletter", "Search 12,000", "Terms of sale", "Add to basket", "Price:"],
        ),
        ("rendered", "How tides work", ["two bulges", "24 hours", "spring tides"], ["needs scripts", "not text"]),
    ],
)  # fmt: skip
def test_the_text_is_found_and_what_is_around_it_is_not(
    name: str, title: str, wanted: list[str], unwanted: list[str]
) -> None:
    page = read_html((PAGES / f"{name}.html").read_text(encoding="utf-8"), URL)
    text = page.text
    assert page.title == title
    assert [words for words in wanted if words not in text] == []
    assert [words for words in unwanted if words in text] == []


INVISIBLE = [
    '<div style="display:none">SECRET</div>',
    '<div style="DISPLAY : NONE !important">SECRET</div>',
    '<div style="display:none"><div style="display:block">SECRET</div></div>',
    "<span hidden>SECRET</span>",
    '<span hidden="until-found">SECRET</span>',
    '<p aria-hidden="true">SECRET</p>',
    '<p aria-hidden=" TRUE ">SECRET</p>',
    '<p style="visibility:hidden">SECRET</p>',
    '<p style="visibility:collapse"><b>SECRET</b></p>',
    '<p style="opacity:0">SECRET</p>',
    '<p style="opacity: .0">SECRET</p>',
    '<p style="opacity:0%">SECRET</p>',
    '<p style="opacity:0.01">SECRET</p>',
    '<p style="font-size:0">SECRET</p>',
    '<p style="font-size:0px"><b>SECRET</b></p>',
    '<p style="font-size:1px">SECRET</p>',
    '<p style="font:0/0 a">SECRET</p>',
    '<p style="position:absolute;left:-9999px">SECRET</p>',
    '<p style="position:fixed;top:-100em">SECRET</p>',
    '<p style="text-indent:-9999px">SECRET</p>',
    '<p style="margin-left:-9999px">SECRET</p>',
    '<p style="transform:translateX(-9999px)">SECRET</p>',
    '<p style="transform:scale(0)">SECRET</p>',
    '<p style="width:0;height:0;overflow:hidden">SECRET</p>',
    '<p style="max-height:0;overflow:hidden">SECRET</p>',
    '<p style="width:1px;height:1px;overflow:hidden;position:absolute">SECRET</p>',
    '<p style="position:absolute;clip:rect(0,0,0,0)">SECRET</p>',
    '<p style="position:absolute;clip:rect(1px 1px 1px 1px)">SECRET</p>',
    '<p style="clip-path:inset(50%)">SECRET</p>',
    '<p style="clip-path:circle(0)">SECRET</p>',
    '<p style="content-visibility:hidden">SECRET</p>',
    '<p style="filter:opacity(0)">SECRET</p>',
    '<p style="color:#fff;background:white">SECRET</p>',
    '<div style="background-color:#000"><p style="color:rgb(0, 0, 0)">SECRET</p></div>',
    '<p style="color:transparent">SECRET</p>',
    '<p style="color:rgba(0,0,0,0)">SECRET</p>',
    "<noscript>SECRET</noscript>",
    "<noscript><p>SECRET</p></noscript>",
    "<template><p>SECRET</p></template>",
    "<!-- SECRET -->",
    "<!--><!-- SECRET -->",
    "<![CDATA[ SECRET ]]>",
    "<script>SECRET</script>",
    "<script><!-- <script> </script> SECRET --></script>",
    "<style>SECRET{}</style>",
    "<svg><title>SECRET</title><text>SECRET</text></svg>",
    "<iframe>SECRET</iframe>",
    "<dialog>SECRET</dialog>",
    "<object>SECRET</object>",
    '<img alt="SECRET">',
    '<input value="SECRET">',
    "<textarea>SECRET</textarea>",
    "<select><option>SECRET</option></select>",
    "<style>.a{display:none}</style><p class=a>SECRET</p>",
    "<style>#b .a , .z{ Visibility : hidden }</style><div id=b><p class=a>SECRET</p></div>",
    "<style>@media screen{.a{opacity:0}}</style><p class=a>SECRET</p>",
    "<style>@layer x{.a{display:none}}</style><p class=a>SECRET</p>",
    "<style>/* .a{} */ @import 'x'; .a{font-size:0}</style><p class=a>SECRET</p>",
    "<style>p.a{display:block}.b .a{display:none}</style><div class=b><p class=a>SECRET</p></div>",
    "<style>.a{display:none!important}#c{display:block}</style><p class=a id=c>SECRET</p>",
    "<style>[data-x]{display:none}</style><p data-x=1>SECRET</p>",
    "<style>.a{display:none}</style><div class=a>" + "<div>" * 1000 + "SECRET",
    '<div style="display:none">' * 1000 + "SECRET",
    "<p>\U000e0053\U000e0045</p>",
]


@pytest.mark.parametrize("markup", INVISIBLE)
def test_what_nobody_sees_is_left_out(markup: str) -> None:
    text = read_html(f"<title>T</title><p>Hi</p>{markup}", URL).text
    assert text == "Hi"


@pytest.mark.parametrize(
    "markup",
    [
        '<div style="display:block">SEEN</div>',
        '<p style="opacity:0.5">SEEN</p>',
        '<p style="font-size:0.9em">SEEN</p>',
        '<div style="font-size:0"><p style="font-size:16px">SEEN</p></div>',
        '<div style="visibility:hidden"><p style="visibility:visible">SEEN</p></div>',
        '<div hidden style="display:flex">SEEN</div>',
        '<p aria-hidden="false">SEEN</p>',
        '<p style="position:absolute;left:-5px">SEEN</p>',
        '<p style="margin-left:-15px">SEEN</p>',
        '<p style="overflow:hidden;width:100px">SEEN</p>',
        '<p style="width:0">SEEN</p>',
        '<h1 style="color:transparent;background-clip:text;background-image:url(x)">SEEN</h1>',
        '<div style="background:#fff;color:#000"><p style="background:#000;color:#fff">SEEN</p></div>',
        "<style>.a{display:none}.a.open{display:block}</style><p class='a open'>SEEN</p>",
        "<style>.a:hover{display:none}</style><p class=a>SEEN</p>",
        "<style>@media print{.a{display:none}}</style><p class=a>SEEN</p>",
        "<style>@media (max-width:600px){.a{display:none}} .b{color:red}</style><p class=a>SEEN</p>",
        "<style media=print>.a{display:none}</style><p class=a>SEEN</p>",
        "<style>.a{display:none}</style><p class=a style='display:block'>SEEN</p>",
        "<style>}}}{{{;;@@.a{display:none</style><p class=a>SEEN</p>",
        "<style>..a,>>,[x{display:none}</style><p class=a>SEEN</p>",
        "<p hidden><div>SEEN</div>",
        "<details><summary>More</summary>SEEN</details>",
    ],
)
def test_what_is_seen_stays(markup: str) -> None:
    assert "SEEN" in read_html(f"<title>T</title><p>Hi</p>{markup}", URL).text


WORDS = "The lantern room was cleaned each morning before the keeper slept. " * 40


@pytest.mark.parametrize(
    "html",
    [
        f'<body><div id="app" style="display:none"><p>{WORDS}</p></div>',
        f'<body style="opacity:0"><div><p>{WORDS}</p></div><script src="/a.js"></script>',
        f"<style>body{{visibility:hidden}}#a{{opacity:0}}</style><body><div id=a><p>{WORDS}</p></div>",
        f"<body><noscript>Please turn on scripts.</noscript><div>Loading…</div><div hidden><p>{WORDS}</p></div>",
    ],
)
def test_a_page_that_scripts_would_show_is_read(html: str) -> None:
    page = read_html(html, URL)
    assert page.text == WORDS.strip()
    assert page.notes == ["the page shows this text only once its scripts have run"]


def test_such_a_page_still_hides_what_it_hides() -> None:
    html = f'<div style="opacity:0"><p>{WORDS}</p><p style="display:none">SECRET</p></div><div hidden>SECRET two</div>'
    assert "SECRET" not in read_html(html, URL).text


def test_a_page_of_thirty_words_is_read_whole() -> None:
    words = " ".join(f"word{number}" for number in range(30))
    assert read_html(f"<body><div><span>{words}</span></div>", URL).text == words


def test_a_page_of_links_is_read_as_a_list() -> None:
    items = "".join(f'<li><a href="/{n}">Headline number {n} of today</a></li>' for n in range(40))
    text = read_html(f"<h1>News</h1><ul>{items}</ul>", URL).text
    assert text.startswith("# News\n\n- Headline number 0 of today\n- Headline")
    assert "Headline number 39" in text


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ((PAGES / "shell.html").read_text(), "needs JavaScript to show its text, which is not run here. All that it"
         " says without is its title, 'Dashboard', and: All your meters in one place. Try"),
        ("<div id=root></div><script src=a.js></script>", "needs JavaScript"),
        ("<p>Loading...</p><script src=a.js></script>", "needs JavaScript"),
        ("<title>T</title>", "has no text"),
        ("", "has no text"),
        ("<div class=a>" * 100_000 + "<style>", "nested too deeply"),
    ],
)  # fmt: skip
def test_a_page_without_text_says_why(html: str, words: str) -> None:
    page = read_html(html, URL)
    assert page.text == ""
    assert words in page.problem


@pytest.mark.parametrize("tag", ["div", "span", "b", "table", "ul", "blockquote", "x-y", "font", "section"])
def test_depth_does_no_harm(tag: str) -> None:
    html = f"<p>above</p>{f'<{tag}>' * 100_000}below{f'</{tag}>' * 100_000}"
    text = read_html(html, URL).text
    assert "above" in text
    assert "below" in text


def test_a_page_cut_off_anywhere_is_read() -> None:
    html = (PAGES / "article.html").read_text(encoding="utf-8")
    for end in range(0, len(html), 97):
        assert isinstance(read_html(html[:end], URL).text, str)


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("/x", "https://site.example/x"),
        ("https://www.site.example/x", "https://www.site.example/x"),
        ("https://other.example/x", URL),
        ("javascript:x", URL),
        ("http://[", URL),
        ("", URL),
    ],
)
def test_a_page_names_its_address_for_its_own_host_only(href: str, url: str) -> None:
    assert read_html(f'<link rel="canonical" href="{href}"><p>x', URL).url == url
