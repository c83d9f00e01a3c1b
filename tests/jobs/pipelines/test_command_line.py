"""Executions at the command line: the lines of a run, and the commands that know an execution and its steps."""

import json
import re
from typing import Any

import pytest

from .conftest import ROLE, WAIT, Pipelines

DEPTH = {"Name": "Depth", "Type": "Integer", "DefaultValue": 3}


def graph(pipelines: Pipelines) -> list[dict[str, Any]]:
    """Processing whose result may be used again, and training on it in a branch."""
    uri = {"Get": "Steps.Prepare.ProcessingOutputConfig.Outputs['out'].S3Output.S3Uri"}
    channel = {"ChannelName": "made", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri}}}
    train = pipelines.training(
        "Train", "cat /opt/ml/input/data/made/*; exit ${CODE:-0}", arguments={"InputDataConfig": [channel]}
    )
    train["Arguments"]["HyperParameters"] = {
        "depth": {"Std:Join": {"On": "", "Values": ["d", {"Get": "Parameters.Depth"}]}}
    }
    condition = {"Type": "LessThan", "LeftValue": {"Get": "Parameters.Depth"}, "RightValue": 5}
    fail = {"Name": "TooDeep", "Type": "Fail", "Arguments": {"ErrorMessage": "Depth is over 4"}}
    return [
        pipelines.processing("Prepare", "echo made >/opt/ml/processing/out/a.txt", CacheConfig={"Enabled": True}),
        {
            "Name": "Shallow",
            "Type": "Condition",
            "DependsOn": ["Prepare"],
            "Arguments": {"Conditions": [condition], "IfSteps": [train], "ElseSteps": [fail]},
        },
    ]


def lines(text: str) -> list[str]:
    """Without times, ids and names of jobs."""
    text = re.sub(r"\b\d+\.\d s\b", "0 s", text)
    text = re.sub(r"pipelines-[a-z0-9]{12}-(\w+)-[A-Za-z0-9]{10}", r"job of \1", text)
    return [" ".join(re.sub(r"\b[a-z0-9]{12}$", "ID", line).split()) for line in text.splitlines()]


