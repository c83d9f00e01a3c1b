"""The place where smlocal runs, if it restricts its container engine. One is known: SageMaker Studio.

In a space of Studio, the engine's socket belongs to a program of the service, which lets some calls through. What it is
known to refuse, and to allow, stands in docs/studio.md. A notebook instance has an ordinary engine.
"""

import json
import os
from collections.abc import Callable, Iterator
from typing import Final

from smlocal.engine.facts import Place
from smlocal.engine.http import Answer, BrokenAnswerError

_APPS: Final = frozenset({"KernelGateway", "CodeEditor", "JupyterLab"})
_LARGEST: Final = 1 << 20


def users_home() -> str:
    """The folder below which everything is that containers of a place are known to be able to mount."""
    return os.path.realpath(os.path.expanduser("~")).rstrip("/")


def is_in_home(path: str) -> bool:
    """True for what is below that folder, through links too."""
    return os.path.realpath(path).startswith(f"{users_home()}/")


def place_of(metadata: str) -> Place | None:
    """The place that has this file; None for a machine whose engine is its own."""
    try:
        # Without waiting: on other machines, whatever has this path is not the service's, and may be a FIFO.
        with open(metadata, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as file:
            document = json.loads(file.read(_LARGEST) or b"")
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    app, domain = document.get("AppType"), document.get("DomainId")
    if not isinstance(app, str) or app not in _APPS:
        return None
    # It is written into a command.
    domain = domain if isinstance(domain, str) else ""
    return Place(app=app, domain=domain if domain.isascii() and domain.replace("-", "").isalnum() else "")


def without_engine(place: Place) -> Iterator[str]:
    """What to do where no engine answers: it is off unless an administrator of the domain has turned it on."""
    yield f"{place.name} has no Docker unless an administrator of the domain turns it on:"
    domain = place.domain or "DOMAIN"
    yield (
        f"aws sagemaker update-domain --domain-id {domain} --domain-settings-for-update "
        """'{"DockerSettings":{"EnableDockerAccess":"ENABLED"}}'"""
    )
    yield "Then stop this space and run it again. More: smlocal help studio"


_OLDEST: Final = "1.41"
"""Of Docker 20.10, which was there first."""
_GREETINGS: Final = (f"/v{_OLDEST}/version", f"/v{_OLDEST}/containers/json?limit=1")
"""Paths without a version are answered with a redirection. The headers of any answer name the engine's own version,
even if it refuses this one."""
_VERSION: Final = "api-version"
_FINE: Final = 200


def greet(get: Callable[[str], Answer]) -> dict[str, str]:
    """The headers, with product and API version, of the first of these calls that the engine itself answers.

    A proxy between may keep the headers to itself: then the document says it, or the version that was asked for is it.
    """
    said = ""
    for target in _GREETINGS:
        with get(target) as answer:
            body = answer.read()
            told = _json(body) if answer.status == _FINE else None
            if _VERSION in answer.headers:
                return answer.headers
            if isinstance(told, dict) and told.get("ApiVersion"):
                server = f"Docker/{told.get('Version') or ''} ({told.get('Os') or 'linux'})"
                return {"server": server, **answer.headers, _VERSION: str(told["ApiVersion"])}
            if isinstance(told, list):
                return {**answer.headers, _VERSION: _OLDEST}
            said = said or f"status {answer.status} without an API version: {body[:200]!r}"
    raise BrokenAnswerError(said)


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return None
