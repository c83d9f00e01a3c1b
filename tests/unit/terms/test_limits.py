"""The forms of `Local.Memory`, `Cpus`, `ShmSize` and `Ulimits`."""

from typing import Any

import pytest

from smlocal.errors import RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.terms.limits import (
    cpus_trouble,
    memory_trouble,
    read_size,
    read_ulimit,
    shared_memory_trouble,
    ulimits_trouble,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (1024, 1024),
        ("1024", 1024),
        ("1024b", 1024),
        ("64k", 65_536),
        ("512m", 512 << 20),
        ("512MiB", 512 << 20),
        ("2 GB", 2 << 30),
        ("1t", 1 << 40),
        ("0", 0),
        ("", None),
        ("2gg", None),
        ("-1", None),
        ("1.5g", None),
        (1.5, None),
        (True, None),
        ("٢g", None),
    ],
)
def test_sizes(text: Any, size: int | None) -> None:
    assert read_size(text) == size


@pytest.mark.parametrize(
    ("text", "pair"),
    [(1024, (1024, 1024)), ("10:20", (10, 20)), (-1, (-1, -1)), ("5:-1", (5, -1)), ("a", None), ("1:", None)],
)
def test_a_ulimit(text: Any, pair: tuple[int, int] | None) -> None:
    assert read_ulimit(text) == pair


def test_values_that_cannot_be() -> None:
    assert memory_trouble("6m") is None
    assert "between 6291456 bytes" in (memory_trouble("5m") or "")
    assert "must be a size" in (memory_trouble("lots") or "")
    assert shared_memory_trouble("64k") is None
    assert "between 1 bytes" in (shared_memory_trouble(0) or "")
    assert cpus_trouble(0.5) is None
    for value in (0, -1, "2", True, float("nan"), float("inf")):
        assert "number of processors" in (cpus_trouble(value) or ""), value


def test_ulimits_that_cannot_be() -> None:
    assert ulimits_trouble({"nofile": 1024, "memlock": "-1", "core": "0:0"}) is None
    assert "did you mean nofile?" in (ulimits_trouble({"nofiles": 1}) or "")
    assert "which is not a valid limit" in (ulimits_trouble({"nofile": "many"}) or "")
    assert "which is not a valid limit" in (ulimits_trouble({"nofile": None}) or "")
    assert "above the hard one" in (ulimits_trouble({"nofile": "20:10"}) or "")
    assert "must be a map" in (ulimits_trouble("nofile=1") or "")


def test_in_a_job_file() -> None:
    data: dict[str, Any] = {
        "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "Local": {"Memory": "much", "Cpus": "2", "ShmSize": "x", "Ulimits": {"x": 1}},
    }
    with pytest.raises(RequestInvalidError) as caught:
        read_job(Document(data, name="job.yaml", directory="/work"), strict=False)
    told = "\n".join(caught.value.details)
    assert [name for name in data["Local"] if f"Local.{name} " in told] == ["Memory", "Cpus", "ShmSize", "Ulimits"]
