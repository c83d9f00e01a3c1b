"""Files of pipelines at the command line: every mistake at once, flags, and what the service alone accepts."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from smlocal.api.job_source import read_any, validate_file
from smlocal.api.overrides import Overrides
from smlocal.errors import RequestInvalidError, SmlocalError, UsageRefusedError
from smlocal.jobfile.document import Document, recorded_document
from smlocal.jobfile.option import LOCAL
from smlocal.pipelines.job_file import READING, PipelineFile
from smlocal.pipelines.preparing import PREPARING
from smlocal.sagemaker.jobfile.job_file import JobFile

ROLE = "arn:aws:iam::123456789012:role/R"
CLUSTER = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 30}
PROCESS: dict[str, Any] = {
    "Name": "Prepare",
    "Type": "Processing",
    "Arguments": {"AppSpecification": {"ImageUri": "image"}, "ProcessingResources": {"ClusterConfig": CLUSTER}},
}
FAIL: dict[str, Any] = {"Name": "Enough", "Type": "Fail", "DependsOn": ["Prepare"], "Arguments": {"ErrorMessage": "m"}}
LAMBDA = {"Name": "Tell", "Type": "Lambda", "FunctionArn": "arn:aws:lambda:us-east-1:123456789012:function:f"}
DEPTH = {"Name": "Depth", "Type": "Integer", "DefaultValue": 2}
DATA = {"Name": "Data", "Type": "String"}


def definition(*steps: dict[str, Any], local: Any = None, parameters: Any = (DEPTH, DATA)) -> dict[str, Any]:
    block = {} if local is None else {LOCAL: local}
    return {"Version": "2020-12-01", "Parameters": [*parameters], "Steps": [*(steps or (PROCESS, FAIL))], **block}


def lines_of(error: SmlocalError | None) -> list[str]:
    return [] if error is None else [line.split("   ", 1)[1].strip() for line in error.details]


def read(data: dict[str, Any], given: Overrides, path: str = "/x/my_pipe.yaml") -> tuple[PipelineFile, str]:
    document = Document(json.loads(json.dumps(data)), name="my_pipe.yaml", directory="/x")
    job, name = read_any(document, given, path=path, fill_in=False, strict=False)
    assert isinstance(job, PipelineFile)
    return job, name


def refused(data: dict[str, Any], given: Overrides) -> list[str]:
    with pytest.raises(RequestInvalidError) as caught:
        read(data, given)
    return lines_of(caught.value)


@pytest.mark.parametrize(
    ("local", "lines"),
    [
        ({"Parmeters": {"Depth": 3}}, ["unknown key Local.Parmeters: did you mean Parameters?"]),
        ({"Step": {}}, ["unknown key Local.Step: did you mean Steps?"]),
        ({"Outpt": "x"}, ["unknown key Local.Outpt: did you mean Output?"]),
        ({"Parameters": [1]}, ["Local.Parameters: must be a map of names and values"]),
        ({"Parameters": {"Dept": 3}}, ["the pipeline has no parameter 'Dept'; did you mean Depth?"]),
        ({"Parameters": {"Depth": "deep"}}, ["the parameter 'Depth' must be a whole number"]),
        ({"Parameters": {"Depth": [3]}}, ["the parameter 'Depth' must be a whole number"]),
        ({"Parameters": {"Depth": "4", "Data": "x"}}, []),
        ({"Select": "Enough"}, ["Local.Select: must be a list of names of steps"]),
        ({"Select": ["Prepar"]}, ["Local.Select.1.member: the pipeline has no step 'Prepar'; did you mean Prepare?"]),
        ({"Select": ["Prepare"]}, []),
        ({"Source": "a"}, ["Local.Source: is for selected steps: Select names them"]),
        ({"Queue": 3}, ["Local.Queue: must be text"]),
        ({"Cache": "contents"}, []),
        ({"Cache": "content"}, ["Local.Cache"]),
    ],
    ids=str,
)
def test_the_mistakes_in_local(local: Any, lines: list[str], tmp_path: Path) -> None:
    """With the mistakes of the definition, each on its line."""
    file = tmp_path / "pipeline.yaml"
    for steps, more in (((PROCESS, FAIL), []), ((PROCESS, {**FAIL, "DependsOn": ["Nobody"]}), ["no step 'Nobody'"])):
        file.write_text(yaml.safe_dump(definition(*steps, local=local), sort_keys=False))
        error = validate_file(str(file), strict=False).error
        found = lines_of(error)
        assert len(found) == len(lines) + len(more), found
        assert all(any(line in each for each in found) for line in (*lines, *more)), found
        assert error is None or all(f"{file}:" in line for line in error.details)


def test_selected_steps_use_the_results_of_another_execution() -> None:
    given: Overrides = {"hyperparameters": {"Data": "x"}, "select": ["Enough"], "source_execution": "earlier"}
    job, _ = read(definition(), given)
    chosen = job.start["SelectiveExecutionConfig"]
    assert chosen == {"SourcePipelineExecutionArn": "earlier", "SelectedSteps": [{"StepName": "Enough"}]}


def test_values_of_parameters_come_from_flags() -> None:
    given: Overrides = {"hyperparameters": {"Data": "s3://bucket/x", "Depth": 4}, "queue": "https://queue"}
    job, name = read(definition(local={"Parameters": {"Depth": 3, "Data": "y"}}), given)
    assert job.pipeline == "my-pipe"
    assert name == f"my-pipe-{job.execution_id}"
    values = [{"Name": "Depth", "Value": "4"}, {"Name": "Data", "Value": "s3://bucket/x"}]
    assert job.start == {"PipelineName": "my-pipe", "PipelineParameters": values}
    assert job.document.data[LOCAL]["Queue"] == "https://queue"


def test_a_run_needs_all_values_and_a_file_does_not(tmp_path: Path) -> None:
    file = tmp_path / "pipeline.json"
    file.write_text(json.dumps(definition()))
    assert validate_file(str(file), strict=False).error is None
    wrong = definition(PROCESS, {**FAIL, "DependsOn": ["Nobody"]})
    found = refused(wrong, {"members": {"Steps[0].Type": "Procesing"}})
    assert len(found) == 3
    assert "the parameter 'Data' has no default, and no value was given" in found
    assert any("did you mean Processing?" in line for line in found)


def test_the_name_of_an_execution() -> None:
    given: Overrides = {"hyperparameters": {"Data": "x"}}
    assert read(definition(), {**given, "name": "mine"})[1] == "mine"
    with pytest.raises(UsageRefusedError, match="'a/b' cannot be the name"):
        read(definition(), {**given, "name": "a/b"})


@pytest.mark.parametrize(
    ("option", "spelled"), [("image", "--image"), ("instance_type", "--instance-type"), ("channels", "--channel")]
)
def test_flags_about_one_job_are_refused(option: Any, spelled: str) -> None:
    given: Any = {option: {"a": "b"} if option == "channels" else "x"}
    with pytest.raises(UsageRefusedError, match=f"is a pipeline, which does not take {spelled}") as caught:
        read(definition(), given)
    assert "--parameter NAME=VALUE" in caught.value.remedy[0]


@pytest.mark.parametrize("option", ["select", "source_execution", "queue"])
def test_other_jobs_have_no_steps(option: Any) -> None:
    given: Any = {option: ["x"] if option == "select" else "x"}
    documents: tuple[dict[str, Any], ...] = (
        {"AlgorithmSpecification": {"TrainingImage": "image"}},
        {"AppSpecification": {"ImageUri": "image"}},
        {"HyperParameterTuningJobConfig": {}},
    )
    for data in documents:
        document = Document(data, name="job.yaml", directory="/")
        with pytest.raises(UsageRefusedError, match="which does not take --"):
            read_any(document, given, path=None, fill_in=False, strict=False)


SERVICE: dict[str, Any] = {**PROCESS, "Arguments": {**PROCESS["Arguments"], "RoleArn": ROLE}}


@pytest.mark.parametrize(
    ("data", "here", "service"),
    [
        (definition(SERVICE), [], []),
        (definition(PROCESS), [], ["Prepare: Value null at 'roleArn'"]),
        (definition(SERVICE, LAMBDA), ["say what stands in for it: Local.Steps.Tell"], []),
        (definition(SERVICE, local={"Cache": False}), [], ["Local is for this machine"]),
        ({"PipelineName": "p", "PipelineDefinition": definition(SERVICE)}, [], ["must be JSON text"]),
        ({"PipelineName": "p", "PipelineDefinition": json.dumps(definition(SERVICE))}, [], []),
        (
            {"PipelineName": "my_pipe", "PipelineDefinition": json.dumps(definition(SERVICE))},
            ["Value 'my_pipe' at 'pipelineName' failed to satisfy constraint"],
            ["Value 'my_pipe' at 'pipelineName' failed to satisfy constraint"],
        ),
        ({"PipelineName": 3, "PipelineDefinition": "{}"}, ["PipelineName: must be text"], ["must be text"]),
    ],
    ids=range(8),
)
def test_what_runs_here_and_what_the_service_accepts(
    data: dict[str, Any], here: list[str], service: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "pipeline.json"
    file.write_text(json.dumps(data))
    for strict, expected in ((False, here), (True, service)):
        found = lines_of(validate_file(str(file), strict=strict).error)
        assert len(found) == len(expected), found
        assert all(said in line for said, line in zip(expected, found, strict=True)), found


@pytest.mark.slow(2)
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_definition_may_be_larger_than_the_request_of_a_job(form: str, tmp_path: Path) -> None:
    """With more parts, and more levels."""
    many = [{**FAIL, "Name": f"F{number}"} for number in range(3_000)]
    deep: list[dict[str, Any]] = [{**FAIL, "DependsOn": []}]
    for number in range(20):
        conditions = [{"Type": "Equals", "LeftValue": 1, "RightValue": 1}]
        arguments = {"Conditions": conditions, "IfSteps": deep, "ElseSteps": []}
        deep = [{"Name": f"C{number}", "Type": "Condition", "Arguments": arguments}]
    for steps in ([PROCESS, *many], deep):
        file = tmp_path / f"pipeline.{form}"
        data = definition(*steps)
        file.write_text(json.dumps(data) if form == "json" else yaml.dump(data, Dumper=yaml.CSafeDumper))
        assert validate_file(str(file), strict=False).error is None
    data = definition(PROCESS, *many, {**FAIL, "Name": "F", "DependsOn": ["Nobody"]})
    file.write_text(json.dumps(data, indent=1) if form == "json" else yaml.dump(data, Dumper=yaml.CSafeDumper))
    assert "there is no step 'Nobody'" in lines_of(validate_file(str(file), strict=False).error)[0]


def test_what_is_no_definition_is_not_larger_for_naming_steps(tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text(json.dumps({"AlgorithmSpecification": {"Steps": [{}] * 30_000}}))
    error = validate_file(str(file), strict=False).error
    assert error is not None
    assert "too large for a request: more than 20,000 parts" in error.sentence
    file.write_text(json.dumps({"Steps": "x" * (1 << 20), "more": [{}] * 30_000}))
    error = validate_file(str(file), strict=False).error
    assert error is not None
    assert "larger than 1 MiB, which no definition may be" in error.sentence


def test_another_run_is_of_the_same_pipeline_as_a_client_has_started_it() -> None:
    job, _ = read(definition(local={"Parameters": {"Depth": 3}}), {"hyperparameters": {"Data": "x"}})
    start = {
        "PipelineName": "mine",
        "PipelineParameters": [{"Name": "Depth", "Value": "5"}, {"Name": "Data", "Value": "s3://b/x"}],
        "SelectiveExecutionConfig": {"SourcePipelineExecutionArn": "arn", "SelectedSteps": [{"StepName": "Enough"}]},
    }
    document = recorded_document({**job.document.record(), "Data": definition()})
    assert READING.begin_again(document, {"Start": start}, "anything") == "mine"
    again, _ = READING.read_named(document, name=None, stem="mine", strict=False)
    assert again.start == start


def test_the_image_of_the_first_training_step_is_checked() -> None:
    train = {
        "Name": "Train",
        "Type": "Training",
        "Arguments": {
            "AlgorithmSpecification": {"TrainingImage": {"Get": "Parameters.Image"}, "TrainingInputMode": "File"},
            "OutputDataConfig": {"S3OutputPath": {"Get": "Execution.PipelineName"}},
            "ResourceConfig": CLUSTER,
            "StoppingCondition": {"MaxRuntimeInSeconds": 60},
        },
    }
    image = {"Name": "Image", "Type": "String", "DefaultValue": "trained"}
    local = {"Cache": "contents", "Memory": "1g", "Queue": "q"}
    data = definition(PROCESS, train, FAIL, local=local, parameters=[image])
    said: list[str] = []
    document = PREPARING.checked(Document(data, name="p.yaml", directory="/x"), said.append)
    assert said == ["the image of p.yaml is checked for its step Train; others are checked by their names: image"]
    job, _ = read_any(document, {}, path="p.yaml", fill_in=False, strict=False)
    assert isinstance(job, JobFile)
    assert job.raw["AlgorithmSpecification"]["TrainingImage"] == "trained"
    assert document.data[LOCAL] == {"Memory": "1g"}
    (only,) = (PREPARING.checked(Document(definition(), name="p.yaml", directory="/x"), said.append),)
    assert only.data["AppSpecification"] == {"ImageUri": "image"}
    with pytest.raises(UsageRefusedError, match="no training or processing step"):
        PREPARING.checked(Document(definition({**FAIL, "DependsOn": []}), name="p.yaml", directory="/x"), said.append)
