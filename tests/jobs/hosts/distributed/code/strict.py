"""One rank under `Local.DataParallel: strict`: what is refused."""

import atexit
import contextlib

import torch.distributed as dist

# Called after all that is registered later.
atexit.register(lambda: print(f"process group at the end: {dist.is_initialized()}"))  # noqa: T201 - as below
import smdistributed.dataparallel.torch.torch_smddp  # noqa: E402, F401 - registers the backend


@contextlib.contextmanager
def told(what: str):  # type: ignore[no-untyped-def]  # noqa: ANN201 - a script
    try:
        yield
        print(f"{what}: allowed")  # noqa: T201 - scripts talk by their log
    except (RuntimeError, ValueError) as error:
        print(f"{what}: {type(error).__name__}: {error}")  # noqa: T201 - as above


with told("first group"):
    dist.init_process_group("smddp", init_method="tcp://127.0.0.1:7777", rank=0, world_size=1)
with told("subgroup"):
    dist.new_group([0])
with told("gloo beside it"):
    dist.new_group(backend="gloo")
with told("second start"):
    dist.init_process_group("smddp", init_method="tcp://127.0.0.1:7778", rank=0, world_size=1)
