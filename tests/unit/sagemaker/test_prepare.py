"""The facts of the machine that decide before a job is made."""

from dataclasses import replace
from typing import Any

import pytest

from smlocal.engine.engines import engines_at
from smlocal.engine.facts import EngineFacts
from smlocal.errors import PipeUnreachableError
from smlocal.jobfile.document import Document
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine, PlacedEngines, with_facts
from smlocal.jobs.planning.aspects.inputs.look import check_access
from smlocal.jobs.planning.workload import Workload
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.sagemaker.workload import workload_of

HERE = EngineFacts(
    address="unix:///var/run/docker.sock",
    local=True,
    shares_folders=True,
    version="28.0.0",
    architecture="amd64",
    operating_system="linux",
    storage_driver="overlay2",
)
DESKTOP = replace(HERE, address="unix:///home/me/.docker/desktop/docker.sock", desktop=True)
REMOTE = replace(HERE, address="tcp://elsewhere:2375", local=False, shares_folders=False)


def work(mode: str) -> Workload:
    data: dict[str, Any] = {
        "AlgorithmSpecification": {"TrainingImage": "image", "TrainingInputMode": "File"},
        "InputDataConfig": [
            {
                "ChannelName": "train",
                "InputMode": mode,
                "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}},
            }
        ],
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    }
    return workload_of(read_job(Document(data, name="job.yaml", directory="/nowhere"), strict=False))


def placed_on(*facts: EngineFacts) -> PlacedEngines:
    engines = engines_at(each.address for each in facts)
    placed = [PlacedEngine(engine=engines.at(each.address), facts=each, hosts=()) for each in facts]
    return with_facts(PlacedEngines(each=tuple(placed)), lambda each: each.facts)


@pytest.mark.parametrize("engine", [DESKTOP, REMOTE])
def test_a_fifo_reaches_no_other_kernel(engine: EngineFacts) -> None:
    with pytest.raises(PipeUnreachableError) as caught:
        check_access(work("Pipe"), placed_on(engine))
    assert caught.value.exit_code == 3
    assert 'channel "train"' in caught.value.sentence
    assert engine.address in caught.value.sentence


@pytest.mark.parametrize(("mode", "engine"), [("File", DESKTOP), ("FastFile", DESKTOP), ("Pipe", HERE)])
def test_everything_else_is_fine(mode: str, engine: EngineFacts) -> None:
    check_access(work(mode), placed_on(engine))


def test_of_several_engines_the_one_that_does_not_see_the_folders_is_named() -> None:
    placed = placed_on(HERE, replace(REMOTE, named=True))
    assert not placed.first.facts.shares_folders
    with pytest.raises(PipeUnreachableError, match="engine at tcp://elsewhere:2375, which does not see") as caught:
        check_access(work("Pipe"), placed)
    assert caught.value.remedy[0].startswith("Use an engine of this machine (change Local.Engines, or --engine), or")
    check_access(work("FastFile"), placed)
