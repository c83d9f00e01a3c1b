"""The promises of the contract, held on Podman; and those that Podman cannot keep, refused or told."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.contract.test_cases import NAMES, hold_case
from tests.doors.remote.conftest import relaying
from tests.kit import Run
from tests.kit.fixtures import run_docker
from tests.kit.podman_differs import DIFFERS_ON_PODMAN

Image = Callable[[str | Path], str]
# The other folders take minutes: scripts/test runs them too, once a day (CONTRIBUTING.md).
CASES = [name for name in NAMES if f"contract/test_cases.py::test_case[{name}]" not in DIFFERS_ON_PODMAN]
pytestmark = pytest.mark.long


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize("case", CASES)
def test_case(
    case: str, tmp_path: Path, image: Image, smlocal_run: Run, assert_nothing_left: Callable[[str], None]
) -> None:
    answer = hold_case(case, tmp_path, image, smlocal_run, assert_nothing_left, "--name", f"podman-{case}")
    assert "engine-podman" in [note["Id"] for note in answer["Local"]["Notes"]]


@pytest.mark.slow(1)
def test_one_elsewhere_gets_the_data(
    tmp_path: Path, image: Image, smlocal_run: Run, assert_nothing_left: Callable[[str], None]
) -> None:
    with relaying() as relay:
        far = partial(smlocal_run, env={"DOCKER_HOST": relay.address})
        answer = hold_case("two-hosts-sharded", tmp_path, image, far, assert_nothing_left, "--name", "podman-elsewhere")
    assert {"engine-podman", "engine-remote"} <= {note["Id"] for note in answer["Local"]["Notes"]}
    assert relay.mounts == {b"volume"}


@pytest.mark.slow(2)
def test_a_shell(tmp_path: Path, image: Image, smlocal_run: Run, assert_nothing_left: Callable[[str], None]) -> None:
    script = "echo outside >/seen; echo m >/opt/ml/model/m; [ $STAY ] && sleep 1000; exit 3"
    flags = ("--image", image("sh"), "-e", f"SCRIPT={script}")
    look = ("--", "sh", "-c", "cat; cat /seen /opt/ml/model/m; echo wrong >&2; exit 9")
    smlocal_run("run", *flags, "--name", "podman-shell", "--keep", "failed", cwd=tmp_path)
    smlocal_run("run", *flags, "--name", "podman-runs", "-e", "STAY=1", "--detach", cwd=tmp_path, check=True)
    try:
        for name in ("podman-shell", "podman-runs"):
            done = smlocal_run("shell", name, *look, stdin="given\n")
            assert (done.returncode, done.stdout, done.stderr) == (9, "given\noutside\nm\n", "wrong\n"), name
            assert "[command-not-started]" in smlocal_run("shell", name, "--", "/not/there").stderr
        assert run_docker("images", "--quiet", "--filter", "label=smlocal.job=podman-shell") == ""
    finally:
        assert smlocal_run("rm", "--stop", "podman-shell", "podman-runs").returncode == 0
    assert_nothing_left("podman-shell")
    assert_nothing_left("podman-runs")


def test_a_gpu_is_refused_not_forgotten(tmp_path: Path, image: Image, smlocal_run: Run) -> None:
    tag = image("sh")
    flags = ("run", "--image", tag, "--name", "podman-gpu", "--instance-type", "ml.g4dn.xlarge", "--json")
    done = smlocal_run(*flags, cwd=tmp_path)
    error = json.loads(done.stdout)["Error"]
    assert (done.returncode, error["Id"]) == (3, "gpu-unavailable")
    assert "Podman before 5.4 ignores GPU requests" in done.stdout
    assert not (tmp_path / "home" / "jobs" / "podman-gpu").exists()


@pytest.mark.slow(1)
def test_doctor_knows_it(smlocal_run: Run) -> None:
    done = smlocal_run("doctor", "--json")
    found = {check["Check"]: check for check in json.loads(done.stdout)["Doctor"]["Checks"]}
    assert done.returncode == 0, done.stdout
    assert found["engine"]["Sentence"].startswith("Podman 4")
    for name in ("version", "container", "overlay", "shared-memory", "clock", "leftovers"):
        assert found[name]["Severity"] == "ok", found[name]
    assert "Podman before 5.4 ignores GPU requests" in found["gpu"]["Sentence"]
    assert "smlocal-doctor" not in run_docker("image", "ls")
