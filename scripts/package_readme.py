"""Makes the description of the package of README.md. On a package index its links lead to the repository."""

import re
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Named in pyproject.toml; hatchling calls it."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        with open(f"{self.root}/README.md", encoding="utf-8") as file:
            text = file.read()
        page = f"{metadata['urls']['Repository']}/blob/v{metadata['version']}"
        picture = page.replace("github.com", "raw.githubusercontent.com").replace("/blob/", "/")

        def absolute(found: re.Match[str]) -> str:
            return f"{found[1]}{found[2]}({picture if found[1] else page}/{found[3]})"

        metadata["readme"] = {"content-type": "text/markdown", "text": _LINK.sub(absolute, text)}
