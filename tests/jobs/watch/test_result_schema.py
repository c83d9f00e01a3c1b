"""Results of real jobs fit the published schema."""

import json
from typing import Any

import fastjsonschema
import pytest

METRIC = {"MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}, {"Name": "none", "Regex": "none=(.*)"}]}


@pytest.mark.slow(14)
def test_of_jobs_that_end_in_each_way(life: Any) -> None:
    schema = json.loads(life("schema", "--result").stdout)
    fits = fastjsonschema.compile({**schema, "$schema": "http://json-schema.org/draft-07/schema#"})
    image = {"AlgorithmSpecification": {"TrainingImage": life.image, "TrainingInputMode": "File", **METRIC}}
    two = {"ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2}}
    jobs = {
        "fits-completed": life.job_file("fits-completed", "echo loss=1.5; echo m >/opt/ml/model/m; sleep 2", **image),
        "fits-failed": life.job_file("fits-failed", "echo why >/opt/ml/output/failure; exit 3"),
        "fits-hosts": life.job_file("fits-hosts", "exit 4", **two),
        "fits-stopped": life.job_file("fits-stopped", "sleep 60", StoppingCondition={"MaxRuntimeInSeconds": 1}),
    }
    for name, file in jobs.items():
        report = life.folder / f"{name}-report.json"
        done = life("run", file, "--report", str(report), "--json")
        written = json.loads(report.read_text())
        assert written == json.loads(done.stdout)
        fits(written)
    life("run", life.job_file("fits-running", "until [ -e /opt/ml/output/go ]; do sleep 0.1; done"), "--detach")
    answer = life.describe("fits-running")
    assert answer["TrainingJobStatus"] == "InProgress"
    fits(answer)
    life.until((life.home / "jobs" / "fits-running" / "hosts" / "algo-1" / "output").exists)
    life.let_go("fits-running")
    life("wait", "fits-running")
    wrong = {**written, "TrainingJobStatus": "Fine"}
    with pytest.raises(fastjsonschema.JsonSchemaValueException, match="TrainingJobStatus"):
        fits(wrong)
    with pytest.raises(fastjsonschema.JsonSchemaValueException, match="ExitCode"):
        fits({**written, "Local": {**written["Local"], "Hosts": [{**written["Local"]["Hosts"][0], "ExitCode": "1"}]}})
