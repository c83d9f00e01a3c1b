"""The stand-in for the data parallel library: written into a folder of the job, and found by programs in containers."""

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from smlocal.jobs.planning.aspects.data_parallel.plan import PACKAGE, RECORDS, DataParallelPlan

_USUAL_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The PATH that engines set for an image without one."""
SOURCE = os.path.join(os.path.dirname(__file__), "container_package")


def search_paths(environment: Mapping[str, str], image: Mapping[str, str]) -> dict[str, str]:
    """PATH and PYTHONPATH with the stand-in at their ends: the folders of the image and the request come first."""
    path = environment.get("PATH") or image.get("PATH") or _USUAL_PATH
    python_path = environment.get("PYTHONPATH") or image.get("PYTHONPATH") or ""
    return {
        "PATH": f"{path}:{PACKAGE}/bin",
        "PYTHONPATH": f"{python_path}:{PACKAGE}/python".removeprefix(":"),
    }


def write_package(plan: DataParallelPlan, directory: str) -> None:
    """Write all files of the stand-in, and the settings of this job."""
    for folder, below, files in os.walk(SOURCE):
        below[:] = [name for name in below if name != "__pycache__"]
        target = directory + folder.removeprefix(SOURCE)
        os.mkdir(target)
        os.chmod(target, 0o755)  # noqa: S103 - whatever the umask
        for name in files:
            with open(f"{folder}/{name}", "rb") as file:
                _write(f"{target}/{name}", file.read(), 0o755 if folder.endswith("/bin") else 0o644)
    settings: dict[str, Any] = {**plan.settings, "Records": RECORDS}
    _write(f"{directory}/settings.json", json.dumps(settings).encode(), 0o644)


def make_records_folder(directory: str) -> None:
    """Make the folder for records, where processes of any user may write."""
    os.mkdir(directory)
    os.chmod(directory, 0o1777)  # noqa: S103 - as /tmp


def _write(path: str, content: bytes, mode: int) -> None:
    with open(path, "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(content)
