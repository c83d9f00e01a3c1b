"""Whole jobs on an engine in a virtual machine that shares the home alone: elsewhere it has folders, but empty ones."""

import json
import os
import shutil
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.doors.remote.test_remote import channel
from tests.jobs.hosting.conftest import Hosting
from tests.jobs.processing.conftest import ROOT, Processing, an_input, an_output
from tests.jobs.transform.conftest import Transforms
from tests.jobs.tuning.conftest import LOSS, Tuning
from tests.kit.life import Life
from tests.kit.mac_disk import mac_disk
from tests.kit.virtual_machine import VirtualMachine, virtual_machine

from smlocal.data.channels.fastfile.availability import why_no_fuse
from smlocal.engine.engines import connect_to
from smlocal.jobs.planning.aspects.engines.look_folders import with_folder_facts

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a dockerd")

Image = Callable[[str | Path], str]
NOT_LINUX = Path(__file__).parents[2] / "kit" / "not_linux"
_READS = "say NoIssuesFound 1 $(cat /smlocal-source/own.sh) $(cat /smlocal-trials/0/a)"
_CLIENT = """
import boto3, sys
client, name = boto3.client("sagemaker"), "vm-exec"
boto3.client("s3").create_bucket(Bucket="vm-bucket")
boto3.client("s3").put_object(Bucket="vm-bucket", Key="data/a", Body=b"content")
client.create_training_job(
    TrainingJobName=name,
    AlgorithmSpecification={"TrainingImage": sys.argv[1], "TrainingInputMode": "File"},
    RoleArn="arn:aws:iam::111122223333:role/r",
    Environment={"SCRIPT": "cp /opt/ml/input/data/train/a /opt/ml/model/m"},
    InputDataConfig=[{
        "ChannelName": "train", "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://vm-bucket/data/"}},
    }],
    OutputDataConfig={"S3OutputPath": "s3://vm-bucket/out"},
    ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
    StoppingCondition={"MaxRuntimeInSeconds": 100},
)
client.get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name, WaiterConfig={"Delay": 1})
print(client.describe_training_job(TrainingJobName=name)["TrainingJobStatus"])
"""


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What the machine shares, as /Users of a Mac; with FUSE, on a disk as there."""
    folder = tmp_path_factory.mktemp("users")
    if why_no_fuse() is not None:
        yield folder
        return
    with mac_disk(folder, "kept") as disk:
        yield disk


@pytest.fixture(scope="module", params=["own", "same"])
def machine(users: Path, image: Image, request: pytest.FixtureRequest) -> Iterator[VirtualMachine]:
    with virtual_machine(users, image=image("sh"), same_kernel=request.param == "same") as machine:
        yield machine


of_its_own_kernel = pytest.mark.parametrize("machine", ["own"], indirect=True)


@pytest.fixture
def outside(machine: VirtualMachine, tmp_path: Path) -> Path:
    """A folder with data that is empty there."""
    for name in ("data", "code", "saved", "out"):
        (tmp_path / name).mkdir()
        machine.engine.make_empty(tmp_path / name)
    (tmp_path / "data" / "a").write_text("content\n")
    (tmp_path / "code" / "own.sh").write_text("echo from the code\n")
    (tmp_path / "saved" / "before").write_text("saved\n")
    return tmp_path


@pytest.fixture
def life(users: Path, machine: VirtualMachine, image: Image, tmp_path: Path) -> Iterator[Life]:
    folder = users / tmp_path.name
    folder.mkdir()
    home = folder / "Library/Application Support/smlocal"
    it = Life(folder=folder, home=home, image=image("sh"), environment={"DOCKER_HOST": machine.address})
    yield it
    it.end()
    assert machine.engine.docker("ps", "--all", "--quiet") == machine.engine.docker("volume", "ls", "--quiet") == ""


def notes(answer: Any) -> dict[str, str]:
    return {note["Id"]: note["Text"] for note in answer["Local"]["Notes"]}


@pytest.mark.slow(2)
def test_training_with_everything_outside(life: Life, outside: Path) -> None:
    script = """
        cd /opt/ml; cat input/data/*/a checkpoints/before; sh code/own.sh
        echo new >checkpoints/after; echo m >model/m; mkdir -p output/data; echo o >output/data/o; echo t >tensors/t
    """
    (inside := life.folder / "data").mkdir()
    (inside / "a").write_text("inside\n")
    path = life.job_file(
        "vm-training",
        script,
        InputDataConfig=[
            {**channel(f"{outside}/data"), "ChannelName": "file"},
            {**channel(f"{outside}/data", "FastFile"), "ChannelName": "fast"},
            {**channel("./data"), "ChannelName": "inside"},
            {**channel("s3://bucket/data/"), "ChannelName": "mapped"},
            {**channel(f"{outside}/data/a"), "ChannelName": "single"},
        ],
        CheckpointConfig={"S3Uri": f"{outside}/saved"},
        OutputDataConfig={"S3OutputPath": f"{outside}/out"},
        TensorBoardOutputConfig={"S3OutputPath": f"{outside}/tensors", "LocalPath": "/opt/ml/tensors"},
        Local={"Code": f"{outside}/code", "Sources": {"s3://bucket/": str(outside)}},
    )
    planned = notes({"Local": json.loads(life("plan", path, "--json").stdout)})
    done = life("run", path, "--json")
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed", done.stderr
    assert life.log("vm-training") == "content\ncontent\ninside\ncontent\ncontent\nsaved\nfrom the code\n"
    assert sorted(os.listdir(outside / "saved")) == ["after", "before"]
    assert (outside / "tensors/vm-training/tensorboard-output/t").read_text() == "t\n"
    with tarfile.open(outside / "out/vm-training/output/model.tar.gz") as archive:
        assert archive.getnames() == ["m"]
    assert answer["Local"]["Hosts"][0]["Staging"]["/opt/ml/input/data/inside"] == "overlay"
    for said in (planned, notes(answer)):
        assert f"file (the engine does not see {outside}/data)" in said["staging-copied"]
        assert f"code (the engine does not see {outside}/code)" in said["staging-copied"]


def test_where_nothing_could_be_tried_each_folder_is_looked_at(
    machine: VirtualMachine, image: Image, tmp_path: Path
) -> None:
    engine = connect_to(machine.address)
    found = with_folder_facts(engine.facts(), engine, engine.image(image("sh")), str(tmp_path / "no-home"))
    assert (found.shares_folders, found.same_mounts) == (True, False)
    assert "does not exist yet" in (found.untried or "")


@pytest.mark.slow(1)
@of_its_own_kernel
def test_paths_through_a_link_that_only_this_machine_has(life: Life, outside: Path, machine: VirtualMachine) -> None:
    """As /tmp and /var of a Mac."""
    (life.folder / "data").mkdir()
    (life.folder / "data" / "a").write_text("inside\n")
    (link := outside / "link").symlink_to(life.folder)
    machine.engine.make_empty(link / "data")
    machine.engine.make_empty(link / "home")
    system = {"FileSystemId": "fs-01234567", "FileSystemAccessMode": "rw", "FileSystemType": "EFS"}
    inputs = [
        {**channel(f"{link}/data"), "ChannelName": "file"},
        {**channel(f"{link}/data", "FastFile"), "ChannelName": "fast"},
        {"ChannelName": "system", "DataSource": {"FileSystemDataSource": {**system, "DirectoryPath": "/"}}},
    ]
    parts: dict[str, Any] = {
        "InputDataConfig": inputs,
        "CheckpointConfig": {"S3Uri": f"{link}/saved"},
        "OutputDataConfig": {"S3OutputPath": f"{link}/out"},
        "Local": {"Sources": {"fs-01234567": f"{link}/data"}, "Code": f"{link}/data"},
    }
    life.environment["SMLOCAL_HOME"] = f"{link}/home"
    script = "cd /opt/ml; cat input/data/*/a code/a; echo c >checkpoints/c; echo m >model/m"
    done = life("run", life.job_file("vm-linked", script, **parts), "--json")
    answer = json.loads(done.stdout)
    assert answer["TrainingJobStatus"] == "Completed", done.stderr
    assert (life.folder / "home/jobs/vm-linked/logs/algo-1.log").read_text() == "inside\n" * 4
    assert (os.listdir(life.folder / "saved"), life.model("vm-linked")) == (["c"], ["m"])


