"""Small valid jobs of both kinds."""

from typing import Any

import pytest

Json = dict[str, Any]


@pytest.fixture
def training_job() -> Json:
    return {
        "jobId": "census_1",
        "trainingInput": {
            "scaleTier": "CUSTOM",
            "masterType": "n1-standard-4",
            "masterConfig": {"imageUri": "gcr.io/project/train"},
            "workerType": "n1-highmem-8",
            "workerCount": "2",
            "parameterServerType": "n1-standard-4",
            "parameterServerCount": 1,
            "evaluatorType": "n1-standard-4",
            "evaluatorCount": 1,
            "evaluatorConfig": {"imageUri": "gcr.io/project/evaluate"},
            "args": ["--epochs", "3"],
            "jobDir": "gs://bucket/census",
            "region": "europe-west4",
        },
    }


@pytest.fixture
def custom_job() -> Json:
    return {
        "displayName": "census",
        "jobSpec": {
            "workerPoolSpecs": [
                pool(1, env=[{"name": "RATE", "value": "0.1"}]),
                pool(2, args=["--epochs", "3"]),
                {},
                pool(1),
            ],
            "baseOutputDirectory": {"outputUriPrefix": "gs://bucket/census/"},
            "scheduling": {"timeout": "3600s", "restartJobOnWorkerRestart": True},
        },
    }


def pool(count: int, **container: Any) -> Json:
    return {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": count,
        "containerSpec": {"imageUri": "europe-docker.pkg.dev/project/train", **container},
    }
