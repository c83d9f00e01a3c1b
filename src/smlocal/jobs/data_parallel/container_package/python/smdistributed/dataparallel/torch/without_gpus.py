"""The functions of a GPU that clients of the library call, where there is none."""

import functools
import os
import sys
from typing import Any

import torch

from ...smlocal_records import say


def prepare_clients() -> None:
    """On a machine without GPUs, `DistributedDataParallel` takes `device_ids`, and accelerate trains on the CPU."""
    if torch.cuda.is_available():
        return
    _ignore_device_ids()
    # The settings that accelerate reads when it starts, which is now if accelerate imports the library.
    os.environ.setdefault("ACCELERATE_TORCH_DEVICE", "cpu")
    state = sys.modules.get("accelerate.state")
    if state is not None:
        _settle_device(state.PartialState)


def _ignore_device_ids() -> None:
    model_class = torch.nn.parallel.DistributedDataParallel
    original = model_class.__init__

    @functools.wraps(original)
    def without_devices(
        self: Any, module: Any, device_ids: Any = None, output_device: Any = None, *more: Any, **named: Any
    ) -> None:
        if device_ids is not None or output_device is not None:
            say("the model is on the CPU: device_ids and output_device, which are for GPUs, are ignored")
        original(self, module, None, None, *more, **named)

    model_class.__init__ = without_devices


def _settle_device(state_class: Any) -> None:
    """Accelerate divides by the number of GPUs if no device was named before."""
    original = state_class.set_device

    @functools.wraps(original)
    def set_device(self: Any) -> None:
        if self.device is None:
            self.device = torch.device(os.environ["ACCELERATE_TORCH_DEVICE"])
        original(self)

    state_class.set_device = set_device
