"""Commands in a place like SageMaker Studio, whose engine refuses every call that is not known to be allowed there."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.clients.conftest import PROGRAMS, client_folder, last_json
from tests.kit import until
from tests.kit.studio_engine import StudioPlace

Image = Callable[[str | Path], str]
_WAITS = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done"


def checks_of(done: "subprocess.CompletedProcess[str]") -> dict[str, dict[str, Any]]:
    return {check["Check"]: check for check in json.loads(done.stdout)["Doctor"]["Checks"]}


def error(done: "subprocess.CompletedProcess[str]") -> str:
    return done.stderr.splitlines()[0].rpartition("[")[2].rstrip("]")


@pytest.mark.slow(4)
def test_doctor_names_the_place_and_tries_a_container_there(place: StudioPlace) -> None:
    done = place.run("smlocal", "doctor", "--json", env={"AWS_REGION": "eu-central-1"})
    found = checks_of(done)
    assert done.returncode == 0, done.stdout
    assert "SageMaker Studio (JupyterLab)" in found["place"]["Sentence"]
    assert "smlocal help studio" in found["place"]["Remedy"][0]
    assert found["container"]["Sentence"].startswith("tested: ")
    assert "64 MiB" in found["shared-memory"]["Sentence"]
    assert {name for name, check in found.items() if check["Severity"] == "unknown"} == {"storage", "cgroup", "clock"}
    assert found["home"]["Severity"] == found["leftovers"]["Severity"] == "ok"
    assert place.left() == []
    place.assert_nothing_refused()

    # A home elsewhere could not be mounted.
    assert checks_of(place.run("smlocal", "doctor", "--json", env={"SMLOCAL_HOME": "/tmp/h"}))["home"]["Remedy"]
    # A domain without the internet refuses even an empty image, which says nothing about others.
    place.engine.refuse("POST /build")
    done = place.run("smlocal", "doctor", "--json")
    assert (done.returncode, checks_of(done)["container"]["Severity"]) == (0, "warning")
    # Docker access is off: there is no socket.
    done = place.run("smlocal", "run", "--image", "x", env={"DOCKER_HOST": "unix:///docker/proxy.sock"})
    assert (done.returncode, error(done)) == (3, "engine-unreachable"), done.stderr
    assert "update-domain --domain-id d-0123456789ab" in done.stderr


@pytest.mark.slow(7)
def test_from_a_new_space_to_a_first_job_and_its_check(
    place: StudioPlace, image: Image, docker: Callable[..., str]
) -> None:
    """The commands of docs/studio.md, after its first two. The place has no docker command."""
    folder = place.home / f"mine-{os.getpid()}"
    folder.mkdir()
    (folder / "train").write_text("#!/bin/sh\necho loss=1\necho m > /opt/ml/model/m\n")
    (folder / "Dockerfile").write_text(
        f"FROM {image('sh')}\nRUN rm -f /entry\nCOPY train /usr/local/bin/train\n"
        "RUN chmod +x /usr/local/bin/train\nENTRYPOINT []\n"
    )
    shutil.chown(folder, 1000, 100)
    said = place.run("smlocal", "init", cwd=folder, check=True).stderr
    assert said.splitlines()[1:] == ["  smlocal run job.yaml --build ."]
    said = place.run("smlocal", "init", "--kind", "endpoint", cwd=folder, check=True).stderr
    assert f"DOCKER_BUILDKIT=0 docker build --network sagemaker --tag {folder.name}:latest ." in said
    (folder / "job.yaml").write_text(
        f"AlgorithmSpecification: {{TrainingImage: '{folder.name}:latest', TrainingInputMode: File}}\n"
        "ResourceConfig: {InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 1}\n"
        "OutputDataConfig: {S3OutputPath: out}\nStoppingCondition: {MaxRuntimeInSeconds: 600}\n"
    )
    done = place.run("smlocal", "run", "job.yaml", "--build", ".", "--name", "space-first", cwd=folder, check=True)
    assert f"Successfully tagged {folder.name}:latest" in done.stderr
    assert place.run("smlocal", "logs", "space-first", check=True).stdout == "loss=1\n"
    assert (folder / "out/space-first/output/model.tar.gz").exists()

    done = place.run("smlocal", "check", "job.yaml", "--json", cwd=folder)
    results = {each["Id"]: each for each in json.loads(done.stdout)["Check"]["Rules"]}
    assert results["train-missing"]["Outcome"] == "passed", json.dumps(results["train-missing"]) + done.stderr
    assert results["job-fails"]["Outcome"] == "passed", results["job-fails"]
    assert "not known to list the processes" in results["sigterm-unhandled"]["Skipped"]
    assert "2 hosts cannot run in SageMaker Studio" in results["two-hosts-fail"]["Skipped"]
    for rule, calls in (("memory-near-limit", "docker stats"), ("writes-elsewhere", "docker diff")):
        assert results[rule]["Skipped"] == f"SageMaker Studio is not known to answer {calls}"
        assert "an ordinary engine" in json.dumps(results[rule])
    assert "history of the image is not read" in done.stderr
    place.run("smlocal", "rm", "space-first", check=True)
    docker("rmi", f"{folder.name}:latest")
    place.assert_nothing_refused()
    assert place.left() == []


@pytest.mark.slow(2)
def test_the_docker_command_builds_on_the_only_network_if_it_is_there(
    place: StudioPlace, image: Image, docker: Callable[..., str]
) -> None:
    program = shutil.which("docker")
    assert program is not None
    shutil.copy(program, place.home / "docker")
    if place.run(place.home / "docker", "--version").returncode != 0:
        pytest.skip("the docker command of this machine is linked with libraries that the place has not")
    folder = place.home / "built"
    folder.mkdir()
    (folder / "Dockerfile").write_text(f"FROM {image('sh')}\nCOPY kept* /here/\nRUN ls /here\n")
    (folder / ".dockerignore").write_text("kept-not\n")
    (folder / "kept").touch()
    (folder / "kept-not").touch()
    tag = f"smlocal-test-built-{os.getpid()}"
    path = f"{place.home}:/usr/local/bin:/usr/bin:/bin"
    job = ("run", "--image", tag, "--build", folder, "--name", "built", "-e", "SCRIPT=ls /here")
    try:
        place.run("smlocal", *job, env={"PATH": path}, check=True)
        assert place.run("smlocal", "logs", "built", check=True).stdout == "kept\n"
    finally:
        docker("rmi", "--force", tag)
    # The docker command pings without a version, and goes on without an answer.
    assert {each.path for each in place.engine.refused} == {"/_ping"}


@pytest.mark.slow(3)
def test_an_image_is_read_by_python_or_not_at_all_if_it_has_no_tar(
    place: StudioPlace, image: Image, docker: Callable[..., str]
) -> None:
    tag = f"smlocal-test-no-tar-{os.getpid()}"
    text = f"FROM {image('py')}\nRUN rm -f /bin/tar /usr/bin/tar\n"
    subprocess.run(["docker", "build", "--quiet", "--tag", tag, "-"], input=text, text=True, check=True)

    def train_missing(of: str) -> dict[str, Any]:
        done = place.run("smlocal", "check", of, "--static", "--json")
        rules = {each["Id"]: each for each in json.loads(done.stdout)["Check"]["Rules"]}
        return dict(rules["train-missing"])

    try:
        assert train_missing(tag)["Outcome"] == "passed"
        assert "neither tar nor Python" in train_missing(image("no-shell"))["Skipped"]
    finally:
        docker("rmi", tag)
    place.assert_nothing_refused()
    assert place.left() == []


@pytest.mark.slow(2)
def test_check_says_what_the_place_has_refused(place: StudioPlace, image: Image) -> None:
    place.engine.refuse("POST /containers/create")
    done = place.run("smlocal", "check", image("sh"), "--json")
    rules = {each["Id"]: json.dumps(each) for each in json.loads(done.stdout)["Check"]["Rules"]}
    for name in ("train-missing", "job-fails"):
        assert "SageMaker Studio refuses POST /containers/create" in rules[name]


@pytest.mark.slow(4)
def test_a_program_that_cannot_be_started_is_looked_at(place: StudioPlace, image: Image) -> None:
    """Before its start, what a container has is what its image has."""
    done = place.run("smlocal", "run", "--image", image("not-executable"), "--name", "not-executable")
    assert "/usr/local/bin/train is not executable (mode 0644)" in done.stderr
    place.assert_nothing_refused()
    assert place.left() == []


@pytest.mark.slow(6)
def test_no_shell_in_a_container_that_is_there_and_one_in_a_new_one(place: StudioPlace, image: Image) -> None:
    tag = image("sh")
    place.run("smlocal", "run", "--detach", "--image", tag, "--name", "waits", "-e", f"SCRIPT={_WAITS}", check=True)
    until(lambda: "ready" in place.run("smlocal", "logs", "waits").stdout)
    done = place.run("smlocal", "shell", "waits", "--", "true")
    assert (done.returncode, error(done)) == (3, "shell-not-allowed"), done.stderr
    assert "SageMaker Studio does not allow another process in the container of the job 'waits'" in done.stderr
    place.run("smlocal", "rm", "--stop", "waits", check=True)

    done = place.run("smlocal", "run", "--keep", "all", "--image", tag, "--name", "kept", "-e", "SCRIPT=exit 3")
    assert (done.returncode, "smlocal shell" in done.stderr) == (1, False), done.stderr
    done = place.run("smlocal", "shell", "kept", "--", "true")
    assert (done.returncode, error(done)) == (3, "shell-not-allowed"), done.stderr
    assert place.run("ls", done.stderr.partition("  ls ")[2].split()[0]).stdout.split()[:2] == ["input", "model"]
    place.run("smlocal", "rm", "kept", check=True)

    done = place.run("smlocal", "shell", "--image", tag, "--", "sh", "-c", "ls /opt/ml; exit 7")
    assert (done.returncode, "model" in done.stdout.split()) == (7, True), done.stderr
    place.assert_nothing_refused()
    assert place.left() == []


@pytest.mark.slow(4)
def test_a_debugger_is_reached_from_the_space_alone(place: StudioPlace, image: Image) -> None:
    place.run(
        "smlocal", "run", "--detach", "--image", image("debugpy"), "--name", "waits", "--wait-for-debugger", check=True
    )
    until(lambda: "waits for a debugger (debugpy) at 127.0.0.1:5678" in place.run("smlocal", "logs", "waits").stdout)
    listening = [line.split()[1] for line in place.run("cat", "/proc/net/tcp").stdout.splitlines()]
    assert [each for each in listening if each.endswith(":162E")] == ["0100007F:162E"]
    place.run("smlocal", "rm", "--stop", "waits", check=True)
    place.assert_nothing_refused()


@pytest.mark.slow(8)
def test_two_endpoints_answer_each_at_a_port_of_its_own(place: StudioPlace, image: Image) -> None:
    place.run(
        *("smlocal", "run", "--image", image("sh"), "--name", "model", "-e", "SCRIPT=echo m >/opt/ml/model/m"),
        check=True,
    )
    for name in ("one", "two"):
        place.run("smlocal", "deploy", "model", "--image", image("serve"), "--name", name, "--detach", check=True)
    for name in ("one", "two"):
        done = place.run("smlocal", "invoke", name, "--body", name, "--content-type", "text/csv", check=True)
        assert done.stdout == name
    done = place.run(
        *(
            "smlocal",
            "deploy",
            "model",
            "--image",
            image("serve"),
            "--name",
            "ends-at-once",
            "--detach",
            "-e",
            "DIES=at-once",
        )
    )
    assert "; here the program must listen on the port in SAGEMAKER_BIND_TO_PORT, " in done.stderr
    place.run("smlocal", "rm", "--stop", "one", "two", "ends-at-once", check=True)
    done = place.run("smlocal", "check", image("train-serve"), "--train-and-serve", "--json")
    results = {each["Id"]: each for each in json.loads(done.stdout)["Check"]["Rules"]}
    assert {each["Outcome"] for each in results.values()} <= {"passed", "skipped"}, results
    place.assert_nothing_refused()
    assert place.left() == []


@pytest.mark.slow(35)
@pytest.mark.long
@pytest.mark.parametrize(
    ("requirements", "program", "images", "answer"),
    [
        (None, "boto3_job.py", ("sh",), {}),
        ("sdk-2", "sdk2_estimator.py", ("sh",), {"metrics": [["loss", 0.25]], "model": ["weights"]}),
        ("sdk-3", "sdk3_trainer.py", ("toolkit", "sh"), {"status": "Completed", "stopped": "Stopped"}),
    ],
)
def test_a_program_of_a_client_runs_its_jobs_there(
    place_of: Callable[..., StudioPlace],
    image: Image,
    requirements: str | None,
    program: str,
    images: tuple[str, ...],
    answer: dict[str, Any],
) -> None:
    packages = [] if requirements is None else [*client_folder(requirements).glob("lib/python3.*/site-packages")]
    place = place_of(packages=packages)
    shutil.copy(PROGRAMS / program, place.home)
    done = place.run("smlocal", "exec", "--", "python3", program, *map(image, images), "of-a-client", check=True)
    assert answer.items() <= last_json(done.stdout).items()
    place.assert_nothing_refused()
    assert place.left() == []
