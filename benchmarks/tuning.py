"""What a search adds to its training jobs, what a point costs, and what Hyperband is worth against random search.

Also what a second engine is worth to it: both engines are on this machine, so the training jobs only sleep.
"""

import json
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from measure import alternate, execute, progress
from results import Figure, Size, comparison, main
from workplace import BIN, ROOT, SH, Workplace, image, workplace

sys.path[:0] = [str(ROOT)]

from tests.kit.own_engine import OwnEngine  # noqa: E402 - the engines are those of the tests
from tests.unit.sagemaker.tuning.curves import best_with  # noqa: E402 - the same curves as the test's

from smlocal.jobs.store.jobs import Store  # noqa: E402 - as above
from smlocal.sagemaker.tuning.facts import TUNING  # noqa: E402 - as above
from smlocal.sagemaker.tuning.ranges import Range  # noqa: E402 - as above
from smlocal.sagemaker.tuning.search import Search, SearchPlan  # noqa: E402 - as above
from smlocal.sagemaker.tuning.state import state_document  # noqa: E402 - as above
from smlocal.sagemaker.tuning.trials import Objective, SearchDefinition, document_kind  # noqa: E402 - as above

_BOUND, _POINT_MS, _SEEDS, _BETTER = 1.1, 5.0, 20, 15
_AT_ONCE = 4
_SPREAD_BOUND, _ON_EACH, _SLEEP = 0.6, 2, 3
_SCRIPT = "echo loss=1"
_EPOCHS = 27


def measure(size: Size) -> list[Figure]:
    count = max(1, size.of(20) // 2) * 2
    tag = image(SH)
    with workplace() as place:
        ours, theirs = alternate(
            lambda: _tune(place, tag, count), lambda: _one_by_one(place, tag, count), rounds=size.rounds, name="tuning"
        )
    points = size.of(1000)
    took = _search(points) * 1000
    seeds = size.of(_SEEDS)
    least = math.ceil(_BETTER * seeds / _SEEDS)
    better = sum(
        best_with("Hyperband", seed, budget=_EPOCHS * 40, most=_EPOCHS)
        < best_with("Random", 1000 + seed, budget=_EPOCHS * 40, most=_EPOCHS)
        for seed in range(seeds)
    )
    return [
        comparison(
            f"{count} training jobs, {_AT_ONCE} at once ÷ `xargs -P{_AT_ONCE} smlocal run`", ours, theirs, _BOUND
        ),
        Figure(
            what=f"a search over {points} points: time of ours for each, without the job",
            ours=f"{took:.2f} ms",
            theirs="",
            figure=f"{took:.2f} ms",
            bound=f"{_POINT_MS:g} ms",
            met=took <= _POINT_MS,
        ),
        Figure(
            what=f"Hyperband better than random search with {40 * _EPOCHS} epochs",
            ours=f"{better} of {seeds} seeds",
            theirs="",
            figure=f"{better}",
            bound=f"at least {least}",
            met=better >= least,
        ),
    ]


def measure_spread(size: Size) -> list[Figure]:
    count, seconds = max(1, size.of(20) // 2) * 2, size.of(_SLEEP)
    tag = image(SH)
    engines = OwnEngine(image=tag), OwnEngine(image=tag)
    try:
        progress("starting two engines")
        for each in engines:
            each.start()
        script = f"sleep {seconds}; {_SCRIPT}"
        addresses = [each.address for each in engines]
        with workplace() as place:
            two, one = alternate(
                lambda: _tune(place, tag, count, script=script, engines=addresses),
                lambda: _tune(place, tag, count, script=script, engines=addresses[:1]),
                rounds=size.rounds,
                name="spread",
            )
    finally:
        for each in engines:
            each.close()
    what = f"{count} training jobs of {seconds} s, {_ON_EACH} at once on each engine: on two engines ÷ on one"
    return [comparison(what, two, one, _SPREAD_BOUND)]


def _definition(tag: str, output: Path, script: str) -> dict[str, object]:
    return {
        "AlgorithmSpecification": {
            "TrainingImage": tag,
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9]+)"}],
        },
        "Environment": {"SCRIPT": script},
        "OutputDataConfig": {"S3OutputPath": str(output)},
        "ResourceConfig": {"InstanceType": "local", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 60},
    }


def _tune(place: Workplace, tag: str, count: int, *, script: str = _SCRIPT, engines: Sequence[str] = ()) -> float:
    """`engines`: those that run whole training jobs, so many at once on each."""
    name = place.new_name()
    file = place.folder / "tuning.json"
    half = count // 2
    file.write_text(
        json.dumps(
            {
                "HyperParameterTuningJobName": name,
                "HyperParameterTuningJobConfig": {
                    "Strategy": "Grid",
                    "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
                    "ResourceLimits": {"MaxParallelTrainingJobs": _ON_EACH * len(engines) or _AT_ONCE},
                    "ParameterRanges": {
                        "CategoricalParameterRanges": [
                            {"Name": "a", "Values": ["1", "2"]},
                            {"Name": "b", "Values": [str(number) for number in range(half)]},
                        ]
                    },
                },
                "TrainingJobDefinition": _definition(tag, place.output, script),
                **({"Local": {"SpreadOver": engines, "EngineInstances": _ON_EACH}} if engines else {}),
            }
        )
    )
    seconds = execute([BIN / "smlocal", "run", file], environment=place.environment).seconds
    place.clear()
    return seconds


def _one_by_one(place: Workplace, tag: str, count: int) -> float:
    file = place.folder / "job.json"
    file.write_text(json.dumps(_definition(tag, place.output, _SCRIPT)))
    stem = place.new_name()
    names = " ".join(f"{stem}-{number}" for number in range(count))
    command = f"printf '%s\\n' {names} | xargs -P{_AT_ONCE} -n1 {BIN / 'smlocal'} run {file} --name"
    seconds = execute(["sh", "-c", command], environment=place.environment).seconds
    place.clear()
    return seconds


def _search(points: int) -> float:
    """Seconds for a point: proposed, stored as by the supervisor, and its result taken in."""
    definition = SearchDefinition(
        objective=Objective(metric="loss", direction="Minimize"),
        ranges=(
            Range(name="lr", kind="Continuous", low=1e-4, high=1.0),
            Range(name="n", kind="Integer", low=1, high=1000),
        ),
    )
    plan = SearchPlan(strategy="Random", definitions=(definition,), seed=1, most=points, parallel=4)
    with tempfile.TemporaryDirectory() as home, Store.open(home) as store:
        store.add_pending("search", run_id="0", created=time.time(), documents={}, arn="", model_uri="", instances=0)
        search, changed = Search(plan=plan), {}
        began = time.perf_counter()
        while search.verdict(0.0) is None:
            while (trial := search.next(lambda number: f"search-{number:03}-00000000")) is not None:
                changed[trial.number] = trial
            trial = search.running[0]
            trial.status, trial.value = "Completed", float(trial.tuned["lr"])
            search.end(trial, 0.0)
            changed[trial.number] = trial
            state = state_document(search, [None], None, overall=None)
            store.put_documents(
                "search", {TUNING: state, **{document_kind(each.number): each.document() for each in changed.values()}}
            )
            changed = {}
        return (time.perf_counter() - began) / points


if __name__ == "__main__":
    main(measure, measure_spread)
