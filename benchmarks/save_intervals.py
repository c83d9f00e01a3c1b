"""How much more processor time the steps of a small training take with the debugger's hook.

It saves all tensors, or weights only, at intervals of 10, 100 and 500 steps. The training has one thread.
"""

import shutil
import subprocess
from statistics import median

from debugger_jobs import collections, job_file, log, training_image
from measure import progress
from results import Figure, Size, main
from workplace import BIN, Workplace, workplace

INTERVALS = (10, 100, 500)
STEPS = 2_000


def measure(size: Size) -> list[Figure]:
    sides = [("none", 0), *((what, interval) for interval in INTERVALS for what in ("everything", "weights"))]
    seconds: dict[tuple[str, int], list[float]] = {side: [] for side in sides}
    with workplace() as place:
        tag = training_image(place)
        for number in range(size.rounds):
            for side in sides:
                progress(f"save intervals: round {number + 1} of {size.rounds}, {side[0]} {side[1]}")
                seconds[side].append(_trained(place, tag, size, *side))
    plain = median(seconds["none", 0])
    slower = {side: median(values) / plain for side, values in seconds.items()}
    figures = []
    for interval in INTERVALS:
        all_tensors, weights = slower["everything", interval], slower["weights", interval]
        figures.append(
            Figure(
                what=f"steps with save_interval {interval} ÷ without the hook: all tensors; weights",
                ours=f"{median(seconds['everything', interval]):.2f} s; {median(seconds['weights', interval]):.2f} s",
                theirs=f"{plain:.2f} s",
                figure=f"{all_tensors:.2f}; {weights:.2f}",
                bound="reported",
                met=all_tensors >= weights,
            )
        )
    return figures


def _trained(place: Workplace, tag: str, size: Size, what: str, interval: int) -> float:
    name = place.new_name()
    hook = collections(**{what: interval}) if interval else None
    path = job_file(place, name, tag, size.of(STEPS), hook=hook)
    subprocess.run([BIN / "smlocal", "run", path], env=place.environment, check=True, capture_output=True, timeout=900)
    (line,) = (line for line in log(place, name).splitlines() if line.startswith("trained for "))
    place.clear()
    shutil.rmtree(place.folder / "debug", ignore_errors=True)
    return float(line.split()[2])


if __name__ == "__main__":
    main(measure)
