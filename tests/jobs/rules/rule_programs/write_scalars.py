"""Tensors of a few steps without a model: `write_scalars.py FOLDER STEPS`."""

import sys

import smdebug.pytorch as smd
import torch
from torch import nn

if __name__ == "__main__":
    model, loss = nn.Linear(1, 1), nn.MSELoss()
    hook = smd.Hook(sys.argv[1], save_config=smd.SaveConfig(save_interval=1), save_all=True)
    hook.register_module(model)
    hook.register_loss(loss)
    for _ in range(int(sys.argv[2])):
        loss(model(torch.ones(4, 1)), torch.ones(4, 1)).backward()
    hook.close()
