"""The jobs of a check: limits, what is left of them, and what becomes of them when something goes wrong."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.kit import Run
from tests.kit.fixtures import run_docker, touch_inside

from smlocal.check.registry import all_rules

SLEEPS = "trap 'exit 0' TERM; sleep 600 & wait"
LONG_IF_STOPPED = "sleep $(case $TRAINING_JOB_NAME in *stopped) echo 600 ;; *) echo 1 ;; esac)"
"""The job that is stopped waits for that, however slow the machine is."""
_ENDS_WITHIN = 200.0


@dataclass(kw_only=True, slots=True)
class Checks:
    """Checks of one job file."""

    folder: Path
    home: Path
    image: str
    run: Run
    begun: "list[subprocess.Popen[str]]" = field(default_factory=list)

    def write(self, script: str, **members: Any) -> None:
        """The job file of a script."""
        (self.folder / "data").mkdir(exist_ok=True)
        (self.folder / "data" / "a").write_text("1\n")
        source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "./data"}}
        job = {
            "AlgorithmSpecification": {"TrainingImage": self.image, "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": script},
            "InputDataConfig": [{"ChannelName": "train", "DataSource": source}],
            "OutputDataConfig": {"S3OutputPath": "./out"},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
            **members,
        }
        (self.folder / "job.json").write_text(json.dumps(job))

    def __call__(self, *only: str, timeout: int = 120) -> "tuple[subprocess.CompletedProcess[str], dict[str, Any]]":
        """Check it for these rules, and return what was found by their ids."""
        rules = [word for rule in only for word in ("--only", rule)]
        done = self.run("check", "job.json", *rules, "--json", "--timeout", str(timeout), cwd=self.folder)
        document = json.loads(done.stdout)
        return done, {rule["Id"]: rule for rule in document["Check"]["Rules"]} if "Check" in document else document

    def begin(self, *only: str) -> "subprocess.Popen[str]":
        """Begin a check that is to be disturbed."""
        rules = [word for rule in only for word in ("--only", rule)]
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("SMLOCAL_", "AWS_"))}
        process = subprocess.Popen(
            [sys.executable, "-m", "smlocal", "check", "job.json", *rules, "--json"],
            cwd=self.folder,
            env={**kept, "SMLOCAL_HOME": str(self.home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.begun.append(process)
        return process

    def jobs(self) -> list[str]:
        """The names of the jobs that smlocal knows."""
        return [line.split()[0] for line in self.run("jobs").stdout.splitlines()[1:]]

    def until_training(self) -> str:
        """Wait until a container of a check runs, and return the name of its job."""
        deadline = time.monotonic() + _ENDS_WITHIN
        while time.monotonic() < deadline:
            for folder in (self.home / "jobs").glob("check-*"):
                if run_docker("ps", "--quiet", "--filter", f"label=smlocal.job={folder.name}").strip():
                    return folder.name
            time.sleep(0.1)
        pytest.fail("no job of the check trains")

    def assert_nothing_left(self, *names: str) -> None:
        """Neither jobs nor folders nor containers."""
        assert self.jobs() == []
        assert list((self.home / "checks").iterdir()) == []
        for name in names:
            assert not run_docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={name}").strip()


@pytest.fixture
def checks(tmp_path: Path, smlocal_home: Path, image: Callable[[str], str], smlocal_run: Run) -> Iterator[Checks]:
    made = Checks(folder=tmp_path, home=smlocal_home, image=image("sh"), run=smlocal_run)
    yield made
    for process in made.begun:
        process.kill()
        process.communicate()
    smlocal_run("rm", "--stop", "check-*")


HEALTHY = """import json, os, signal, sys, time
def save(*_):
    open("/opt/ml/model/w", "w").write("1")
    sys.exit()
signal.signal(signal.SIGTERM, save)
given = json.load(open("/opt/ml/input/config/hyperparameters.json"))
try:
    float(given["epochs"])
except ValueError as error:
    open("/opt/ml/output/failure", "w").write(str(error))
    sys.exit(1)
