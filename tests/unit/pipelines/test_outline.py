"""The plan of a pipeline as people see it: parameters, the graph, and the instance-hours at most."""

from typing import Any

import pytest
import yaml

from smlocal.api.overrides import Overrides
from smlocal.pipelines.outline import outline, outline_rows
from smlocal.sagemaker.pipelines.cache import CacheAnswer

from .test_files import read

CLUSTER = "{InstanceType: ml.m5.large, InstanceCount: 2, VolumeSizeInGB: 30}"
PROCESS = f"""{{AppSpecification: {{ImageUri: prepare:1}}, ProcessingResources: {{ClusterConfig: {CLUSTER}}},
    StoppingCondition: {{MaxRuntimeInSeconds: 1800}}}}"""
TRAIN = """{AlgorithmSpecification: {TrainingImage: {Get: Parameters.Image}, TrainingInputMode: File},
    OutputDataConfig: {S3OutputPath: "s3://bucket/out"},
    ResourceConfig: {InstanceType: {Get: Parameters.Type}, InstanceCount: 1, VolumeSizeInGB: 30},
    StoppingCondition: {MaxRuntimeInSeconds: 7200}}"""
PIPELINE = f"""
Version: "2020-12-01"
Parameters:
  - {{Name: Image, Type: String, DefaultValue: "train:1"}}
  - {{Name: Type, Type: String, DefaultValue: ml.g5.xlarge}}
  - {{Name: Items, Type: String, DefaultValue: "[1, 2, 3]"}}
Steps:
  - {{Name: Prepare, Type: Processing, Arguments: {PROCESS}}}
  - Name: Good
    Type: Condition
    DependsOn: [Prepare]
    Arguments:
      Conditions: [{{Type: Equals, LeftValue: {{Get: Parameters.Type}}, RightValue: x}}]
      IfSteps:
        - {{Name: Train, Type: Training, Arguments: {TRAIN}}}
        - {{Name: Again, Type: Training, DependsOn: [Train], Arguments: {TRAIN}}}
      ElseSteps:
        - {{Name: More, Type: Processing, Arguments: {PROCESS}}}
        - {{Name: Stop, Type: Fail, DependsOn: [More], Arguments: {{ErrorMessage: bad}}}}
  - Name: Each
    Type: ForEach
    Arguments:
      IterableItems: {{Get: Parameters.Items}}
      MaxConcurrency: 2
      ForEachBody:
        - {{Name: Item, Type: Processing, Arguments: {PROCESS}}}
  - {{Name: Score, Type: Transform, DependsOn: [Prepare], Arguments: {{ModelName: m,
      TransformInput: {{DataSource: {{S3DataSource: {{S3DataType: S3Prefix, S3Uri: "s3://b/in"}}}}}},
      TransformOutput: {{S3OutputPath: "s3://b/out"}},
      TransformResources: {{InstanceType: ml.m5.large, InstanceCount: 1}}}}}}
  - Name: Tell
    Type: Lambda
    FunctionArn: f
    Arguments: {{model: {{Get: Steps.Score.TransformOutput.S3OutputPath}}}}
Local:
  Steps: {{Tell: {{Python: tell.py:handler}}}}
"""
ROWS = """\
Steps        Prepare    Processing · prepare:1 · 2 × ml.m5.large
             Good       Condition · after Prepare
               if Train  Training · train:1 · 1 × ml.g5.xlarge
               Again     Training · after Train · train:1 · 1 × ml.g5.xlarge
               else More  Processing · prepare:1 · 2 × ml.m5.large
               Stop      Fail · after More
             Each       ForEach
               Item      Processing · prepare:1 · 2 × ml.m5.large
             Score      Transform · after Prepare · 1 × ml.m5.large
             Tell       Lambda · after Score · tell.py:handler runs
At most      5 h of ml.m5.large, 4 h of ml.g5.xlarge; without Score: a transform job has no limit of its time
"""


def outlined(text: str = PIPELINE, given: Overrides | None = None, **more: Any) -> dict[str, Any]:
    job, _ = read(yaml.safe_load(text), given or {})
    return outline(job, **more)


def printed(found: dict[str, Any]) -> list[list[str]]:
    return [f"{head:<13}{text}".split() for head, text in outline_rows(found)]


