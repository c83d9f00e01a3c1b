"""The steps of a stop, carried out: SIGTERM to PID 1, later SIGKILL, each one written down with its time."""

from collections.abc import Callable, Mapping

from smlocal.engine.interface import Engine
from smlocal.errors import EngineError, MachineNotReadyError

SIGNAL = "signal"


def send_signal(
    signal: str,
    hosts: tuple[str, ...],
    containers: Mapping[str, str],
    *,
    engine: Engine,
    record: Callable[[str, Mapping[str, object]], None],
) -> None:
    """Signal the first process of each host; one that cannot be signalled is noticed by whoever waits for it."""
    for host in hosts:
        failure = None
        try:
            engine.signal(containers[host], signal)
        except (EngineError, MachineNotReadyError) as error:
            failure = error.sentence
        record(SIGNAL, {"Host": host, "Signal": signal, "Error": failure})
