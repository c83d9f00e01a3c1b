"""The scalars that TensorBoard itself finds below a folder: their values by step, by run and tag."""

import json
import os
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

found = {}
for folder, _, files in os.walk(sys.argv[1]):
    if files:
        run = EventAccumulator(folder).Reload()
        for tag in run.Tags()["scalars"]:
            name = f"{os.path.relpath(folder, sys.argv[1])}/{tag}"
            found[name] = {event.step: event.value for event in run.Scalars(tag)}
print(json.dumps(found))
