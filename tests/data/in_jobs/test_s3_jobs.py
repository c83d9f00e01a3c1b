"""Jobs that read S3: downloaded, kept, streamed, and refused in the service's words."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.kit import until
from tests.kit.jobs import Background, Ran, channel
from tests.kit.reasons import assert_failed
from tests.kit.s3_servers import ON_MOTO, S3Server, S3Servers

RunJob = Callable[..., Ran]
DATA = "/opt/ml/input/data"
OBJECTS = {"in/a": b"one\n", "in/b/c": b"two\n", "in/empty": b"", "in/d e+%": b"three\n", "inner": b"no"}


@pytest.fixture
def bucket(s3: S3Server) -> str:
    """A bucket with a few objects below `in/`."""
    name = s3.make_bucket()
    for key, data in OBJECTS.items():
        s3.put(name, key, data)
    return name


def test_file_mode(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    script = (
        f"cd {DATA}/train; find . | sort; cat a b/c; cat ../train-manifest; stat -c '%U %a' . b a; echo new >a; mkdir x"
    )
    ran = run_job([channel(uri=f"s3://{bucket}/in/")], script, env=s3.environment)
    assert ran.exit == 0, ran.reason
    assert ran.log() == (
        ".\n./a\n./b\n./b/c\n./d e+%\n./empty\none\ntwo\n"
        f"in/\ns3://{bucket}/in/a\ns3://{bucket}/in/b/c\ns3://{bucket}/in/d e+%\ns3://{bucket}/in/empty\n"
        "root 755\nroot 755\nroot 644\n"
    )
    assert "copy-on-write of s3://" in ran.stderr


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
def test_objects_that_cannot_be_checked_without_awscrt_are_reported_once(
    run_job: RunJob, s3_servers: S3Servers, tmp_path: Path, mode: str
) -> None:
    s3 = s3_servers("moto")  # the other keeps no checksums
    bucket = s3.make_bucket()
    unchecked: Any = {"ChecksumAlgorithm": "CRC64NVME", "ChecksumCRC64NVME": "AAAAAAAAAAA=", "SSEKMSKeyId": "key"}
    for key in ("in/a", "in/b"):
        s3.client().put_object(Bucket=bucket, Key=key, Body=b"x\n", ServerSideEncryption="aws:kms", **unchecked)
    package = tmp_path / "without" / "awscrt"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError")
    env = {**s3.environment, "PYTHONPATH": str(package.parent)}
    read = f"cat {DATA}/train_0" if mode == "Pipe" else f"cat {DATA}/train/a {DATA}/train/b"
    ran = run_job([channel(uri=f"s3://{bucket}/in/", mode=mode)], read, env=env)
    assert ran.log() == "x\nx\n", ran.reason
    (hint,) = ran.answer["Local"]["Hints"]
    assert hint.startswith(f"s3://{bucket}/in/")
    assert "only a CRC64NVME checksum" in hint
    assert hint.endswith("pip install 'smlocal[crt]'")


def test_the_second_run_downloads_nothing(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    channels = [channel(uri=f"s3://{bucket}/in/")]
    first = run_job(channels, f"echo changed >{DATA}/train/a; cat {DATA}/train/b/c", env=s3.environment)
    assert first.exit == 0
    home = first.folder / "home"
    kept = sorted(path for path in (home / "cache").rglob("*") if path.is_file())
    before = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in kept if "blobs" in path.parts}
    second = run_job(channels, f"cat {DATA}/train/a", env=s3.environment)
    assert second.log() == "one\n"
    after = {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in before}
    assert before == after
    s3.put(bucket, "in/a", b"other\n")
    assert run_job(channels, f"cat {DATA}/train/a", env=s3.environment).log() == "other\n"


@pytest.mark.slow(1)
def test_nothing_is_kept_without_a_cache(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    for staging in ("overlay", "copy"):
        local = {"Cache": False, "Staging": staging}
        ran = run_job([channel(uri=f"s3://{bucket}/in/")], f"cat {DATA}/train/a", env=s3.environment, local=local)
        assert ran.log() == "one\n"
        assert not (ran.folder / "home" / "cache").exists()


@pytest.mark.slow(1)
def test_two_hosts_share_what_is_the_same_and_split_what_is_sharded(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    channels = [
        channel("all", uri=f"s3://{bucket}/in/"),
        channel("part", uri=f"s3://{bucket}/in/", S3DataDistributionType="ShardedByS3Key"),
        channel("fast", uri=f"s3://{bucket}/in/", mode="FastFile", S3DataDistributionType="ShardedByS3Key"),
    ]
    two = {"InstanceType": "ml.m5.large", "InstanceCount": 2}
    script = (
        f"cd {DATA}; for c in all part fast; do find $c -type f | sort; done; wc -l <part-manifest; "
        "cat fast/a 2>/dev/null || true"
    )
    ran = run_job(channels, script, env=s3.environment, ResourceConfig=two)
    everything = "all/a\nall/b/c\nall/d e+%\nall/empty\n"
    assert ran.log("algo-1") == f"{everything}part/a\npart/d e+%\nfast/a\nfast/d e+%\n5\none\n", ran.reason
    assert ran.log("algo-2").startswith(f"{everything}part/b/c\npart/empty\nfast/b/c\nfast/empty\n5\n")
    assert "fastfile-sharded" in ran.notes


@pytest.mark.parametrize("mode", ["File", "Pipe"])
def test_a_manifest_in_s3(run_job: RunJob, s3: S3Server, bucket: str, mode: str) -> None:
    s3.put(bucket, "list.json", json.dumps([{"prefix": f"s3://{bucket}/in/"}, "b/c", "a"]).encode())
    read = f"cd {DATA}; find train -type f; cat train-manifest" if mode == "File" else f"cat {DATA}/train_0"
    manifest = channel(uri=f"s3://{bucket}/list.json", mode=mode, S3DataType="ManifestFile")
    ran = run_job([manifest], read, env=s3.environment)
    if mode == "Pipe":
        assert ran.log() == "two\none\n", ran.reason
    else:
        assert sorted(ran.log().splitlines()[:2]) == ["train/a", "train/b/c"], ran.reason
        assert ran.log().splitlines()[2:] == ["in/", f"s3://{bucket}/in/b/c", f"s3://{bucket}/in/a"]


def test_a_manifest_that_names_what_is_not_there(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    s3.put(bucket, "list.json", json.dumps([{"prefix": f"s3://{bucket}/in/"}, "a", "gone"]).encode())
    ran = run_job(
        [channel(uri=f"s3://{bucket}/list.json", S3DataType="ManifestFile")], "echo trained", env=s3.environment
    )
    assert ran.exit == 1
    assert_failed("s3-object-gone", ran.answer)
    assert f" s3://{bucket}/in/gone " in ran.reason
    assert ran.log_is_empty


@pytest.mark.parametrize(
    "text", ["nothing like it", "[]", '["a"]', '[{"prefix": "s3://b/"}, 5]', '{"prefix": "s3://b/"}']
)
def test_a_manifest_that_is_none(run_job: RunJob, tmp_path: Path, text: str) -> None:
    (tmp_path / "list.json").write_text(text)
    ran = run_job([channel(uri="./list.json", S3DataType="ManifestFile")], "echo trained")
    assert ran.exit == 1
    assert_failed("manifest-broken", ran.answer)
    assert "download-fails" in ran.notes


@ON_MOTO  # rclone forgets the second slash
def test_a_double_slash_fails_the_download(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    s3.put(bucket, "in/x//y", b"odd")
    ran = run_job([channel(uri=f"s3://{bucket}/in/")], "true", env=s3.environment)
    assert_failed("s3-double-slash", ran.answer)
    assert f" s3://{bucket}/in/x//y " in ran.reason


def test_fast_file(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    look = f"cd {DATA}; ls; find train -type f | sort; cat train/b/c"
    script = f"{look}; (echo x >train/new) 2>&1 || true; (rm train/a) 2>&1 || true"
    ran = run_job([channel(uri=f"s3://{bucket}/in/", mode="FastFile")], script, env=s3.environment)
    lines = ran.log().splitlines()
    assert lines[:6] == ["train", "train/a", "train/b/c", "train/d e+%", "train/empty", "two"], ran.reason
    assert [line.rpartition(": ")[2] for line in lines[6:]] == ["Read-only file system"] * 2
    assert ran.answer["Local"]["Hosts"][0]["Staging"][f"{DATA}/train"] == "fuse"


def test_fast_file_of_a_partial_prefix(run_job: RunJob, s3: S3Server, bucket: str) -> None:
    s3.put(bucket, "a/train-baseline/x.csv", b"x")
    ran = run_job([channel(uri=f"s3://{bucket}/a/train", mode="FastFile")], "true", env=s3.environment)
    assert_failed("fastfile-partial-prefix", ran.answer)
    assert ran.reason.endswith(" S3 prefix: [a/train], found S3 object: [a/train-baseline/x.csv].")


def test_fast_file_of_a_local_folder(run_job: RunJob, data: Path) -> None:
    script = f"cat {DATA}/train/b/c; (echo x >{DATA}/train/new) 2>&1 || true"
    ran = run_job([channel(mode="FastFile")], script)
    assert ran.log().startswith("two\n")
    assert "Read-only file system" in ran.log()
    assert sorted(os.listdir(data)) == ["a", "b", "d"]


@pytest.mark.slow(1)
def test_a_fast_file_server_that_dies_fails_the_job(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    s3: S3Server,
    bucket: str,
    assert_nothing_left: Callable[[str], None],
) -> None:
    path = job_file(
        [channel(uri=f"s3://{bucket}/in/", mode="FastFile")],
        f"cat {DATA}/train/a; sleep 60",
        local={"PeerGraceSeconds": 1},
    )
    job = background(path, s3.environment)
    until(lambda: "one" in job.output())
    for process_id in servers_of(job.process.pid):
        os.kill(process_id, 9)
    answer = job.finish()
    assert_failed("fastfile-server-died", answer)
    assert "train" in answer["Local"]["Explanation"]
    assert_nothing_left(path.stem)


@pytest.mark.slow(3)
def test_a_supervisor_that_dies_leaves_no_mount(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    s3: S3Server,
    bucket: str,
    smlocal_run: Callable[..., Any],
    assert_nothing_left: Callable[[str], None],
) -> None:
    path = job_file([channel(uri=f"s3://{bucket}/in/", mode="FastFile")], f"cat {DATA}/train/a; sleep 60")
    job = background(path, s3.environment)
    until(lambda: "one" in job.output())
    servers = servers_of(job.process.pid)
    job.process.kill()
    for process_id in servers:
        os.kill(process_id, 9)
    job.process.wait()
    smlocal_run("recover", check=True)
    answer = json.loads(smlocal_run("describe", path.stem, "--json", check=True).stdout)
    assert_failed("supervisor-killed-while-feeding", answer)
    assert_nothing_left(path.stem)


def servers_of(parent: int) -> list[int]:
    """The children of a supervisor that serve a file system."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parts = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(parts[1]) == parent and b"fastfile" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    assert found
    return found