@pytest.mark.slow(4)
def test_a_run_shows_the_graph_and_commands_know_its_steps(pipelines: Pipelines) -> None:
    life = pipelines.life
    file = pipelines.file("shown", graph(pipelines), Parameters=[DEPTH])
    done = life("run", file, "--name", "shown-1")
    assert done.returncode == 0, done.stderr
    assert lines(done.stderr)[:9] == [
        "shown-1 shown · 4 steps",
        "✔ Starting 0 s",
        "● Executing",
        "● Prepare job of Prepare",
        "✔ Prepare 0 s",
        "✔ Shallow 0 s true",
        "● Train job of Train",
        "✔ Train 0 s",
        "✔ Executing 0 s 3 succeeded",
    ]
    described = lines(life("describe", "shown-1", "--verbose").stdout)
    steps = described[next(index for index, line in enumerate(described) if line.startswith("Steps")) :]
    assert steps[:8] == [
        "Steps Prepare Succeeded 0 s job of Prepare",
        "result: ./smlocal-output/job of Prepare/out",
        "not from the cache: no earlier execution has run it",
        "Shallow Succeeded 0 s true",
        "Train Succeeded 0 s job of Train",
        "Values Shallow",
        "Conditions[0].LeftValue = Parameters.Depth → 3",
        "Train",
    ]
    assert "HyperParameters.depth = dParameters.Depth → d3" in steps
    values = {each["Path"]: each["Value"] for each in life.describe("shown-1")["Local"]["Steps"][2]["Values"]}
    assert values == {
        "HyperParameters.depth": "d3",
        "InputDataConfig[0].DataSource.S3DataSource.S3Uri": "s3://nowhere/out",
    }
    assert life("logs", "shown-1/Train").stdout == "made\n"
    assert "smlocal logs shown-1/Train   Completed" in life("logs", "shown-1").stderr
    done = life("logs", "shown-1/Trian")
    assert (done.returncode, "Did you mean shown-1/Train?" in done.stderr) == (2, True), done.stderr
    listed = lines(life("jobs").stdout)[1:]
    assert [line.split(" ", 2)[0] for line in listed] == ["shown-1", "job", "job"]
    # The same again, and changed: the result of Prepare is used, and then it is said what differs.
    assert "Prepare Processing · " in " ".join(life("plan", file).stdout.split())
    assert "· cached: result of " in life("plan", file).stdout
    done = life("run", file, "--name", "shown-2", "--parameter", "Depth=7")
    assert done.returncode == 1
    assert lines(done.stderr)[3:9] == [
        "✔ Prepare 0 s from the cache: ID",
        "✔ Shallow 0 s false",
        "✗ TooDeep 0 s Depth is over 4",
        "✗ Executing 0 s 1 failed, 2 succeeded",
        "Failed: Step failure: One or multiple steps failed.",
        "because TooDeep: Depth is over 4",
    ]
    assert "TooDeep: Depth is over 4" in life("jobs").stdout
    changed = ("--set", 'Steps[0].Arguments.Environment.CODE="1"', "--name", "shown-3")
    assert life("run", file, *changed).returncode == 0
    (prepare,) = (each for each in life.describe("shown-3")["Local"]["Steps"] if each["Name"] == "Prepare")
    assert prepare["Cache"]["Changes"] == [{"Key": "Environment", "Before": None, "After": {"CODE": "1"}}]
    assert "Environment: nothing → " in life("describe", "shown-3").stdout
    # The failed job of a step is named, and the execution can be run again as it was.
    failing = ("--set", 'Steps[1].Arguments.IfSteps[0].Arguments.Environment.CODE="3"', "--name", "shown-4")
    done = life("run", file, *failing)
    assert (done.returncode, "next smlocal logs shown-4/Train · " in " ".join(done.stderr.split())) == (1, True)
    done = life("rerun", "shown-2", "--name", "shown-5")
    assert (done.returncode, "Depth is over 4" in done.stderr) == (1, True), done.stderr
    assert life.describe("shown-5")["PipelineArn"].endswith(":pipeline/shown")
    done = life("rerun", "shown-2", "--name", "shown-6", "--parameter", "Depth=4")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow(2)
def test_a_failed_step_is_explained_by_the_end_of_its_log(pipelines: Pipelines) -> None:
    life = pipelines.life
    steps = [pipelines.processing("Prepare", "echo first; echo no column price; exit 3")]
    steps.append(pipelines.training("Train", DependsOn=["Prepare"]))
    done = life("run", pipelines.file("bad", steps), "--name", "bad-1")
    assert done.returncode == 1
    shown = lines(done.stderr)
    at = shown.index("Failed: Step failure: One or multiple steps failed.")
    assert shown[at - 1] == "✗ Executing 0 s 1 failed, 1 not begun"
    assert shown[at + 1 : at + 5] == [
        "because Prepare: exit code: 3, last line: no column price",
        "Last lines of bad-1/Prepare",
        "first",
        "no column price",
    ]
    done = life("run", pipelines.file("bad", steps), "--name", "bad-2", "--quiet")
    assert lines(done.stderr) == [shown[at], shown[at + 1]]
    # No log explains why nothing is at a path.
    path = {"PropertyFile": {"Get": "Steps.Prepare.PropertyFiles.E"}, "Path": "a"}
    condition = {"Type": "Equals", "LeftValue": {"Std:JsonGet": path}, "RightValue": 1}
    files = [{"PropertyFileName": "E", "OutputName": "out", "FilePath": "e.json"}]
    branches = {"Conditions": [condition], "IfSteps": [], "ElseSteps": []}
    good = pipelines.processing("Prepare", "echo '{}' >/opt/ml/processing/out/e.json", PropertyFiles=files)
    done = life(
        "run",
        pipelines.file("empty", [good, {"Name": "Good", "Type": "Condition", "Arguments": branches}]),
        "--name",
        "empty-1",
    )
    assert lines(done.stderr)[-1] == "next smlocal describe empty-1", done.stderr


