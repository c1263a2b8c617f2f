"""Do the generated references hold what the code says?"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = ["config.md", "protocol.md", "states.md"]


def generate(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run scripts/generate-docs in a process of its own: message classes of other tests would be listed too."""
    command = [sys.executable, str(ROOT / "scripts" / "generate-docs"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_references_are_up_to_date() -> None:
    done = generate("--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_stale_page_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    generate("--into", tmp_path)
    assert sorted(page.name for page in tmp_path.iterdir()) == PAGES
    (tmp_path / "states.md").write_text("old", encoding="utf-8")
    done = generate("--into", tmp_path, "--check")
    assert done.returncode == 1
    assert done.stderr == f"{tmp_path / 'states.md'} is stale: the code has changed. Run scripts/generate-docs.\n"
    assert (tmp_path / "states.md").read_text(encoding="utf-8") == "old"


def test_each_yaml_is_described() -> None:
    described = re.findall(r"^## (\S+\.yaml)$", (DOCS / "architecture" / "config.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(described) == sorted(path.name for path in (ROOT / "config").glob("*.yaml"))


def test_no_two_headings_of_the_protocol_share_an_anchor() -> None:
    text = (DOCS / "architecture" / "protocol.md").read_text("utf-8")
    anchors = [heading.lower() for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    assert len(anchors) == len(set(anchors))


def links() -> list[tuple[Path, str]]:
    """Each relative link of our own pages."""
    pages = [*ROOT.glob("*.md"), ROOT / "participants" / "README.md", *DOCS.rglob("*.md")]
    found = [(page, link) for page in pages for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))]
    return [(page, link) for page, link in found if not re.match(r"https?:|mailto:", link)]


@pytest.mark.parametrize(("page", "link"), links())
def test_a_link_leads_somewhere(page: Path, link: str) -> None:
    path, _, anchor = link.partition("#")
    target = page if not path else page.parent / path
    assert target.exists()
    headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE) if anchor else []
    assert anchor in ["", *(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)]
