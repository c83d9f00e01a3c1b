"""The script that a plan prints does by hand what the run does."""

import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from tests.kit import Run
from tests.kit.s3_servers import S3Servers

from smlocal.engine.endpoint import find_endpoint

NAME = f"by-hand-{os.getpid()}"
"""Scripts have no run's id in the names of what they make: two of one job take turns, by whoever starts them."""

LOOK = """
cd /opt/ml
find . | LC_ALL=C sort
cat input/config/*.json input/data/*-manifest
find input/data -type f -exec cat {} +
echo "$ODD $API_TOKEN"
[ "$STAGING" = overlay ] || echo changed >>input/data/train/a.csv
mkdir -p model/sub; echo model >model/sub/file; echo output >output/data/file
"""


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize("staging", ["overlay", "copy"])
@pytest.mark.parametrize("hosts", [1, 2])
def test_script_and_run_agree(
    staging: str,
    hosts: int,
    tmp_path: Path,
    smlocal_run: Run,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    data = tmp_path / "da'ta, and: more"
    (data / "deep").mkdir(parents=True)
    (data / "a.csv").write_text("1\n")
    (data / "deep" / "b c.csv").write_text("2\n")
    many = tmp_path / "many"
    many.mkdir()
    for number in range(30):
        (many / f"{number}.txt").write_text(f"{number}\n")
    request = {
        "TrainingJobName": NAME,
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "HyperParameters": {"quote": 'it\'s "odd" $HOME'},
        "Environment": {"SCRIPT": LOOK, "STAGING": staging, "ODD": "it's $odd", "API_TOKEN": "hush"},
        "InputDataConfig": [
            {"ChannelName": name, "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": str(path)}}}
            for name, path in (("train", data), ("many", many), ("one", data / "a.csv"))
        ],
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(request))
    flags = ("job.yaml", "--staging", staging)
    script = smlocal_run("plan", *flags, "--script", cwd=tmp_path, check=True).stdout
    assert "hush" not in script

    done = by_hand(script, tmp_path, API_TOKEN="hush")
    assert done.returncode == 0, done.stderr
    members = _members(tmp_path)
    assert_nothing_left(NAME)
    run = smlocal_run("run", *flags, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert members == _members(tmp_path)
    assert members["model.tar.gz"] == {"sub": None, "sub/file": b"model\n"}
    if hosts == 1:
        assert done.stdout == run.stdout
    else:
        assert "/opt/ml/model/sub/file: both algo-1 and algo-2 wrote it; algo-2's was kept" in run.stderr
    assert (data / "a.csv").read_text() == "1\n"


def script_of(
    smlocal_run: Run, folder: Path, tag: str, work: str, *, hosts: int = 1, max_run: int = 600, **environment: str
) -> str:
    """The script of a job called `by-hand` whose containers do `work`."""
    request = {
        "TrainingJobName": NAME,
        "AlgorithmSpecification": {"TrainingImage": tag, "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": work, **environment},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": hosts},
        "StoppingCondition": {"MaxRuntimeInSeconds": max_run},
        "Local": {"StopGraceSeconds": 1, "PeerGraceSeconds": 1},
    }
    (folder / "job.yaml").write_text(yaml.safe_dump(request))
    return smlocal_run("plan", "job.yaml", "--script", cwd=folder, check=True).stdout


def by_hand(script: str, folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash"],
        input=script,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder), **environment},
        check=False,
        timeout=240,
    )


def temporary(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith("by-hand")]


FAILS = """
echo model >/opt/ml/model/of-$HOSTNAME
[ "$HOSTNAME" = ip-10-0-0-6.ec2.internal ] || [ "${ALL:-}" ] || { trap '' TERM; while :; do sleep 0.1; done; }
echo "it was me" >/opt/ml/output/failure; echo last words; exit 17
"""


