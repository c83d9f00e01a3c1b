"""Several dockerds of a test's own, each in a network namespace of its own, joined by a switch of their own."""

import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from uuid import uuid4

from tests.kit.own_engine import OwnEngine

Role = Literal["manager", "worker", "elsewhere", "alone"]
"""The first manager makes the swarm, which further managers and the workers join. An engine elsewhere makes a swarm of
its own, and one that is alone is in none."""


@dataclass(frozen=True, kw_only=True)
class NetworkedEngines:
    """Call `start`, and `close` in any case."""

    id: str = field(default_factory=lambda: f"smlocal-{uuid4().hex[:6]}")
    """The beginning of the names of the network namespaces."""
    engines: list[OwnEngine] = field(default_factory=list)

    def start(self, roles: Sequence[Role], hidden: Sequence[Path], image: str) -> None:
        """Start one engine for each role, none of which sees the hidden folders. All have the image if one is named."""
        _ip("netns", "add", self.id)
        _ip("-n", self.id, "link", "add", "switch", "type", "bridge")
        _ip("-n", self.id, "link", "set", "switch", "up")
        for number, _ in enumerate(roles, 1):
            self.engines.append(OwnEngine(namespace=f"{self.id}-{number}", hidden=tuple(hidden), image=image))
            self._connect(number)
        with ThreadPoolExecutor() as pool:
            list(pool.map(OwnEngine.start, self.engines))
        first = roles.index("manager") + 1 if "manager" in roles else 0
        for number, role in enumerate(roles, 1):
            if number == first or role == "elsewhere":
                self.make_swarm(number)
        for number, role in enumerate(roles, 1):
            if number != first and role in {"manager", "worker"}:
                self.join(number, role, of=first)

    def ip(self, number: int) -> str:
        """The address of an engine's machine on the switch."""
        return f"192.0.2.{number}"

    def make_swarm(self, number: int) -> None:
        """Make this engine the first manager of a new swarm."""
        self.engines[number - 1].docker("swarm", "init", "--advertise-addr", self.ip(number))

    def join(self, number: int, role: str, *, of: int) -> None:
        """Let an engine join the swarm that another manages."""
        token = self.engines[of - 1].docker("swarm", "join-token", "--quiet", role).strip()
        joining = ("swarm", "join", "--advertise-addr", self.ip(number), "--token", token, f"{self.ip(of)}:2377")
        self.engines[number - 1].docker(*joining)

    def close(self) -> None:
        """Remove everything."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(OwnEngine.close, self.engines))
        for name in (*(engine.namespace for engine in self.engines), self.id):
            with suppress(subprocess.CalledProcessError):  # not made yet
                _ip("netns", "delete", name)

    def _connect(self, number: int) -> None:
        name = f"{self.id}-{number}"
        _ip("netns", "add", name)
        port = f"port{number}"
        _ip("link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", port, "netns", self.id)
        _ip("-n", self.id, "link", "set", port, "master", "switch", "up")
        _ip("-n", name, "address", "add", f"{self.ip(number)}/24", "dev", "eth0")
        for interface in ("lo", "eth0"):
            _ip("-n", name, "link", "set", interface, "up")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
