"""Whether the ports for debuggers are free on this machine."""

import errno
import socket
from contextlib import closing

from smlocal.errors.of_jobs import DebugPortError
from smlocal.jobs.planning.aspects.debugging.plan import LAST_PORT
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.aspects.looks import Asked


def examine(asked: Asked, placed: PlacedEngine, machine: MachineFacts, *, home: str) -> MachineFacts:  # noqa: ARG001
    """Try the ports, unless the job is only planned or has them already."""
    first = asked.local.DebugPort
    last = first + len(asked.hosts) - 1
    if last > LAST_PORT:
        raise DebugPortError(
            f"Local.DebugPort is {first}, and {len(asked.hosts)} hosts have ports up to {last}: "
            f"the highest is {LAST_PORT}",
            remedy=["Give a lower one: --wait-for-debugger takes 5678."],
        )
    if asked.required and asked.before is None and placed.facts.local:
        for port in range(first, last + 1):
            _try(port)
    return machine


def try_out(asked: Asked, placed: PlacedEngine, machine: MachineFacts) -> None:
    """Nothing of it needs the image."""


def _try(port: int) -> None:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno not in {errno.EADDRINUSE, errno.EACCES}:
                raise
            raise DebugPortError(
                f"port {port} of 127.0.0.1 cannot be used for the debugger: {error.strerror}",
                remedy=[
                    "End the program that has it, perhaps another job that waits (smlocal jobs),",
                    f"or take another port: --set Local.DebugPort={min(port + 100, LAST_PORT)}",
                ],
            ) from error