@pytest.mark.slow(2)
@of_its_own_kernel
@pytest.mark.skipif(why_no_fuse() is not None, reason="needs FUSE")
def test_a_home_that_is_not_shared_on_a_disk_that_ignores_case(
    machine: VirtualMachine, image: Image, tmp_path: Path
) -> None:
    """The containers' folders are the machine's, and tell names apart."""
    script = """
        cd /opt/ml; cat input/data/B/x input/data/b/x >model/A; echo a >model/a
        for each in A a; do echo $each >checkpoints/$each; done
    """
    with mac_disk(tmp_path, "kept") as disk:
        life = Life(folder=disk, home=disk / "home", image=image("sh"), environment={"DOCKER_HOST": machine.address})
        for name in ("one", "two"):
            (disk / name).mkdir()
            (disk / name / "x").write_text(name)
        inputs = [{**channel("./one"), "ChannelName": "B"}, {**channel("./two"), "ChannelName": "b"}]
        path = life.job_file("vm-alike", script, InputDataConfig=inputs, CheckpointConfig={"S3Uri": "./saved"})
        done = life("run", path, "--json")
        assert json.loads(done.stdout)["TrainingJobStatus"] == "Completed", done.stderr
        assert "folders-ignore-case" not in done.stdout
        assert "a was not saved: in the destination, which ignores case, it would be the same file as A" in done.stdout
        assert [(each.name, each.read_text()) for each in (disk / "saved").iterdir()] == [("A", "A\n")]
        with tarfile.open(disk / "out/vm-alike/output/model.tar.gz") as archive:
            found = {each.name: archive.extractfile(each) for each in archive}
            assert {name: file.read() for name, file in found.items() if file} == {"A": b"onetwo", "a": b"a\n"}
        life.end()


