"""smdebug's own reading of all runs of a folder: `read_tensors.py FOLDER FOUND.json`.

First, one more run is written, `types`, with every data type that NumPy and smdebug have in common.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

os.environ["SMDEBUG_TRAINING_END_DELAY_REFRESH"] = "0"  # it waits for a second after the end of each run

import numpy as np
from smdebug.core.modes import ModeKeys
from smdebug.core.writer import FileWriter
from smdebug.trials import create_trial

KINDS = [
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "complex64",
    "complex128",
]


def about(array: Any) -> list[Any]:
    """Data type, shape and bytes."""
    return [array.dtype.str, list(array.shape), sha256(array.tobytes()).hexdigest()]


def write_types(folder: Path, collections: Path) -> dict[str, Any]:
    shutil.copytree(collections, folder / "collections")
    arrays: dict[str, Any] = {kind: np.arange(6).reshape(2, 3).astype(kind) for kind in KINDS}
    arrays |= {f"empty/{kind}": np.zeros((2, 0), kind) for kind in KINDS}
    arrays |= {"scalar": np.array(0.25), "int": np.array([7]), "nan": np.array([np.nan, np.inf, -0.0])}
    arrays |= {"transposed": np.arange(6.0).reshape(2, 3).T, "texts": np.array(["a", "größe", ""])}
    for worker in ("worker_0", "worker_1"):
        with FileWriter(str(folder), worker, step=2000, write_checksum=False) as writer:
            for name, array in arrays.items():
                writer.write_tensor(array, name)
    (folder / "training_job_end.ts").touch()
    return {
        f"{name} 2000 {worker}": about(array) for worker in ("worker_0", "worker_1") for name, array in arrays.items()
    }


def read(folder: Path) -> dict[str, Any]:
    """None for a tensor that smdebug cannot read."""
    trial = create_trial(str(folder))
    found: dict[str, Any] = {}
    for name, tensor in trial._tensors.items():
        for step in tensor._all_steps():
            for worker in tensor.workers(step):
                here = tensor._get_step_currently(step, ModeKeys.GLOBAL, worker=worker)
                if here.location is not None:
                    found[f"{name} {step} {worker}"] = value_of(tensor.value, step, worker=worker)
                for kind, absolute in here.reduction_locations():
                    reduced = f"smdebug/reductions/{'abs_' * absolute}{kind}/{name}"
                    found[f"{reduced} {step} {worker}"] = value_of(
                        tensor.reduction_value, step, kind, worker=worker, abs=absolute
                    )
    return found


def value_of(reading: Callable[..., Any], *of: Any, **more: Any) -> list[Any] | None:
    try:
        value = reading(*of, **more)
    except Exception:  # noqa: BLE001 - its errors are of many kinds
        return None
    return None if value is None else about(value)


if __name__ == "__main__":
    runs = Path(sys.argv[1])
    written = write_types(runs / "types", runs / "healthy" / "collections")
    read_here = {run.name: read(run) for run in sorted(runs.iterdir())}
    Path(sys.argv[2]).write_text(json.dumps({"written": written, "read": read_here}), encoding="utf-8")
