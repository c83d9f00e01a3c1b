"""Somebody in the docker group who is not root: all that a job leaves is theirs to read and to delete."""

import grp
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until
from tests.kit.engine_relay import EngineRelay
from tests.kit.s3_servers import S3Server

import smlocal

USER = "smlocal-test"
NASTY = """
umask 077
mkdir -p /opt/ml/model/a/b/c /opt/ml/input/data/train/new/deep /opt/ml/output/data/x /opt/ml/checkpoints
echo model >/opt/ml/model/a/b/c/file
chmod 000 /opt/ml/model/a/b /opt/ml/model/a/b/c/file
echo reason >/opt/ml/output/failure
chmod 600 /opt/ml/output/failure
echo changed >/opt/ml/input/data/train/a.csv
ls -ln /opt/ml /opt/ml/input /opt/ml/input/config /opt/ml/output
exit 7
"""


@pytest.fixture(scope="module")
def user() -> Iterator[str]:
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    # Whole suites take turns on one machine, so a user of this name is what a killed run has left.
    subprocess.run(["userdel", "--remove", "--force", USER], check=False, capture_output=True)
    subprocess.run(["useradd", "--create-home", "--groups", "docker", USER], check=True, capture_output=True)
    yield USER
    subprocess.run(["userdel", "--remove", USER], check=True, capture_output=True)


