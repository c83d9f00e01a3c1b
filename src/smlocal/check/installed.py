"""Python packages that an image has, by the folders that their installers make."""

import re
from collections.abc import Iterator

from smlocal.check.image_files import ImageFiles
from smlocal.quick_dataclass import dataclass

_SITE = re.compile(r"(?:^|/)(?:site-packages|dist-packages)$")
_PYTHON = re.compile(r"/python(3\.\d+)/")
TOOLKITS = ("sagemaker_training", "sagemaker_containers")
"""The training toolkit, and what it was called before."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Package:
    """One package at one place."""

    name: str
    folder: str
    """Absolute: where it is installed."""
    layer: int | None

    @property
    def python(self) -> str:
        """The Python that the folder belongs to, such as `3.11`; empty where the path does not say."""
        found = _PYTHON.search(f"{self.folder}/")
        return found[1] if found else ""


def packages(files: ImageFiles, *names: str) -> Iterator[Package]:
    """Where packages of these import names are installed."""
    for folder, entries in files.folders.items():
        if _SITE.search(folder):
            for name in names:
                entry = entries.get(name) or entries.get(f"{name}.py")
                if entry is not None:
                    yield Package(name=name, folder=f"/{folder}", layer=entry.layer)


def has_toolkit(files: ImageFiles) -> bool:
    """Whether the training toolkit is there."""
    return next(packages(files, *TOOLKITS), None) is not None
