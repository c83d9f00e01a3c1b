"""Containers that fail for a reason which the service does not tell: the hint names it, and there is no other hint."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run, until
from tests.kit.jobs import Background, Ran, channel

RunJob = Callable[..., Ran]
SHARED = """
from multiprocessing.shared_memory import SharedMemory
shared = SharedMemory(name="loader", create=True, size=48 << 20)
shared.buf[:] = bytes(48 << 20)
"""
WORKER = f"""
import os, sys
child = os.fork()
if child == 0:
{"".join(f"    {line}{chr(10)}" for line in SHARED.strip().splitlines())}
status = os.waitpid(child, 0)[1]
print("RuntimeError: DataLoader worker (pid 8) is killed by signal: Bus error.", os.WTERMSIG(status))
sys.exit(1)
"""


@pytest.fixture
def hints_of(run_job: RunJob) -> Callable[..., list[str]]:
    def run(script: str, *, channels: Sequence[Mapping[str, Any]] = (), **more: Any) -> list[str]:
        ran = run_job(channels, script, **more)
        assert ran.exit == 1
        hints: list[str] = ran.answer["Local"]["Hints"]
        assert all(hint in ran.stderr for hint in hints)
        assert ran.stderr.count("  hint ") == len(hints)
        return hints

    return run


@pytest.mark.slow(2)
@pytest.mark.parametrize("script", [SHARED, WORKER])
def test_too_little_shared_memory(hints_of: Callable[..., list[str]], run_job: RunJob, script: str) -> None:
    (hint,) = hints_of(script, runs="py", local={"ShmSize": "16m"})
    assert "shared memory" in hint
    assert "(/dev/shm) has 16 MiB" in hint
    # Its advice helps.
    assert run_job([], SHARED, runs="py", local={"ShmSize": "64m"}).exit == 0


def test_shared_memory_that_a_file_fills(hints_of: Callable[..., list[str]]) -> None:
    (hint,) = hints_of("dd if=/dev/zero of=/dev/shm/x bs=1M count=40", local={"ShmSize": "16m"})
    assert "(/dev/shm) has 16 MiB" in hint


@pytest.mark.slow(2)
def test_a_full_volume(hints_of: Callable[..., list[str]]) -> None:
    resources = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1}
    (hint,) = hints_of(
        "dd if=/dev/zero of=/opt/ml/model/x bs=1M count=1100",
        local={"EnforceInstanceLimits": True},
        ResourceConfig=resources,
    )
    assert "of 1.0 GiB (the volume, less the channels) were free at the end" in hint


@pytest.mark.parametrize("script", ["echo x >/opt/ml/model/x", "mkdir /opt/ml/output/data/x", "touch /opt/ml/x"])
def test_a_user_who_may_not_write(hints_of: Callable[..., list[str]], script: str) -> None:
    (hint,) = hints_of(script, runs="other-user")
    assert hint.startswith("The image runs as USER nobody, who has no access to /opt/ml/")


def test_a_program_that_is_missing(hints_of: Callable[..., list[str]]) -> None:
    (hint,) = hints_of("", runs="no-train")
    assert hint.startswith("There is no ENTRYPOINT, and no train on the PATH of the image. COPY an executable")


def test_a_program_that_is_not_executable(hints_of: Callable[..., list[str]]) -> None:
    (hint,) = hints_of("", runs="not-executable")
    assert hint.startswith("/usr/local/bin/train is not executable (mode 0644). Run chmod +x on it before COPY")


def test_an_entry_point_that_is_not_executable(hints_of: Callable[..., list[str]], image: Callable[[str], str]) -> None:
    algorithm = {
        "TrainingImage": image("not-executable"),
        "TrainingInputMode": "File",
        "ContainerEntrypoint": ["/usr/local/bin/train"],
    }
    (hint,) = hints_of("", AlgorithmSpecification=algorithm)
    assert hint.startswith("/usr/local/bin/train is not executable (mode 0644). Run chmod +x")


@pytest.mark.slow(1)
def test_a_command_that_the_service_replaces(hints_of: Callable[..., list[str]]) -> None:
    (hint,) = hints_of("", runs="replaced-command")
    assert hint.startswith("The service runs train in place of the CMD of the image")
    assert hint.endswith('ENTRYPOINT ["sh", "/opt/main.sh"]')


@pytest.mark.slow(1)
def test_arguments_that_the_service_replaces(hints_of: Callable[..., list[str]]) -> None:
    (hint,) = hints_of("", runs="replaced-arguments")
    assert "train in place of the CMD of the image" in hint
    assert hint.endswith('ENTRYPOINT ["sh", "/opt/main.sh"]')


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(
    ("script", "runs"),
    [
        ("cat /opt/ml/input/data/training/a", "sh"),
        ("import os; os.listdir('/opt/ml/input/data/training')", "py"),
        (
            (
                "try: open('/opt/ml/input/data/training/a')\n"
                "except OSError as e: open('/opt/ml/output/failure', 'w').write(str(e)); raise SystemExit(1)"
            ),
            "py",
        ),
    ],
)
@pytest.mark.usefixtures("data")
def test_a_channel_of_another_name(hints_of: Callable[..., list[str]], script: str, runs: str) -> None:
    (hint,) = hints_of(script, runs=runs, channels=[channel("train"), channel("validation")])
    word = "failure file" if "failure" in script else "log"
    assert hint.startswith(f"The job has the channels train and validation; the {word} names training.")


@pytest.mark.usefixtures("data")
def test_a_file_that_a_channel_does_not_have(hints_of: Callable[..., list[str]]) -> None:
    (hint,) = hints_of("cat /opt/ml/input/data/train/train.csv", channels=[channel("train")])
    assert hint.startswith("The channel train has no train.csv, which the log names. It has 3 files: a, b/c, d.")


def test_no_channels(hints_of: Callable[..., list[str]]) -> None:
    (hint,) = hints_of("cat /opt/ml/input/data/training/a")
    assert hint.startswith("The job has no channels, and the log names training.")
    assert "--channel training=DIR" in hint


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(
    ("expression", "what"),
    [
        ("range(given['epochs'])", 'epochs is "10"'),
        ("print(given['epochs'] < 5)", 'epochs is "10"'),
        ("print(1 / given['rate'])", 'rate is "0.5"'),
    ],
)
def test_hyperparameters_are_text(hints_of: Callable[..., list[str]], expression: str, what: str) -> None:
    script = f"import json; given = json.load(open('/opt/ml/input/config/hyperparameters.json'))\n{expression}"
    (hint,) = hints_of(
        # The traceback has no lines of a program that is a text: the program is a file.
        f"open('/tmp/main.py', 'w').write({script!r}); import runpy; runpy.run_path('/tmp/main.py')",
        runs="py",
        HyperParameters={"epochs": "10", "rate": "0.5", "optimizer": "adam"},
    )
    assert hint.startswith(f"Hyperparameters are text in the container: {what}.")


def test_a_hyperparameter_that_is_no_number(hints_of: Callable[..., list[str]]) -> None:
    script = "import json; int(json.load(open('/opt/ml/input/config/hyperparameters.json'))['epochs'])"
    (hint,) = hints_of(script, runs="py", HyperParameters={"epochs": "five"})
    assert hint == 'The hyperparameter epochs is "five", which the program takes for a number.'


@pytest.mark.parametrize("script", ["touch /opt/ml/input/data/train/index", "cd /opt/ml/input/data/train; rm a"])
@pytest.mark.usefixtures("data")
def test_what_is_written_to_a_channel_in_fast_file_mode(hints_of: Callable[..., list[str]], script: str) -> None:
    (hint,) = hints_of(script, channels=[channel("train", mode="FastFile")])
    assert hint.startswith("The channel train is in FastFile mode, which cannot be written to")


@pytest.mark.slow(8)
def test_a_job_without_the_network(hints_of: Callable[..., list[str]]) -> None:
    (hint,) = hints_of("ping -c 1 -W 1 pypi.org", EnableNetworkIsolation=True)
    assert hint.startswith("The job has EnableNetworkIsolation")


def test_a_model_that_is_written_elsewhere(run_job: RunJob) -> None:
    ran = run_job([], "mkdir /opt/models; echo x >/opt/models/model.bin; echo Model saved to /opt/models/model.bin")
    assert ran.exit == 0
    (hint,) = ran.answer["Local"]["Hints"]
    assert hint.startswith("The log names /opt/models/model.bin, which is not below /opt/ml/model")
    assert hint in ran.stderr


@pytest.mark.slow(1)
def test_a_model_that_is_written_elsewhere_without_a_word(run_job: RunJob) -> None:
    ran = run_job([], "mkdir -p /opt/program/model; echo {} >/opt/program/model/model.json; rm /usr/local/bin/train")
    assert ran.exit == 0
    (hint,) = ran.answer["Local"]["Hints"]
    kept = "only files there are kept as the model."
    assert hint == f"The program wrote /opt/program/model/model.json, which is not below /opt/ml/model: {kept}"
    assert hint in ran.stderr


@pytest.mark.slow(1)
@pytest.mark.parametrize("named", ["scikit-learn>=1", "numpy"])
def test_a_module_that_the_image_lacks(hints_of: Callable[..., list[str]], named: str) -> None:
    (hint,) = hints_of(
        f"import os; os.makedirs('/opt/program'); open('/opt/program/requirements.txt', 'w').write('{named}')\n"
        "import sklearn.tree",
        runs="py",
    )
    listed = "but /opt/program/requirements.txt lists it: install that file in the Dockerfile"
    missing = "and /opt/program/requirements.txt does not list it: add scikit-learn there"
    assert f"has no module sklearn, {listed if 'scikit' in named else missing}" in hint


def test_a_shell_that_may_not_execute_a_program(hints_of: Callable[..., list[str]]) -> None:
    (hint,) = hints_of("printf '#!/bin/sh\n' >/tmp/x; /tmp/x")
    assert hint.startswith("Exit code 126")


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(
    ("runs", "script"),
    [
        ("crlf", ""),
        ("sh", "printf '#!/bin/env sh\\r\\n' >/tmp/x; chmod +x /tmp/x; exec /tmp/x"),
        ("py", "import os; os.execvp('bash', ['bash', '-c', 'printf \"no-such\\\\r\\\\n\" >/tmp/x; bash /tmp/x'])"),
    ],
)
def test_windows_line_ends(hints_of: Callable[..., list[str]], runs: str, script: str) -> None:
    (hint,) = hints_of(script, runs=runs)
    assert "Windows line ending" in hint


@pytest.mark.slow(1)
def test_sigkill_from_outside(
    job_file: Callable[..., Path], background: Callable[..., Background], docker: Callable[..., str]
) -> None:
    job = background(job_file([], "echo ready; sleep 60"))
    until(lambda: "ready" in job.output())
    docker("kill", docker("ps", "--quiet", "--filter", f"label=smlocal.job={job.name}").strip())
    answer = job.finish()
    assert answer["FailureReason"] == "AlgorithmError: , exit code: 137"
    (hint,) = answer["Local"]["Hints"]
    assert "docker kill" in hint


@pytest.mark.slow(1)
def test_our_own_sigkill_is_not_from_outside(
    job_file: Callable[..., Path],
    background: Callable[..., Background],
    smlocal_run: Run,
    tmp_path: Path,
) -> None:
    job = background(job_file([], "echo ready; sleep 60"))
    until(lambda: "ready" in job.output())
    assert smlocal_run("stop", job.name, "--grace", "1", cwd=tmp_path).returncode == 0
    (hint,) = job.finish()["Local"]["Hints"]
    assert "did not end within 1 s of SIGTERM" in hint


@pytest.mark.slow(1)
def test_a_shell_that_keeps_sigterm_to_itself(run_job: RunJob, image: Callable[[str], str]) -> None:
    algorithm = {
        "TrainingImage": image("sh"),
        "TrainingInputMode": "File",
        "ContainerEntrypoint": ["/bin/sh", "-c", "sleep 60; true"],
    }
    ran = run_job(
        [],
        "",
        AlgorithmSpecification=algorithm,
        StoppingCondition={"MaxRuntimeInSeconds": 1},
        local={"StopGraceSeconds": 1},
    )
    (hint,) = ran.answer["Local"]["Hints"]
    assert "did not end within 1 s of SIGTERM and was killed. ContainerEntrypoint runs 'sleep 60; true' in" in hint
    assert "SIGTERM stops at the shell" in hint


@pytest.mark.parametrize("place", ["/dev", "/usr/local/bin", "/lib"])
def test_a_folder_that_hides_a_part_of_the_system(hints_of: Callable[..., list[str]], place: str) -> None:
    checkpoints = {"S3Uri": "./checkpoints", "LocalPath": place}
    (hint,) = hints_of("true", runs="py", CheckpointConfig=checkpoints)
    assert hint.startswith(f"A folder of the job is mounted at {place} and hides the files of the image there")


@pytest.mark.parametrize(
    "script", ["exit 3", "echo out of luck >/opt/ml/output/failure; exit 1", "kill -SEGV $$; exit 9"]
)
def test_nothing_is_made_up(hints_of: Callable[..., list[str]], script: str) -> None:
    assert hints_of(script, CheckpointConfig={"S3Uri": "./checkpoints", "LocalPath": "/checkpoints"}) == []


SUBMIT = """
import boto3, json, sys
request = json.load(open(sys.argv[1]))
s3 = boto3.client("s3")
s3.create_bucket(Bucket="bucket")
s3.put_object(Bucket="bucket", Key="train/a", Body=b"one")
client = boto3.client("sagemaker")
client.create_training_job(**request)
client.get_waiter("training_job_completed_or_stopped").wait(
    TrainingJobName=request["TrainingJobName"], WaiterConfig={"Delay": 1}
)
"""


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize("how", ["detached", "exec"])
@pytest.mark.usefixtures("data")
def test_the_hint_is_there_whoever_started_the_job(
    job_file: Callable[..., Path],
    smlocal_run: Run,
    tmp_path: Path,
    how: str,
) -> None:
    script = "cat /opt/ml/input/data/training/a"
    if how == "detached":
        job = job_file([channel("train")], script)
        smlocal_run("run", "--detach", job.name, cwd=tmp_path, check=True)
    else:
        members = {
            "RoleArn": "arn:aws:iam::123456789012:role/trainer",
            "OutputDataConfig": {"S3OutputPath": "s3://bucket/out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 1},
        }
        job = job_file([channel("train", uri="s3://bucket/train/")], script, **members)
        (tmp_path / "submit.py").write_text(SUBMIT)
        done = smlocal_run("exec", "--", sys.executable, "submit.py", job.name, cwd=tmp_path)
        assert "WaiterError" in done.stderr, done.stderr
    assert smlocal_run("wait", job.stem, cwd=tmp_path).returncode == 1
    answer = json.loads(smlocal_run("describe", job.stem, "--json", cwd=tmp_path, check=True).stdout)
    (hint,) = answer["Local"]["Hints"]
    assert hint.startswith("The job has the channel train; the log names training.")
    assert hint in " ".join(smlocal_run("describe", job.stem, cwd=tmp_path, check=True).stdout.split())
