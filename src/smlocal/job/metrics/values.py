"""The values of a job's metrics on the disk: appended while the job runs, to be read at any time by anybody."""

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from struct import Struct
from typing import Any, Final

from smlocal.contract.metrics.values import MetricDefinition, MetricValue

_RECORD: Final = Struct("<dfHH")
"""When (NaN: unknown), the value in single precision, the definition's index, the host's."""
_RECORDS_AT_ONCE: Final = 4096
_FOLDER = "metrics"
_VALUES = "values"
_STATE = "state.json"


def metrics_folder(job_directory: str) -> str:
    """Where everything about the metrics of a job lies."""
    return f"{job_directory}/{_FOLDER}"


class ValuesFile:
    """Takes the values of one reader, in place of what an earlier one took: each reads the logs from their start."""

    def __init__(self, job_directory: str) -> None:
        """Begin a new file; an earlier reader that still writes keeps the old one to itself."""
        folder = metrics_folder(job_directory)
        os.makedirs(folder, exist_ok=True)
        self._path = f"{folder}/{_VALUES}"
        with suppress(FileNotFoundError):
            os.unlink(self._path)
        self._file = open(self._path, "ab")  # noqa: SIM115 - for as long as the process lives

    def add(self, definition: int, host: int, at: float | None, value: float) -> None:
        """Append one, some time before the next `flush`."""
        self._file.write(_RECORD.pack(math.nan if at is None else at, value, definition, host))

    def flush(self) -> None:
        """Let others see all of them."""
        self._file.flush()

    def close(self) -> None:
        """Flush, and take no more."""
        self._file.close()

    @property
    def superseded(self) -> bool:
        """True once another reader has begun."""
        try:
            return os.stat(self._path).st_ino != os.fstat(self._file.fileno()).st_ino
        except OSError:
            return True


def read_values(
    job_directory: str, definitions: Sequence[MetricDefinition], hosts: Sequence[str]
) -> Iterator[MetricValue]:
    """Every value in the order in which it was found, of each host and metric that of the lines."""
    with suppress(FileNotFoundError), open(f"{metrics_folder(job_directory)}/{_VALUES}", "rb") as file:
        kept = b""
        while piece := file.read(_RECORDS_AT_ONCE * _RECORD.size):
            data = kept + piece
            whole = len(data) - len(data) % _RECORD.size
            kept = data[whole:]
            for at, value, definition, host in _RECORD.iter_unpack(data[:whole]):
                yield MetricValue(
                    name=definitions[definition].name,
                    value=value,
                    at=None if math.isnan(at) else at,
                    host=hosts[host],
                )


def write_state(job_directory: str, state: Mapping[str, Any]) -> None:
    """Keep how far a reader has come and what it met."""
    path = f"{metrics_folder(job_directory)}/{_STATE}"
    draft = f"{path}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.replace(draft, path)


def read_state(job_directory: str) -> dict[str, Any]:
    """How far the reader has come and what it met; nothing where there was none."""
    try:
        with open(f"{metrics_folder(job_directory)}/{_STATE}", encoding="utf-8") as file:
            state: dict[str, Any] = json.load(file)
            return state
    except (OSError, ValueError):
        return {}
