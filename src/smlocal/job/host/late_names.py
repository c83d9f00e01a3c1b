"""The simulated fault `LateNames`: a host can resolve the names of its peers only some time after its start.

The container gets a file of this machine as its `/etc/hosts`. The peers are added to that file later.
"""

import os
from collections.abc import Callable
from threading import Event

from smlocal.engine.interface import Mount
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.threads import watched_thread

_ALWAYS = "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n"


class LateNames:
    """The `/etc/hosts` of one host."""

    def __init__(self, plan: JobPlan, host: HostPlan, died: Callable[[str, BaseException], None]) -> None:
        """`died` gets the exception that ends the thread."""
        self._plan, self._host, self._died = plan, host, died
        self._path = f"{plan.job_directory}/staged/{host.host.name}/etc-hosts"
        self._over = Event()

    def mount(self) -> Mount:
        """Write the file with the names that are known from the beginning."""
        name = self._host.host.name
        known = {name: self._addresses[name], self._host.hostname: self._addresses[name], **self._host.extra_hosts}
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        with open(self._path, "w", encoding="utf-8") as file:
            file.write(_ALWAYS)
            file.writelines(f"{address}\t{each}\n" for each, address in known.items())
        os.chmod(self._path, 0o644)
        return Mount(source=self._path, target="/etc/hosts")

    def begin(self) -> None:
        """The container has started."""
        thread = watched_thread(self._wait, name=f"{self._host.host.name}-late-names", died=self._died)
        thread.start()

    def add_peers(self) -> None:
        """Let the container resolve the names of its peers, in the file that it sees."""
        with open(self._path, "a", encoding="utf-8") as file:
            file.writelines(
                f"{address}\t{name}\n" for name, address in self._addresses.items() if name != self._host.host.name
            )

    def close(self) -> None:
        """The container has ended."""
        self._over.set()

    @property
    def _addresses(self) -> dict[str, str]:
        network = self._plan.network
        return dict(network.addresses) if network is not None else {}

    def _wait(self) -> None:
        if not self._over.wait(self._plan.names_after):
            self.add_peers()
