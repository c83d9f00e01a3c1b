"""A small torch training in the container of a job: `debugger_training.py STEPS [LAST_FINITE_STEP]`.

With `DebugHookConfig` the hook of the debugger's library saves tensors. It prints the processor time of all steps.
After LAST_FINITE_STEP the loss is not finite. SIGTERM ends it; the time of that is in its output.
"""

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import torch

STOPPED = Path("/opt/ml/output/data/stopped")


def _stop(number: int, frame: FrameType | None) -> None:
    del number, frame
    STOPPED.write_text(str(time.time()))
    os._exit(0)


def main(steps: int, last_finite: int) -> None:
    signal.signal(signal.SIGTERM, _stop)
    torch.set_num_threads(1)  # more wait for each other in loops, so that any other process slows them beyond measure
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
    loss = torch.nn.CrossEntropyLoss()
    hook = None
    if os.path.exists("/opt/ml/input/config/debughookconfig.json"):
        from smdebug.pytorch import get_hook

        hook = get_hook(create_if_not_exists=True)
        hook.register_module(net)
        hook.register_loss(loss)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    inputs, labels = torch.randn(128, 256), torch.randint(0, 10, (128,))
    began = time.process_time()
    for step in range(steps):
        optimizer.zero_grad()
        found = loss(net(inputs / 0 if step > last_finite else inputs), labels)
        found.backward()
        optimizer.step()
    if hook is not None:
        hook.close()
    print(f"trained for {time.process_time() - began:.3f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else sys.maxsize)
