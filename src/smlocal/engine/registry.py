"""Registry logins that the docker command has saved: in its config.json, or with a credential helper."""

import base64
import binascii
import json
from typing import Any

from smlocal.engine.endpoint import docker_config
from smlocal.engine.interface import RegistryLogin

_HUB = "https://index.docker.io/v1/"
_HELPER_SECONDS = 60


def saved_login(host: str) -> RegistryLogin | None:
    """Return what is saved for a registry; nothing, or nothing usable, means an anonymous pull."""
    config = docker_config()
    server = _HUB if host == "docker.io" else host
    helper = (config.get("credHelpers") or {}).get(server) or config.get("credsStore")
    return (_ask(str(helper), server) if helper else None) or _from_file(config.get("auths") or {}, host, server)


def _from_file(logins: dict[str, Any], host: str, server: str) -> RegistryLogin | None:
    for key, entry in logins.items():
        bare = key.removeprefix("https://").removeprefix("http://").partition("/")[0]
        if (key != server and bare != host) or not isinstance(entry, dict):
            continue
        if token := entry.get("identitytoken"):
            return RegistryLogin(username="<token>", password=token, server=server)
        try:
            username, colon, password = base64.b64decode(entry.get("auth") or "").decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if colon:
            return RegistryLogin(username=username, password=password.rstrip("\0"), server=server)
    return None


def _ask(helper: str, server: str) -> RegistryLogin | None:
    import subprocess  # only users of a helper pay for it

    try:
        answer = subprocess.run(
            [f"docker-credential-{helper}", "get"],
            input=server.encode(),
            capture_output=True,
            timeout=_HELPER_SECONDS,
            check=True,
        )
        document = json.loads(answer.stdout)
        return RegistryLogin(username=document["Username"], password=document["Secret"], server=server)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        # A helper that is absent or has nothing saved: the registry will say whether it needed a login.
        return None
