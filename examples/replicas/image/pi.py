"""Estimate pi: workers draw random points and save a checkpoint after each round, the primary replica adds up."""

import argparse
import json
import os
import random
import signal
import time
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--kill-at", type=int, help="the round in which a worker that has just begun is killed")
    given = parser.parse_args()
    spec = json.loads(os.environ["CLUSTER_SPEC"])
    checkpoints = folder_of(os.environ["AIP_CHECKPOINT_DIR"])
    if spec["task"]["type"] == "workerpool0":
        workers = len(spec["cluster"]["workerpool1"])
        add_up([checkpoints / f"worker-{number}.json" for number in range(workers)], given.rounds)
    else:
        draw(checkpoints / f"worker-{spec['task']['index']}.json", given)


def folder_of(location):
    """Buckets are folders below /gcs."""
    return Path(location.replace("gs://", "/gcs/", 1))


def draw(checkpoint, given):
    """Go on from the checkpoint, if there is one."""
    state = load(checkpoint)
    begun_anew = state["round"] == 0
    print(f"starting at round {state['round']}")
    with open("/gcs/my-bucket/pi/settings.json") as file:
        points = json.load(file)["points"]
    while state["round"] < given.rounds:
        inside = sum(random.random() ** 2 + random.random() ** 2 < 1 for _ in range(points))
        state = {key: state[key] + more for key, more in (("round", 1), ("points", points), ("inside", inside))}
        save(checkpoint, state)
        if begun_anew and state["round"] == given.kill_at:
            print(f"killed in round {state['round']}")
            os.kill(os.getpid(), signal.SIGKILL)


def add_up(checkpoints, rounds):
    """Wait for all workers: the job ends when the primary replica does."""
    while any(load(each)["round"] < rounds for each in checkpoints):
        time.sleep(0.1)
    states = [load(each) for each in checkpoints]
    model = {"pi": 4 * sum(each["inside"] for each in states) / sum(each["points"] for each in states)}
    save(folder_of(os.environ["AIP_MODEL_DIR"]) / "model.json", model)
    print(f"pi is about {model['pi']:.2f}, by {sum(each['points'] for each in states)} points")


def load(checkpoint):
    """Return the state of a checkpoint, or a new one."""
    try:
        return json.loads(checkpoint.read_text())
    except FileNotFoundError:
        return {"round": 0, "points": 0, "inside": 0}


def save(path, state):
    """Write another file and rename it: no reader ever sees half of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(state))
    new.rename(path)


if __name__ == "__main__":
    main()
