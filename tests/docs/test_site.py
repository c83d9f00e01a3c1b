"""The web site, without building it: navigation, addresses, and how its pages differ from those of the repository."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pages.inserted import MARKER, with_tables
from pages.site_text import NOT_ON_THE_SITE, for_the_site

from smlocal.cli.terminal.links import DOCUMENTATION

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
URLS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
WITH_MORE_ON_THE_SITE = {"ai-platform-coverage", "checks", "cli", "coverage", "debugger-rules", "errors", "truth"}


class _Loader(yaml.SafeLoader):
    """Without calling what mkdocs.yml has MkDocs call."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)
SETTINGS: dict[str, Any] = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), _Loader)


def pages_of(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    else:
        for each in part.values() if isinstance(part, dict) else part:
            yield from pages_of(each)


def test_every_page_is_in_the_navigation_once() -> None:
    assert sorted(pages_of(SETTINGS["nav"])) == sorted(path.name for path in DOCS.glob("*.md"))


def test_the_parts_are_those_that_readers_know() -> None:
    assert [name for part in SETTINGS["nav"] for name in part] == [
        *("Home", "Tutorial", "How-to", "Reference", "Explanation")
    ]


def test_nothing_comes_from_elsewhere_and_links_are_checked() -> None:
    assert SETTINGS["theme"]["font"] is False
    assert {value for kind in SETTINGS["validation"].values() for value in kind.values()} == {"warn"}


def test_the_addresses_are_those_of_the_project() -> None:
    assert SETTINGS["repo_url"] == URLS["Repository"]
    assert SETTINGS["site_url"] == URLS["Documentation"]
    assert f"{URLS['Documentation']}{SETTINGS['extra']['version']['default']}/" == DOCUMENTATION


def test_pages_with_more_on_the_site_say_where_and_no_other() -> None:
    named = {}
    for path in DOCS.glob("*.md"):
        text = path.read_text(encoding="utf-8")
        found = re.findall(rf"{NOT_ON_THE_SITE}\[.+?\]\({DOCUMENTATION}([a-z-]+)/(?:#[a-z-]+)?\)", text)
        assert len(found) == text.count("smlocal.github.io") == text.count(NOT_ON_THE_SITE), path.name
        if found:
            named[path.stem] = found
    pages = {path.stem for path in DOCS.glob("*.md") if MARKER.search(path.read_text(encoding="utf-8"))}
    assert named == {name: [name] for name in WITH_MORE_ON_THE_SITE | pages}


def test_what_the_repository_has_is_short_where_the_site_has_more() -> None:
    for name in WITH_MORE_ON_THE_SITE - {"debugger-rules"}:
        assert len((DOCS / f"{name}.md").read_text(encoding="utf-8").split()) <= 260, name


def test_a_table_stands_where_the_page_says() -> None:
    shown = with_tables("one\n\n<!-- from the code: reasons: Simulated faults -->\n\ntwo\n")
    assert re.fullmatch(r"one\n\n\| cause \|.+\|\n\|---\|---\|---\|\n\| `Local.Faults`.+\|\n\ntwo\n", shown)
    with pytest.raises(ValueError, match="no table is called tides"):
        with_tables("<!-- from the code: tides -->")


def text_of(markdown: str, name: str = "page.md") -> str:
    text, missing = for_the_site(markdown, name, ROOT, "https://example.com/repo")
    assert missing == []
    return text


def test_a_paragraph_about_the_site_is_left_out() -> None:
    assert text_of(f"one\n\n{NOT_ON_THE_SITE}two\nthree\n\nfour\n") == "one\n\nfour\n"
    assert text_of(f"one\n\n{NOT_ON_THE_SITE}two\nthree\n") == "one\n\n"


def test_a_command_leads_to_its_page() -> None:
    assert text_of("[`smlocal run --set`](cli.md), [all](cli.md)") == "[`run --set`](cli/run.md), [all](cli.md)"


def test_a_link_that_is_named_after_a_file_has_the_title_of_the_page() -> None:
    title = (DOCS / "metrics.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    assert text_of("[metrics.md](metrics.md#a)") == f"[{title}](metrics.md#a)"
    assert text_of("[metrics.md: `X`](metrics.md)") == f"[{title}: `X`](metrics.md)"
    assert text_of("[metrics.md](run.md)") == "[metrics.md](run.md)"


def test_files_of_the_repository_are_shown_by_its_server() -> None:
    shown = text_of("[a](../README.md#install) [b](../examples) [c](run.md) [d](../docs/run.md)")
    assert shown == (
        "[a](https://example.com/repo/blob/main/README.md#install) [b](https://example.com/repo/tree/main/examples)"
        " [c](run.md) [d](../docs/run.md)"
    )


def test_a_file_that_is_not_in_the_repository_is_told() -> None:
    assert for_the_site("[a](../nowhere.md)", "page.md", ROOT, "")[1] == ["../nowhere.md"]


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("- a\n  b\n- c", "- a\n    b\n- c"),
        ("1. a\n\n       code\n\nb", "1. a\n\n        code\n\nb"),
        ("- a\n\n  b\n\nc\n  d", "- a\n\n    b\n\nc\n  d"),
        ("```\n- a\n  b\n```", "```\n- a\n  b\n```"),
        ("a\n\n    code", "a\n\n    code"),
    ],
)
def test_what_belongs_to_an_item_of_a_list_is_indented_by_four(markdown: str, shown: str) -> None:
    assert text_of(markdown) == shown
