"""Checkpoints go into real containers and come back, attempt after attempt."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from smlocal.data.artifacts.mirror.save import SaveReport
from smlocal.engine.docker import DockerEngine
from smlocal.engine.engines import connect, engines_named
from smlocal.engine.interface import JOB_LABEL, ContainerSpec, Mount
from smlocal.jobfile.document import Document
from smlocal.jobs.finish.cleanup import clear_disk
from smlocal.jobs.mirrored.folders import (
    checkpoint_mounts,
    mirrored_folders,
    restore_checkpoints,
    with_current_checkpoints,
)
from smlocal.jobs.mirrored.saving import folder_tree, save_folder
from smlocal.jobs.planning.model import HostPlan, JobPlan, host_directory
from smlocal.sagemaker.jobfile.job_file import read_job
from smlocal.sagemaker.training.plan import for_attempt
from smlocal.sagemaker.training.planning import plan_job
from smlocal.sagemaker.training.preparing import PREPARING

Image = Callable[[str], str]


class Attempts:
    """The attempts of one job, with nothing in its hosts but the checkpoints."""

    def __init__(self, engine: DockerEngine, plan: JobPlan) -> None:
        self.engine = engine
        self.plan = plan
        self.number = 0

    def run(self, script: str, at: str = "/opt/ml/checkpoints") -> tuple[list[str], SaveReport]:
        """Restore, run a script at the checkpoints of every host, save; what the scripts said, and what was saved."""
        self.number += 1
        assert clear_disk(self.plan.job_directory) == []
        said, ended = [], []
        for host in self.plan.hosts:
            base = Path(host_directory(self.plan, host))
            for path in ("model", "output/data"):
                (base / path).mkdir(parents=True, exist_ok=True)
            restore_checkpoints(self.plan, host)
            said.append(self._container(host, base, f"cd {at}\n{script}"))
            ended.append((host, f"{host.container}-{self.number}"))
        (folder,) = mirrored_folders(self.plan)
        trees = [folder_tree(folder, host, container, self.engine) for host, container in ended]
        report = save_folder(folder, trees, [host for host, _ in ended])
        self.plan = for_attempt(with_current_checkpoints(self.plan), self.number)
        return said, report

    def _container(self, host: HostPlan, base: Path, script: str) -> str:
        model = Mount(source=str(base / "model"), target="/opt/ml/model")
        container = self.engine.create(
            ContainerSpec(
                name=f"{host.container}-{self.number}",
                image=self.plan.image.name,
                labels={JOB_LABEL: self.plan.name},
                entrypoint=("/bin/sh", "-euc", script),
                command=(),
                environment={},
                hostname=host.host.name,
                mounts=(model, *checkpoint_mounts(self.plan, host)),
            )
        )
        output = self.engine.attach(container)
        self.engine.start(container)
        said = b"".join(written.lines for written in output).decode()
        assert self.engine.wait(container) == 0, said
        output.close()
        return said


@pytest.fixture
def attempts(tmp_path: Path, image: Image) -> Iterator[Callable[..., Attempts]]:
    engine = connect()
    name = f"checkpoints-{uuid4().hex[:8]}"

    def make(config: dict[str, Any], hosts: int = 1, **local: Any) -> Attempts:
        request = {
            "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts},
            "CheckpointConfig": config,
            "Local": local,
        }
        job = read_job(Document(request, name="job.yaml", directory=str(tmp_path)), strict=False)
        plan = plan_job(job, name=name, home=str(tmp_path / "home"), engines=engines_named(()), strict=False)
        return Attempts(engine, plan)

    yield make
    for resource in engine.owned(name):
        engine.remove(resource)
    assert engine.owned(name) == []


COUNT = "was=$(cat count 2>/dev/null || echo none); echo $was; echo $((${was#none} + 1)) >count; stat -c '%U %a' ."


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("local_path", [None, "/state", "/opt/ml/model/ckpt"])
def test_restored_changed_and_saved(attempts: Callable[..., Attempts], tmp_path: Path, local_path: str | None) -> None:
    config = {"S3Uri": "s3://bucket/ckpt/run", **({} if local_path is None else {"LocalPath": local_path})}
    made = attempts(config, Sources={"s3://bucket/ckpt": "./ckpt"})
    manifest = "/opt/ml/input/data/checkpoints-manifest"
    assert made.plan.hosts[0].files[manifest] == b"ckpt/run\n"
    at = local_path or "/opt/ml/checkpoints"
    for before in ("none", "1", "2"):
        said, report = made.run(COUNT, at)
        assert said[0].splitlines()[-2:] == [before, "root 755"]
        assert report.written == ("count",)
    assert [path.name for path in (tmp_path / "ckpt" / "run").iterdir()] == ["count"]
    assert (tmp_path / "ckpt" / "run" / "count").read_text() == "3\n"
    assert made.plan.hosts[0].files[manifest] == b"ckpt/run\ns3://bucket/ckpt/run/count\n"
    model = Path(host_directory(made.plan, made.plan.hosts[0])) / "model"
    assert [path.name for path in model.rglob("*")] == (["ckpt", "count"] if at.startswith("/opt/ml/model/") else [])


def test_hosts_share_the_prefix(attempts: Callable[..., Attempts], tmp_path: Path) -> None:
    (tmp_path / "ckpt").mkdir()
    for name in ("kept", "first", "gone"):
        (tmp_path / "ckpt" / name).write_text("old\n")
    made = attempts({"S3Uri": "./ckpt"}, hosts=2)
    said, report = made.run(
        'ls; if [ "$(hostname)" = algo-1 ]; then echo new >first; rm gone; fi; echo "$(hostname)" >"own-$(hostname)"'
    )
    assert said == ["first\ngone\nkept\n"] * 2
    assert report.clashes == ()
    found = {path.name: path.read_text() for path in (tmp_path / "ckpt").iterdir()}
    assert found == {"kept": "old\n", "first": "new\n", "own-algo-1": "algo-1\n", "own-algo-2": "algo-2\n"}


def test_a_folder_that_became_a_link_is_not_followed(attempts: Callable[..., Attempts], tmp_path: Path) -> None:
    made = attempts({"S3Uri": "./ckpt", "LocalPath": "/opt/ml/model/ckpt"})
    made.run("cd ..; rmdir ckpt; ln -s /etc ckpt", "/opt/ml/model/ckpt")
    assert not (tmp_path / "ckpt").exists()


def test_the_plan_shows_it(attempts: Callable[..., Attempts], tmp_path: Path) -> None:
    (tmp_path / "ckpt").mkdir()
    (tmp_path / "ckpt" / "a").write_text("1")
    made = attempts({"S3Uri": "./ckpt", "LocalPath": "/state/"})
    document = PREPARING.plan_document(made.plan)
    assert document["Checkpoints"] == {
        "Requested": "./ckpt",
        "Directory": str(tmp_path / "ckpt"),
        "Published": None,
        "LocalPath": "/state",
        "Files": 1,
        "Bytes": 1,
    }
    assert document["Hosts"][0]["Mounts"][-1] == {
        "Target": "/state",
        "Kind": "bind",
        "Source": f"{host_directory(made.plan, made.plan.hosts[0])}/checkpoints",
    }
