"""accelerate after the library, which torchrun has started: the other order than in trainer.py."""

import smdistributed.dataparallel.torch.torch_smddp  # noqa: F401 - registers the backend
import torch
import torch.distributed as dist
from accelerate import Accelerator


def main() -> None:
    accelerator = Accelerator()
    model = accelerator.prepare(torch.nn.Linear(2, 1))
    model(torch.full((1, 2), accelerator.process_index + 1.0)).sum().backward()
    text = (
        f"rank {accelerator.process_index} of {accelerator.num_processes} {dist.get_backend()} "
        f"on {accelerator.device}: {model.module.weight.grad.tolist()}"
    )
    print(f"{text}\n", end="", flush=True)  # noqa: T201 - one piece, as the ranks share a log
    accelerator.end_training()


if __name__ == "__main__":
    main()
