"""What the job's GPUs do, as `nvidia-smi` tells it, which stays running: to start it anew takes a tenth of a second."""

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
class GpuUse:
    """The busiest of the job's GPUs."""

    percent: int
    memory: int
    """Bytes."""


class GpuReader:
    """Reads along with `nvidia-smi`. Says nothing where there is none, or it says nothing that can be understood."""

    def __init__(self, ids: Sequence[str]) -> None:
        """Begin to watch these; all there are, where none are named."""
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
                start_new_session=True,  # Ctrl-C is for the job; should we be killed, it ends with its next line
            )
            if self._process.stdout is not None:
                os.set_blocking(self._process.stdout.fileno(), False)

    def look(self) -> GpuUse | None:
        """The highest figures since the last look; None when there are no new ones."""
        if self._process is None or self._process.stdout is None:
            return None
        with suppress(OSError):  # nothing to read yet
            self._rest += os.read(self._process.stdout.fileno(), _PIECE)
        *lines, self._rest = self._rest.split(b"\n")
        return highest(lines)

    def close(self) -> None:
        """End the tool and wait for it."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            if process.stdout is not None:
                process.stdout.close()
            process.wait()


def highest(lines: Iterable[bytes]) -> GpuUse | None:
    """The highest figures in lines of `percent, MiB`; a device that has no such figure is left out."""
    found = []
    for line in lines:
        fields = [field.strip() for field in line.split(b",")]
        if len(fields) == _FIELDS and all(field.isdigit() for field in fields):
            found.append((int(fields[0]), int(fields[1])))
    if not found:
        return None
    return GpuUse(percent=max(percent for percent, _ in found), memory=max(mib for _, mib in found) * _MIB)
