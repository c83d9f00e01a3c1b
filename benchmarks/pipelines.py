"""Executions of pipelines: empty steps in a row and at once, all from the cache, large definitions, a long wait."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from botocore.waiter import WaiterModel, create_waiter_with_client
from endpoint_server import smlocal_server
from measure import Samples, alternate, execute, progress
from results import Figure, Size, comparison, main, megabytes, seconds, spread
from workplace import BIN, NO_OP, Workplace, image, workplace

ROW, BESIDE, PARALLEL, CACHED, STEPS = 10, 20, 4, 50, 1_000
ROW_BOUND, BESIDE_BOUND = 0.8, 1.0
CACHED_BOUND = VALIDATED_BOUND = 1.0
GROWTH_BOUND = 2.5
"""Of the time for twice as many steps."""
MEMORY_BOUND = 100e6
LATE_BOUND = 1.0
_WAITS = 120
_ENDS = {"Succeeded": "success", "Failed": "failure"}
_WAITER = {
    "version": 2,
    "waiters": {
        "Ended": {
            "delay": 30,
            "maxAttempts": 60,
            "operation": "DescribePipelineExecution",
            "acceptors": [
                {"expected": status, "matcher": "path", "state": state, "argument": "PipelineExecutionStatus"}
                for status, state in _ENDS.items()
            ],
        }
    },
}
"""As the SDK waits."""
_ROLE = "arn:aws:iam::111122223333:role/R"


def measure(size: Size) -> list[Figure]:
    return [*measure_rows(size), *measure_cached(size), *measure_definitions(size), *measure_waits(size)]


def measure_rows(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    with workplace() as place:
        one = _written(place, "one", _arguments(tag))
        row = _file(place, "row", [_step(tag, each, after=True) for each in range(ROW)])
        beside = _file(place, "beside", [_step(tag, each) for each in range(BESIDE)], parallel=PARALLEL)
        in_row, in_turn = alternate(
            lambda: place.run_file(row).seconds,
            lambda: sum(place.run_file(one).seconds for _ in range(ROW)),
            rounds=size.rounds,
            name="steps in a row",
        )
        at_once, by_xargs = alternate(
            lambda: place.run_file(beside).seconds,
            lambda: _by_xargs(place, one),
            rounds=size.rounds,
            name="steps at once",
        )
    return [
        comparison(f"a pipeline of {ROW} no-op steps in a row ÷ {ROW} `smlocal run`", in_row, in_turn, ROW_BOUND),
        comparison(
            f"{BESIDE} no-op steps, {PARALLEL} at once ÷ `xargs -P{PARALLEL} smlocal run`",
            *(at_once, by_xargs, BESIDE_BOUND),
        ),
    ]


def _by_xargs(place: Workplace, one: Path) -> float:
    names = [place.new_name() for _ in range(BESIDE)]
    command = f"xargs -P{PARALLEL} -I{{}} {BIN}/smlocal run {one} --output {place.output} --name {{}}"
    return execute(
        ["sh", "-c", f"echo {' '.join(names)} | tr ' ' '\\n' | {command}"], environment=place.environment
    ).seconds


def measure_cached(size: Size) -> list[Figure]:
    tag = image(NO_OP)
    with workplace() as place:
        file = _file(place, "cached", [_step(tag, each, after=True, cached=True) for each in range(CACHED)])
        progress("filling the cache")
        place.run_file(file)
        took = Samples(values=tuple(place.run_file(file).seconds for _ in range(size.rounds)))
    return [_within(f"a run of {CACHED} steps from the cache", took, CACHED_BOUND)]


def measure_definitions(size: Size) -> list[Figure]:
    with workplace() as place:
        half, whole = (_conditions(place, size.of(each)) for each in (STEPS // 2, STEPS))
        large = _written(place, "large", {"Version": "2020-12-01", "Steps": [_fail(0, "x" * size.of(1_000_000))]})
        once, twice = alternate(
            lambda: _validated(whole),
            lambda: _validated(half),
            rounds=size.rounds,
            name="definitions",
        )
        of_mebibyte = Samples(values=tuple(_validated(large) for _ in range(size.rounds)))
    count = size.of(STEPS)
    return [
        _within(f"`validate` of {count:,} Condition and Fail steps", once, VALIDATED_BOUND),
        comparison(f"{count:,} Condition and Fail steps ÷ half of them", once, twice, GROWTH_BOUND),
        _within("`validate` of a definition of almost 1 MiB", of_mebibyte, VALIDATED_BOUND),
    ]


def measure_waits(size: Size) -> list[Figure]:
    """How soon a client that waits as the SDK does knows of the end, and the memory of a leader that only waits."""
    tag, long = image(NO_OP), size.of(_WAITS)
    with workplace() as place:
        late = Samples(values=tuple(_late(place, tag) for _ in range(size.rounds)))
        callback = {"Name": "Ask", "Type": "Callback", "SqsQueueUrl": "https://nowhere/q", "Arguments": {}}
        file = _file(place, "waits", [_step(tag, 0), {**callback, "DependsOn": ["S0"], "OutputParameters": []}])
        name = place.new_name()
        subprocess.run([BIN / "smlocal", "run", file, "--detach", "--name", name], env=place.environment, check=True)
        described = subprocess.run(
            [BIN / "smlocal", "describe", name, "--json"], env=place.environment, check=True, capture_output=True
        )
        pid = json.loads(described.stdout)["Local"]["SupervisorPid"]
        progress(f"waiting for {long} s")
        time.sleep(long)
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        used = 1024.0 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
        os.kill(pid, signal.SIGKILL)
    shown = megabytes(used)
    bound = megabytes(MEMORY_BOUND)
    return [
        _within("the SDK's `wait()` returns after the end of an execution", late, LATE_BOUND),
        Figure(
            what=f"memory of a leader that waits for {long} s",
            ours=shown,
            theirs="",
            figure=shown,
            bound=bound,
            met=used <= MEMORY_BOUND,
        ),
    ]


def _late(place: Workplace, tag: str) -> float:
    with smlocal_server(place.environment) as server:
        client = server.client()
        definition = json.dumps({"Version": "2020-12-01", "Steps": [_step(tag, 0)]})
        name = place.new_name()
        client.create_pipeline(
            PipelineName=name, PipelineDefinition=definition, RoleArn=_ROLE, ClientRequestToken="t" * 32
        )
        arn = client.start_pipeline_execution(PipelineName=name)["PipelineExecutionArn"]
        create_waiter_with_client("Ended", WaiterModel(_WAITER), client).wait(PipelineExecutionArn=arn)
        returned = time.time()
        answer = client.describe_pipeline_execution(PipelineExecutionArn=arn)
        return float(returned - answer["LastModifiedTime"].timestamp())


def _validated(file: Path) -> float:
    return execute([BIN / "smlocal", "validate", file]).seconds


def _within(what: str, took: Samples, bound: float) -> Figure:
    """A time that has a bound of its own."""
    shown = seconds(took.median)
    return Figure(
        what=what, ours=spread(took, seconds), theirs="", figure=shown, bound=seconds(bound), met=took.median <= bound
    )


def _arguments(tag: str) -> dict[str, Any]:
    cluster = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}
    return {
        "RoleArn": _ROLE,
        "AppSpecification": {"ImageUri": tag, "ContainerEntrypoint": ["train"]},
        "ProcessingResources": {"ClusterConfig": cluster},
    }


def _step(tag: str, number: int, *, after: bool = False, cached: bool = False) -> dict[str, Any]:
    """`after`: the step before it."""
    step = {"Name": f"S{number}", "Type": "Processing", "Arguments": _arguments(tag)}
    waits = {"DependsOn": [f"S{number - 1}"]} if after and number else {}
    return {**step, **waits, **({"CacheConfig": {"Enabled": True}} if cached else {})}


def _fail(number: int, message: str) -> dict[str, Any]:
    return {"Name": f"F{number}", "Type": "Fail", "Arguments": {"ErrorMessage": message}}


def _conditions(place: Workplace, count: int) -> Path:
    """So many steps: conditions, each with a step that fails."""
    steps = []
    for number in range(max(1, count // 2)):
        condition = {"Type": "Equals", "LeftValue": {"Get": "Execution.PipelineName"}, "RightValue": "x"}
        branches = {"IfSteps": [_fail(number, "no")], "ElseSteps": []}
        steps.append({"Name": f"C{number}", "Type": "Condition", "Arguments": {"Conditions": [condition], **branches}})
    return _written(place, f"conditions-{count}", {"Version": "2020-12-01", "Steps": steps})


def _file(place: Workplace, name: str, steps: list[dict[str, Any]], *, parallel: int = 50) -> Path:
    return _written(
        place,
        name,
        {
            "PipelineName": name,
            "ParallelismConfiguration": {"MaxParallelExecutionSteps": parallel},
            "PipelineDefinition": {"Version": "2020-12-01", "Steps": steps},
        },
    )


def _written(place: Workplace, name: str, data: dict[str, Any]) -> Path:
    path = place.folder / f"{name}.json"
    path.write_text(json.dumps(data))
    return path


if __name__ == "__main__":
    main(measure)
