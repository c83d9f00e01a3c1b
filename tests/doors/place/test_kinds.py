"""Jobs of the other kinds in a place like SageMaker Studio, whose containers share its network."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.doors.place.conftest import RESOURCES, Here

pytestmark = [pytest.mark.engine, pytest.mark.slow(25, together=True)]

_ROLE = "arn:aws:iam::111122223333:role/R"


def processing(here: Here, script: str) -> dict[str, Any]:
    source = {"S3Uri": "./in", "LocalPath": "/opt/ml/processing/in"}
    target = {"S3Uri": "./out", "LocalPath": "/opt/ml/processing/out", "S3UploadMode": "Continuous"}
    return {
        "AppSpecification": {"ImageUri": here.image("sh"), "ContainerEntrypoint": ["sh", "-c", script]},
        "ProcessingInputs": [{"InputName": "in", "S3Input": source}],
        "ProcessingOutputConfig": {"Outputs": [{"OutputName": "out", "S3Output": target}]},
        "ProcessingResources": {"ClusterConfig": {**RESOURCES, "VolumeSizeInGB": 5}},
    }


def test_a_processing_job_reads_and_writes_folders(here: Here) -> None:
    here.write({"in/a": "1\n"})
    script = "umask 077; mkdir /opt/ml/processing/out/deep; cat /opt/ml/processing/in/a > /opt/ml/processing/out/deep/b"
    file = here.file({"ProcessingJobName": "place-processing", **processing(here, script)}, "place-processing")
    answer = here.run(file)
    assert answer["ProcessingJobStatus"] == "Completed", answer
    assert here.files() == {"deep/b": "1\n"}
    assert here.of_others() == []


def test_a_transform_job_asks_its_container(here: Here) -> None:
    here.write({"data/a.csv": "a\nb\n"})
    request = {
        "TransformJobName": "place-transform",
        "PrimaryContainer": {"Image": here.image("transform")},
        "TransformInput": {
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}},
            "SplitType": "Line",
            "ContentType": "text/csv",
        },
        "TransformOutput": {"S3OutputPath": "./out"},
    }
    answer = here.run(here.file(request, "place-transform"))
    assert answer["TransformJobStatus"] == "Completed", answer
    assert here.files() == {"a.csv.out": "A\nB\n"}


def test_two_jobs_of_a_search_run_at_once(here: Here) -> None:
    loss = 'n=$(grep -o \'"n":"[0-9]*\' /opt/ml/input/config/hyperparameters.json); echo loss=${n##*\\"}'
    request = {
        "HyperParameterTuningJobName": "place-tuning",
        "HyperParameterTuningJobConfig": {
            "Strategy": "Grid",
            "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
            "ResourceLimits": {"MaxParallelTrainingJobs": 2},
            "ParameterRanges": {"CategoricalParameterRanges": [{"Name": "n", "Values": ["2", "1"]}]},
        },
        "TrainingJobDefinition": {
            "AlgorithmSpecification": {
                "TrainingImage": here.image("sh"),
                "TrainingInputMode": "File",
                "MetricDefinitions": [{"Name": "loss", "Regex": "^loss=([0-9.]+)$"}],
            },
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": RESOURCES,
            "StoppingCondition": {"MaxRuntimeInSeconds": 240},
            "Environment": {"SCRIPT": loss},
        },
    }
    answer = here.run(here.file(request, "place-tuning"))
    assert answer["HyperParameterTuningJobStatus"] == "Completed", answer
    best = answer["BestTrainingJob"]
    assert best["TunedHyperParameters"] == {"n": "1"}
    assert best["FinalHyperParameterTuningJobObjectiveMetric"]["Value"] == 1.0


def test_a_pipeline_gives_the_output_of_a_step_to_the_next(here: Here) -> None:
    here.write({"in/a": "1\n"})
    first = processing(here, "cp /opt/ml/processing/in/a /opt/ml/processing/out/a")
    first["ProcessingOutputConfig"]["Outputs"][0]["S3Output"] |= {"S3Uri": "s3://nowhere/out"}
    first["ProcessingOutputConfig"]["Outputs"][0]["S3Output"]["S3UploadMode"] = "EndOfJob"
    first["ProcessingInputs"] = []
    first["AppSpecification"]["ContainerEntrypoint"][2] = "echo 1 > /opt/ml/processing/out/a"
    output = "Steps.first.ProcessingOutputConfig.Outputs['out'].S3Output.S3Uri"
    source: Mapping[str, Any] = {"S3DataType": "S3Prefix", "S3Uri": {"Get": output}}
    second = {
        "RoleArn": _ROLE,
        "AlgorithmSpecification": {"TrainingImage": here.image("sh"), "TrainingInputMode": "File"},
        "InputDataConfig": [{"ChannelName": "train", "DataSource": {"S3DataSource": source}}],
        "OutputDataConfig": {"S3OutputPath": "s3://nowhere/models"},
        "ResourceConfig": {**RESOURCES, "VolumeSizeInGB": 5},
        "StoppingCondition": {"MaxRuntimeInSeconds": 240},
        "Environment": {"SCRIPT": "test $(cat /opt/ml/input/data/train/a) = 1; echo m > /opt/ml/model/m"},
    }
    definition = {
        "Version": "2020-12-01",
        "Steps": [
            {"Name": "first", "Type": "Processing", "Arguments": {"RoleArn": _ROLE, **first}},
            {"Name": "second", "Type": "Training", "Arguments": second},
        ],
    }
    here.write({"pipeline.json": json.dumps(definition)})
    answer = here.run("pipeline.json", "--name", "place-pipeline")
    assert answer["PipelineExecutionStatus"] == "Succeeded", answer
