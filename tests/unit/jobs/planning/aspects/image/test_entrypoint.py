import pytest

from smlocal.jobs.planning.aspects.image.plan import init_program, is_model_trainer, is_shell_form


@pytest.mark.parametrize(
    "entrypoint",
    [
        ["/bin/sh", "-c", "python train.py"],
        ["/bin/bash", "-c", "python train.py"],
        ["/bin/bash", "-o", "pipefail", "-c", "python train.py | tee log"],
        ["/bin/bash", "-eo", "pipefail", "-c", "python train.py"],
        ["/bin/bash", "-euxo", "pipefail", "-c", "python train.py"],
        ["/bin/sh", "-o", "errexit", "-c", "python train.py"],
        ["/bin/bash", "--login", "-c", "python train.py"],
        ["/bin/bash", "--rcfile", "/etc/rc", "-c", "python train.py"],
        ["bash", "-lc", "python train.py"],
        ["bash", "+x", "-c", "--", "python train.py"],
        ["/bin/ash", "-c", "python train.py"],
        ["/bin/dash", "-ec", "python train.py"],
        ["/usr/bin/zsh", "-c", "python train.py"],
        ["/bin/busybox", "sh", "-c", "python train.py"],
        ["/bin/busybox", "ash", "-e", "-c", "python train.py"],
        ["/usr/bin/env", "bash", "-c", "python train.py"],
    ],
)
def test_shell_form_by_any_shell_with_any_options(entrypoint: list[str]) -> None:
    assert is_shell_form(entrypoint)


@pytest.mark.parametrize(
    "entrypoint",
    [
        [],
        ["python", "train.py"],
        ["python", "-c", "print()"],
        ["bash", "-m", "start_with_right_hostname.sh"],
        ["/bin/bash", "start.sh", "-c", "config.yaml"],
        ["/bin/bash", "-o", "pipefail", "start.sh"],
        ["/bin/sh", "-c"],  # `train` itself is the line
        ["/bin/sh", "-c", 'exec "$@"', "--"],  # `train` is $1
        ["/bin/busybox"],
        ["/opt/sh/run", "-c", "x"],
    ],
)
def test_what_passes_train_on(entrypoint: list[str]) -> None:
    assert not is_shell_form(entrypoint)


@pytest.mark.parametrize(
    "entrypoint", [["tini", "--"], ["/usr/bin/dumb-init", "python", "t.py"], ["/sbin/docker-init"]]
)
def test_init_programs(entrypoint: list[str]) -> None:
    assert init_program(entrypoint) == entrypoint[0].rpartition("/")[2]


def test_an_init_program_is_known_by_the_whole_of_its_name() -> None:
    assert init_program(["/opt/tini-like", "tini"]) is None
    assert init_program([]) is None


def test_the_command_of_a_model_trainer_job() -> None:
    script = "/opt/ml/input/data/sm_drivers/sm_train.sh"
    assert is_model_trainer(["/bin/bash", "-c", f"chmod +x {script} && {script}"])
    assert not is_model_trainer(["/bin/bash", "-c", "python train.py"])
    assert not is_model_trainer([script])
    assert not is_model_trainer(["python", script])
    assert not is_model_trainer([])
