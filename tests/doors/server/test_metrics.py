"""Metrics of a real job, read by boto3 and by hand in the query protocol."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from xml.etree import ElementTree as ET

import pytest
from botocore.exceptions import ClientError

NAMESPACE = "/aws/sagemaker/TrainingJobs"


@pytest.mark.slow(2)
def test_metrics_of_a_job_by_the_json_and_the_query_protocol(
    endpoint: Any, smlocal_run: Callable[..., Any], image: Callable[[str], str], tmp_path: Path
) -> None:
    job = {
        "TrainingJobName": "served-metrics",
        "AlgorithmSpecification": {
            "TrainingImage": image("sh"),
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["sh", "-c", "echo loss=0.5; echo loss=0.25; sleep 6; echo loss=0.125"],
            # Long enough for some samples of its usage on a busy machine.
            "MetricDefinitions": [{"Name": "train:loss", "Regex": "loss=([0-9.]+)"}],
        },
        "OutputDataConfig": {"S3OutputPath": str(tmp_path / "out")},
        "ResourceConfig": {"InstanceType": "local", "InstanceCount": 1, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 600},
    }
    file = tmp_path / "job.json"
    file.write_text(json.dumps(job))
    smlocal_run("run", file, check=True)

    described = endpoint.client("sagemaker").describe_training_job(TrainingJobName="served-metrics")
    start, end = described["TrainingStartTime"], described["TrainingEndTime"] + timedelta(minutes=1)
    cloudwatch = endpoint.client("cloudwatch")
    dimensions = [{"Name": "TrainingJobName", "Value": "served-metrics"}]
    answer = cloudwatch.get_metric_statistics(
        Namespace=NAMESPACE,
        MetricName="train:loss",
        Dimensions=dimensions,
        StartTime=start,
        EndTime=end,
        Period=1,
        Statistics=["SampleCount", "Minimum", "Maximum"],
    )
    assert sum(point["SampleCount"] for point in answer["Datapoints"]) == 3
    assert min(point["Minimum"] for point in answer["Datapoints"]) == 0.125
    assert all(start - timedelta(seconds=1) <= point["Timestamp"] <= end for point in answer["Datapoints"])

    stat = {"Metric": {"Namespace": NAMESPACE, "MetricName": "train:loss", "Dimensions": dimensions}}
    pages = cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=[{"Id": "loss", "MetricStat": {**stat, "Period": 3600, "Stat": "Maximum"}}],
        StartTime=start,
        EndTime=end,
    )
    (result,) = pages.build_full_result()["MetricDataResults"]
    assert (max(result["Values"]), result["StatusCode"]) == (0.5, "Complete")

    listed = cloudwatch.get_paginator("list_metrics").paginate(Namespace=NAMESPACE).build_full_result()["Metrics"]
    used = {each["MetricName"] for each in listed if each["Dimensions"][0]["Name"] == "Host"}
    assert used >= {"CPUUtilization", "MemoryUtilization"}

    form = {
        "Action": "GetMetricStatistics",
        "Version": "2010-08-01",
        "Namespace": NAMESPACE,
        "MetricName": "train:loss",
        "Dimensions.member.1.Name": "TrainingJobName",
        "Dimensions.member.1.Value": "served-metrics",
        "StartTime": start.astimezone().isoformat(),
        "EndTime": f"{end:%Y-%m-%dT%H:%M:%SZ}",
        "Period": "3600",
        "Statistics.member.1": "SampleCount",
    }
    with urlopen(Request(endpoint.address, urlencode(form).encode()), timeout=200) as reply:
        text = reply.read().decode()
    root = ET.fromstring(text)
    space = {"aws": "http://monitoring.amazonaws.com/doc/2010-08-01/"}
    counts = root.findall("aws:GetMetricStatisticsResult/aws:Datapoints/aws:member/aws:SampleCount", space)
    assert sum(float(each.text or "") for each in counts) == 3


@pytest.mark.parametrize("name", ["\ud800", "x\udfff/algo-1"])
def test_half_a_character_is_refused_as_no_json(endpoint: Any, name: str) -> None:
    with pytest.raises(ClientError, match="SerializationException"):
        endpoint.client("cloudwatch").list_metrics(Dimensions=[{"Name": "Host", "Value": name}])


def test_a_character_outside_the_basic_plane_is_text(endpoint: Any) -> None:
    listed = endpoint.client("cloudwatch").list_metrics(Dimensions=[{"Name": "Host", "Value": "\U0001f600"}])
    assert listed["Metrics"] == []
