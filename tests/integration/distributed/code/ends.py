"""What becomes of the threads of a group that is destroyed."""

from pathlib import Path

import smdistributed.dataparallel.torch.torch_smddp  # noqa: F401 - registers the backend
import torch.distributed as dist


def main() -> None:
    dist.init_process_group("smddp", init_method="tcp://127.0.0.1:7777", rank=0, world_size=1)
    dist.barrier()  # by one of them
    dist.destroy_process_group()
    left = any("pt_gloo" in name.read_text() for name in Path("/proc/self/task").glob("*/comm"))
    print(f"threads of gloo: {left}")  # noqa: T201 - scripts talk by their log


if __name__ == "__main__":
    main()
