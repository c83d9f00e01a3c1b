"""A job with five debugger rules against the same job without, and how long a stop by a rule takes."""

import subprocess

from debugger_jobs import collections, job_file, must_have, training_image
from measure import Samples, alternate, execute, progress
from results import Figure, Size, comparison, main, seconds, spread
from workplace import BIN, Workplace, workplace

BOUND, STOP_BOUND = 1.10, 3.0
RULES = ("AllZero", "ExplodingTensor", "LossNotDecreasing", "TensorVariance", "VanishingGradient")
HOOK = collections(losses=50, gradients=500, weights=500)
STEPS, LAST_FINITE, FOR_EVER = 8_000, 500, 10_000_000


def measure(size: Size) -> list[Figure]:
    with workplace() as place:
        tag = training_image(place)
        ours, theirs = alternate(
            lambda: _whole(place, tag, size, RULES),
            lambda: _whole(place, tag, size, ()),
            rounds=size.rounds,
            name="five rules",
        )
        stops = Samples(values=tuple(_stop(place, tag, number) for number in range(size.rounds)))
    what = "condition on disk → SIGTERM seen, by `Local.OnRule`"
    stop = Figure(
        what=what,
        ours=spread(stops, seconds),
        theirs="",
        figure=seconds(stops.median),
        bound=seconds(STOP_BOUND),
        met=stops.median <= STOP_BOUND,
    )
    return [comparison("job with five rules ÷ the same job without", ours, theirs, BOUND), stop]


def _whole(place: Workplace, tag: str, size: Size, rules: tuple[str, ...]) -> float:
    name = place.new_name()
    path = job_file(place, name, tag, size.of(STEPS), hook=HOOK, rules=rules)
    ended = execute([BIN / "smlocal", "run", path], environment=place.environment)
    must_have(place, name, {"NoIssuesFound", "IssuesFound"})
    return ended.seconds


def _stop(place: Workplace, tag: str, number: int) -> float:
    progress(f"stop by a rule: {number}")
    name = place.new_name()
    rule = RULES[1]
    hook = collections(losses=1)
    path = job_file(place, name, tag, FOR_EVER, LAST_FINITE, hook=hook, rules=[rule], OnRule={rule: "stop"})
    subprocess.run([BIN / "smlocal", "run", path], env=place.environment, check=False, capture_output=True, timeout=300)
    must_have(place, name, {"IssuesFound"})
    index = place.folder / "debug" / name / "debug-output" / "index"
    (met,) = index.glob(f"*/{LAST_FINITE + 1:012}_*.json")
    stopped = place.output / name / "output" / "output.tar.gz"
    listed = subprocess.run(["tar", "-xzOf", stopped, "stopped"], check=True, capture_output=True, text=True)
    return float(listed.stdout) - met.stat().st_mtime


if __name__ == "__main__":
    main(measure)
