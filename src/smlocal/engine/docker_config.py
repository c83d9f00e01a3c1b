"""The docker command's folder and its config.json."""

import json
import os
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
