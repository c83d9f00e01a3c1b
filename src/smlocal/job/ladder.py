"""The steps of a stop, carried out: SIGTERM to PID 1, later SIGKILL, each one written down with its time."""

import time
from collections.abc import Mapping

from smlocal.engine.interface import Engine
from smlocal.errors import EngineError, MachineNotReadyError
from smlocal.store.jobs import Store


def send_signal(
    signal: str, hosts: tuple[str, ...], containers: Mapping[str, str], *, engine: Engine, store: Store, job: str
) -> None:
    """Signal the first process of each host; one that cannot be signalled is noticed by whoever waits for it."""
    for host in hosts:
        failure = None
        try:
            engine.signal(containers[host], signal)
        except (EngineError, MachineNotReadyError) as error:
            failure = error.sentence
        store.add_event(job, time.time(), "signal", {"Host": host, "Signal": signal, "Error": failure})
