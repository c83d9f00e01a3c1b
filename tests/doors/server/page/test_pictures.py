"""When two pictures of a page show the same."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.doors.server.page.chromium import differing_pixels, program, running_browser

PAGE = """<!doctype html><body style="background: white; margin: 20px; font: 18px sans-serif">
<h1 style="color: green">Completed in 2.4 s</h1><p>0.25</p>
<svg width="300" height="100"><polyline points="0,0 100,80 300,99" fill="none" stroke="blue" stroke-width="2"/></svg>
"""
Count = Callable[[str], int]


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Count]:
    """Counts the pixels of another page that differ from those of `PAGE`."""
    if program() is None:
        pytest.skip("no Chromium here: apt-get install --no-install-recommends chromium")
    with running_browser(tmp_path / "profile") as browser:

        def take(page: str) -> bytes:
            (tmp_path / "page.html").write_text(page)
            tab = browser.tab().look(width=500, height=300)
            tab.go((tmp_path / "page.html").as_uri())
            tab.picture(tmp_path / "page.png")
            return (tmp_path / "page.png").read_bytes()

        first = take(PAGE)
        yield lambda page: differing_pixels(browser.tab(), first, take(page))


@pytest.mark.slow(3)
def test_what_is_the_same(others: Count) -> None:
    assert others(PAGE) == 0
    assert others(PAGE.replace("<svg", '<svg style="transform: translate(0.2px, 0.2px)"')) < 20


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize(
    ("old", "new"),
    [("green", "teal"), ("2.4 s", "9.8 s"), ("<p>", '<p style="margin-top: 40px">'), ("100,80", "120,60")],
)
def test_what_differs(others: Count, old: str, new: str) -> None:
    assert others(PAGE.replace(old, new)) > 60
