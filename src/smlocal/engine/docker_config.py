"""The docker command's folder: its config.json, and the addresses of its contexts."""

import json
import os
from contextlib import suppress
from typing import Any

from smlocal.errors import EngineUnreachableError


def docker_folder() -> str:
    """The folder of the docker command's configuration."""
    return os.environ.get("DOCKER_CONFIG") or os.path.expanduser("~/.docker")


def docker_config() -> dict[str, Any]:
    """The content of config.json; empty if it is missing or unreadable, as for the docker command.

    The docker SDK is not used, because it is imported only if there is a context or a login.
    """
    path = f"{docker_folder()}/config.json"
    try:
        with open(path, "rb") as file:
            document = json.load(file)
    except OSError:
        return {}
    except ValueError as error:
        raise EngineUnreachableError(
            f"{path} is not JSON, so the current Docker context is unknown",
            details=(str(error),),
            remedy=("Correct the file, or set DOCKER_HOST to the engine's socket.",),
        ) from error
    return document if isinstance(document, dict) else {}


def context_addresses() -> dict[str, str]:
    """The address of the engine of each Docker context, sorted by name. Damaged contexts are left out."""
    found = {}
    folder = f"{docker_folder()}/contexts/meta"
    for each in os.listdir(folder) if os.path.isdir(folder) else ():
        with suppress(OSError, ValueError, LookupError, TypeError), open(f"{folder}/{each}/meta.json", "rb") as file:
            document = json.load(file)
            found[str(document["Name"])] = str(document["Endpoints"]["docker"]["Host"])
    return dict(sorted(found.items()))