open("/opt/ml/checkpoints/1", "w").write("1")
time.sleep(600 if os.environ["TRAINING_JOB_NAME"].endswith("stopped") else 3)
save()
"""
"""The job that is stopped waits for that, however slow the machine is."""


@pytest.mark.slow(5)
def test_a_healthy_image_passes_every_rule(checks: Checks, image: Callable[[str], str]) -> None:
    checks.image = image("py")
    checks.write(HEALTHY, HyperParameters={"epochs": "1"}, CheckpointConfig={"S3Uri": "s3://bucket/checkpoints"})
    done, found = checks(*(rule.id for rule in all_rules() if rule.runs_jobs and not rule.probes))
    skipped = {name for name, each in found.items() if each["Outcome"] == "skipped"}
    assert skipped == {"pipe-mode-fails", "fast-file-mode-fails", "late-fifo-fails"}, done.stdout
    assert {each["Outcome"] for name, each in found.items() if name not in skipped} == {"passed"}, done.stdout
    assert done.returncode == 0
    checks.assert_nothing_left()


def messages(rule: Mapping[str, Any]) -> list[str]:
    return [finding["Message"] for finding in rule.get("Findings", ())]


@pytest.mark.slow(2)
def test_a_job_that_never_ends_is_stopped(checks: Checks) -> None:
    checks.write("while :; do sleep 1; done")
    done, found = checks("job-fails", "no-model", timeout=2)  # passes: the job never ends
    assert messages(found["job-fails"]) == ["the job does not complete: it did not end within 2 s and was stopped"], (
        done.stderr
    )
    assert found["no-model"]["Skipped"].startswith("the job as it is does not complete")
    assert done.returncode == 1
    checks.assert_nothing_left()


def test_why_a_job_failed(checks: Checks) -> None:
    checks.write("for n in 1 2 3 4 5; do echo line $n; done; echo 'No space left on device'; exit 3")
    done, found = checks("job-fails")
    (finding,) = found["job-fails"]["Findings"]
    hint, head, *lines = finding["Details"]
    assert hint.startswith("hint: "), done.stdout
    assert (head, lines) == (
        "last lines of the log:",
        ["  line 2", "  line 3", "  line 4", "  line 5", "  No space left on device"],
    )


@pytest.mark.slow(2)
def test_a_job_that_forks_for_ever_is_stopped(checks: Checks) -> None:
    checks.write("f() { f & f; }; while :; do f 2>/dev/null; done", Local={"Processes": 50, "Cpus": 0.5})
    done, found = checks("job-fails", timeout=3)  # passes: the job never ends
    assert messages(found["job-fails"]), done.stderr
    assert done.returncode == 1
    checks.assert_nothing_left()


@pytest.mark.slow(4)
def test_a_job_that_outlasts_its_grace_is_killed(checks: Checks) -> None:
    checks.write(f"trap 'sleep 600' TERM; {LONG_IF_STOPPED} & wait $!")
    done, found = checks("sigterm-unhandled", timeout=20)  # passes: it is killed then
    (message,) = messages(found["sigterm-unhandled"])
    assert message == (
        "the job was killed 20 s after SIGTERM: train, the first process, has a handler for it and does not end; sleep "
        "may not have got it"
    ), done.stderr
    checks.assert_nothing_left()


@pytest.mark.slow(2)
def test_a_program_that_is_the_first_process_needs_no_exec(checks: Checks) -> None:
    checks.write(f"exec {LONG_IF_STOPPED}")
    done, found = checks("sigterm-unhandled", timeout=20)  # passes: it is killed then
    (message,) = messages(found["sigterm-unhandled"])
    assert message.endswith("sleep, the first process, has no handler for it"), done.stderr
    assert found["sigterm-unhandled"]["Remedy"] == "Install a handler for SIGTERM that saves the model and exits."


@pytest.mark.slow(1)
def test_nothing_of_the_users_is_written(checks: Checks) -> None:
    (checks.folder / "checkpoints").mkdir()
    checks.write(
        "echo 1 >/opt/ml/checkpoints/1; echo 1 >/opt/ml/model/w; rm /opt/ml/input/data/train/a; env",
        CheckpointConfig={"S3Uri": "s3://bucket/checkpoints"},
        Local={"Sources": {"s3://bucket": "."}, "Credentials": "inherit", "Publish": True},
    )
    done, found = checks("job-fails", "no-model")
    assert {each["Outcome"] for each in found.values()} == {"passed"}, done.stdout + done.stderr
    assert {path.name for path in checks.folder.iterdir()} == {"checkpoints", "data", "home", "job.json"}
    assert list((checks.folder / "checkpoints").iterdir()) == []
    assert (checks.folder / "data" / "a").exists()


def test_a_channel_in_s3_runs_no_job(checks: Checks) -> None:
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://bucket/large/"}}
    checks.write("true", InputDataConfig=[{"ChannelName": "train", "DataSource": source}])
    done, found = checks("job-fails", "two-hosts-fail")
    reason = "the data of the channel train is in S3; give a local folder for s3://bucket/large/ in Local.Sources"
    assert [each["Skipped"] for each in found.values()] == [reason] * 2
    assert done.returncode == 0


def test_data_that_is_not_there_runs_no_job(checks: Checks) -> None:
    checks.write("true")
    (checks.folder / "data" / "a").unlink()
    (checks.folder / "data").rmdir()
    done, found = checks("job-fails", "two-hosts-fail", "entrypoint-shell-form")
    assert "data does not exist" in found["job-fails"]["Skipped"], done.stdout
    assert found["two-hosts-fail"]["Outcome"] == "skipped"
    assert found["entrypoint-shell-form"]["Outcome"] == "passed"
    assert done.returncode == 2
    checks.assert_nothing_left()


def test_a_machine_without_room_is_not_an_image_without_mistakes(checks: Checks, small_disk: Path) -> None:
    """With made-up data, a job that fails says nothing about the image; here nothing of the image was run at all."""
    left = os.statvfs(small_disk)
    (small_disk / "full").write_bytes(bytes(left.f_bavail * left.f_frsize - 160 * 1024))
    words = ("check", checks.image, "--only", "job-fails", "--json")
    done = checks.run(*words, env={"SMLOCAL_HOME": str(small_disk)}, cwd=checks.folder)
    (found,) = json.loads(done.stdout)["Check"]["Rules"]
    assert found["Outcome"] == "skipped"
    assert "this machine did not bring the job to its end" in found["Skipped"] or "was not run" in found["Skipped"]
    assert "Insufficient disk space" in found["Skipped"], done.stdout
    assert found["ToTest"] == "solve that first"
    assert done.returncode == 3
    assert not json.loads(done.stdout)["Check"]["Passed"]


def test_more_memory_than_this_machine_has_runs_no_job(checks: Checks) -> None:
    checks.write("true", Local={"Memory": "9999g"})
    done, found = checks("job-fails", "two-hosts-fail", "entrypoint-shell-form")
    assert "Local.Memory is" in found["job-fails"]["Skipped"], done.stdout
    assert found["entrypoint-shell-form"]["Outcome"] == "passed"
    assert done.returncode == 3


def test_a_channel_of_many_files_has_few(checks: Checks) -> None:
    checks.write("n=$(ls /opt/ml/input/data/train | wc -l); [ $n = 200 ] || exit $n")
    for number in range(300):
        (checks.folder / "data" / f"b{number}").touch()
    done, found = checks("job-fails")
    assert found["job-fails"]["Outcome"] == "passed", done.stdout


def test_an_image_alone_is_never_blamed_for_data_that_was_made_up(checks: Checks) -> None:
    done = checks.run(
        "check", checks.image, "--json", "--only", "job-fails", "--only", "bad-hyperparameter-unexplained"
    )
    found = {rule["Id"]: rule for rule in json.loads(done.stdout)["Check"]["Rules"]}
    assert found["job-fails"]["Skipped"].startswith("the job did not complete with made-up data (Failed: ")
    assert found["job-fails"]["SkippedDetails"][-1], done.stdout
    assert found["bad-hyperparameter-unexplained"]["Outcome"] == "skipped"
    assert done.returncode == 0


@pytest.mark.slow(1, others=True)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)])
def test_a_signal_stops_all_jobs(checks: Checks, number: int, code: int) -> None:
    checks.write(SLEEPS)
    check = checks.begin("job-fails")
    name = checks.until_training()
    check.send_signal(number)
    out, err = check.communicate(timeout=_ENDS_WITHIN)
    assert (check.returncode, out) == (code, ""), err
    checks.assert_nothing_left(name)


@pytest.mark.slow(1)
def test_a_killed_check_is_cleared_by_the_next(checks: Checks) -> None:
    checks.write(SLEEPS)
    check = checks.begin("job-fails")
    name = checks.until_training()
    check.kill()
    check.communicate()
    assert checks.jobs() == [name]
    checks.write("true")
    done, found = checks("job-fails")
    assert found["job-fails"]["Outcome"] == "passed", done.stderr
    checks.assert_nothing_left(name)


@pytest.mark.slow(1)
def test_the_jobs_of_a_killed_check_can_be_removed_by_hand(checks: Checks) -> None:
    checks.write(SLEEPS)
    check = checks.begin("job-fails")
    name = checks.until_training()
    check.kill()
    check.communicate()
    done = checks.run("rm", "--stop", "check-*")
    assert done.returncode == 0, done.stderr
    assert checks.jobs() == []
    assert not run_docker("ps", "--all", "--quiet", "--filter", f"label=smlocal.job={name}").strip()


@pytest.mark.slow(2)
def test_two_checks_at_once(checks: Checks) -> None:
    checks.write("sleep 1; echo 1 >/opt/ml/model/w")
    rules = ("job-fails", "no-model", "needs-network")
    with ThreadPoolExecutor(2) as pool:
        for done, found in pool.map(lambda _: checks(*rules), range(2)):
            assert {each["Outcome"] for each in found.values()} == {"passed"}, done.stdout + done.stderr
    checks.assert_nothing_left()


@pytest.mark.slow(2)
def test_an_image_that_is_removed_meanwhile(checks: Checks) -> None:
    tag = f"smlocal-check-test:{os.getpid()}"
    run_docker("tag", checks.image, tag)
    try:
        checks.image = tag
        checks.write("until [ -e /opt/ml/output/go ]; do sleep 0.1; done")
        check = checks.begin("needs-network")
        name = checks.until_training()
    finally:
        run_docker("rmi", tag)
    touch_inside(checks.home / "jobs" / name / "hosts" / "algo-1" / "output" / "go")
    out, err = check.communicate(timeout=_ENDS_WITHIN)
    assert json.loads(out)["Error"]["Id"] == "image-missing", err
    assert json.loads(out)["Error"]["Sentence"] == f"the image {tag} was removed while it was being checked"
    assert check.returncode == 3
    checks.assert_nothing_left(name)


@pytest.mark.parametrize(("model", "severity"), [("", "error"), ("touch /opt/ml/model/w; ", None)])
def test_a_failure_file_of_a_job_that_exits_with_0_is_an_error(
    model: str, severity: str | None, checks: Checks
) -> None:
    checks.write(f"{model}echo no data >/opt/ml/output/failure")
    done, rules = checks("failure-file-ignored", "no-model")
    (finding,) = rules["failure-file-ignored"]["Findings"]
    assert "no data" in finding["Message"]
    assert done.returncode == 1
    found = rules["no-model"]
    assert (found["Severity"] if found["Outcome"] == "finding" else None) == severity


def test_a_job_without_a_model_and_a_failure_file_is_a_warning(checks: Checks) -> None:
    checks.write("true")
    done, rules = checks("failure-file-ignored", "no-model")
    assert (done.returncode, rules["no-model"]["Severity"]) == (0, "warning")
    assert rules["failure-file-ignored"]["Outcome"] == "passed"


@pytest.mark.slow(3)
def test_a_short_job_that_ignores_sigterm_is_not_taken_for_tested(checks: Checks) -> None:
    # The plain job decides when SIGTERM is sent: the other one has ended long before.
    checks.write("echo 1 >/opt/ml/model/w; case $TRAINING_JOB_NAME in *plain) sleep 4 ;; esac")
    done = checks.run(
        "check", "job.json", "--only", "sigterm-unhandled", "--only", "no-model", cwd=checks.folder, check=True
    )
    assert "? sigterm-unhandled" in done.stdout
    assert "smlocal check job.json --only sigterm-unhandled" in done.stdout
    assert "not tested: sigterm-unhandled" in done.stderr
    _, found = checks("sigterm-unhandled")
    assert found["sigterm-unhandled"]["ToTest"].startswith("make it train for ten seconds")


@pytest.mark.slow(2)
def test_jobs_that_should_fail_and_a_reason_of_several_lines(checks: Checks) -> None:
    says = "printf 'no data:\\n  none\\n' | tee /opt/ml/output/failure; exit 1"
    checks.write(f"echo 1 >/opt/ml/model/w; cat /opt/ml/input/data/train/a || {{ {says}; }}")
    rule = "no-channels-unexplained"
    done = checks.run("check", "job.json", "--only", rule, cwd=checks.folder, check=True)
    assert "no-channels: failed, as expected, " in done.stderr
    assert "no data" not in done.stderr + done.stdout
    checks.write(says)
    done = checks.run("check", "job.json", "--only", "job-fails", "--only", rule, cwd=checks.folder)
    assert done.returncode == 1
    shown = [line.strip() for line in done.stdout.splitlines()]
    at = shown.index("no data:")
    assert shown[at + 1] == "none"
    assert (done.stdout + done.stderr).count("no data:") == 1
    assert "plain: Failed, " in done.stderr


@pytest.mark.slow(1)
def test_a_job_that_never_started_says_nothing_of_its_memory(checks: Checks) -> None:
    algorithm = {"TrainingImage": checks.image, "TrainingInputMode": "File", "ContainerEntrypoint": ["/nosuch"]}
    checks.write("", AlgorithmSpecification=algorithm)
    _, rules = checks("memory-near-limit", "no-model")
    assert rules["memory-near-limit"]["Skipped"] == rules["no-model"]["Skipped"] == "the job as it is does not complete"
