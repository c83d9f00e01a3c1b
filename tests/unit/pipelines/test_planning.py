"""What is found out before an execution is made."""

import json
from pathlib import Path
from typing import Any

import pytest

from smlocal.errors import RequestRefusedError
from smlocal.jobfile.reading import load_document
from smlocal.pipelines import planning
from smlocal.pipelines.job_file import READING

PIPELINE = """\
Version: "2020-12-01"
Steps:
  - {Name: One, Type: EMR, Arguments: {}}
  - {Name: Two, Type: EMR, Arguments: {}}
  - {Name: Three, Type: EMR, Arguments: {}}
Local:
  Steps:
    One: {Command: [%s]}
    Two: {Command: [%s, x]}
    Three: {Python: "%s:handler"}
"""


def plan(folder: Path, *stand_ins: str) -> list[str]:
    engines: Any = None
    document = load_document(PIPELINE % stand_ins, name="p", directory=str(folder))
    file = READING.read(document, strict=True)
    found = planning.plan_job(file, name="p-1", home=str(folder), engines=engines, strict=True)
    return [each.text for each in found.notes if each.id == "stand-in"]


def test_stand_ins_that_are_not_here(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    (tmp_path / "three.py").touch()
    with pytest.raises(RequestRefusedError) as raised:
        plan(tmp_path, "no-such-program", "./run.sh", "no/three.py")
    assert [" ".join(each.split()) for each in raised.value.details] == [
        "p:8 Local.Steps.One.Command: there is no program no-such-program",
        "p:9 Local.Steps.Two.Command: there is no program ./run.sh",
        "p:10 Local.Steps.Three.Python: there is no file no/three.py",
    ]
    (tmp_path / "run.sh").chmod(0o755)
    assert plan(tmp_path, "sh", "./run.sh", "three.py") == [
        "One: sh runs, in place of the service's step",
        "Two: ./run.sh x runs, in place of the service's step",
        "Three: three.py:handler runs, in place of the service's step",
    ]


def test_local_data_that_no_step_writes_is_looked_for_before_the_run(tmp_path: Path) -> None:
    """`made` and what lies below a joined location are outputs of an earlier step."""
    (tmp_path / "data").mkdir()
    cluster = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}
    joined = {"Std:Join": {"On": "/", "Values": ["./joined", {"Get": "Execution.PipelineExecutionId"}]}}

    def step(name: str, reads: list[Any], writes: list[Any]) -> dict[str, Any]:
        arguments = {
            "AppSpecification": {"ImageUri": "i"},
            "ProcessingResources": {"ClusterConfig": cluster},
            "ProcessingInputs": [
                {"InputName": f"i{number}", "S3Input": {"S3Uri": each, "LocalPath": f"/opt/ml/processing/i{number}"}}
                for number, each in enumerate(reads)
            ],
            "ProcessingOutputConfig": {
                "Outputs": [
                    {
                        "OutputName": f"o{number}",
                        "S3Output": {"S3Uri": each, "LocalPath": f"/opt/ml/processing/o{number}"},
                    }
                    for number, each in enumerate(writes)
                ]
            },
        }
        return {"Name": name, "Type": "Processing", "Arguments": arguments}

    where = {"Get": "Parameters.Where"}
    steps = [
        step("One", ["./data", where, "s3://b/x"], ["./made", joined]),
        step("Two", ["./made/x", "./joined", "./dat"], []),
    ]
    steps[1]["DependsOn"] = ["One"]
    parameters = [{"Name": "Where", "Type": "String", "DefaultValue": "none"}]
    data = {"Version": "2020-12-01", "Parameters": parameters, "Steps": steps}
    text = json.dumps(data, indent=1)
    engines: Any = None
    file = READING.read(load_document(text, name="p", directory=str(tmp_path)), strict=False)
    with pytest.raises(RequestRefusedError) as raised:
        planning.plan_job(file, name="p-1", home=str(tmp_path), engines=engines, strict=False)
    assert [line.partition(" ")[2].partition(": ")[2] for line in raised.value.details] == [
        "none does not exist here",
        "./dat does not exist here; did you mean ./data?",
    ]
