"""Artifacts go to S3 while they are written, and once more from what is left on disk; on two real servers."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy, refused, slow_down
from tests.kit import Run, until
from tests.kit.noise import noise
from tests.kit.reasons import assert_reason
from tests.kit.s3_servers import REGION, S3Server, environment, opened
from tests.unit.sagemaker.conftest import FACTS, job, planned

from smlocal.data.artifacts.job_artifacts import Artifacts, write_artifacts
from smlocal.data.artifacts.s3_publish import Publisher, PublishResult
from smlocal.data.artifacts.tree import walk
from smlocal.data.sources.s3.client import S3Client
from smlocal.data.sources.s3.writer import UploadTarget
from smlocal.errors import ArtifactError
from smlocal.jobs.planning.recall import remember
from smlocal.jobs.store.jobs import Store
from smlocal.terms.statuses import COMPLETED, JobStatus

PREFIX = "models/a b/job/output/"
DENIED = "Artifact upload failed:Error 7: AccessDenied (403): said AccessDenied"

FOLDERS: dict[str, Any] = {"model_folder": "/opt/ml/model", "output_folder": "/opt/ml/output/data"}


@pytest.fixture
def bucket(s3: S3Server) -> str:
    return s3.make_bucket()


@pytest.fixture
def proxy(s3: Any) -> Iterator[TroubledProxy]:
    with TroubledProxy(s3.port) as between:
        yield between


@pytest.fixture
def store(proxy: TroubledProxy) -> Iterator[S3Client]:
    client = opened(environment(proxy.url), retry_seconds=20)
    yield client
    client.close()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder that becomes an archive of about 40 MB."""
    folder = tmp_path / "model"
    (folder / "deep").mkdir(parents=True)
    (folder / "weights").write_bytes(noise(40_000_000))
    (folder / "deep" / "config.json").write_text("{}")
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("deep/config.json")
    (folder / "outside").symlink_to("/etc/passwd")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "plot.txt").write_text("plot")
    return folder


def pack(model: Path, data: Path, out: Path, publisher: Publisher, **options: Any) -> tuple[Artifacts, PublishResult]:
    with publisher:
        done = write_artifacts(
            [walk("algo-1", str(model))],
            [walk("algo-1", str(data))],
            **FOLDERS,
            destination=str(out),
            publisher=publisher,
            **options,
        )
        return done, publisher.finish(options.get("working", lambda _: None))


def publisher_to(store: S3Client, bucket: str, **options: Any) -> Publisher:
    return Publisher(lambda: store, UploadTarget(bucket=bucket, key=PREFIX), **options)


def held(s3: S3Server, bucket: str) -> dict[str, bytes]:
    """Everything that is visible in a bucket."""
    listed = s3.client().list_objects_v2(Bucket=bucket).get("Contents", ())
    return {each["Key"]: s3.client().get_object(Bucket=bucket, Key=each["Key"])["Body"].read() for each in listed}


def half_sent(s3: S3Server, bucket: str) -> list[str]:
    client = s3.client()
    try:
        return [each["Key"] for each in client.list_multipart_uploads(Bucket=bucket).get("Uploads", ())]
    except client.exceptions.NoSuchUpload:  # rclone's answer for a bucket without any
        return []


@pytest.mark.slow(3)
def test_the_objects_are_the_archives_on_disk(
    s3: S3Server, store: S3Client, bucket: str, model: Path, data: Path, tmp_path: Path
) -> None:
    done, published = pack(model, data, tmp_path / "out", publisher_to(store, bucket))
    assert published.failure is None
    here = {name: (tmp_path / "out" / name).read_bytes() for name in ("model.tar.gz", "output.tar.gz")}
    assert held(s3, bucket) == {PREFIX + name: content for name, content in here.items()}
    assert {(each.uri, each.bytes) for each in published.objects} == {
        (f"s3://{bucket}/{PREFIX}{name}", len(content)) for name, content in here.items()
    }
    assert half_sent(s3, bucket) == []
    # And they are those that are made without anybody looking on.
    write_artifacts(
        [walk("algo-1", str(model))],
        [walk("algo-1", str(data))],
        **FOLDERS,
        destination=str(tmp_path / "again"),
    )
    assert {name: (tmp_path / "again" / name).read_bytes() for name in here} == here
    assert done.notes == ()


