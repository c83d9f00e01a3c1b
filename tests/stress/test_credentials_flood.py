"""A foreign container opens as many connections to the credentials as it can; those of a job still get theirs."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.kit import until
from tests.kit.fixtures import touch_inside
from tests.kit.jobs import Background

Docker = Callable[..., str]
FETCHES = 20
FETCH = 'wget -qO- "http://169.254.170.2$AWS_CONTAINER_CREDENTIALS_RELATIVE_URI" | grep -o "AKIA[A-Z]*" || echo none'
WAIT = "until [ -e /opt/ml/output/data/go ]; do sleep 0.05; done"
SCRIPT = f"echo ready; {WAIT}; for i in $(seq {FETCHES}); do {FETCH}; done; echo over"
CLIENT = "while :; do sleep 60 | nc 169.254.170.2 80; sleep 0.1; done"
FLOOD = f"for i in $(seq 150); do ({CLIENT}) & done; sleep 3; echo on; wait"
KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIAA",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may listen at port 80")


@pytest.fixture
def flood(docker: Docker, image: Callable[[str], str], tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Begins the flood; returns what its container says."""
    name = f"smlocal-flood-{tmp_path.name}"
    begun = False

    def begin() -> str:
        nonlocal begun
        if not begun:
            begun = True
            docker("run", "--detach", "--name", name, "--entrypoint", "sh", image("sh"), "-c", FLOOD)
        return docker("logs", name)

    yield begin
    if begun:
        docker("rm", "--force", name)


@pytest.mark.slow(2)
def test_others_still_get_their_credentials(
    job_file: Callable[..., Path], background: Callable[..., Background], docker: Docker, flood: Callable[[], str]
) -> None:
    if "Podman" in docker("version"):
        pytest.skip("Podman's networks are there only while a container is on them")
    job = background(job_file([], SCRIPT, local={"Credentials": "inherit"}), env=KEYS)
    until(lambda: "ready" in job.output())
    until(lambda: "on" in flood())
    touch_inside(job.home / "jobs" / job.name / "hosts" / "algo-1" / "output" / "data" / "go")
    assert job.finish()["TrainingJobStatus"] == "Completed"
    assert job.output().split() == ["ready", *["AKIAA"] * FETCHES, "over"]
