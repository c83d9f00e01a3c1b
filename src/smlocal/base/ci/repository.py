"""Paths as CI services want them: relative to the root of the repository."""

import os
import re
from collections.abc import Mapping
from urllib.parse import quote

_ROOTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY")
"""Where GitHub, GitLab and Azure put a checkout."""
_NO_BYTES = re.compile("[\\ud800-\\udc7f\\udd00-\\udfff]")
"""Surrogates that stand for no byte of a file name."""


def repository_root(environment: Mapping[str, str], start: str) -> str:
    """The folder of the checkout: as the service says, else with a `.git` above `start`, else `start`."""
    start = os.path.realpath(start)
    for name in _ROOTS:
        root = os.path.realpath(environment[name]) if environment.get(name) else ""
        if root and os.path.commonpath((root, start)) == root:
            return root
    folder = start
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return start
        folder = above
    return folder


def in_repository(path: str, root: str) -> str | None:
    """The path relative to the root, with `/`; None for a file that is elsewhere."""
    folder, name = os.path.split(os.path.abspath(path))
    relative = os.path.relpath(os.path.join(os.path.realpath(folder), name), root)
    return None if relative == os.pardir or relative.startswith(os.pardir + os.sep) else relative


def as_uri(relative: str) -> str:
    """A relative reference: characters that a URI cannot hold are written as bytes of UTF-8."""
    return quote(_NO_BYTES.sub("\ufffd", relative).encode("utf-8", "surrogateescape"))
