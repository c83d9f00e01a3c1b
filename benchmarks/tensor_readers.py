"""What `tensor_reader.py` runs where smdebug is: both readers by turns. Prints seconds as JSON."""

import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from smdebug.core.collection_manager import CollectionManager
from smdebug.core.writer import FileWriter
from smdebug.trials import create_trial

from smlocal.debugger.tensors.saved_tensors import read_values, saved_tensors
from smlocal.debugger.tensors.tensor import Tensor

OF_A_STEP = 20


def write(folder: str, tensors: int) -> None:
    """Scalars, vectors and matrices of up to 16 KiB."""
    random = np.random.default_rng(0)
    for step in range(tensors // OF_A_STEP):
        with FileWriter(folder, "worker_0", step=step) as writer:
            for number in range(OF_A_STEP):
                shape = ((), (64,), (16, 16), (64, 64))[number % 4]
                writer.write_tensor(np.asarray(random.normal(size=shape), np.float32), f"layer{number}.weight")
    CollectionManager().export(folder, "worker_0_collections.json")
    (Path(folder) / "training_job_end.ts").touch()


def by_smlocal(folder: str) -> int:
    count = 0
    for _, tensor in read_values(folder, saved_tensors(folder).tensors):
        assert isinstance(tensor, Tensor)
        count += len(bytes(tensor.content))
    return count


def by_smdebug(folder: str) -> int:
    trial = create_trial(folder)
    count = 0
    for name in trial.tensor_names():
        tensor = trial.tensor(name)
        count += sum(value.nbytes for value in tensor.values().values())
    return count


def main() -> None:
    seconds: dict[str, list[float]] = {"smlocal": [], "smdebug": []}
    with tempfile.TemporaryDirectory() as folder:
        write(folder, int(sys.argv[1]))
        assert by_smlocal(folder) == by_smdebug(folder)
        for number in range(int(sys.argv[2])):
            sides = [("smlocal", by_smlocal), ("smdebug", by_smdebug)]
            for name, read in sides if number % 2 else sides[::-1]:
                began = time.perf_counter()
                read(folder)
                seconds[name].append(time.perf_counter() - began)
    print(json.dumps(seconds), flush=True)


if __name__ == "__main__":
    main()