def test_the_rows_of_a_graph() -> None:
    assert printed(outlined()) == [line.split() for line in ROWS.splitlines()]
    columns = {text.index(" · ") for _, text in outline_rows(outlined()) if text.startswith("Tell")}
    assert len(columns) == 1


@pytest.mark.parametrize(
    ("given", "hours", "without"),
    [
        ({}, {"ml.m5.large": 5.0, "ml.g5.xlarge": 4.0}, ["Score"]),
        ({"hyperparameters": {"Type": "ml.m5.large", "Items": "[]"}}, {"ml.m5.large": 5.0}, ["Score"]),
        ({"hyperparameters": {"Items": "no list"}}, {"ml.m5.large": 102.0, "ml.g5.xlarge": 4.0}, ["Score"]),
        ({"select": ["Prepare"]}, {"ml.m5.large": 1.0}, []),
        (
            {"select": ["Prepare"], "members": {"Steps[0].Arguments.StoppingCondition": None}},
            {"ml.m5.large": 48.0},
            [],
        ),
    ],
    ids=range(5),
)
def test_the_hours_at_most(given: Overrides, hours: dict[str, float], without: list[str]) -> None:
    """Of a Condition the dearer branch for each type, of a ForEach all items; a job without a limit has a day."""
    found = outlined(given=given)
    assert found["InstanceHoursAtMost"] == hours
    assert list(found["NotCounted"]) == without


def test_a_tuning_step_counts_all_of_its_jobs() -> None:
    definition = f"""{{AlgorithmSpecification: {{TrainingImage: tune:1, TrainingInputMode: File,
      MetricDefinitions: [{{Name: loss, Regex: "loss=(.*)"}}]}}, OutputDataConfig: {{S3OutputPath: "s3://b/o"}},
      ResourceConfig: {CLUSTER}, StoppingCondition: {{MaxRuntimeInSeconds: 3600}}}}"""
    text = f"""
Version: "2020-12-01"
Steps:
  - Name: Search
    Type: Tuning
    Arguments:
      HyperParameterTuningJobConfig:
        Strategy: Random
        HyperParameterTuningJobObjective: {{Type: Minimize, MetricName: loss}}
        ResourceLimits: {{MaxNumberOfTrainingJobs: 5, MaxParallelTrainingJobs: 2}}
        ParameterRanges: {{IntegerParameterRanges: [{{Name: depth, MinValue: "1", MaxValue: "9"}}]}}
      TrainingJobDefinition: {definition}
"""
    found = outlined(text)
    assert found["InstanceHoursAtMost"] == {"ml.m5.large": 10.0}
    assert found["Steps"][0]["Images"] == ["tune:1"]
    text = text.replace("MaxNumberOfTrainingJobs: 5", "MaxNumberOfTrainingJobs: {Get: Execution.PipelineName}")
    found = outlined(text)
    assert found["InstanceHoursAtMost"] == {}
    assert found["NotCounted"] == {"Search": "its instances or its time are not known before it runs"}


def test_steps_that_are_not_selected_and_hits_of_the_cache_are_marked() -> None:
    found = outlined(given={"select": ["Score"], "source_execution": "earlier"})
    marks = {each["Name"]: (each.get("Selected"), each.get("ResultFrom")) for each in found["Steps"]}
    assert marks["Prepare"] == (False, "earlier")
    assert marks["Score"] == (None, None)
    assert marks["Train"] == (False, None)
    rows = [" ".join(row) for row in printed(found)]
    assert rows[0].endswith("2 × ml.m5.large · result of the source")
    answers = {
        "Prepare": CacheAnswer(source="arn:x/execution/abc"),
        "Score": CacheAnswer(why="InputDataConfig differs"),
    }
    found = outlined(cached=answers)
    rows = [" ".join(row) for row in printed(found)]
    assert rows[0].endswith("· cached: result of abc")
    assert any(row.startswith("Score") and row.endswith("InputDataConfig differs") for row in rows)


def test_an_expression_is_shown_as_the_names_in_it() -> None:
    joined = '{"Std:Join": {"On": "/", Values: [repo, {Get: Execution.PipelineName}]}}'
    found = outlined(PIPELINE.replace("ImageUri: prepare:1", f"ImageUri: {joined}"))
    assert found["Steps"][0]["Images"] == ["repo/Execution.PipelineName"]