@pytest.mark.slow(1)
def test_without_compression_every_file_is_an_object(
    s3: S3Server, store: S3Client, bucket: str, model: Path, data: Path, tmp_path: Path
) -> None:
    _, published = pack(model, data, tmp_path / "out", publisher_to(store, bucket), compression="NONE")
    assert published.failure is None
    assert held(s3, bucket) == {
        f"{PREFIX}model/weights": (model / "weights").read_bytes(),
        f"{PREFIX}model/deep/config.json": b"{}",
        f"{PREFIX}model/link": b"{}",
        f"{PREFIX}output.tar.gz": (tmp_path / "out" / "output.tar.gz").read_bytes(),
    }
    assert sorted(published.notes) == [
        "empty/ is empty and was not uploaded: S3 has no directories",
        "outside is a link to a file outside the model and was not uploaded",
    ]


@pytest.mark.slow(3)
def test_a_thousand_small_files(s3: S3Server, store: S3Client, bucket: str, tmp_path: Path) -> None:
    model, data = tmp_path / "model", tmp_path / "data"
    model.mkdir()
    data.mkdir()
    for number in range(1000):
        (model / f"{number:04}").write_text(str(number))
    _, published = pack(model, data, tmp_path / "out", publisher_to(store, bucket), compression="NONE")
    assert published.failure is None
    assert len(published.objects) == 1000
    pages = s3.client().get_paginator("list_objects_v2").paginate(Bucket=bucket)
    assert sum(len(page["Contents"]) for page in pages) == 1000


def test_nothing_written_asks_s3_nothing(
    s3: S3Server, proxy: TroubledProxy, store: S3Client, bucket: str, tmp_path: Path
) -> None:
    for name in ("model", "data"):
        (tmp_path / name).mkdir()
    _, published = pack(tmp_path / "model", tmp_path / "data", tmp_path / "out", publisher_to(store, bucket))
    assert published == PublishResult()
    assert proxy.requests == []
    assert held(s3, bucket) == {}


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize("compression", ["GZIP", "NONE"])
def test_a_refusal_leaves_the_artifacts_on_disk(
    s3: S3Server,
    proxy: TroubledProxy,
    store: S3Client,
    bucket: str,
    model: Path,
    data: Path,
    tmp_path: Path,
    method: str,
    compression: str,
) -> None:
    proxy.next(*[refused(403, "AccessDenied")] * 8, method=method)
    done, published = pack(model, data, tmp_path / "out", publisher_to(store, bucket), compression=compression)
    assert published.failure == DENIED
    assert_reason("publish-denied", f"ClientError: {published.failure}")
    assert not published.cancelled
    assert done.model is not None
    assert Path(done.model).exists()
    assert (tmp_path / "out" / "output.tar.gz").exists()
    if method == "PUT":  # the other the server behind the proxy has carried out
        assert half_sent(s3, bucket) == []


@pytest.mark.slow(1)
def test_a_server_that_is_busy_in_the_midst(
    s3: S3Server, proxy: TroubledProxy, store: S3Client, bucket: str, model: Path, data: Path, tmp_path: Path
) -> None:
    proxy.next(slow_down, slow_down, slow_down, method="PUT")
    proxy.bodies_cut.extend([1000, 2_000_000])
    _, published = pack(model, data, tmp_path / "out", publisher_to(store, bucket))
    assert published.failure is None
    assert held(s3, bucket)[f"{PREFIX}model.tar.gz"] == (tmp_path / "out" / "model.tar.gz").read_bytes()