@pytest.mark.slow(2)
def test_it_exits_as_the_first_host_that_fails(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    alone = by_hand(script_of(smlocal_run, tmp_path, image("sh"), FAILS, ALL="1"), tmp_path)
    assert (alone.returncode, alone.stdout) == (17, "last words\n")
    assert alone.stderr.endswith("algo-1 exited 17\nit was me\n")
    together = by_hand(script_of(smlocal_run, tmp_path, image("sh"), FAILS, hosts=2), tmp_path)
    assert (together.returncode, together.stdout) == (17, "algo-2 | last words\n")
    # The other would have gone on for ever, and did not mind SIGTERM.
    assert together.stderr.endswith("algo-2 exited 17\nalgo-1 exited 137\nit was me\n")
    # Their files are collected nevertheless.
    assert set(_members(tmp_path)["model.tar.gz"]) == {"of-ip-10-0-0-5.ec2.internal", "of-ip-10-0-0-6.ec2.internal"}
    assert temporary(tmp_path) == []
    assert_nothing_left(NAME)


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize("when_asked", ["exit 0", ":"], ids=["ends by itself", "has to be killed"])
def test_the_time_limit_holds(
    when_asked: str,
    tmp_path: Path,
    smlocal_run: Run,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    work = f"trap 'echo asked; {when_asked}' TERM; while :; do sleep 0.1; done"
    for limit in (3, 15, 45):  # on a busy machine the shell may not be ready to be asked
        done = by_hand(script_of(smlocal_run, tmp_path, image("sh"), work, max_run=limit), tmp_path)
        if done.stdout:
            break
    assert (done.returncode, done.stdout) == (124, "asked\n"), done.stderr
    assert done.stderr.endswith("MaxRuntimeInSeconds reached\n")
    assert_nothing_left(NAME)


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize("hosts", [1, 2])
def test_a_stopped_script_leaves_nothing(
    hosts: int,
    tmp_path: Path,
    smlocal_run: Run,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    work = "trap '' TERM; echo ready; while :; do sleep 0.1; done"
    (tmp_path / "by-hand.sh").write_text(script_of(smlocal_run, tmp_path, image("sh"), work, hosts=hosts))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    for number in (signal.SIGKILL, signal.SIGTERM):
        # The second begins by removing what the first, which is killed, could not.
        with subprocess.Popen(
            ["bash", "by-hand.sh"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, start_new_session=True
        ) as process:
            assert process.stdout is not None
            assert b"ready" in process.stdout.readline()
            process.send_signal(number)
            process.wait(60)
            if number == signal.SIGKILL:
                os.killpg(process.pid, signal.SIGKILL)
                assert [name for name in temporary(tmp_path) if name != "by-hand.sh"]
        assert process.returncode == (143 if number == signal.SIGTERM else -9)
    assert temporary(tmp_path) == ["by-hand.sh"]
    assert_nothing_left(NAME)


@pytest.mark.slow(1)
def test_a_secret_must_be_given(tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]) -> None:
    script = script_of(smlocal_run, tmp_path, image("sh"), 'echo "$API_TOKEN"', API_TOKEN="hush")
    assert "hush" not in script
    refused = by_hand(script, tmp_path)
    assert refused.returncode != 0
    assert "API_TOKEN" in refused.stderr
    assert by_hand(script, tmp_path, API_TOKEN="aloud").stdout == "aloud\n"


@pytest.mark.slow(2)
def test_secrets_reach_the_container_all_the_same(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    work = 'cat /opt/ml/input/config/hyperparameters.json; echo; echo "$DATABASE_URL $1 $2"'
    request = {
        "TrainingJobName": NAME,
        "AlgorithmSpecification": {
            "TrainingImage": image("sh"),
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["/bin/sh", "-c", work, "sh", "--password", "hunter2"],
        },
        "HyperParameters": {"db_password": 'hunter2 "q" \\ $HOME', "epochs": "3"},
        "Environment": {"DATABASE_URL": "postgres://u:hunter2@h/d"},
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(request))
    script = smlocal_run("plan", "job.yaml", "--script", cwd=tmp_path, check=True).stdout
    assert "hunter2" not in script
    assert "HYPERPARAMETER_DB_PASSWORD" in by_hand(script, tmp_path, DATABASE_URL="x").stderr
    secrets = {
        "DATABASE_URL": "postgres://u:hunter2@h/d",
        "HYPERPARAMETER_DB_PASSWORD": 'hunter2 "q" \\ $HOME',
        "ARGUMENT_5": "hunter2",
    }
    said = by_hand(script, tmp_path, **secrets).stdout
    assert said == smlocal_run("run", "job.yaml", cwd=tmp_path, check=True).stdout
    assert said.endswith("}\npostgres://u:hunter2@h/d --password hunter2\n")


@pytest.mark.slow(1)
def test_an_ordinary_user_owns_the_results(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    script = script_of(
        smlocal_run, tmp_path, image("sh"), "umask 077; mkdir /opt/ml/model/sub; echo 1 >/opt/ml/model/sub/file"
    )
    with tempfile.TemporaryDirectory(prefix="by-hand-user-") as name:
        folder = Path(name)
        os.chown(folder, 54321, 54321)
        done = subprocess.run(
            ["bash"],
            input=script.replace(str(tmp_path), name),
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "TMPDIR": name, "HOME": name},
            user=54321,
            group=Path(find_endpoint().path).stat().st_gid,
            extra_groups=[],
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert [path.name for path in folder.iterdir()] == ["out"]
        assert {path.stat().st_uid for path in folder.rglob("*")} == {54321}
        assert _members(folder)["model.tar.gz"] == {"sub": None, "sub/file": b"1\n"}
    assert_nothing_left(NAME)


def _members(folder: Path) -> dict[str, dict[str, bytes | None]]:
    found = {}
    for archive in sorted((folder / "out" / NAME / "output").iterdir()):
        with tarfile.open(archive) as members:
            content = {}
            for member in members:
                file = members.extractfile(member)
                content[member.name] = file.read() if file is not None else None
            found[archive.name] = content
        archive.unlink()
    return found


@pytest.mark.slow(3)
def test_channels_that_are_mounted_read_only(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str], assert_nothing_left: Callable[[str], None]
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    for name in ("a", "b", "it's c"):
        (data / name).write_text(f"{name}\n")
    source = {"S3DataType": "S3Prefix", "S3Uri": "./data"}
    sharded = {**source, "S3DataDistributionType": "ShardedByS3Key"}
    mount = {"FileSystemId": "fs-01234567", "FileSystemType": "EFS", "FileSystemAccessMode": "ro", "DirectoryPath": "/"}
    request = {
        "TrainingJobName": NAME,
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "FastFile"},
        "Environment": {
            "SCRIPT": (
                "cd /opt/ml/input/data; find . -type f | LC_ALL=C sort; find . -type f -exec cat {} +;"
                "for d in fast part mounted; do (echo >$d/new) 2>/dev/null || echo $d is read-only; done"
            )
        },
        "InputDataConfig": [
            {"ChannelName": "fast", "DataSource": {"S3DataSource": source}},
            {"ChannelName": "part", "DataSource": {"S3DataSource": sharded}},
            {"ChannelName": "mounted", "InputMode": "File", "DataSource": {"FileSystemDataSource": mount}},
        ],
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 2},
        "Local": {"Sources": {"fs-01234567": "./data"}},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(request))
    script = smlocal_run("plan", "job.yaml", "--script", cwd=tmp_path, check=True).stdout
    done = by_hand(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert_nothing_left(NAME)
    run = smlocal_run("run", "job.yaml", cwd=tmp_path, check=True)
    assert sorted(done.stdout.splitlines()) == sorted(run.stdout.splitlines())
    assert "algo-2 | part is read-only" in done.stdout


def test_what_cannot_be_done_by_hand_is_said_at_once(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("a")
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}
    request = {
        "TrainingJobName": NAME,
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "Pipe"},
        "InputDataConfig": [{"ChannelName": "odd", "DataSource": source}],
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(request))
    script = smlocal_run("plan", "job.yaml", "--script", cwd=tmp_path, check=True).stdout
    done = by_hand(script, tmp_path)
    assert (done.returncode, done.stderr) == (3, "this job needs smlocal run: odd is a Pipe channel\n")
    assert not (tmp_path / "out").exists()


MIRRORED = """
cd /opt/ml
find checkpoints output board -type f | LC_ALL=C sort
cat checkpoints/* input/data/*-manifest; find input/data/many -type f -exec cat {} + 2>/dev/null | sort
sleep 0.02
rm checkpoints/old; echo more >>checkpoints/kept; mkdir -p checkpoints/deep; echo new >checkpoints/deep/new
echo events >board/events; mkdir output/tensors/step; echo tensor >output/tensors/step/1
"""


def files_in(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow(2)
@pytest.mark.parametrize("remote", [False, True], ids=["here", "in S3"])
def test_mirrored_folders_by_hand(
    remote: bool,
    tmp_path: Path,
    smlocal_run: Run,
    image: Callable[[str], str],
    s3_servers: S3Servers,
    assert_nothing_left: Callable[[str], None],
) -> None:
    environment: dict[str, str] = {}
    location = "./ckpt"
    channels = []
    if remote:
        if shutil.which("aws") is None:
            pytest.skip("no aws command line here")
        server = s3_servers("moto")
        environment, bucket = dict(server.environment), server.make_bucket()
        location = f"s3://{bucket}/ckpt"
        for name in ("old", "kept"):
            server.put(bucket, f"ckpt/{name}", f"{name}\n".encode())
        for number in range(30):
            server.put(bucket, f"many/{number}", f"{number}\n".encode())
        source = {"S3DataType": "S3Prefix", "S3Uri": f"s3://{bucket}/many/"}
        channels = [{"ChannelName": "many", "DataSource": {"S3DataSource": source}}]

    def seed() -> None:
        if not remote:
            shutil.rmtree(tmp_path / "ckpt", ignore_errors=True)
            (tmp_path / "ckpt").mkdir()
            for name in ("old", "kept"):
                (tmp_path / "ckpt" / name).write_text(f"{name}\n")

    request = {
        "TrainingJobName": NAME,
        "AlgorithmSpecification": {"TrainingImage": image("sh"), "TrainingInputMode": "File"},
        "Environment": {"SCRIPT": MIRRORED},
        "InputDataConfig": channels or None,
        "OutputDataConfig": {"S3OutputPath": "./out"},
        "CheckpointConfig": {"S3Uri": location},
        "TensorBoardOutputConfig": {"S3OutputPath": "./logs", "LocalPath": "/opt/ml/board"},
        "DebugHookConfig": {"S3OutputPath": "s3://nothing-here/stands-for-it"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump({key: value for key, value in request.items() if value}))
    seed()
    script = smlocal_run("plan", "job.yaml", "--script", cwd=tmp_path, env=environment, check=True).stdout
    done = by_hand(script, tmp_path, **environment)
    assert done.returncode == 0, done.stderr
    mine = {name: files_in(tmp_path / name) for name in ("ckpt", "logs", "out")}
    assert_nothing_left(NAME)
    for name in ("logs", "out"):
        shutil.rmtree(tmp_path / name)
    seed()
    run = smlocal_run("run", "job.yaml", cwd=tmp_path, env=environment)
    assert run.returncode == 0, run.stderr
    assert done.stdout == run.stdout
    assert mine == {name: files_in(tmp_path / name) for name in mine}
    kept = mine["out"] if remote else mine["ckpt"]
    assert kept[f"{NAME}/checkpoints/kept" if remote else "kept"] == "kept\nmore\n"
    if remote:
        # Files of an earlier job in place of those in S3 are put aside.
        again = by_hand(script, tmp_path, **environment)
        assert again.returncode == 0, again.stderr
        assert again.stdout == done.stdout
        assert any(name.startswith(f"{NAME}/checkpoints-until-") for name in files_in(tmp_path / "out"))
