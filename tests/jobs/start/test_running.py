"""Options on the command line, and the effect of a signal on a running job."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.kit import Run, until


def test_flags_alone_describe_a_job(tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("1\n")
    done = smlocal_run(
        *("run", "--image", image("sh"), "--channel", "train=./data", "--hyperparameter", "epochs=3"),
        *("--env", "SCRIPT=cat /opt/ml/input/config/hyperparameters.json /opt/ml/input/data/train/a.csv; echo $K"),
        *("--env", "K=V=W", "--output", "./out", "--name", "flags", "--input-mode", "File"),
        *("--instance-type", "ml.c5.xlarge", "--max-run", "30"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == '{"epochs":"3"}1\nV=W\n'
    answer = json.loads(smlocal_run("describe", "flags", "--json").stdout)
    assert answer["ResourceConfig"] == {"InstanceType": "ml.c5.xlarge", "InstanceCount": 1, "VolumeSizeInGB": 0}
    assert answer["StoppingCondition"] == {"MaxRuntimeInSeconds": 30}
    assert smlocal_run("logs", "flags").stdout == done.stdout


def test_a_job_on_the_local_socket_imports_no_library_of_docker_or_aws(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    # A user who is logged in, as most are: the login is only read for a pull.
    (tmp_path / "config.json").write_text('{"auths": {"reg.io": {"auth": "YTpi"}}, "currentContext": "default"}')
    done = smlocal_run(
        *("run", "--image", image("sh"), "--env", "SCRIPT=true", "--output", "./out"),
        cwd=tmp_path,
        env={"PYTHONPROFILEIMPORTTIME": "1", "DOCKER_CONFIG": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "smlocal.engine.docker" in imported
    assert not imported & {"docker", "requests", "urllib3", "boto3", "botocore", "ssl", "smlocal.engine.pull"}


def test_flags_override_the_file(tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]) -> None:
    request = {
        "AlgorithmSpecification": {"TrainingImage": "smlocal-not-this-one", "TrainingInputMode": "File"},
        "HyperParameters": {"epochs": "1", "kept": "yes"},
        "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
    }
    done = smlocal_run(
        *("plan", "-", "--json", "--image", image("sh"), "-p", "epochs=2", "--output", "./here"),
        cwd=tmp_path,
        stdin=json.dumps(request),
    )
    plan = json.loads(done.stdout)
    assert plan["Request"]["HyperParameters"] == {"epochs": "2", "kept": "yes"}
    assert plan["Image"]["Name"] == image("sh")
    assert plan["Output"]["Directory"] == f"{tmp_path}/here/{plan['TrainingJobName']}/output"
    assert plan["Output"]["S3ModelArtifacts"].startswith("s3://bucket/out/")
    assert not (tmp_path / "here").exists()


@pytest.mark.usefixtures("new_home")
def test_a_plan_writes_and_runs_nothing(tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]) -> None:
    done = smlocal_run("plan", "--image", image("sh"), "--name", "plan-writes-nothing", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow(1)
def test_what_is_remembered_can_be_listed_read_and_removed(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str], smlocal_home: Path
) -> None:
    for name in ("listed-earlier", "listed-later"):
        smlocal_run("run", "--image", image("sh"), "--name", name, "-e", "SCRIPT=echo $TRAINING_JOB_NAME", cwd=tmp_path)
    listed = json.loads(smlocal_run("jobs", "--json").stdout)["TrainingJobSummaries"]
    assert [job["TrainingJobName"] for job in listed] == ["listed-later", "listed-earlier"]
    table = smlocal_run("jobs").stdout.splitlines()
    assert [line.split()[:3] for line in table[1:]] == [
        ["listed-later", "training", "Completed"],
        ["listed-earlier", "training", "Completed"],
    ]
    folder = smlocal_home / "jobs" / "listed-earlier"
    # On a busy machine it may take long enough to be measured.
    assert sorted(path.name for path in folder.iterdir() if path.name != "usage") == [
        "describe.json",
        "logs",
        "plan.json",
        "request.json",
    ]
    described = json.loads(smlocal_run("describe", "listed-earlier", "--json").stdout)
    assert json.loads((folder / "describe.json").read_text()) == described
    assert "Completed" in smlocal_run("describe", "listed-earlier").stdout
    assert smlocal_run("rm", "listed-earlier", "listed-later").returncode == 0
    assert json.loads(smlocal_run("jobs", "--json").stdout)["TrainingJobSummaries"] == []
    assert not folder.exists()


@contextmanager
def started(script: str, tag: str, tmp_path: Path, home: Path, *flags: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A job called `signalled` that has begun to write."""
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "smlocal",
            "run",
            "--image",
            tag,
            "--name",
            "signalled",
            "-e",
            f"SCRIPT={script}",
            *flags,
        ],
        cwd=tmp_path,
        env={**os.environ, "SMLOCAL_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        log = home / "jobs" / "signalled" / "logs" / "algo-1.log"
        try:
            until(lambda: log.exists() and b"ready" in log.read_bytes())
            yield process
        except BaseException:
            process.kill()  # or leaving the block would wait for it
            raise


SAVES = "trap 'echo late >/opt/ml/model/late; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
DEAF = "trap '' TERM; echo ready; while :; do sleep 0.05; done"


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_a_signal_stops_the_job_as_the_service_does(
    number: signal.Signals,
    code: int,
    tmp_path: Path,
    smlocal_home: Path,
    smlocal_run: Run,
    image: Callable[[str], str],
    assert_nothing_left: Callable[[str], None],
) -> None:
    with started(SAVES, image("sh"), tmp_path, smlocal_home) as process:
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    answer = json.loads(smlocal_run("describe", "signalled", "--json").stdout)
    assert (answer["TrainingJobStatus"], answer["SecondaryStatus"]) == ("Stopped", "Stopped")
    assert "FailureReason" not in answer
    phases = [transition["Status"] for transition in answer["SecondaryStatusTransitions"]]
    assert phases == ["Starting", "Downloading", "Training", "Stopping", "Uploading", "Stopped"]
    assert answer["Local"]["Hosts"][0]["ExitCode"] == 5
    assert (tmp_path / "smlocal-output" / "signalled" / "output" / "model.tar.gz").exists()
    assert_nothing_left("signalled")


@pytest.mark.slow(1)
def test_a_second_interrupt_kills_at_once(
    tmp_path: Path, smlocal_home: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    with started(DEAF, image("sh"), tmp_path, smlocal_home) as process:
        process.send_signal(signal.SIGINT)

        def stopping() -> bool:
            return "Stopping" in smlocal_run("describe", "signalled").stdout

        until(stopping)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    answer = json.loads(smlocal_run("describe", "signalled", "--json").stdout)
    assert answer["SecondaryStatus"] == "Stopped"
    assert answer["Local"]["Hosts"][0]["Killed"] is True
    (hint,) = answer["Local"]["Hints"]
    assert "before the grace period ended" in hint


@pytest.mark.slow(1)
def test_output_may_be_closed_early(
    tmp_path: Path, smlocal_home: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo line $i of many; done"
    command = f"{sys.executable} -m smlocal run --image {image('sh')} --name early -e 'SCRIPT={script}' | head -n 1"
    subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env={**os.environ, "SMLOCAL_HOME": str(smlocal_home)}, check=True
    )
    assert json.loads(smlocal_run("describe", "early", "--json").stdout)["TrainingJobStatus"] == "Completed"
    assert smlocal_run("logs", "early").stdout.count("\n") == 20000


@pytest.mark.slow(1)
def test_code_that_the_image_does_not_read_is_run_by_an_entry_point_of_its_own(
    tmp_path: Path, smlocal_run: Run, image: Callable[[str], str]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "go.sh").write_text("echo from the folder, with $1\n")
    job = ("run", "--image", image("sh"), "--code", "src", "-e", "SCRIPT=echo from the image")
    old = smlocal_run(*job, "--name", "old-code", cwd=tmp_path)
    assert "names /opt/ml/code" in old.stderr
    assert "from the image" in old.stdout
    new = smlocal_run(*job, "--name", "new-code", "--entrypoint", "sh /opt/ml/code/go.sh 'two words'", cwd=tmp_path)
    assert new.returncode == 0, new.stderr
    assert "names /opt/ml/code" not in new.stderr
    assert new.stdout == "from the folder, with two words\n"
