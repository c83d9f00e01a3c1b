"""4,000 steps of a model whose loss falls, or is flat from step 1,000: `flat_loss.py healthy|flat`.

SIGTERM saves the model and ends it. A flat run has slow steps from step 1,200 on, so that it is far from its end when
its rule fires, however busy the machine is.
"""

import signal
import sys
import time
from pathlib import Path

import torch
from smdebug.pytorch import get_hook

STEPS, FLAT_FROM, SLOW_FROM, SLOW_SECONDS = 4000, 1000, 1200, 0.25

flat = sys.argv[1] == "flat"
told: list[bool] = []
signal.signal(signal.SIGTERM, lambda *_: told.append(True))
torch.set_num_threads(1)
net, loss = torch.nn.Linear(1, 1, bias=False), torch.nn.MSELoss()
hook = get_hook(create_if_not_exists=True)
hook.register_module(net)
hook.register_loss(loss)
optimizer = torch.optim.SGD(net.parameters(), lr=0.0005)
step = 0
while step < STEPS and not told:
    if flat and step == FLAT_FROM:
        optimizer.param_groups[0]["lr"] = 0.0
    if flat and step >= SLOW_FROM:
        time.sleep(SLOW_SECONDS)
    optimizer.zero_grad()
    loss(net(torch.ones(1, 1)), torch.zeros(1, 1)).backward()
    optimizer.step()
    step += 1
Path("/opt/ml/model/steps").write_text(str(step))
hook.close()
