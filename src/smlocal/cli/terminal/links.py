"""Hyperlinks in terminals that know them (OSC 8), for files of this machine and for pages of the documentation.

They are added to text that is laid out already: a terminal shows the same as without them.
"""

import os
import re
from collections.abc import Iterable
from typing import Final, TextIO

from smlocal.base.readable import short_path
from smlocal.base.regex import regex

DOCUMENTATION: Final = "https://smlocal.github.io/smlocal/latest/"
"""The pages of the newest release: ids of errors and of rules stay. Tests compare it with pyproject.toml."""


def page_address(page: str) -> str:
    """The address of a page, such as `engines`."""
    return f"{DOCUMENTATION}{page}/"


def section(page: str, anchor: str) -> str:
    """The address of a section of a page, such as that of an error on the page `errors`."""
    return f"{DOCUMENTATION}{page}/#{anchor}"


VARIABLE = "SMLOCAL_HYPERLINKS"
"""The setting: `auto`, `always` (on any terminal but a dumb one) or `never`."""
_PAGE = regex(rf"{re.escape(DOCUMENTATION)}[\w#/-]*")
_ERROR = regex(r"(?<=More: )smlocal help ([a-z0-9-]+)")
_TERMS = ("xterm-kitty", "foot", "alacritty", "xterm-ghostty", "wezterm", "contour")
_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "WarpTerminal"})
_VARIABLES = ("KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM")
_VTE_WITH_LINKS = 5000
"""Version 0.50 of the library of GNOME Terminal and others."""
_BY_MULTIPLEXERS = ("screen", "tmux")
"""They drop the links, or show them as text, unless they are new and told otherwise."""


def has_links(stream: TextIO) -> bool:
    """True for a terminal that is known to have links; never with `NO_COLOR`, `TERM=dumb`, or in CI."""
    environment = os.environ
    setting = environment.get(VARIABLE, "auto")
    term = environment.get("TERM", "")
    if setting == "never" or term == "dumb" or environment.get("NO_COLOR") or environment.get("CI"):
        return False
    if not stream.isatty():
        return False
    return setting == "always" or _is_known(term)


def _is_known(term: str) -> bool:
    environment = os.environ
    if term.startswith(_BY_MULTIPLEXERS) or "TMUX" in environment:
        return False
    vte = environment.get("VTE_VERSION", "")
    return (
        (vte.isdecimal() and int(vte) >= _VTE_WITH_LINKS)
        or environment.get("TERM_PROGRAM") in _PROGRAMS
        or term.startswith(_TERMS)
        or any(each in environment for each in _VARIABLES)
    )


def link(text: str, target: str) -> str:
    """A text that opens `target`."""
    return f"\033]8;;{target}\033\\{text}\033]8;;\033\\"


def with_file_links(text: str, paths: Iterable[str], stream: TextIO) -> str:
    """Text in which the first mention of each file or folder is a link. Paths are shown in full or from here."""
    if not has_links(stream):
        return text

    for path in sorted({*paths}, key=len, reverse=True):
        for shown in dict.fromkeys((short_path(path), path)):
            # Not a part of a longer path, and not within a link that is there already.
            found = re.search(rf"(?<![\w/.;~-]){re.escape(shown)}(?![\w/.\x1b-])", text)
            if found is not None:
                text = text[: found.start()] + link(shown, file_address(path)) + text[found.end() :]
                break
    return text


def with_page_links(text: str, stream: TextIO) -> str:
    """The text with links to the documentation, at its addresses and at the commands that explain errors."""
    if not has_links(stream):
        return text
    text = _PAGE.sub(lambda found: link(found[0], found[0]), text)
    return _ERROR.sub(lambda found: link(found[0], section("errors", found[1])), text)


def file_address(path: str) -> str:
    """The file: address of a path on this machine. With the host's name, a remote terminal does not look here."""
    import socket
    from urllib.parse import quote

    return f"file://{socket.gethostname()}{quote(os.path.abspath(path))}"