@pytest.mark.slow(1)
@of_its_own_kernel
def test_what_is_refused(life: Life, outside: Path, image: Image, machine: VirtualMachine) -> None:
    machine.engine.load(image("serve"))
    system = {"FileSystemId": "fs-01234567", "FileSystemAccessMode": "rw", "FileSystemType": "EFS"}
    efs = {"ChannelName": "t", "DataSource": {"FileSystemDataSource": {**system, "DirectoryPath": "/"}}}
    source = {"S3Uri": f"{outside}/data/", "S3DataType": "S3Prefix", "CompressionType": "None"}
    model = {"Image": image("serve"), "ModelDataSource": {"S3DataSource": source}}
    (life.folder / "model.json").write_text(json.dumps({"PrimaryContainer": model}))
    sources: dict[str, Any] = {"Local": {"Sources": {"fs-01234567": f"{outside}/data"}}}
    pipe = life.job_file("vm-pipe", "true", InputDataConfig=[channel(f"{outside}/data", "Pipe")])
    keys = life.job_file("vm-keys", "true", Local={"Credentials": "inherit"})
    for command, error, words in (
        (("run", pipe), "pipe-unreachable", "runs in a virtual machine"),
        (
            ("run", life.job_file("vm-efs", "true", InputDataConfig=[efs], **sources)),
            "engine-remote",
            f"{outside}/data",
        ),
        (("run", keys), "credentials-unreachable", "a virtual machine"),
        (("deploy", "model.json", "--name", "vm-folder"), "endpoint-unreachable", f"{outside}/data"),
    ):
        done = life(*command)
        assert done.returncode != 0, command
        assert (f"[{error}]" in done.stderr, words in " ".join(done.stderr.split())) == (True, True), done.stderr


@pytest.mark.slow(2)
@of_its_own_kernel
def test_other_kinds_of_jobs(life: Life, outside: Path) -> None:
    answer = Processing(life=life).run_job(
        "vm-processing",
        f"cat {ROOT}/in/a; echo o >{ROOT}/o/o; echo l >{ROOT}/l/l",
        inputs=[an_input("in", f"{outside}/data")],
        outputs=[an_output("o", f"{outside}/out/o"), an_output("l", f"{outside}/out/l", S3UploadMode="Continuous")],
    )
    assert answer["ProcessingJobStatus"] == "Completed"
    assert life.log("vm-processing") == "content\n"
    assert sorted(each.name for each in (outside / "out").rglob("*")) == ["l", "l", "o", "o"]

    tuning = Tuning(life=life)
    config = {"InputDataConfig": [channel(f"{outside}/data")], "OutputDataConfig": {"S3OutputPath": f"{outside}/out"}}
    path = tuning.file("vm-tuning", f"{LOSS}; cat /opt/ml/input/data/train/a", values=("1", "2"), definition=config)
    done = life("run", path)
    assert done.returncode == 0, done.stderr
    assert [life.log(each.name).splitlines()[-1] for each in tuning.children("vm-tuning")] == ["content"] * 2

    pool: dict[str, Any] = {"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": life.image}}
    for folder, code in ((outside, 3), (life.folder, 0)):
        pool["containerSpec"]["env"] = [{"name": "SCRIPT", "value": "ls /gcs/b"}]
        local = {"Sources": {"gs://b": str(folder)}}
        custom = {"workerPoolSpecs": [pool], "baseOutputDirectory": {"outputUriPrefix": "gs://b/o"}, "Local": local}
        (life.folder / "custom.json").write_text(json.dumps(custom))
        done = life("run", "custom.json", "--name", f"vm-custom-{code}")
        assert (done.returncode, f"does not see {folder}" in done.stderr) == (code, bool(code)), done.stderr


