"""Tuning jobs of shell scripts, as users make them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit.life import Life

from smlocal.jobs.store.records import JobRecord

LOSS = 'n=$(sed \'s/.*"n": *"\\([0-9]*\\)".*/\\1/\' /opt/ml/input/config/hyperparameters.json); echo loss=$n'
"""The loss is the hyperparameter."""
WAIT = "while [ ! -e /opt/ml/output/go ]; do sleep 0.05; done"


@dataclass(kw_only=True)
class Tuning:
    """Makes tuning jobs in one home."""

    life: Life

    def file(self, name: str, script: str, **members: Any) -> Path:
        """A search for the least `loss`; `config` and `definition` change its two parts."""
        path = self.life.folder / f"{name}.json"
        path.write_text(json.dumps(self.request(name, script, **members)))
        return path

    def request(
        self,
        name: str,
        script: str,
        *,
        values: Sequence[str] = ("1", "2", "3", "4"),
        parallel: int = 2,
        config: Mapping[str, Any] | None = None,
        definition: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> dict[str, Any]:
        return {
            "HyperParameterTuningJobName": name,
            "HyperParameterTuningJobConfig": {
                "Strategy": "Grid",
                "HyperParameterTuningJobObjective": {"Type": "Minimize", "MetricName": "loss"},
                "ResourceLimits": {"MaxParallelTrainingJobs": parallel},
                "ParameterRanges": {"CategoricalParameterRanges": [{"Name": "n", "Values": list(values)}]},
                **(config or {}),
            },
            "TrainingJobDefinition": {
                "StaticHyperParameters": {"fixed": "yes"},
                "AlgorithmSpecification": {
                    "TrainingImage": self.life.image,
                    "TrainingInputMode": "File",
                    "MetricDefinitions": [{"Name": "loss", "Regex": "^loss=([0-9.]+)$"}],
                },
                "OutputDataConfig": {"S3OutputPath": "./out"},
                "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
                "StoppingCondition": {"MaxRuntimeInSeconds": 240},
                "Environment": {"SCRIPT": script},
                **(definition or {}),
            },
            **members,
        }

    def children(self, name: str) -> list[JobRecord]:
        """Its training jobs, by their numbers."""
        found = [each for each in self.life.store.list() if re.fullmatch(rf"{name}-\d{{3}}-[0-9a-f]{{8}}", each.name)]
        return sorted(found, key=lambda each: each.name)

    def child(self, name: str, number: int) -> str:
        return self.children(name)[number - 1].name

    def until_training(self, name: str, count: int) -> None:
        """Wait until so many of its training jobs write."""
        self.life.until(lambda: sum("loss=" in self.life.log(each.name) for each in self.children(name)) >= count)

    def wait(self, name: str) -> dict[str, Any]:
        done = self.life("wait", name)
        assert done.returncode in {0, 1, 4}, done.stderr
        return self.life.describe(name)


@pytest.fixture
def tuning(life: Life) -> Tuning:
    return Tuning(life=life)


@pytest.fixture
def all_gone(assert_nothing_left: Callable[[str], None], tuning: Tuning) -> Callable[[str], None]:
    """Fails if the tuning job or one of its training jobs left anything."""

    def check(name: str) -> None:
        for each in (name, *(child.name for child in tuning.children(name))):
            assert_nothing_left(each)

    return check
