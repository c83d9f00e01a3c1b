"""A tuning job in a file: valid, or one error with all mistakes."""

from copy import deepcopy
from datetime import datetime
from typing import Any

import pytest

from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.jobs.planning.model import Note
from smlocal.sagemaker.tuning.planning import notes
from smlocal.sagemaker.tuning.tuning_file import TuningFile, default_name, read_tuning

DEFINITION: dict[str, Any] = {
    "StaticHyperParameters": {"epochs": "27"},
    "AlgorithmSpecification": {
        "TrainingImage": "image",
        "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}],
    },
    "OutputDataConfig": {"S3OutputPath": "./out"},
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
}
REQUEST: dict[str, Any] = {
    "HyperParameterTuningJobName": "held",
    "HyperParameterTuningJobConfig": {
        "Strategy": "Random",
        "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
        "ResourceLimits": {"MaxNumberOfTrainingJobs": 4, "MaxParallelTrainingJobs": 2},
        "ParameterRanges": {"ContinuousParameterRanges": [{"Name": "lr", "MinValue": "0.1", "MaxValue": "1"}]},
    },
    "TrainingJobDefinition": DEFINITION,
}


NO_PARENT = {"ParentHyperParameterTuningJobs": [{}], "WarmStartType": "TransferLearning"}


def read(*changes: tuple[str, Any], strict: bool = False) -> TuningFile:
    """The request, with values at dotted paths; None takes a member away."""
    data = deepcopy(REQUEST)
    for path, value in changes:
        *above, last = path.split(".")
        target = data
        for step in above:
            target = target.setdefault(step, {})
        target[last] = value
    return read_tuning(Document(data, name="tuning.yaml", directory="/here"), strict=strict)


CONFIG = "HyperParameterTuningJobConfig"


def ranges(kind: str, *given: dict[str, Any]) -> tuple[str, Any]:
    return f"{CONFIG}.ParameterRanges", {f"{kind}ParameterRanges": list(given)}


def number(low: str, high: str, **more: str) -> dict[str, str]:
    return {"Name": "x", "MinValue": low, "MaxValue": high, **more}


def test_a_valid_one() -> None:
    file = read()
    plan = file.plan("held")
    assert (plan.strategy, plan.most, plan.parallel, plan.early) == ("Random", 4, 2, False)
    assert plan.seed == read().plan("held").seed != file.plan("other").seed
    (definition,) = file.definitions
    assert definition.request["HyperParameters"] == {"_tuning_objective_metric": "loss", "epochs": "27"}
    assert "StaticHyperParameters" not in definition.request


def test_a_static_objective_stays_as_a_client_has_written_it() -> None:
    file = read(("TrainingJobDefinition.StaticHyperParameters", {"_tuning_objective_metric": '"loss"'}))
    assert file.definitions[0].request["HyperParameters"] == {"_tuning_objective_metric": '"loss"'}


def test_hyperband_takes_the_epochs_from_a_static_hyperparameter() -> None:
    plan = read((f"{CONFIG}.Strategy", "Hyperband")).plan("x")
    assert (plan.least_resource, plan.most_resource) == (1, 27)


def test_the_instances_of_the_tuning_resources() -> None:
    config = {"InstanceConfigs": [{"InstanceType": "ml.m5.xlarge", "InstanceCount": 2, "VolumeSizeInGB": 5}]}
    file = read(
        ("TrainingJobDefinition.ResourceConfig", None),
        ("TrainingJobDefinition.HyperParameterTuningResourceConfig", config),
    )
    assert file.definitions[0].request["ResourceConfig"]["InstanceType"] == "ml.m5.xlarge"


