"""Values that flow from step to step, the cache, and what fails a step: with real containers."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Gone = Callable[[str], None]
_OUT = "ProcessingOutputConfig.Outputs['out'].S3Output.S3Uri"
WRITES = 'mkdir -p /opt/ml/processing/out; echo "{\\"metrics\\": {\\"mse\\": 0.25}}" > /opt/ml/processing/out/e.json'


def _from(step: str, path: str) -> dict[str, str]:
    return {"Get": f"Steps.{step}.{path}"}


def _flow(pipelines: Any, *, writes: str = WRITES) -> list[dict[str, Any]]:
    """Processing, a training job on its output, a condition on a property file, and a model of the training job."""
    written = _from("Prepare", "ProcessingOutputConfig.Outputs['out'].S3Output.S3Uri")
    channel = {"ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": written}}}
    epochs = {"Std:Join": {"On": "", "Values": [{"Get": "Parameters.Epochs"}]}}
    mse = {"Std:JsonGet": {"PropertyFile": _from("Prepare", "PropertyFiles.E"), "Path": "metrics.mse"}}
    container = {"Image": pipelines.life.image, "ModelDataUrl": _from("Train", "ModelArtifacts.S3ModelArtifacts")}
    model = {"ExecutionRoleArn": "arn:aws:iam::111122223333:role/R", "PrimaryContainer": container}
    script = "cat /opt/ml/input/data/train/e.json /opt/ml/input/config/hyperparameters.json; echo m > /opt/ml/model/m"
    return [
        pipelines.processing(
            *("Prepare", writes),
            CacheConfig={"Enabled": True},
            PropertyFiles=[{"PropertyFileName": "E", "OutputName": "out", "FilePath": "e.json"}],
        ),
        pipelines.training(
            *("Train", script),
            CacheConfig={"Enabled": True},
            arguments={"InputDataConfig": [channel], "HyperParameters": {"epochs": epochs}},
        ),
        {
            "Name": "Good",
            "Type": "Condition",
            "DependsOn": ["Train"],
            "Arguments": {
                "Conditions": [{"Type": "LessThan", "LeftValue": mse, "RightValue": {"Get": "Parameters.Limit"}}],
                "IfSteps": [{"Name": "Model", "Type": "Model", "Arguments": model}],
                "ElseSteps": [{"Name": "Bad", "Type": "Fail", "Arguments": {"ErrorMessage": "no good"}}],
            },
        },
    ]


PARAMETERS = [
    {"Name": "Epochs", "Type": "Integer", "DefaultValue": 5},
    {"Name": "Limit", "Type": "Float", "DefaultValue": 0.5},
]


@pytest.mark.slow(3)
def test_values_flow_and_the_cache_says_why_it_missed(pipelines: Any, all_gone: Gone) -> None:
    first = pipelines.run("flow", _flow(pipelines), Parameters=PARAMETERS)
    assert pipelines.rows(first) == ["Prepare Succeeded", "Train Succeeded", "Good Succeeded", "Model Succeeded"]
    log = pipelines.life.log(pipelines.child(first, "Train"))
    assert log == '{"metrics": {"mse": 0.25}}\n{"epochs":"5"}'
    steps = pipelines.steps(first)
    assert steps["Train"].arguments["HyperParameters"] == {"epochs": "5"}
    assert steps["Good"].arguments["Conditions"] == [{"Type": "LessThan", "LeftValue": 0.25, "RightValue": 0.5}]
    model = pipelines.life.store.resource("model", steps["Model"].answer["ModelName"])
    assert model is not None
    assert model.body["PrimaryContainer"]["ModelDataUrl"] == steps["Train"].answer["ModelArtifacts"]["S3ModelArtifacts"]

    second = pipelines.run("flow", _flow(pipelines), "-p", "Epochs=6", "-p", "Limit=0.1", code=1, Parameters=PARAMETERS)
    arn = pipelines.life.job(first).arn
    assert pipelines.rows(second) == [
        f"Prepare Succeeded {{'SourcePipelineExecutionArn': '{arn}'}}",
        "Train Succeeded",
        "Good Succeeded",
        "Bad Failed no good",
    ]
    assert pipelines.steps(second)["Train"].cache == {
        "Why": "HyperParameters.epochs differs from the last run",
        "Compared": arn,
        "Changes": [{"Key": "HyperParameters.epochs", "Before": "5", "After": "6"}],
    }
    assert pipelines.life.job(second).failure_reason == "Step failure: One or multiple steps failed."
    all_gone(second)


MISSING = "the property file 'E' is missing: the step 'Prepare' has written no e.json to its output 'out'"


@pytest.mark.slow(4)
@pytest.mark.parametrize(
    ("writes", "why"),
    [
        ("true", MISSING),
        (
            "ln -s /etc/hostname /opt/ml/processing/out/e.json",
            MISSING,
        ),
        (
            "mkfifo /opt/ml/processing/out/e.json",
            MISSING,
        ),
        ("echo '{' > /opt/ml/processing/out/e.json", "the property file 'E' is not JSON"),
        ("echo '[1]' > /opt/ml/processing/out/e.json", "metrics"),
        (
            "dd if=/dev/zero of=/opt/ml/processing/out/e.json bs=1M count=11 2>/dev/null",
            "the property file 'E' is larger than 10 MiB",
        ),
    ],
)
def test_a_property_file_that_cannot_be_read_fails_the_step_that_needs_it(
    pipelines: Any, writes: str, why: str
) -> None:
    steps = [each for each in _flow(pipelines, writes=writes) if each["Name"] != "Train"]
    steps[1]["DependsOn"] = ["Prepare"]
    steps[1]["Arguments"]["IfSteps"] = []
    execution = pipelines.run("unread", steps, code=1, Parameters=PARAMETERS)
    failed = pipelines.rows(execution)[-1]
    assert failed.startswith("Good Failed ClientError: "), failed
    assert why in failed


@pytest.mark.slow(2)
def test_what_the_service_refuses_and_what_fails(pipelines: Any, all_gone: Gone) -> None:
    cluster = {
        "InstanceType": "ml.m5.large",
        "InstanceCount": {"Get": "Steps.Count.OutputParameters['n']"},
        "VolumeSizeInGB": 5,
    }
    count = {"FunctionArn": "arn:aws:lambda:us-east-1:111122223333:function:f", "Arguments": {}}
    output = {"OutputName": "n", "OutputType": "Integer"}
    steps = [
        {"Name": "Count", "Type": "Lambda", **count, "OutputParameters": [output]},
        pipelines.training("Refused", arguments={"ResourceConfig": cluster}),
        pipelines.training("Fails", "exit 3"),
        pipelines.training("Never", DependsOn=["Fails"]),
        pipelines.training("Else", DependsOn=[{"Step": "Fails", "Trigger": "Failed"}]),
    ]
    local = {"Steps": {"Count": {"Outputs": {"n": 0}}}}
    execution = pipelines.run("refusals", steps, code=1, Local=local)
    rows = pipelines.rows(execution)
    assert sorted(row.partition(" ClientError")[0] for row in rows) == [
        *("Count Succeeded", "Else Succeeded", "Fails Failed", "Refused Failed"),
    ]
    refused = next(row for row in rows if row.startswith("Refused"))
    assert "Failed to invoke sagemaker:CreateTrainingJob. Error Details: " in refused
    assert "ClientError: AlgorithmError: , exit code: 3" in next(row for row in rows if row.startswith("Fails"))
    all_gone(execution)


@pytest.mark.slow(2)
def test_a_capacity_error_is_tried_again(pipelines: Any, all_gone: Gone) -> None:
    policy = {"ExceptionType": ["SageMaker.CAPACITY_ERROR"], "IntervalSeconds": 1, "MaxAttempts": 2}
    steps = [pipelines.training("Twice", RetryPolicies=[policy])]
    local = {"Faults": [{"Kind": "CapacityError"}]}
    execution = pipelines.run("again", steps, code=1, Local=local)
    step = pipelines.steps(execution)["Twice"]
    assert step.progress.attempts == 3, step.progress.reason
    assert len(pipelines.children(execution)) == 3
    all_gone(execution)


@pytest.mark.slow(3)
def test_selected_steps_use_the_results_of_an_earlier_execution(pipelines: Any) -> None:
    refused = pipelines.life("run", pipelines.file("alone", _flow(pipelines), Parameters=PARAMETERS, Local=_SELECTED))
    assert "[selected-steps]" in refused.stderr
    assert "The selected steps [Train] have dependencies on [Prepare]" in refused.stderr
    first = pipelines.run("alone", _flow(pipelines), Parameters=PARAMETERS)
    execution = pipelines.run("alone", _flow(pipelines), "-p", "Epochs=7", Parameters=PARAMETERS, Local=_SELECTED)
    assert pipelines.rows(execution) == [
        f"Prepare Succeeded {{'SourcePipelineExecutionArn': '{pipelines.life.job(first).arn}'}}",
        "Train Succeeded",
    ]
    log = pipelines.life.log(pipelines.child(execution, "Train"))
    assert log == '{"metrics": {"mse": 0.25}}\n{"epochs":"7"}'


_SELECTED = {"Select": ["Train"]}


@pytest.mark.slow(3)
def test_the_cache_may_look_at_what_lies_in_folders(pipelines: Any) -> None:
    folder = pipelines.life.folder / "data"
    folder.mkdir()
    (folder / "a").write_text("1")
    source = {"S3DataType": "S3Prefix", "S3Uri": "s3://mine/data"}
    channel = {"ChannelName": "train", "DataSource": {"S3DataSource": source}}
    cached = {"CacheConfig": {"Enabled": True}, "arguments": {"InputDataConfig": [channel]}}
    local = {"Cache": "contents", "Sources": {"s3://mine/data": "./data"}}

    def ran() -> str:
        step = pipelines.training("Train", "ls /opt/ml/input/data/train", **cached)
        return str(pipelines.run("seen", [step], Local=local))

    first = ran()
    assert "Source" in pipelines.steps(ran())["Train"].cache
    (folder / "a").write_text("2")
    changes = pipelines.steps(ran())["Train"].cache["Changes"]
    assert [change["Key"] for change in changes] == ["Contents.s3://mine/data"]
    assert pipelines.steps(first)["Train"].contents.keys() == {"s3://mine/data"}


@pytest.mark.slow(3)
def test_a_cleanup_deletes_outputs_of_steps_and_nothing_else(pipelines: Any, all_gone: Gone) -> None:
    def cleanup(name: str, *sources: dict[str, Any]) -> dict[str, Any]:
        after = [{"Step": each["StepName"], "Trigger": "Any"} for each in sources]
        return {"Name": name, "Type": "Cleanup", "DependsOn": after, "Arguments": {"Resources": {"S3": list(sources)}}}

    written = {"Std:Join": {"On": "/", "Values": [_from("Prepare", _OUT), "e.json"]}}
    steps = [
        pipelines.processing("Prepare", f"{WRITES}; echo > /opt/ml/processing/out/x"),
        pipelines.training("Train", "echo m > /opt/ml/model/m"),
        pipelines.training("Without", "exit 1"),
        cleanup("Clean", {"StepName": "Train"}, {"StepName": "Prepare", "S3Uris": [written]}, {"StepName": "Without"}),
        cleanup(
            "Wrong",
            {"StepName": "Prepare", "S3Uris": ["s3://nowhere/out", "s3://nowhere/out/../../etc/hostname", "s3://o/k"]},
        ),
    ]
    execution = pipelines.run("cleans", steps, code=1)
    found = pipelines.steps(execution)
    assert found["Clean"].progress.metadata == {
        "Cleanup": {"CleanedSteps": ["Train", "Prepare"], "FailedSteps": [], "SkippedSteps": ["Without"]}
    }
    assert found["Wrong"].progress.reason == (
        "ClientError: Prepare: s3://nowhere/out is not an object in an output of the step; "
        "s3://o/k is not an object in an output of the step"
    )
    (model,) = found["Train"].folders.values()
    assert not Path(model).exists()
    (folder,) = found["Prepare"].folders.values()
    assert "x" in os.listdir(folder)
    assert "e.json" not in os.listdir(folder)
    all_gone(execution)


@pytest.mark.slow(4)
def test_the_steps_of_an_iteration_know_each_other_and_names_are_known_to_a_step(
    pipelines: Any, all_gone: Gone
) -> None:
    number = {"Std:JsonGet": {"PropertyFile": _from("Write", "PropertyFiles.N"), "Path": "n"}}
    writes = 'mkdir -p /opt/ml/processing/out; echo "{\\"n\\": \\"$1$1\\"}" > /opt/ml/processing/out/n.json'
    write = pipelines.processing("Write", writes)
    write["Arguments"]["AppSpecification"]["ContainerArguments"] = ["sh", {"Get": "ForEach.CurrentItem.n"}]
    write["PropertyFiles"] = [{"PropertyFileName": "N", "OutputName": "out", "FilePath": "n.json"}]
    known = {
        "NUMBER": number,
        "WRITTEN_BY": _from("Write", "ProcessingJobName"),
        "OWN": {"Get": "Execution.TrainingJobName"},
        "EXPERIMENT": {"Get": "PipelineExperimentConfig.ExperimentName"},
    }
    read = pipelines.training("Read", arguments={"Environment": {"SCRIPT": "env", **known}})
    each = {
        "IterableItems": ['{"n": "1"}', '{"n": "2"}'],
        "MaxConcurrency": 2,
        "ForEachBody": [read, write],
        "Selector": {"Pick": "MinBy", "Field": {"Get": "IterationOutput.Read.Environment['NUMBER']"}},
    }
    told = {
        "Std:Join": {"On": " ", "Values": [_from("Each", "Selected.Environment['NUMBER']"), _from("Each", "Status")]}
    }
    steps = [
        {"Name": "Each", "Type": "ForEach", "Arguments": each},
        {"Name": "End", "Type": "Fail", "Arguments": {"ErrorMessage": told}},
    ]
    config = {"ExperimentName": {"Std:Join": {"On": "-", "Values": ["of", {"Get": "Execution.PipelineName"}]}}}
    execution = pipelines.run("items", steps, code=1, PipelineExperimentConfig=config)
    found = pipelines.steps(execution)
    assert found["Read-1"].arguments["Environment"] == {
        "SCRIPT": "env",
        "NUMBER": "22",
        "WRITTEN_BY": pipelines.child(execution, "Write-1"),
        "OWN": pipelines.child(execution, "Read-1"),
        "EXPERIMENT": "of-items",
    }
    assert found["End"].progress.reason == "11 Succeeded"
    assert found["Each"].progress.metadata["ForEach"]["Selector"] == {"StepName": "Read-0", "Index": 0}
    all_gone(execution)
