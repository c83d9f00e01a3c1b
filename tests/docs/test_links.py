import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("C*.md"))]
EXAMPLES = sorted(ROOT.glob("examples/*/README.md"))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    """Without code: blocks that are indented, and words in backticks."""
    lines = page.read_text(encoding="utf-8").splitlines()
    return re.sub(r"`[^`]*`", "code", "\n".join(line for line in lines if not line.startswith("    ")))


def anchors(text: str) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#{1,6} (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


# Their links are those of a page in docs, and `smlocal help ID` shows addresses made of them.
SHOWN_BY_HELP = [ROOT / "src" / "smlocal" / "cli" / name for name in ("errors.md", "notes.md")]


@pytest.mark.parametrize(
    "page", [*PAGES, *EXAMPLES, *SHOWN_BY_HELP], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        folder = ROOT / "docs" if page in SHOWN_BY_HELP else page.parent
        target = (folder / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    assert broken == []


def linked(page: Path) -> set[Path]:
    links = (link.partition("#")[0] for link in LINK.findall(prose(page)) if "://" not in link)
    return {(page.parent / path).resolve() for path in links if path}


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = ROOT / "docs" / "README.md"
    assert set(PAGES) - {contents} <= linked(contents)


def test_every_page_of_an_example_is_in_the_list_of_examples() -> None:
    assert set(EXAMPLES) <= linked(ROOT / "docs" / "examples.md")


def test_the_readme_leads_to_the_table_of_contents() -> None:
    assert ROOT / "docs" / "README.md" in linked(ROOT / "README.md")


def texts_of(module: ast.Module) -> Iterator[str]:
    """Its strings, but for docstrings."""
    statements = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.value


def test_no_message_names_a_file_of_docs() -> None:
    """An installed package has none: messages name a topic of `smlocal help`, or the address of a page."""
    page = re.compile(r"\bdocs/[a-z-]+\.md")
    naming = []
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if page.search(text) is None:
            continue
        of_commands = path.parent.name == "commands"  # the docstrings of which are their help
        if of_commands or any(page.search(each) for each in texts_of(ast.parse(text))):
            naming.append(path.name)
    assert naming == []
