"""Run as a program: many detached jobs, each stopped at about the moment at which it ends by itself.

Usage: many_stops.py JOB_FILE COUNT PARALLEL. Each lane N writes JOB_FILE.N: for each of its jobs, whether its stop
was recorded.
One process imports everything once, so that the races take the time and not the start of two hundred interpreters.
"""

import json
import os
import random
import sys
import time
from collections.abc import Iterator

from smlocal.cli.main import cli
from smlocal.errors import JobFinishedError
from smlocal.jobs.control.requests import ask_to_stop
from smlocal.jobs.documents import LOCAL
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store

_LASTS = 0.1


def race(path: str, name: str, sight: str, wait: float) -> bool:
    """Begin a job and stop it so long after that sight of it; True when the stop was recorded."""
    cli(["run", "--detach", path, "--name", name, "--env", f"LASTS={_LASTS}"], standalone_mode=False)
    with Store.open(home_directory()) as store:
        while not store.get(name).status.terminal and not _seen(store, name, sight):
            time.sleep(0.005)
        time.sleep(wait)
        try:
            ask_to_stop(store, name, grace=None)
        except JobFinishedError:
            return False
    return True


def _seen(store: Store, name: str, sight: str) -> bool:
    match sight:
        case "training":  # from its first word on
            log = os.path.join(store.directory(name), "logs", "algo-1.log")
            return os.path.exists(log) and os.path.getsize(log) > 0
        case "uploading":
            return store.get(name).phase == "Uploading"
        case "ended":
            return False
        case _:
            return store.document(name, LOCAL) is not None


def lane(path: str, numbers: range) -> Iterator[tuple[str, bool]]:
    """One race after another."""
    # From which sight on to wait, and how long: about the exit, the packing, and the moment that decides.
    waits = {"training": (_LASTS - 0.08, _LASTS + 0.12), "uploading": (0.0, 0.05), "decided": (0.0, 0.1)}
    for number in numbers:
        name = f"race-{number}"
        # However busy the machine is, one stop of each lane comes too late.
        sight, (least, most) = ("ended", (0.0, 0.0)) if number == numbers[0] else random.choice(list(waits.items()))
        recorded = race(path, name, sight, random.uniform(least, most))
        if sight == "decided":  # how long that moment takes is the engine's and the machine's: never all on one side
            waits[sight] = (0.0, most * (2 if recorded else 0.75))
        yield name, recorded


def main(path: str, count: int, parallel: int) -> None:
    """Fork the lanes; each tells its results in a file of its own."""
    lanes = []
    for number in range(parallel):
        child = os.fork()
        if child == 0:
            random.seed(number)
            results = dict(lane(path, range(number, count, parallel)))
            with open(f"{path}.{number}", "w", encoding="utf-8") as told:
                json.dump(results, told)
            os._exit(0)
        lanes.append(child)
    for child in lanes:
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"a lane ended with {status}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
