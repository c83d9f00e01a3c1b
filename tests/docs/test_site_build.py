"""The web site itself, built strictly: links and anchors of all pages are checked by that."""

import re
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pages.commands import command_names
from pages.truth import facts
from tests.docs.test_errors import classes

from smlocal.check.registry import all_rules
from smlocal.cli.terminal.links import DOCUMENTATION, section
from smlocal.errors import MachineNotReadyError, RequestRefusedError

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow(6, together=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It needs the packages of scripts/locks/site.txt, which are installed the first time."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [ROOT / "scripts" / "site", "build", "--site-dir", folder],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if name := given.get("id"):
            self.ids.add(name)
        address = given.get("src") or (given.get("href") if tag == "link" and given.get("rel") != "canonical" else None)
        if address:
            self.loaded.append(address)


def ids_of(site: Path, page: str) -> set[str]:
    return _Page((site / page / "index.html").read_text(encoding="utf-8")).ids


def test_what_help_names_is_there(site: Path) -> None:
    def named(page: str, ids: Iterator[str]) -> set[str]:
        return {section(page, each).removeprefix(f"{DOCUMENTATION}{page}/#") for each in ids}

    groups = {RequestRefusedError, MachineNotReadyError}
    assert named("errors", (error.id for error in classes() if error not in groups)) <= ids_of(site, "errors")
    assert named("checks", (rule.id for rule in all_rules())) <= ids_of(site, "checks")
    assert named("truth", (fact.id for found in facts().values() for fact in found)) <= ids_of(site, "truth")


def test_every_command_has_a_page(site: Path) -> None:
    assert {path.parent.name for path in (site / "cli").glob("*/index.html")} == {*command_names()}


def test_a_browser_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    assert len(pages) > 60
    loaded = {address for page in pages for address in _Page(page.read_text(encoding="utf-8")).loaded}
    assert [each for each in sorted(loaded) if re.match(r"(https?:)?//", each)] == []


def test_it_can_be_searched_and_says_nothing_of_itself(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    assert "source-missing" in index
    assert "The page of the site" not in index