def refusal(run: Callable[..., Any], path: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    done = run("run", path.name, cwd=path.parent, env=environment)
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_an_empty_prefix_is_refused(
    job_file: Callable[..., Path], smlocal_run: Callable[..., Any], s3: S3Server, bucket: str
) -> None:
    path = job_file([channel(uri=f"s3://{bucket}/nothing/")], "true")
    code, said = refusal(smlocal_run, path, s3.environment)
    assert code == 2
    assert f'No S3 objects found under S3 URL "s3://{bucket}/nothing/" given in input data source.' in said
    assert "[source-empty]" in said


def test_a_bucket_that_is_not_there_is_refused(
    job_file: Callable[..., Path], smlocal_run: Callable[..., Any], s3: S3Server
) -> None:
    path = job_file([channel(uri="s3://no-bucket-of-this-name/x/")], "true")
    code, said = refusal(smlocal_run, path, s3.environment)
    assert code == 2
    assert "Error message from S3: " in said


def test_wrong_credentials_are_this_machines(
    job_file: Callable[..., Path], smlocal_run: Callable[..., Any], s3: S3Server, bucket: str
) -> None:
    path = job_file([channel(uri=f"s3://{bucket}/in/")], "true")
    code, said = refusal(smlocal_run, path, {**s3.environment, "AWS_SECRET_ACCESS_KEY": "wrong"})
    assert (code, "[credentials-missing]" in said) == (3, True), said


@pytest.mark.slow(2)
def test_no_credentials_and_no_server(
    job_file: Callable[..., Path], smlocal_run: Callable[..., Any], tmp_path: Path
) -> None:
    path = job_file([channel(uri="s3://bucket/in/")], "true")
    none = {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": str(tmp_path / "none"), "HOME": str(tmp_path)}
    code, said = refusal(smlocal_run, path, none)
    assert (code, "[credentials-missing]" in said) == (3, True), said
    gone = {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    code, said = refusal(smlocal_run, path, gone)
    assert (code, "[s3-unreachable]" in said) == (3, True), said


@pytest.mark.slow(3)
def test_a_folder_marker_is_a_folder(run_job: RunJob, s3_servers: Callable[[str], S3Server]) -> None:
    s3 = s3_servers("moto")
    bucket = s3.make_bucket()
    for key in ("in/marked/", "in/a"):
        s3.put(bucket, key)
    for staging in ("overlay", "copy"):
        channels = [channel(uri=f"s3://{bucket}/in/"), channel("fast", uri=f"s3://{bucket}/in/", mode="FastFile")]
        script = f"cd {DATA}; find train fast | sort; stat -c '%F' train/marked fast/marked"
        ran = run_job(channels, script, env=s3.environment, local={"Staging": staging})
        assert ran.log() == "fast\nfast/a\nfast/marked\ntrain\ntrain/a\ntrain/marked\n" + "directory\n" * 2


@pytest.mark.slow(4, others=True)
@pytest.mark.parametrize("mode", ["File", "FastFile", "Pipe"])
def test_a_stop_does_not_wait_for_s3(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    s3_servers: Callable[[str], S3Server],
    smlocal_run: Callable[..., Any],
    assert_nothing_left: Callable[[str], None],
    mode: str,
) -> None:
    s3 = s3_servers("rclone")
    bucket = s3.make_bucket()
    s3.put(bucket, "in/large", bytes(64 << 20))
    read = {"File": "train/large", "FastFile": "train/large", "Pipe": "train_0"}[mode]
    path = job_file(
        [channel(uri=f"s3://{bucket}/in/", mode=mode)],
        f"echo begun; until [ -e /opt/ml/go ]; do sleep 0.1; done; cat {DATA}/{read} | wc -c",
        local={"StopGraceSeconds": 1, "Cache": False},
    )
    assert s3.process is not None
    if mode == "File":
        # Nobody answers from the moment at which the objects have been listed.
        frozen = background(path, s3.environment)
        until(lambda: phase(smlocal_run, path.stem) in {"Downloading", "Training"})
        s3.process.send_signal(signal.SIGSTOP)
    else:
        frozen = background(path, s3.environment)
        until(lambda: "begun" in frozen.output())
        s3.process.send_signal(signal.SIGSTOP)
        subprocess.run(["docker", "exec", container_of(path.stem), "touch", "/opt/ml/go"], check=True)
    try:
        frozen.process.terminate()
        answer = frozen.finish()
    finally:
        s3.process.send_signal(signal.SIGCONT)
    assert answer["TrainingJobStatus"] == "Stopped"
    assert answer["Local"]["Leftovers"] == []
    assert_nothing_left(path.stem)


def phase(run: Callable[..., Any], name: str) -> str:
    done = run("describe", name, "--json")
    return str(json.loads(done.stdout).get("SecondaryStatus", "")) if done.returncode == 0 else ""


def container_of(name: str) -> str:
    found = subprocess.run(
        ["docker", "ps", "-q", "--filter", f"label=smlocal.job={name}"], capture_output=True, text=True, check=True
    )
    return found.stdout.strip()
