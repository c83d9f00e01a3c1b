"""The stand-in for the data parallel library against gloo. Its launch is measured by `launch.py`."""

import json
import subprocess
from pathlib import Path

from measure import Samples
from results import Figure, Size, comparison, main
from workplace import ROOT, image

BOUND = 1.05
BALANCED_BOUND = 1.5
PACKAGE = ROOT / "src" / "smlocal" / "jobs" / "data_parallel" / "container_package"
RANKS = Path(__file__).with_name("data_parallel_ranks.py")


def measure(size: Size) -> list[Figure]:
    tag = image(ROOT / "examples" / "distributed" / "image")
    megabytes = 64 * size.scale
    sum_of_two = _by_turns(tag, size, "all_reduce", ranks=2, megabytes=megabytes)
    balanced = _by_turns(tag, size, "all_reduce", ranks=3, megabytes=megabytes, mode="balanced")
    epoch = _by_turns(tag, size, "epoch", ranks=2, megabytes=1)
    return [
        comparison(f"all_reduce of {megabytes:g} MB over 2 ranks, smddp ÷ gloo", *sum_of_two, BOUND),
        comparison(f"all_reduce of {megabytes:g} MB over 3 ranks, smddp balanced ÷ gloo", *balanced, BALANCED_BOUND),
        comparison("epoch of DistributedDataParallel over 2 ranks, smddp ÷ gloo", *epoch, BOUND),
    ]


def _by_turns(
    tag: str, size: Size, what: str, *, ranks: int, megabytes: float, mode: str = "plain"
) -> tuple[Samples, Samples]:
    command = [
        "docker",
        "run",
        "--rm",
        "-v",
        f"{PACKAGE}:/opt/smlocal.jobs.data_parallel:ro",
        "-v",
        f"{RANKS}:/ranks.py:ro",
    ]
    command += ["-e", "PYTHONPATH=/opt/smlocal.jobs.data_parallel/python", "-e", f"SMLOCAL_DDP_MODE={mode}", tag]
    command += ["torchrun", "--nproc_per_node", str(ranks), "/ranks.py", what, str(size.rounds), str(megabytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds = json.loads(done.stdout.splitlines()[-1])
    return Samples(values=tuple(seconds["smddp"])), Samples(values=tuple(seconds["gloo"]))


if __name__ == "__main__":
    main(measure)
