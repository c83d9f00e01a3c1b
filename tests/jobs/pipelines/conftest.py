"""Executions of pipelines whose jobs are shell scripts, as users start them."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit.life import Life

from smlocal.jobs.store.records import JobRecord
from smlocal.sagemaker.pipelines.listing import listed
from smlocal.sagemaker.pipelines.stored import STEP_OF, StoredStep, read_steps

ROLE = "arn:aws:iam::111122223333:role/R"
WAIT = "trap 'exit 0' TERM; while [ ! -e /opt/ml/output/go ]; do sleep 0.05; done"


@dataclass(kw_only=True)
class Pipelines:
    """Runs executions in one home."""

    life: Life

    def training(self, name: str, script: str = "true", **members: Any) -> dict[str, Any]:
        """A step; `arguments` change its request."""
        arguments = {
            "RoleArn": ROLE,
            "AlgorithmSpecification": {"TrainingImage": self.life.image, "TrainingInputMode": "File"},
            "OutputDataConfig": {"S3OutputPath": "s3://nowhere/models"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 5},
            "StoppingCondition": {"MaxRuntimeInSeconds": 240},
            "Environment": {"SCRIPT": script},
            **members.pop("arguments", {}),
        }
        return {"Name": name, "Type": "Training", "Arguments": arguments, **members}

    def processing(self, name: str, script: str, **members: Any) -> dict[str, Any]:
        """A step with one output, `out`."""
        output = {"S3Uri": "s3://nowhere/out", "LocalPath": "/opt/ml/processing/out", "S3UploadMode": "EndOfJob"}
        cluster = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 5}
        arguments = {
            "RoleArn": ROLE,
            "AppSpecification": {"ImageUri": self.life.image, "ContainerEntrypoint": ["sh", "-c", script]},
            "ProcessingResources": {"ClusterConfig": cluster},
            "ProcessingOutputConfig": {"Outputs": [{"OutputName": "out", "S3Output": output}]},
        }
        return {"Name": name, "Type": "Processing", "Arguments": arguments, **members}

    def file(self, name: str, steps: Sequence[Mapping[str, Any]], **members: Any) -> Path:
        path = self.life.folder / f"{name}.json"
        path.write_text(json.dumps({"Version": "2020-12-01", "Steps": steps, **members}))
        return path

    def run(self, name: str, steps: Sequence[Mapping[str, Any]], *flags: str, code: int = 0, **members: Any) -> str:
        """Run an execution to its end; returns its name."""
        done = self.life("run", self.file(name, steps, **members), "--json", "-q", *flags)
        assert done.returncode == code, done.stderr
        return self.newest(name)

    def detach(self, name: str, steps: Sequence[Mapping[str, Any]], **members: Any) -> str:
        done = self.life("run", "--detach", self.file(name, steps, **members))
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def newest(self, name: str) -> str:
        return next(each.name for each in self.life.store.list() if each.name.startswith(f"{name}-"))

    def steps(self, execution: str) -> dict[str, StoredStep]:
        return read_steps(self.life.store, execution)

    def rows(self, execution: str) -> list[str]:
        """`Name Status`, with what else is told of a step, the oldest first."""
        steps = self.steps(execution).values()
        rows = listed([each.listed for each in steps], ascending=True)
        more = ("FailureReason", "CacheHitResult", "SelectiveExecutionResult")
        return [
            " ".join([row["StepName"], row["StepStatus"], *(str(row[each]) for each in more if each in row)])
            for row in rows
        ]

    def children(self, execution: str) -> list[JobRecord]:
        """The jobs of its steps, the oldest first."""
        run = self.life.job(execution).run_id
        found = [record for record, by in self.life.store.jobs_with(STEP_OF) if by["Run"] == run]
        return sorted(found, key=lambda each: each.created)

    def child(self, execution: str, step: str) -> str:
        found = self.life.store.jobs_with(STEP_OF)
        return next(record.name for record, by in found if (by["Name"], by["Step"]) == (execution, step))

    def until_running(self, execution: str, count: int) -> None:
        """Wait until so many jobs of its steps have written `up`."""
        self.life.until(lambda: sum("up" in self.life.log(each.name) for each in self.children(execution)) >= count)

    def wait(self, execution: str) -> str:
        done = self.life("wait", execution)
        assert done.returncode in {0, 1, 4}, done.stderr
        return str(self.life.describe(execution)["PipelineExecutionStatus"])


@pytest.fixture
def pipelines(life: Life) -> Pipelines:
    return Pipelines(life=life)


@pytest.fixture
def all_gone(assert_nothing_left: Callable[[str], None], pipelines: Pipelines) -> Callable[[str], None]:
    """Fails if an execution or the job of one of its steps left anything."""

    def check(execution: str) -> None:
        for each in (execution, *(child.name for child in pipelines.children(execution))):
            assert_nothing_left(each)

    return check
