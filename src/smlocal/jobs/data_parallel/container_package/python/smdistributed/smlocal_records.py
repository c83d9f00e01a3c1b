"""The records that smlocal reads when the job has ended, one file for each process, and the same in the log."""

import json
import os
import sys
from typing import Any, Dict

from .smlocal_settings import read_settings


def say(text: str) -> None:
    """Write a line to the log, in one piece, from the first rank only. It must not look like an error message."""
    if os.environ.get("RANK") in {None, "0"} and os.environ.get("OMPI_COMM_WORLD_RANK") in {None, "0"}:
        sys.stderr.write(f"smlocal: {text}\n")


def record(document: "Dict[str, Any]") -> None:
    """Replace what this process has recorded. Training goes on if that is not possible."""
    folder = read_settings().records
    if folder is None:
        return
    path = os.path.join(folder, f"{document.get('Rank', 'library')}.json")
    draft = f"{path}-{os.getpid()}"
    try:
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.replace(draft, path)
    except OSError as why:
        say(f"nothing is recorded of the data parallel library: {why}")


def record_library_of_the_image(folder: str) -> None:
    """Record that the image has the library itself."""
    say(f"the data parallel library of this image is used, from {folder}")
    record({"Library": "image", "Folder": folder})
