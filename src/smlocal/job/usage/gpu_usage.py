"""The use of the job's GPUs, by one `nvidia-smi` that keeps running: starting it takes a tenth of a second."""

import os
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress

from smlocal.quick_dataclass import dataclass

_SECONDS = 2
_PIECE = 64 * 1024
_MIB = 1024 * 1024
_FIELDS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class GpuUsage:
    """The busiest of the job's GPUs."""

    percent: int
    memory: int
    """Bytes."""


class GpuReader:
    """Reads the output of `nvidia-smi`. There are no figures if it is not installed, or fails."""

    def __init__(self, ids: Sequence[str]) -> None:
        """Start it for the GPUs with these ids, or for all of them."""
        self._rest = b""
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                [
                    "nvidia-smi",
                    "--query-gpu=utilization.gpu,memory.used",
                    "--format=csv,noheader,nounits",
                    f"--loop={_SECONDS}",
                    *([f"--id={','.join(ids)}"] if ids else []),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the job; if smlocal is killed, it ends with its next line
            )
            if self._process.stdout is not None:
                os.set_blocking(self._process.stdout.fileno(), False)

    def read(self) -> GpuUsage | None:
        """The highest figures since the last call; None if there are no new ones."""
        if self._process is None or self._process.stdout is None:
            return None
        with suppress(OSError):  # nothing to read yet
            self._rest += os.read(self._process.stdout.fileno(), _PIECE)
        *lines, self._rest = self._rest.split(b"\n")
        return highest(lines)

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            if process.stdout is not None:
                process.stdout.close()
            process.wait()


def highest(lines: Iterable[bytes]) -> GpuUsage | None:
    """The highest figures in lines of `percent, MiB`; a GPU without such figures is left out."""
    found = []
    for line in lines:
        fields = [field.strip() for field in line.split(b",")]
        if len(fields) == _FIELDS and all(field.isdigit() for field in fields):
            found.append((int(fields[0]), int(fields[1])))
    if not found:
        return None
    return GpuUsage(percent=max(percent for percent, _ in found), memory=max(mib for _, mib in found) * _MIB)