@pytest.mark.slow(2)
def test_a_step_that_waits_is_answered_by_a_command(pipelines: Pipelines) -> None:
    life = pipelines.life
    outputs = [{"OutputName": "decision", "OutputType": "String"}, {"OutputName": "score", "OutputType": "Integer"}]
    asks = {"Name": "Ask", "Type": "Callback", "SqsQueueUrl": "https://sqs.us-east-1.amazonaws.com/1/q"}
    steps: list[dict[str, Any]] = [
        {**asks, "Arguments": {"model": "m"}, "OutputParameters": outputs},
        {
            "Name": "Told",
            "Type": "Fail",
            "Arguments": {"ErrorMessage": {"Get": "Steps.Ask.OutputParameters['decision']"}},
        },
    ]

    def begun() -> tuple[str, str]:
        execution = pipelines.detach("asked", steps)
        waiting = r"smlocal pipeline succeed (\w{10}) --output decision=VALUE --output score=VALUE"
        life.until(lambda: re.search(waiting, life("describe", execution).stdout) is not None)
        found = re.search(waiting, life("describe", execution).stdout)
        assert found is not None
        return execution, found[1]

    execution, token = begun()
    for words, says in (
        (("succeed", token), "the output 'decision' is missing"),
        (("succeed", token), f"Answer with:  smlocal pipeline succeed {token} --output decision=VALUE"),
        (("succeed", token, "--output", "decision=no", "--output", "score=much"), "'score' is of type Integer"),
        (("succeed", token, "--output", "decision"), "write NAME=VALUE"),
        (("fail", token, "--reason", "x" * 257), "at most 256 characters"),
        (("fail", "Tokenless1"), "no step waits for an answer with the token Tokenless1"),
    ):
        done = life("pipeline", *words)
        assert (done.returncode, says in done.stderr) == (2, True), done.stderr
    done = life("pipeline", "succeed", token, "--output", "decision=not=yet", "--output", "score=3")
    assert (done.returncode, f"{execution} goes on" in done.stderr) == (0, True), done.stderr
    assert pipelines.wait(execution) == "Failed"
    assert pipelines.rows(execution)[1].endswith("not=yet")
    execution, token = begun()
    assert life("pipeline", "fail", token, "--reason", "nobody asked").returncode == 0
    assert pipelines.wait(execution) == "Failed"
    assert "Ask: nobody asked" in life("jobs").stdout
    assert life("pipeline", "fail", token).returncode == 2


@pytest.mark.slow(2)
def test_stop_wait_and_rm_take_an_execution(pipelines: Pipelines) -> None:
    life = pipelines.life
    execution = pipelines.detach("stopped", [pipelines.training("Train", f"echo up; {WAIT}")])
    pipelines.until_running(execution, 1)
    assert "Train" in life("describe", execution).stdout
    assert life("rm", execution).returncode == 2
    assert life("stop", execution).returncode == 0
    assert life("wait", execution).returncode == 4
    assert json.loads(life("describe", execution, "--json").stdout)["PipelineExecutionStatus"] == "Stopped"
    assert life("recover").returncode == 0
    assert life("rm", execution).returncode == 0
    assert life("describe", execution).returncode == 2


def test_a_definition_of_the_service_says_the_account(pipelines: Pipelines) -> None:
    file = pipelines.file("planned", [pipelines.training("Train")])
    done = pipelines.life("plan", file, "--json")
    document = json.loads(done.stdout)
    assert document["Account"] == ROLE.split(":")[4]
    assert document["InstanceHoursAtMost"] == {"ml.m5.large": 0.07}
    assert [step["Name"] for step in document["Steps"]] == ["Train"]
