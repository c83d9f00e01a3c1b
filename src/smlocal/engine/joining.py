"""Connecting a container to further networks. Docker before 25 makes a container on one only."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from smlocal.engine.client import Client
from smlocal.engine.http import quote
from smlocal.engine.timeouts import Call
from smlocal.errors import EngineError

_ABSENT: Final = 404


def join_networks(client: Client, container: str, names: Sequence[str]) -> None:
    """Connect a container, before its start, to further networks. It is removed if that fails."""
    try:
        for name in names:
            client.tell("POST", f"/networks/{quote(name)}/connect", document={"Container": container}, call=Call.ACTION)
    except EngineError:
        with suppress(EngineError):
            client.tell("DELETE", f"/containers/{container}", parameters={"force": "1", "v": "1"}, fine={_ABSENT})
        raise