CATEGORIES = [{"Name": f"c{index}", "Values": [str(value) for value in range(10)]} for index in range(12)]
TWO = {"Name": "c", "Values": ["1", "2"]}
GRID = (f"{CONFIG}.Strategy", "Grid")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ([("HyperParameterTuningJobName", "a" * 33)], "hyperParameterTuningJobName"),
        ([ranges("Continuous", number("1", "1"))], "the range is empty"),
        ([ranges("Continuous", number("2", "1"))], "the range is reversed"),
        ([ranges("Integer", number("one", "2"))], "'one' is not an integer"),
        ([ranges("Integer", number("1", "inf"))], "'inf' is not an integer"),
        ([ranges("Integer", number("1", "1e400"))], "'1e400' is not an integer"),
        ([ranges("Integer", number("1.5", "2"))], "'1.5' is not an integer"),
        ([ranges("Continuous", number("0", "inf"))], "'inf' is not a finite number"),
        ([ranges("Continuous", number("nan", "1"))], "'nan' is not a finite number"),
        ([ranges("Continuous", number("0", "1", ScalingType="Logarithmic"))], "values greater than 0"),
        ([ranges("Continuous", number("0", "1", ScalingType="ReverseLogarithmic"))], "up to and without 1"),
        ([ranges("Integer", number("1", "9", ScalingType="ReverseLogarithmic"))], "for continuous"),
        ([ranges("Continuous", number("0", "1"), number("0", "2"))], "'x' has several ranges"),
        ([ranges("Continuous", {**number("0", "1"), "Name": "epochs"})], "is a static hyperparameter too"),
        ([ranges("Categorical", {"Name": "c", "Values": ["1", "1"]})], "'1' is there more than once"),
        ([ranges("Categorical", {"Name": "c", "Values": [1, 2]})], "Values"),
        ([ranges("Categorical")], "a range of at least one"),
        ([ranges("Categorical", TWO)], "combinations for the provided ranges [2.0] must be equal or greater"),
        ([(f"{CONFIG}.ResourceLimits", {"MaxParallelTrainingJobs": 1})], "unless Strategy is Grid"),
        ([GRID], "a grid has categorical hyperparameters only"),
        ([GRID, ranges("Categorical", TWO)], "a grid of 2 combinations"),
        ([GRID, ranges("Categorical", *CATEGORIES)], "1,000,000,000,000 points"),
        ([(f"{CONFIG}.HyperParameterTuningJobObjective", None)], "the objective is missing"),
        ([(f"{CONFIG}.HyperParameterTuningJobObjective.MetricName", "acc")], "no MetricDefinitions define"),
        ([("WarmStartConfig", NO_PARENT)], "hyperParameterTuningJobName"),
        ([("TrainingJobDefinition", None)], "needs TrainingJobDefinition"),
        ([("Local", {"DebugPort": 5678})], "cannot share a port"),
        ([("TrainingJobDefinitions", [DEFINITION])], "exclude each other"),
        ([("TrainingJobDefinition.ResourceConfig", None)], "null at 'trainingJobDefinition.resourceConfig'"),
        ([(f"{CONFIG}.StrategyConfig", {"HyperbandStrategyConfig": {"MaxResource": 9}})], "only Strategy: Hyperband"),
        (
            [(f"{CONFIG}.Strategy", "Hyperband"), ("TrainingJobDefinition.StaticHyperParameters", {})],
            "MaxResource is missing",
        ),
        (
            [(f"{CONFIG}.Strategy", "Hyperband"), (f"{CONFIG}.TrainingJobEarlyStoppingType", "Auto")],
            "it must be Off",
        ),
    ],
)
def test_mistakes(changes: list[tuple[str, Any]], text: str) -> None:
    with pytest.raises(RequestInvalidError) as raised:
        read(*changes)
    assert text in "\n".join(raised.value.details)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (ranges("Continuous", number("a", "1")), "is not a finite number"),
        (ranges("Integer", number("9", "1")), "the range is reversed"),
    ],
)
def test_combinations_of_ranges_that_are_mistakes_are_not_counted(change: tuple[str, Any], text: str) -> None:
    with pytest.raises(RequestInvalidError) as raised:
        read(change)
    (detail,) = raised.value.details
    assert text in detail


def test_the_sentence_of_the_service_about_a_metric() -> None:
    with pytest.raises(RequestInvalidError) as raised:
        read((f"{CONFIG}.HyperParameterTuningJobObjective.MetricName", "acc"))
    assert "A metric is required for this hyperparameter tuning job objective." in raised.value.service_message


def test_mistakes_of_the_training_jobs_are_shown_where_they_are_written() -> None:
    with pytest.raises(RequestInvalidError) as raised:
        read(("TrainingJobDefinition.AlgorithmSpecification.TrainingImage", None))
    assert "TrainingJobDefinition.AlgorithmSpecification" in "\n".join(raised.value.details)


@pytest.mark.parametrize(
    "change",
    [
        ("Autotune", {"Mode": "Enabled"}),
        (f"{CONFIG}.ParameterRanges.AutoParameters", [{"Name": "a", "ValueHint": "1"}]),
        ("TrainingJobDefinition.AlgorithmSpecification.AlgorithmName", "mine"),
    ],
)
def test_members_that_are_refused(change: tuple[str, Any]) -> None:
    taken = ("TrainingJobDefinition.AlgorithmSpecification.TrainingImage", None)
    with pytest.raises(FieldRefusedError) as raised:
        read(change, *([taken] if change[0].endswith("AlgorithmName") else []))
    assert change[0] in raised.value.sentence


