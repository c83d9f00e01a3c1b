"""What is said of a place that restricts its engine, and what is not asked of it."""

import os
from pathlib import Path

import pytest

from smlocal.doctor import place as there
from smlocal.doctor.checks import judge_home
from smlocal.doctor.judgement import fine, warning
from smlocal.doctor.machine import ContainerTrial, Machine
from smlocal.doctor.run_checks import run_checks
from smlocal.doctor.summary import summary
from smlocal.engine.facts import Place

PLACE = Place(app="CodeEditor")


def test_there_is_no_such_row_where_the_engine_is_the_machines_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    monkeypatch.setenv("SMLOCAL_HOME", str(tmp_path / "home"))
    machine = Machine(environment={})
    assert machine.place is None
    assert "place" not in dict(run_checks(machine))
    machine.place = PLACE
    found = dict(run_checks(machine))
    assert found["place"].severity == "unknown"
    assert "SageMaker Studio (CodeEditor)" in found["place"].sentence
    # Without an engine nothing else is said about it.
    assert {found[name].severity for name in ("container", "overlay", "cgroup")} == {"unknown"}
    assert "place        SageMaker Studio, CodeEditor" in summary(machine, found)


def test_what_is_lost_is_said_with_an_engine() -> None:
    found = there.judge_place(PLACE, engine=True)
    assert found.severity == "warning"
    for words in ("CodeEditor", "one host", "network 'sagemaker'", "No isolation", "shell in a running", "usage"):
        assert words in found.sentence
    assert "smlocal help studio" in found.remedy[0]


@pytest.mark.parametrize(("below", "severity"), [(True, "ok"), (False, "problem")])
def test_the_home_is_below_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: bool, severity: str
) -> None:
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    home = str(user / "smlocal" if below else tmp_path / "users")
    found = there.judge_home_there(PLACE, home, judge_home(home, file_system="ext4"))
    assert found.severity == severity
    assert os.path.basename(home) in found.sentence


def test_an_empty_image_that_may_not_be_built_says_nothing_of_others() -> None:
    found = there.judge_untried(PLACE, ContainerTrial(container_error="403", untried="the registry is not trusted"))
    assert (found.severity, "the registry is not trusted" in found.sentence) == ("warning", True)


def test_what_cannot_be_known_there_is_no_problem() -> None:
    assert there.judge_overlay_there(PLACE).severity == "warning"
    assert there.judge_storage_there(PLACE).severity == "unknown"
    assert there.judge_fuse_there(PLACE).severity == "warning"
    assert there.judge_cgroup_there(PLACE).severity == "unknown"


def test_no_driver_can_be_installed_there() -> None:
    found = there.judge_gpu_there(warning("no GPU", "Install nvidia-container-toolkit"))
    assert (found.severity, found.sentence, "instance type" in found.remedy[0]) == ("warning", "no GPU", True)
    assert there.judge_gpu_there(fine("tested")) == fine("tested")
