"""Where the stand-in is in a container, and the variables by which programs find it."""

from collections.abc import Mapping
from typing import Final

PACKAGE: Final = "/opt/smlocal/distributed"
"""Read-only: `python/smdistributed`, `bin/smddprun`, and the job's settings."""
RECORDS: Final = "/opt/smlocal/records"
"""Where each process writes what smlocal wants to know."""
_USUAL_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The PATH that engines set for an image without one."""


def search_paths(environment: Mapping[str, str], image: Mapping[str, str]) -> dict[str, str]:
    """PATH and PYTHONPATH with the stand-in at their ends: the folders of the image and the request come first."""
    path = environment.get("PATH") or image.get("PATH") or _USUAL_PATH
    python_path = environment.get("PYTHONPATH") or image.get("PYTHONPATH") or ""
    return {
        "PATH": f"{path}:{PACKAGE}/bin",
        "PYTHONPATH": f"{python_path}:{PACKAGE}/python".removeprefix(":"),
    }