def test_a_disk_that_is_full_takes_the_upload_back(
    s3: S3Server, store: S3Client, bucket: str, model: Path, data: Path, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=38m", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("cannot mount here")
    try:
        with pytest.raises(ArtifactError, match="Insufficient disk space"):
            pack(model, data, disk / "out", publisher_to(store, bucket))
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert (held(s3, bucket), half_sent(s3, bucket)) == ({}, [])


def test_whoever_does_not_want_to_wait_gets_the_archive_all_the_same(
    s3: S3Server, proxy: TroubledProxy, store: S3Client, bucket: str, model: Path, data: Path, tmp_path: Path
) -> None:
    proxy.next(*[slow_down] * 200, method="PUT")

    def enough() -> bool:
        return any(head.startswith("PUT") for head in proxy.requests)

    done, published = pack(model, data, tmp_path / "out", publisher_to(store, bucket, cancelled=enough))
    assert (published.cancelled, published.failure) == (True, None)
    assert done.model is not None
    assert Path(done.model).exists()
    assert half_sent(s3, bucket) == []
    assert f"{PREFIX}model.tar.gz" not in held(s3, bucket)


def test_what_is_said_while_it_goes_on(store: S3Client, bucket: str, model: Path, data: Path, tmp_path: Path) -> None:
    said: list[str] = []
    pack(model, data, tmp_path / "out", publisher_to(store, bucket), working=said.append)
    assert any(line.startswith("uploading: ") or " · uploading: " in line for line in said)


@pytest.fixture
def finished(smlocal_home: Path, tmp_path: Path, model: Path, data: Path) -> Callable[..., Path]:
    """Remembers a finished job whose artifacts are on disk; returns the folder with them."""

    def make(
        name: str, uri: str, *, compression: str = "GZIP", status: JobStatus | None = None, packed: bool = True
    ) -> Path:
        out = tmp_path / "out" / name / "output"
        local: dict[str, Any] = {"Artifacts": {"Model": None, "Output": None, "Notes": ["kept"]}}
        if packed:
            trees = [[walk("algo-1", str(folder))] for folder in (model, data)]
            kind: Any = compression
            done = write_artifacts(
                *trees,
                **FOLDERS,
                destination=str(out),
                compression=kind,
            )
            local["Artifacts"] |= {"Model": done.model, "Output": done.output}
        request = {"OutputDataConfig": {"S3OutputPath": uri, "CompressionType": compression}}
        plan = planned(job(request, {"Publish": True}), replace(FACTS, region=REGION), name=name)
        with Store.open(str(smlocal_home)) as jobs:
            documents = {"request": request, "recall": remember(plan)}
            lease = jobs.create(name, run_id="0" * 8, created=1.0, documents=documents, supervisor_pid=None)
            jobs.put_document(name, "local", local)
            if status is None:
                ended = COMPLETED
                jobs.transition(name, status=ended.status, phase=ended.phase, message=ended.message, at=2.0)
            lease.release()
        return out

    return make


@pytest.mark.slow(1)
@pytest.mark.parametrize("compression", ["GZIP", "NONE"])
def test_a_finished_job_is_published_and_says_so(
    s3: S3Server, bucket: str, finished: Callable[..., Path], smlocal_run: Run, smlocal_home: Path, compression: str
) -> None:
    out = finished("publish-again", f"s3://{bucket}/models", compression=compression)
    done = smlocal_run("publish", "publish-again", env=s3.environment)
    assert (done.returncode, done.stderr.count("error")) == (0, 0), done.stderr
    prefix = "models/publish-again/output/"
    objects = held(s3, bucket)
    assert objects[f"{prefix}output.tar.gz"] == (out / "output.tar.gz").read_bytes()
    if compression == "GZIP":
        assert objects[f"{prefix}model.tar.gz"] == (out / "model.tar.gz").read_bytes()
    else:
        assert objects[f"{prefix}model/weights"] == (out / "model" / "weights").read_bytes()
    assert sorted(line.split("  ")[0] for line in done.stdout.splitlines()) == [
        f"s3://{bucket}/{key}" for key in objects
    ]
    with Store.open(str(smlocal_home)) as jobs:
        artifacts = jobs.document("publish-again", "local")["Artifacts"]
    assert {each["S3Uri"] for each in artifacts["Published"]} == {f"s3://{bucket}/{key}" for key in objects}
    assert artifacts["Notes"] == ["kept"]


@pytest.mark.slow(1)
def test_a_failed_publication_can_be_tried_again(
    s3: S3Server, proxy: TroubledProxy, bucket: str, finished: Callable[..., Path], smlocal_run: Run
) -> None:
    finished("publish-denied", f"s3://{bucket}/models")
    proxy.next(*[refused(403, "AccessDenied")] * 4, method="PUT")
    done = smlocal_run("publish", "publish-denied", env=environment(proxy.url))
    assert done.returncode == 1
    assert DENIED in done.stderr
    assert "[artifact-write]" in done.stderr
    assert f"s3://{bucket}/models/publish-denied/output/" in done.stderr
    assert half_sent(s3, bucket) == []
    again = smlocal_run("publish", "publish-denied", "--json", env=s3.environment, check=True)
    document = json.loads(again.stdout)["Publish"]
    assert document["TrainingJobName"] == "publish-denied"
    assert {each["S3Uri"] for each in document["Published"]} == {f"s3://{bucket}/{key}" for key in held(s3, bucket)}
    assert document["PublishFailure"] is None


@pytest.mark.slow(1)
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "terminated"]
)
def test_ctrl_c_leaves_neither_object_nor_parts(
    s3: S3Server,
    proxy: TroubledProxy,
    bucket: str,
    finished: Callable[..., Path],
    smlocal_home: Path,
    number: signal.Signals,
    code: int,
) -> None:
    finished("publish-broken-off", f"s3://{bucket}")
    proxy.next(*[slow_down] * 200, method="PUT")
    process = subprocess.Popen(
        [sys.executable, "-m", "smlocal", "publish", "publish-broken-off"],
        env={**os.environ, **environment(proxy.url), "SMLOCAL_HOME": str(smlocal_home)},
        stderr=subprocess.PIPE,
    )
    until(lambda: sum(head.startswith("PUT") for head in proxy.requests) > 1)  # it tries again
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code, said
    assert b"interrupted" in said
    assert half_sent(s3, bucket) == []
    assert "publish-broken-off/output/model.tar.gz" not in held(s3, bucket)