@pytest.mark.slow(2)
@of_its_own_kernel
def test_answers_come_through_published_ports(life: Life, outside: Path, image: Image, machine: VirtualMachine) -> None:
    """The home has a path that is too long for a socket, and nothing is there that only Linux has."""
    life.environment |= {"PYTHONPATH": str(NOT_LINUX), "NOT_LINUX": str(life.folder / "tried")}
    machine.engine.load(image("serve"))
    machine.engine.load(image("transform"))
    hosting = Hosting(life=life, image=image("serve"))
    hosting.archive()
    model = shutil.move(life.folder / "model.tar.gz", outside / "out" / "model.tar.gz")
    file = hosting.model_file("vm-hosting", container={"ModelDataUrl": str(model)})
    done = life("deploy", file, "--name", "vm-hosting")
    assert done.returncode == 0, done.stderr
    assert hosting.invoke("vm-hosting", "1,2").stdout == "1,2"
    assert life("rm", "--stop", "vm-hosting").returncode == 0
    places = {"objects": {"S3Uri": f"{outside}/data"}, "output": {"S3OutputPath": f"{outside}/out"}}
    done = Transforms(life=life, image=image("transform")).run("vm-transform", **places)
    assert done.returncode == 0, done.stderr
    assert "CONTENT" in (outside / "out" / "a.out").read_text()


@pytest.mark.slow(4)
@of_its_own_kernel
def test_checks_and_clients(life: Life, outside: Path) -> None:
    script = "cp /opt/ml/input/data/train/a /opt/ml/model/m"
    done = life("check", life.job_file("vm-check", script, InputDataConfig=[channel(f"{outside}/data")]), "--json")
    failed = {each["Id"] for each in json.loads(done.stdout)["Check"]["Rules"] if each["Outcome"] != "passed"}
    assert not {"job-fails", "no-model"} & failed, done.stdout
    (life.folder / "client.py").write_text(_CLIENT)
    done = life("exec", "--", sys.executable, "client.py", life.image)
    assert (done.returncode, done.stdout) == (0, "Completed\n"), done.stderr


@pytest.mark.slow(2)
@of_its_own_kernel
@pytest.mark.parametrize("where", ["inside", "outside"])
def test_rules_read_no_empty_folder(
    life: Life, outside: Path, image: Image, machine: VirtualMachine, where: str
) -> None:
    machine.engine.load(image("rule"))
    top = outside
    if where == "inside":
        (top := life.folder / "mine").mkdir()
        for name in ("data", "code", "out"):
            shutil.move(outside / name, top / name)
    rules = [
        {
            "RuleConfigurationName": name,
            "RuleEvaluatorImage": image("rule"),
            "RuleParameters": {"script": _READS, **parameters},
            "InstanceType": "ml.t3.medium",
            "VolumeSizeInGB": 0,
        }
        for name, parameters in (
            ("Reads", {"source_s3_uri": f"{top}/code/own.sh", "other_trial_0": f"{top}/data"}),
            ("Acts", {"action_json": '{"name": "stoptraining"}'}),
        )
    ]
    # The tensors are inside in any case.
    hook: dict[str, Any] = {"DebugHookConfig": {"S3OutputPath": "./out"}, "DebugRuleConfigurations": rules}
    done = life("run", life.job_file("vm-rules", "sleep 1", **hook), "--json")
    found = {
        each["RuleConfigurationName"]: each["StatusDetails"]
        for each in json.loads(done.stdout)["DebugRuleEvaluationStatuses"]
    }
    assert "do not get out of the virtual machine" in found["Acts"]
    assert found["Reads"] == "echo from the code content" if where == "inside" else f"see {outside}/" in found["Reads"]