@pytest.fixture(scope="module")
def interpreter(user: str) -> Iterator[list[str]]:
    """A Python with what smlocal needs, where this user may go: ours may be below a folder that only root may enter."""
    ours = [Path(sys.base_prefix), Path(smlocal.__file__).parents[1]]
    ours += [Path(path) for path in sys.path if path.endswith("site-packages")]
    place = Path(tempfile.mkdtemp(prefix=f"python-of-{user}-"))
    place.chmod(0o755)
    with ExitStack() as mounted:
        mounted.callback(place.rmdir)
        shown = []
        for number, folder in enumerate(ours):
            there = place / str(number)
            there.mkdir()
            mounted.callback(there.rmdir)
            subprocess.run(["mount", "--bind", "-o", "ro", folder, there], check=True)
            mounted.callback(subprocess.check_call, ["umount", "--lazy", there])
            shown.append(there)
        python, *packages = shown
        executable = python / Path(os.path.realpath(sys.executable)).relative_to(sys.base_prefix)
        # Its own libpython: the path that it was built with may be below a folder that only root may enter.
        variables = [f"PYTHONPATH={os.pathsep.join(map(str, packages))}", f"LD_LIBRARY_PATH={python / 'lib'}"]
        yield ["runuser", "-u", user, "--", "env", *variables, str(executable)]


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize("staging", ["overlay", "copy"])
def test_nothing_is_left_that_needs_root(
    staging: str,
    user: str,
    interpreter: list[str],
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    assert user in grp.getgrnam("docker").gr_mem
    place = Path(tempfile.mkdtemp(prefix="smlocal-other-user-"))
    (place / "data").mkdir(parents=True)
    (place / "data" / "a.csv").write_text("1\n")
    shutil.chown(place, user)
    for path in place.rglob("*"):
        shutil.chown(path, user)
    name = f"other-user-{staging}"
    try:
        done = subprocess.run(
            [
                *interpreter,
                "-m",
                "smlocal",
                "run",
                "--image",
                image("sh"),
                "--name",
                name,
                "--channel",
                "train=./data",
                "--env",
                f"SCRIPT={NASTY}",
                "--output",
                "./out",
                "--staging",
                staging,
            ],
            cwd=place,
            env={**os.environ, "SMLOCAL_HOME": str(place / "home"), "HOME": f"/home/{user}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        assert "Failed: AlgorithmError: reason\n" in done.stderr
        assert ", exit code: 7\n" in done.stderr
        # All folders and config files belong to root inside, whichever user runs smlocal.
        listed = [line.split() for line in done.stdout.splitlines() if line.startswith(("d", "-"))]
        assert listed
        assert {(fields[2], fields[3]) for fields in listed} == {("0", "0")}
        with tarfile.open(place / "out" / name / "output" / "model.tar.gz") as archive:
            modes = {member.name: member.mode for member in archive}
        assert modes == {"a": 0o700, "a/b": 0, "a/b/c": 0o700, "a/b/c/file": 0}
        assert (place / "data" / "a.csv").read_text() == "1\n"
        owners = {path.owner() for path in (place / "home").rglob("*")} | {
            path.owner() for path in (place / "out").rglob("*")
        }
        assert owners == {user}
        removed = subprocess.run(["runuser", "-u", user, "--", "rm", "-r", place / "home", place / "out"], check=False)
        assert removed.returncode == 0
        assert_nothing_left(name)
    finally:
        shutil.rmtree(place)


@pytest.mark.slow(1)
def test_what_cannot_be_packed_is_packed_later(
    user: str, interpreter: list[str], image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    place = Path(tempfile.mkdtemp(prefix="smlocal-other-user-"))
    shutil.chown(place, user)
    home = {"SMLOCAL_HOME": str(place / "home"), "HOME": f"/home/{user}"}
    name, there = "other-user-pack", place / "out" / "other-user-pack" / "output"

    def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        command = [*interpreter, "-m", "smlocal", *arguments]
        return subprocess.run(
            command, cwd=place, env={**os.environ, **home}, capture_output=True, text=True, check=False, timeout=120
        )

    try:
        there.mkdir(parents=True)  # of root, so that nothing can be written there
        for folder in (place / "out", there.parent):
            shutil.chown(folder, user)
        script = f"SCRIPT={NASTY.replace('exit 7', 'exit 0')}"
        done = run("run", "--image", image("sh"), "--name", name, "--env", script, "--output", "./out")
        assert "Failed: ClientError: Artifact upload failed:Permission denied" in done.stderr
        assert_nothing_left(name)
        assert run("pack", name).returncode == 1
        done = run("pack", name, "--output", "./other")
        assert done.returncode == 0, done.stderr
        with tarfile.open(place / "other" / name / "output" / "model.tar.gz") as archive:
            modes = {member.name: member.mode for member in archive}
            file = archive.extractfile("a/b/c/file")
            assert file is not None
            assert file.read() == b"model\n"
        assert modes == {"a": 0o700, "a/b": 0, "a/b/c": 0o700, "a/b/c/file": 0}
        assert not (place / "home" / "jobs" / name / "kept").exists()
        assert {path.owner() for path in (place / "home").rglob("*")} == {user}
    finally:
        shutil.rmtree(place)


FED = """
cd /opt/ml/input/data
cat pipe_0 pipe_1 pipe_2
cat fast/in
mkdir -p shared/made/deep && echo here >shared/made/deep/file
echo more >>down/in
# Whoever is not root may not listen at port 80.
wget -qO- --header "Authorization: $AWS_CONTAINER_AUTHORIZATION_TOKEN" "$AWS_CONTAINER_CREDENTIALS_FULL_URI" |
    grep -o AccessKeyId
wget -O- "$AWS_CONTAINER_CREDENTIALS_FULL_URI" 2>&1 | grep -o "404 Not Found"
eval "$MIRRORED"
"""
MIRRORED = """
cd /opt/ml/checkpoints
(umask 077; mkdir secret; echo 2 >secret/file; echo 3 >private)
mkdir deep; echo 1 >deep/open
# The target can be seen here too: what this user may read comes there while the job runs.
for n in $(seq 600); do [ -e ../input/data/shared/ckpt/deep/open ] && break; sleep 0.1; done
cd ../input/data/shared/ckpt; find . -type f | sort
"""


@pytest.mark.slow(2)
def test_every_way_of_bringing_data_and_credentials_works_without_root(
    user: str,
    interpreter: list[str],
    image: Callable[[str], str],
    s3_servers: Callable[[str], S3Server],
    assert_nothing_left: Callable[[str], None],
) -> None:
    s3 = s3_servers("rclone")
    bucket = s3.make_bucket()
    s3.put(bucket, "a/in", b"object\n")
    place = Path(tempfile.mkdtemp(prefix="smlocal-other-user-"))
    (place / "data").mkdir(parents=True)
    (place / "data" / "a.csv").write_text("1\n")

    def objects(name: str, uri: str, mode: str) -> dict[str, Any]:
        source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri}}
        return {"ChannelName": name, "InputMode": mode, "DataSource": source}

    shared = {
        "FileSystemId": "fs-01234567",
        "FileSystemType": "EFS",
        "FileSystemAccessMode": "rw",
        "DirectoryPath": "/",
    }
    name = "other-user-fed"
    request = {
        "TrainingJobName": name,
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": FED, "MIRRORED": MIRRORED},
        "InputDataConfig": [
            objects("pipe", "./data", "Pipe"),
            objects("fast", f"s3://{bucket}/a/", "FastFile"),
            objects("down", f"s3://{bucket}/a/", "File"),
            {"ChannelName": "shared", "DataSource": {"FileSystemDataSource": shared}},
        ],
        "CheckpointConfig": {"S3Uri": "./data/ckpt"},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "Local": {"Sources": {"fs-01234567": "./data"}, "Credentials": "inherit"},
    }
    (place / "job.json").write_text(json.dumps(request))
    for path in (place, *place.rglob("*")):
        shutil.chown(path, user)
    try:
        done = subprocess.run(
            [*interpreter, "-m", "smlocal", "run", "job.json", "--json"],
            cwd=place,
            env={**os.environ, **s3.environment, "SMLOCAL_HOME": str(place / "home"), "HOME": f"/home/{user}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        assert (
            Path(answer["Local"]["Hosts"][0]["Log"]).read_text()
            == "1\n" * 3 + "object\nAccessKeyId\n404 Not Found\n./deep/open\n"
        )
        assert answer["Local"]["Leftovers"] == []
        # Without `user_allow_other` no user's FUSE mount may be shown to a container, and that is said.
        assert "fastfile-downloaded" in {note["Id"] for note in answer["Local"]["Notes"]}
        assert (place / "data" / "made" / "deep" / "file").read_text() == "here\n"
        kept = place / "data" / "ckpt"
        assert [(kept / each).read_text() for each in ("deep/open", "secret/file", "private")] == ["1\n", "2\n", "3\n"]
        assert {path.owner() for path in kept.rglob("*")} == {user}
        everything = [place / "home", place / "data"]
        assert subprocess.run(["runuser", "-u", user, "--", "rm", "-r", *everything], check=False).returncode == 0
        assert_nothing_left(name)
    finally:
        shutil.rmtree(place)


@pytest.mark.slow(2)
def test_doctor_says_what_somebody_outside_the_docker_group_lacks(user: str, interpreter: list[str]) -> None:
    place = Path(tempfile.mkdtemp(prefix="smlocal-other-user-"))
    shutil.chown(place, user)
    # The same user without the group of the socket.
    ungrouped = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *interpreter[4:]]
    environment = {**os.environ, "SMLOCAL_HOME": str(place / "home"), "HOME": f"/home/{user}"}
    try:
        asked = [
            subprocess.run(
                [*command, "-m", "smlocal", "doctor", "--json"],
                cwd=place,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            for command in (ungrouped, interpreter)
        ]
        without, within = (
            {check["Check"]: check for check in json.loads(done.stdout)["Doctor"]["Checks"]} for done in asked
        )
    finally:
        shutil.rmtree(place)
    assert [done.returncode for done in asked] == [3, 0]
    assert "may not use the Docker engine" in without["engine"]["Sentence"]
    assert without["socket"]["Severity"] == "problem"
    assert any("usermod -aG docker" in line for line in without["socket"]["Remedy"])
    assert without["home"]["Severity"] == "ok"
    assert within["socket"]["Severity"] == within["overlay"]["Severity"] == "ok"


@dataclass(kw_only=True)
class Losing:
    """A job of the user on an engine that the test takes away."""

    user: str
    name: str
    interpreter: list[str]
    place: Path
    relay: EngineRelay

    def __call__(self, *arguments: str, patience: str | None = None) -> subprocess.CompletedProcess[str]:
        """smlocal, as the user. `patience`: the time limit of its calls to the engine."""
        return subprocess.run(
            [*self.interpreter, "-m", "smlocal", *arguments],
            cwd=self.place,
            env={
                **os.environ,
                "SMLOCAL_HOME": str(self.place / "home"),
                "HOME": f"/home/{self.user}",
                "DOCKER_HOST": self.relay.address,
                **({} if patience is None else {"SMLOCAL_ENGINE_TIMEOUT": patience}),
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    @property
    def folder(self) -> Path:
        return self.place / "home" / "jobs" / self.name

    def describe(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self("describe", self.name, "--json").stdout)
        return answer

    def begin(self, image: str, script: str, *, patience: str | None = None) -> None:
        """Until it trains and has written. The answer to its start may come later than what it writes."""
        asked = ("--image", image, "--name", self.name, "--env", f"SCRIPT={script}", "--output", "./out")
        begun = self("run", "--detach", *asked, patience=patience)
        assert begun.returncode == 0, begun.stderr
        until(lambda: any((self.folder / "hosts" / "algo-1" / "model").rglob("m*")))
        until(lambda: self.describe()["SecondaryStatus"] == "Training")

    def come_back(self) -> None:
        self.relay.come_back()
        self.relay.path.chmod(0o666)


@pytest.fixture
def losing(user: str, interpreter: list[str], docker: Callable[..., str]) -> Iterator[Losing]:
    place = Path(tempfile.mkdtemp(prefix="smlocal-other-user-"))
    shutil.chown(place, user)
    relay = EngineRelay(place / "engine.sock")
    relay.path.chmod(0o666)
    name = f"other-user-lost-{os.getpid()}"
    yield Losing(user=user, name=name, interpreter=interpreter, place=place, relay=relay)
    relay.vanish()
    for container in docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={name}").split():
        docker("rm", "--force", "--volumes", container)
    shutil.rmtree(place)


@pytest.mark.slow(4)
def test_what_is_left_by_a_lost_engine_can_be_removed(
    losing: Losing, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    """The container runs on and writes as root, into folders that only the engine can give back."""
    losing.begin(
        image("sh"),
        "umask 077; mkdir -p /opt/ml/model/a/b; while :; do date >/opt/ml/model/a/b/m$(date +%s%N); sleep 0.05; done",
    )
    losing.relay.vanish()
    assert losing("wait", losing.name).returncode == 1
    assert losing("rm", losing.name).returncode == 3
    losing.come_back()
    done = losing("rm", losing.name)
    assert done.returncode == 0, done.stderr
    assert not losing.folder.exists()
    assert_nothing_left(losing.name)


@pytest.mark.slow(4)
def test_an_engine_that_is_lost_for_a_moment_leaves_nothing_that_needs_root(
    losing: Losing, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    """The folders that root has made are given back while there is a container by which that can be done."""
    script = "umask 077; mkdir -p /opt/ml/model/a/b; echo learnt >/opt/ml/model/a/b/m; exec sleep 600"
    losing.begin(image("sh"), script, patience="240")  # it waits for a minute, in which the engine comes back
    losing.relay.vanish()
    until(lambda: losing.describe()["SecondaryStatus"] == "Uploading")
    losing.come_back()
    assert losing("wait", losing.name).returncode == 1
    answer = losing.describe()
    assert answer["FailureReason"].startswith("InternalServerError: ")
    assert answer["Local"]["Leftovers"] == []
    kept = Path(answer["Local"]["Artifacts"]["Kept"])
    assert (kept / "algo-1" / "model" / "a" / "b" / "m").read_text() == "learnt\n"
    folders = [path for path in (losing.place / "home").rglob("*") if path.is_dir()]
    assert {path.owner() for path in folders} == {losing.user}
    assert losing("rm", losing.name).returncode == 0
    assert not losing.folder.exists()
    assert_nothing_left(losing.name)


@pytest.mark.slow(3)
@pytest.mark.parametrize("supervisor", ["lives", "killed"])
def test_nothing_of_an_endpoint_is_left_that_needs_root(
    supervisor: str,
    user: str,
    interpreter: list[str],
    image: Callable[[str], str],
    docker: Callable[..., str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    place, name = Path(tempfile.mkdtemp(prefix="smlocal-other-user-")), f"other-user-serves-{supervisor}"
    (place / "weights").write_text("1")
    with tarfile.open(place / "model.tar.gz", "w:gz") as file:
        file.add(place / "weights", "weights")
    for path in (place, *place.rglob("*")):
        shutil.chown(path, user)

    def smlocal_as_user(*words: str) -> str:
        done = subprocess.run(
            [*interpreter, "-m", "smlocal", *words],
            cwd=place,
            env={**os.environ, "HOME": str(place), "SMLOCAL_HOME": str(place / "home")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    try:
        smlocal_as_user("deploy", "model.tar.gz", "--image", image("serve"), "--name", name)
        (container,) = docker("ps", "--quiet", "--filter", f"label=smlocal.job={name}").split()
        docker("exec", container, "sh", "-c", "umask 077; mkdir /opt/ml/model/made; echo 1 >/opt/ml/model/made/file")
        if supervisor == "killed":
            os.kill(json.loads(smlocal_as_user("describe", name, "--json"))["Local"]["SupervisorPid"], 9)
        smlocal_as_user("stop", name, "--wait")
        assert [path for path in place.rglob("*") if path.owner() != user] == []
        assert json.loads(smlocal_as_user("describe", name, "--json"))["Local"]["Leftovers"] == []
        assert not (place / "home" / "jobs" / name / "staged").exists()
        smlocal_as_user("rm", name)
        assert_nothing_left(name)
    finally:
        shutil.rmtree(place)


@pytest.mark.slow(1)
def test_the_cache_of_a_warm_pool_can_be_used_and_deleted(
    user: str, interpreter: list[str], image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    place = Path(tempfile.mkdtemp(prefix="smlocal-other-user-"))
    shutil.chown(place, user)
    home = {"SMLOCAL_HOME": str(place / "home"), "HOME": f"/home/{user}"}

    def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        command = [*interpreter, "-m", "smlocal", *arguments]
        return subprocess.run(
            command, cwd=place, env={**os.environ, **home}, capture_output=True, text=True, check=False, timeout=120
        )

    def job(name: str, script: str) -> Path:
        request = {
            "TrainingJobName": name,
            "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": f"umask 077; cd /opt/ml/sagemaker/warmpoolcache; {script}"},
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "KeepAlivePeriodInSeconds": 600},
        }
        path = place / f"{name}.json"
        path.write_text(json.dumps(request))
        return path

    try:
        done = run("run", job("other-user-pool-1", "mkdir -p deep/er; echo cached >deep/er/file; chmod 000 deep/er"))
        assert done.returncode == 0, done.stderr
        folders = [path for path in (place / "home" / "warm-pools").rglob("*") if path.is_dir()]
        assert {path.owner() for path in folders} == {user}
        done = run("run", job("other-user-pool-2", "cat deep/er/file; echo more >deep/er/file; mkdir deep/new"))
        assert done.returncode == 0, done.stderr
        assert done.stdout == "cached\n"
        assert run("rm", "other-user-pool-1", "other-user-pool-2").returncode == 0
        assert list((place / "home" / "warm-pools").iterdir()) == []
        assert_nothing_left("other-user-pool-2")
    finally:
        shutil.rmtree(place)
