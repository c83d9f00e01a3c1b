"""A stop that comes while a job uploads: what is uploaded is whole, or not there at all, and the archive stays."""

import json
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy
from tests.kit import Run, until
from tests.kit.jobs import Background
from tests.kit.s3_servers import S3Server, S3Servers, environment

SCRIPT = "head -c 20000000 /dev/urandom >/opt/ml/model/weights"


@pytest.fixture
def s3(s3_servers: S3Servers) -> S3Server:
    return s3_servers("moto")


@pytest.fixture
def proxy(s3: Any) -> Iterator[TroubledProxy]:
    with TroubledProxy(s3.port) as between:
        yield between


@pytest.fixture
def released(proxy: TroubledProxy) -> Iterator[threading.Event]:
    """No part of an upload is confirmed before this is set."""
    event = threading.Event()

    def held(client: socket.socket, answer: bytes) -> bool:
        event.wait()
        client.sendall(answer)
        return False

    proxy.next(*[held] * 100, method="PUT")
    yield event
    event.set()


@pytest.fixture
def uploading(
    background: Callable[..., Background],
    job_file: Callable[..., Path],
    proxy: TroubledProxy,
    s3: S3Server,
    released: threading.Event,
) -> tuple[Background, str]:
    """A job whose upload does not come on, and its bucket."""
    assert not released.is_set()
    bucket = s3.make_bucket()
    path = job_file(
        [],
        SCRIPT,
        InputDataConfig=None,
        OutputDataConfig={"S3OutputPath": f"s3://{bucket}/out"},
        local={"Publish": True, "Output": "./out"},
    )
    job = background(path, environment(proxy.url))
    until(lambda: job.process.poll() is not None or any(head.startswith("PUT") for head in proxy.requests))
    return job, bucket


def keys(s3: S3Server, bucket: str) -> list[str]:
    return [each["Key"] for each in s3.client().list_objects_v2(Bucket=bucket).get("Contents", ())]


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize("way", ["ctrl-c", "stop"])
def test_one_stop_lets_the_upload_end(
    way: str,
    uploading: tuple[Background, str],
    released: threading.Event,
    s3: S3Server,
    smlocal_run: Run,
    tmp_path: Path,
    assert_nothing_left: Callable[[str], None],
) -> None:
    job, bucket = uploading
    if way == "ctrl-c":
        job.process.send_signal(signal.SIGINT)
    else:
        asked = smlocal_run("stop", job.name)
        assert asked.returncode == 0, asked.stderr
    # It shows while the upload goes on: the job is being stopped, as the service says of one that uploads then.
    until(lambda: "Stopping" in smlocal_run("describe", job.name).stdout)
    released.set()
    answer = job.finish()
    assert job.process.returncode == (130 if way == "ctrl-c" else 4)
    assert (answer["TrainingJobStatus"], answer["SecondaryStatus"]) == ("Stopped", "Stopped")
    key = f"out/{job.name}/output/model.tar.gz"
    assert keys(s3, bucket) == [key]
    kept = (tmp_path / key).read_bytes()
    assert s3.client().get_object(Bucket=bucket, Key=key)["Body"].read() == kept
    assert_nothing_left(job.name)


@pytest.mark.slow(2)
def test_a_second_ctrl_c_breaks_the_upload_off(
    uploading: tuple[Background, str],
    s3: S3Server,
    smlocal_run: Run,
    tmp_path: Path,
    assert_nothing_left: Callable[[str], None],
) -> None:
    job, bucket = uploading
    job.process.send_signal(signal.SIGINT)
    until(lambda: "Stopping" in smlocal_run("describe", job.name).stdout)
    job.process.send_signal(signal.SIGINT)
    out, said = job.process.communicate(timeout=90)
    answer = json.loads(out)
    assert job.process.returncode == 130
    assert answer["SecondaryStatus"] == "Stopped"
    assert "no container was running" in said
    assert "SIGTERM sent" not in said
    assert "the upload continues (Ctrl-C again to stop it)" in said
    assert answer["Local"]["Artifacts"]["PublishFailure"] == "it was interrupted"
    assert any("smlocal publish" in note for note in answer["Local"]["Artifacts"]["Notes"])
    assert keys(s3, bucket) == []
    assert s3.client().list_multipart_uploads(Bucket=bucket).get("Uploads", []) == []
    assert (tmp_path / "out" / job.name / "output" / "model.tar.gz").exists()
    assert_nothing_left(job.name)
    again = smlocal_run("publish", job.name, env=s3.environment)
    assert again.returncode == 0, again.stderr
    assert keys(s3, bucket) == [f"out/{job.name}/output/model.tar.gz"]