def test_strict_requires_what_the_service_requires() -> None:
    with pytest.raises(RequestInvalidError) as raised:
        read(("HyperParameterTuningJobName", None), strict=True)
    found = "\n".join(raised.value.details)
    assert "hyperParameterTuningJobName" in found
    assert "trainingJobDefinition.roleArn" in found


def test_several_definitions() -> None:
    objective = {"Type": "Maximize", "MetricName": "loss"}
    each = {
        **DEFINITION,
        "TuningObjective": objective,
        "HyperParameterRanges": {"IntegerParameterRanges": [number("1", "9")]},
    }
    config = {
        name: value for name, value in REQUEST[CONFIG].items() if "Objective" not in name and "Ranges" not in name
    }
    file = read(
        (CONFIG, config),
        ("TrainingJobDefinition", None),
        ("TrainingJobDefinitions", [{**each, "DefinitionName": "a"}, {**each, "DefinitionName": "b"}]),
    )
    assert [definition.name for definition in file.definitions] == ["a", "b"]
    alone = (CONFIG, config), ("TrainingJobDefinition", None)
    with pytest.raises(RequestInvalidError):
        read(*alone, ("TrainingJobDefinitions", [each]))
    two = [{**each, "DefinitionName": "a"}, {**each, "DefinitionName": "b"}]
    start = {
        "ParentHyperParameterTuningJobs": [{"HyperParameterTuningJobName": "p"}],
        "WarmStartType": "TransferLearning",
    }
    assert read(*alone, ("TrainingJobDefinitions", two[:1]), ("WarmStartConfig", start)).parents == ["p"]
    with pytest.raises(RequestInvalidError) as raised:
        read(*alone, ("TrainingJobDefinitions", two), ("WarmStartConfig", start))
    assert "WarmStartConfig: a warm start is for one" in "\n".join(raised.value.details)


def test_definitions_that_look_for_different_things_are_noted() -> None:
    each = {**DEFINITION, "HyperParameterRanges": {"IntegerParameterRanges": [number("1", "9")]}}
    given = [
        {**each, "DefinitionName": direction, "TuningObjective": {"Type": direction, "MetricName": "loss"}}
        for direction in ("Maximize", "Minimize")
    ]
    config = {
        name: value for name, value in REQUEST[CONFIG].items() if "Objective" not in name and "Ranges" not in name
    }
    file = read(
        (CONFIG, {**config, "TrainingJobEarlyStoppingType": "Auto"}),
        ("TrainingJobDefinition", None),
        ("TrainingJobDefinitions", given),
    )
    twice = [Note(id="env", text="same")] * 2
    found = [note.id for note in notes(twice, file)]
    assert found.count("env") == 1
    assert {"tuning-definitions", "tuning-early-definitions", "tuning-directions"} <= set(found)


@pytest.mark.parametrize(
    ("strategy", "jobs", "parallel", "said"),
    [
        ("Random", 750, 10, []),
        ("Random", 751, 11, ["quota of 750, which can be raised to 10,000", "quota of 10, which can be raised to 100"]),
        ("Bayesian", 751, 1, ["quota of 750 for Bayesian, which cannot be raised: the service refuses them"]),
        ("Hyperband", 751, 101, ["750 for Hyperband, which cannot", "which can be raised to 100: the service refuses"]),
    ],
)
def test_quotas_are_noted(strategy: str, jobs: int, parallel: int, said: list[str]) -> None:
    limits = {"MaxNumberOfTrainingJobs": jobs, "MaxParallelTrainingJobs": parallel}
    file = read((f"{CONFIG}.Strategy", strategy), (f"{CONFIG}.ResourceLimits", limits))
    found = [note.text for note in notes([], file) if note.id in {"tuning-quota", "tuning-parallel-quota"}]
    assert len(found) == len(said)
    assert all(text in note for text, note in zip(said, found, strict=True))


def test_too_many_hyperparameters_for_a_training_job() -> None:
    """As many as one request may have, but the objective metric and the tuned ones come to them."""
    statics = {f"h{number}": "1" for number in range(98)}
    read(("TrainingJobDefinition.StaticHyperParameters", statics))
    with pytest.raises(RequestInvalidError) as raised:
        read(("TrainingJobDefinition.StaticHyperParameters", {**statics, "one": "more"}))
    (line,) = raised.value.details
    assert "TrainingJobDefinition.StaticHyperParameters: a training job would have 101 hyperparameters" in line


def test_a_name_has_at_most_32_characters() -> None:
    name = default_name("my_very long-file-name", datetime(2026, 1, 2, 3, 4, 5, 678000))  # noqa: DTZ001 - only digits of it
    assert name == "my-very-long-fi-260102-030405678"
    assert len(name) == 32