@pytest.mark.slow(2)
def test_parts_that_a_killed_process_left_are_taken_back(
    s3: S3Server,
    proxy: TroubledProxy,
    bucket: str,
    finished: Callable[..., Path],
    smlocal_home: Path,
    smlocal_run: Run,
) -> None:
    finished("publish-killed", f"s3://{bucket}")
    proxy.next(*[slow_down] * 200, method="PUT")
    process = subprocess.Popen(
        [sys.executable, "-m", "smlocal", "publish", "publish-killed"],
        env={**os.environ, **environment(proxy.url), "SMLOCAL_HOME": str(smlocal_home)},
    )
    until(lambda: half_sent(s3, bucket) != [] and any(head.startswith("PUT") for head in proxy.requests))
    process.kill()
    process.wait()
    assert half_sent(s3, bucket) == ["publish-killed/output/model.tar.gz"]
    done = smlocal_run("publish", "publish-killed", env=s3.environment)
    assert done.returncode == 0, done.stderr
    assert half_sent(s3, bucket) == []


def test_two_at_once_do_not_get_in_each_others_way(
    s3: S3Server, bucket: str, finished: Callable[..., Path], smlocal_home: Path, smlocal_run: Run
) -> None:
    from smlocal.jobs.store.lease import Lease

    finished("publish-twice", f"s3://{bucket}")
    lease = Lease.take(str(smlocal_home / "jobs" / "publish-twice"))
    assert lease is not None
    with lease:
        done = smlocal_run("publish", "publish-twice", env=s3.environment)
    assert (done.returncode, "being published by another process" in done.stderr) == (2, True)


def test_no_way_to_s3_and_wrong_credentials_are_this_machines_fault(
    s3_servers: Callable[[str], Any], finished: Callable[..., Path], smlocal_run: Run
) -> None:
    finished("publish-offline", "s3://some-bucket")
    server = s3_servers("rclone")
    done = smlocal_run("publish", "publish-offline", env={**server.environment, "AWS_SECRET_ACCESS_KEY": "wrong"})
    assert (done.returncode, "[credentials-missing]" in done.stderr) == (3, True), done.stderr
    none = {key: value for key, value in server.environment.items() if "KEY" not in key}
    done = smlocal_run("publish", "publish-offline", env=none)
    assert (done.returncode, "[credentials-missing]" in done.stderr) == (3, True), done.stderr


def test_what_cannot_be_published_is_refused_each_in_its_own_words(
    finished: Callable[..., Path], smlocal_run: Run
) -> None:
    def refusal(name: str) -> tuple[int, str]:
        done = smlocal_run("publish", name)
        assert done.stdout == ""
        return done.returncode, done.stderr

    finished("publish-local", "file:///out")
    code, said = refusal("publish-local")
    assert (code, "[nothing-to-publish]" in said) == (2, True)
    assert "is not in S3: file:///out" in said
    finished("publish-nothing", "s3://bucket", packed=False)
    code, said = refusal("publish-nothing")
    assert (code, "has no artifacts" in said) == (2, True)
    out = finished("publish-gone", "s3://bucket")
    (out / "model.tar.gz").unlink()
    code, said = refusal("publish-gone")
    assert (code, "were moved or deleted" in said, str(out / "model.tar.gz") in said) == (2, True, True)
    code, said = refusal("publish-unknown")
    assert (code, "[job-unknown]" in said) == (2, True)
