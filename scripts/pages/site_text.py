"""The text of a page of docs, as the web site needs it."""

import os
import re
from pathlib import Path

NOT_ON_THE_SITE = "<!-- not on the site -->\n"
"""Before a paragraph that tells readers of the repository where the site is."""
_COMMAND = re.compile(r"\[`(?:smlocal )?([a-z]+)([^`]*)`\]\(cli\.md\)")
_LINK = re.compile(r"(\]\()(\.\./[^)#\s]+)(#[^)\s]*)?\)")
_PAGE = re.compile(r"\[([a-z-]+\.md)(: [^\]]+)?\]\(\1(#[^)\s]*)?\)")
_ITEM = re.compile(r"(-|\d+\.) +")


def for_the_site(markdown: str, name: str, root: Path, repository: str) -> tuple[str, list[str]]:
    """The text of the page docs/`name`, and links to files that are nowhere.

    Files of the repository that are not in docs are shown by its server. The name of a command leads to its page, and a
    link that is named after the file of a page has its title. In an item of a list, what follows the first line is
    indented by four: with less, Python-Markdown takes it for what follows the list.
    """
    text = re.sub(re.escape(NOT_ON_THE_SITE) + r"(?:.+\n?)+\n?", "", markdown)
    text = _COMMAND.sub(r"[`\1\2`](cli/\1.md)", text)
    text = _PAGE.sub(lambda found: f"[{_title(root, found[1])}{found[2] or ''}]({found[1]}{found[3] or ''})", text)
    missing = []

    def elsewhere(found: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join("docs", os.path.dirname(name), found[2]))
        if target == "docs" or target.startswith("docs/"):
            return found[0]
        if not (root / target).exists():
            missing.append(found[2])
        kind = "tree" if (root / target).is_dir() else "blob"
        return f"{found[1]}{repository}/{kind}/main/{target}{found[3] or ''})"

    return _lists(_LINK.sub(elsewhere, text)), missing


def _title(root: Path, page: str) -> str:
    """Its first line, if it is there: otherwise MkDocs says that the link is broken."""
    path = root / "docs" / page
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") if path.exists() else page


def _lists(text: str) -> str:
    lines, width, blank, fenced = [], 0, False, False
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        item = None if fenced else _ITEM.match(line)
        indent = len(line) - len(line.lstrip())
        if item:
            width = len(item[0])
        elif line and blank and indent < width:
            width = 0
        if width and not item and line and indent >= width:
            lines.append(" " * (4 - width) + line)
        else:
            lines.append(line)
        blank = not line
    return "\n".join(lines)
