"""An object of a FastFile channel cannot be read: the container gets EIO, and the user learns which one and why."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.data.s3.troubled_proxy import TroubledProxy, refused
from tests.kit import until
from tests.kit.jobs import Background, channel
from tests.kit.s3_servers import S3Server, environment

DATA = "/opt/ml/input/data"
# It reads only what the test has prepared: a folder of this machine is shown as it is.
READ = f"echo ready; until [ -e {DATA}/flag/go ]; do sleep 0.1; done; cat {DATA}/train/there {DATA}/train/trouble"


@pytest.fixture
def bucket(s3: S3Server) -> str:
    name = s3.make_bucket()
    for key in ("in/there", "in/trouble"):
        s3.put(name, key, b"as listed\n")
    return name


@pytest.fixture
def run_with(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    bucket: str,
    tmp_path: Path,
    assert_nothing_left: Callable[[str], None],
) -> Callable[..., tuple[dict[str, Any], str]]:
    """Runs a job, has something happen while its container waits, and returns the answer and what was said."""

    def run(env: dict[str, str], happen: Callable[[], object], script: str = READ) -> tuple[dict[str, Any], str]:
        (tmp_path / "flag").mkdir()
        (tmp_path / "flag" / "there").touch()
        channels = [
            channel(uri=f"s3://{bucket}/in/", mode="FastFile"),
            channel("flag", uri="./flag", mode="FastFile"),
        ]
        job = background(job_file(channels, script), env)
        until(lambda: "ready" in job.output())
        happen()
        (tmp_path / "flag" / "go").touch()
        answer = job.finish()
        assert_nothing_left(job.name)
        return answer, job.output()

    return run


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_an_object_that_is_no_longer_what_was_listed(
    run_with: Callable[..., tuple[dict[str, Any], str]], s3: S3Server, bucket: str, how: str
) -> None:
    def happen() -> None:
        if how == "deleted":
            s3.client().delete_object(Bucket=bucket, Key="in/trouble")
        else:
            s3.put(bucket, "in/trouble", b"something else\n")

    answer, log = run_with(s3.environment, happen)
    assert answer["FailureReason"] == "AlgorithmError: , exit code: 1"
    assert "as listed" in log.splitlines()
    assert "something else" not in log
    local = answer["Local"]
    assert local["Explanation"].startswith(
        f'reading s3://{bucket}/in/trouble of FastFile channel "train" failed, the container got an I/O error (EIO): '
        + ("NoSuchKey: " if how == "deleted" else "PreconditionFailed: ")
    )
    (hint,) = local["Hints"]
    assert hint.startswith(f"The object was {how} after the job listed it")


@pytest.mark.slow(1)
def test_an_object_that_may_not_be_read(
    run_with: Callable[..., tuple[dict[str, Any], str]], s3: Any, bucket: str
) -> None:
    with TroubledProxy(s3.port) as between:
        answer, _ = run_with(
            environment(between.url),
            lambda: between.next(refused(403, "AccessDenied")),
            READ.replace(f"{DATA}/train/there ", ""),
        )
    assert f"s3://{bucket}/in/trouble" in answer["Local"]["Explanation"]
    assert answer["Local"]["Explanation"].endswith("(EIO): AccessDenied: said AccessDenied")
    assert "s3:GetObject" in answer["Local"]["Hints"][0]


@pytest.mark.slow(1)
def test_a_program_that_goes_on_without_the_object_is_told_of_too(
    run_with: Callable[..., tuple[dict[str, Any], str]], s3: S3Server, bucket: str
) -> None:
    answer, _ = run_with(
        s3.environment, lambda: s3.client().delete_object(Bucket=bucket, Key="in/trouble"), f"{READ} || true"
    )
    assert answer["TrainingJobStatus"] == "Completed"
    assert answer["Local"]["Explanation"] is None
    fact, advice = answer["Local"]["Hints"]
    assert fact.startswith(f"reading s3://{bucket}/in/trouble of ")
    assert advice == "The object was deleted after the job listed it."
