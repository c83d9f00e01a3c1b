"""Submitted jobs on a real engine: they wait, are started a few at a time, and survive their server."""

import os
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from smlocal.api.job_source import read_source
from smlocal.api.overrides import Overrides
from smlocal.engine.http import VARIABLE
from smlocal.jobs.control.orphans import ensure_supervised
from smlocal.jobs.store.lease import supervised
from smlocal.jobs.submission.scheduler import Scheduler, record_waiting
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.training.planning import waiting_job

WAITS = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done; echo done >/opt/ml/model/m"
CRASHES = int(os.environ.get("SMLOCAL_CRASHES", "20"))
Clean = Callable[[str], None]
Submit = Callable[..., str]


@pytest.fixture(autouse=True)
def here(life: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process uses the home of the test."""
    for name in [name for name in os.environ if name.startswith(("SMLOCAL_", "AWS_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SMLOCAL_HOME", str(life.home))


@pytest.fixture
def submitted(life: Any) -> Submit:
    """Submits a job whose containers carry out a script."""

    def record(name: str, script: str = "true", **members: Any) -> str:
        request = {
            "TrainingJobName": name,
            "AlgorithmSpecification": {"TrainingImage": life.image, "TrainingInputMode": "File"},
            "Environment": {"SCRIPT": script},
            "OutputDataConfig": {"S3OutputPath": str(life.folder / "out")},
            "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
            **members,
        }
        job, _ = read_source(request, Overrides(), strict=False)
        assert isinstance(job, JobFile)
        return record_waiting(waiting_job(job, name), name=name, store=life.store).name

    return record


@pytest.fixture
def scheduler(life: Any) -> Iterator[Callable[..., Scheduler]]:
    """Makes schedulers of the home, and closes them."""
    made: list[Scheduler] = []

    def make(instances: int | None = None) -> Scheduler:
        made.append(Scheduler(life.store, instances=instances))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def silent_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """An engine that accepts connections and never answers, until the returned function is called."""
    address = f"/tmp/smlocal-silent-{os.getpid()}-{random.randrange(1 << 30)}"
    before = os.environ.get("DOCKER_HOST")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen(64)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{address}")
        monkeypatch.setenv(VARIABLE, "1200")  # or the job would end because the engine is lost
        yield lambda: monkeypatch.delenv("DOCKER_HOST") if before is None else monkeypatch.setenv("DOCKER_HOST", before)
    os.unlink(address)


def run_all(life: Any, scheduler: Scheduler) -> None:
    """The work of a server until all jobs have ended."""

    def over() -> bool:
        scheduler.start_waiting()
        return not life.store.unfinished()

    life.until(over)


def beginnings(life: Any, name: str) -> int:
    return [event.kind for event in life.store.events(name)].count("beginning")


@pytest.mark.slow(2)
def test_the_second_job_waits_for_the_first(
    life: Any, submitted: Submit, scheduler: Callable[..., Scheduler], assert_nothing_left: Clean
) -> None:
    one = scheduler(1)
    submitted("queue-first", WAITS)
    submitted("queue-second", "echo second >/opt/ml/model/m")
    assert one.start_waiting() == {"queue-first": None}
    life.until_logged("queue-first", "ready")
    assert one.start_waiting() == {}
    assert life.job("queue-second").pending
    shown = life("jobs").stdout
    assert "Pending" in shown
    assert "supervisor gone" not in shown
    described = life("describe", "queue-second")
    assert "the job waits" in described.stdout
    assert life("recover").stderr == "No job needs recovery.\n"
    assert life("wait", "queue-second", "--timeout", "0.2").returncode == 124
    assert life("logs", "queue-second").stdout == ""
    rerun = life("rerun", "queue-second", "--name", "queue-again", "--detach")
    assert rerun.returncode == 0, rerun.stderr
    life.let_go("queue-first")
    life.until(lambda: life.job("queue-first").status.terminal and life.job("queue-again").status.terminal)
    run_all(life, one)
    for name in ("queue-first", "queue-second", "queue-again"):
        life.until(lambda name=name: not supervised(life.store.directory(name)))
        assert life.job(name).status == "Completed"
        assert_nothing_left(name)
    assert life.model("queue-second") == ["m"]
    assert life.phases("queue-second") == [
        "Pending",
        "Starting",
        "Downloading",
        "Training",
        "Uploading",
        "Completed",
    ]
    answer = life.describe("queue-second")
    assert answer["Local"]["Seconds"]["Pending"] > 0
    assert sorted(path.name for path in (life.home / "jobs" / "queue-second").glob("*.json")) == [
        "describe.json",
        "plan.json",
        "request.json",
    ]


def test_a_waiting_job_is_stopped_by_the_command(life: Any, submitted: Submit, assert_nothing_left: Clean) -> None:
    submitted("queue-stopped")
    done = life("stop", "queue-stopped", "--wait")
    assert "Stopped" in done.stderr
    assert life.phases("queue-stopped") == ["Pending", "Stopping", "Stopped"]
    assert life.job("queue-stopped").supervisor_pid is None
    assert "Stopped" in life("describe", "queue-stopped").stdout
    assert life("report", "queue-stopped", "--html", "page.html").returncode == 0
    assert life("rm", "queue-stopped").returncode == 0
    assert_nothing_left("queue-stopped")


@pytest.mark.slow(4)
def test_twenty_at_once_four_at_a_time(
    life: Any, submitted: Submit, scheduler: Callable[..., Scheduler], assert_nothing_left: Clean
) -> None:
    names = [f"queue-many-{number}" for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(submitted, names))
    came = [record.name for record in life.store.unfinished()]
    run_all(life, scheduler(4))
    changes = []
    for name in names:
        assert life.job(name).status == "Completed"
        assert_nothing_left(name)
        began = next(each.started for each in life.store.transitions(name) if each.status == "Starting")
        changes += [(began, 1), (life.job(name).modified, -1)]
    used = most = 0
    for _, change in sorted(changes):
        used += change
        most = max(most, used)
    assert most == 4
    assert sorted(came, key=lambda name: life.store.transitions(name)[1].started) == came


@pytest.mark.slow(2)
def test_two_servers_start_each_job_once(life: Any, submitted: Submit, scheduler: Callable[..., Scheduler]) -> None:
    names = [submitted(f"queue-shared-{number}") for number in range(8)]
    servers = [scheduler(3), scheduler(3)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda server: run_all(life, server), servers))
    for name in names:
        assert life.job(name).status == "Completed"
        assert beginnings(life, name) == 1


@pytest.mark.slow(1)
def test_jobs_survive_the_starter_and_the_next_one_starts_the_rest(
    life: Any, submitted: Submit, scheduler: Callable[..., Scheduler], assert_nothing_left: Clean
) -> None:
    server = scheduler()
    submitted("queue-survivor", WAITS)
    server.start_waiting()
    life.until_logged("queue-survivor", "ready")
    first = server.starter.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    submitted("queue-later")
    assert server.start_waiting() == {"queue-later": None}
    assert server.starter.pid != first
    server.close()
    assert life.job("queue-survivor").status == "InProgress"
    life.let_go("queue-survivor")
    for name in ("queue-survivor", "queue-later"):
        life.until(lambda name=name: life.job(name).status.terminal)
        assert life.job(name).status == "Completed"
        assert_nothing_left(name)


@pytest.mark.slow(1)
def test_what_a_killed_server_was_about_to_start_is_started_by_the_next(
    life: Any, submitted: Submit, scheduler: Callable[..., Scheduler]
) -> None:
    submitted("queue-marked")
    submitted("queue-behind")
    assert life.store.start_pending(now=time.time, limit=1) == ["queue-marked"]  # and then it was killed
    server = scheduler(1)
    assert server.start_waiting() == {"queue-marked": None}
    run_all(life, server)
    assert [life.job(name).status for name in ("queue-marked", "queue-behind")] == ["Completed", "Completed"]


def test_a_job_that_is_killed_while_it_is_prepared_is_begun_again_by_any_command(
    life: Any,
    submitted: Submit,
    scheduler: Callable[..., Scheduler],
    silent_engine: Callable[[], None],
    assert_nothing_left: Clean,
) -> None:
    submitted("queue-killed")
    scheduler().start_waiting()
    life.until(lambda: beginnings(life, "queue-killed") == 1)
    life.crash("queue-killed")
    silent_engine()
    assert life("wait", "queue-killed").returncode == 0
    assert beginnings(life, "queue-killed") == 2
    assert life.job("queue-killed").status == "Completed"
    assert_nothing_left("queue-killed")


@pytest.mark.slow(1)
def test_a_job_that_always_ends_its_process_is_given_up(
    life: Any, submitted: Submit, silent_engine: Callable[[], None]
) -> None:
    submitted("queue-fatal")
    life.store.start_pending(now=time.time, limit=None)
    for number in range(1, 4):
        ensure_supervised(life.store, "queue-fatal")
        life.until(lambda number=number: beginnings(life, "queue-fatal") == number)
        life.crash("queue-fatal")
    ensure_supervised(life.store, "queue-fatal")
    life.until(lambda: life.job("queue-fatal").status.terminal)
    assert life.job("queue-fatal").failure_reason == (
        "InternalServerError: We encountered an internal error. Please try again."
    )
    assert "killed 3 times" in life.describe("queue-fatal")["Local"]["Explanation"]
    silent_engine()


@pytest.mark.parametrize("by", ["request", "signal"])
def test_a_stop_ends_the_preparation(
    life: Any, submitted: Submit, scheduler: Callable[..., Scheduler], silent_engine: Callable[[], None], by: str
) -> None:
    name = f"queue-prepared-{by}"
    submitted(name)
    scheduler().start_waiting()
    life.until(lambda: beginnings(life, name) == 1)
    if by == "request":
        life.ask_to_stop(name)
    else:
        os.kill(life.job(name).supervisor_pid, signal.SIGTERM)
    life.until(lambda: life.job(name).status.terminal)
    assert life.phases(name) == ["Pending", "Starting", "Stopping", "Stopped"]
    silent_engine()


def test_a_job_that_is_killed_while_it_trains_is_adopted(
    life: Any, submitted: Submit, scheduler: Callable[..., Scheduler], assert_nothing_left: Clean
) -> None:
    server = scheduler()
    submitted("queue-adopted", WAITS)
    server.start_waiting()
    life.until_logged("queue-adopted", "ready")
    life.crash("queue-adopted")
    scheduler().start_waiting()
    life.let_go("queue-adopted")
    life.until(lambda: life.job("queue-adopted").status.terminal)
    assert life.job("queue-adopted").status == "Completed"
    assert life.model("queue-adopted") == ["m"]
    assert_nothing_left("queue-adopted")


def test_tags_that_are_added_while_it_waits_stay(
    life: Any, submitted: Submit, scheduler: Callable[..., Scheduler]
) -> None:
    submitted("queue-tagged")
    tags = [{"Key": "team", "Value": "a"}]
    life.store.change_document("queue-tagged", "request", lambda request: {**request, "Tags": tags})
    run_all(life, scheduler())
    assert life.describe("queue-tagged")["Local"]["Request"] == {"Tags": tags}


@pytest.mark.slow(1)
def test_containers_of_a_submitted_job_get_credentials(
    life: Any,
    submitted: Submit,
    scheduler: Callable[..., Scheduler],
    assert_nothing_left: Clean,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    script = 'test -n "${AWS_CONTAINER_CREDENTIALS_RELATIVE_URI:-}${AWS_CONTAINER_CREDENTIALS_FULL_URI:-}"'
    submitted("queue-credentials", script, Local={"Credentials": "inherit"})
    run_all(life, scheduler())
    assert life.job("queue-credentials").status == "Completed", life.job("queue-credentials").failure_reason
    assert_nothing_left("queue-credentials")


@pytest.mark.slow(4)
@pytest.mark.long
def test_killed_at_any_moment(
    life: Any, submitted: Submit, scheduler: Callable[..., Scheduler], assert_nothing_left: Clean
) -> None:
    """The job ends as it should, or with the service's internal error, and nothing is left."""
    server = scheduler()
    ends = set()
    for number in range(CRASHES):
        name = f"queue-crash-{number}"
        submitted(name, "echo a >/opt/ml/model/m")
        server.start_waiting()
        time.sleep(random.uniform(0, 0.5))
        life.crash(name)
        done = life("wait", name)
        record = life.job(name)
        assert record.status.terminal, done.stderr
        assert record.failure_reason is None or record.failure_reason.startswith("InternalServerError: "), name
        ends.add(record.status)
        life.until(lambda name=name: not supervised(life.store.directory(name)))
        assert_nothing_left(name)
    assert ends <= {"Completed", "Failed"}


@pytest.mark.parametrize(
    ("name", "members", "reason", "explained", "hint"),
    [
        (
            "queue-no-data",
            {
                "InputDataConfig": [
                    {
                        "ChannelName": "train",
                        "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "/nowhere/data"}},
                    }
                ]
            },
            "ClientError: Data download failed:",
            "/nowhere/data",
            "",
        ),
        (
            "queue-no-image",
            {
                "AlgorithmSpecification": {"TrainingImage": "smlocal-absent:1", "TrainingInputMode": "File"},
                "Local": {"Pull": "never"},
            },
            "ClientError: Cannot pull algorithm container. Either the image does not exist",
            "the image smlocal-absent:1 is not available locally",
            "Build or load it",
        ),
        (
            "queue-no-gpus",
            {"Local": {"Gpus": 64}},
            "CapacityError: Unable to provision requested ML compute capacity.",
            "GPU",
            "",
        ),
    ],
)
def test_what_prevents_a_run_makes_a_submitted_job_fail(
    life: Any,
    submitted: Submit,
    scheduler: Callable[..., Scheduler],
    assert_nothing_left: Clean,
    name: str,
    members: dict[str, Any],
    reason: str,
    explained: str,
    hint: str,
) -> None:
    submitted(name, **members)
    run_all(life, scheduler())
    assert life.job(name).failure_reason.startswith(reason)
    answer = life.describe(name)
    assert explained in answer["Local"]["Explanation"]
    assert hint in " ".join(answer["Local"]["Hints"])
    assert life.phases(name) == ["Pending", "Starting", "Failed"]
    assert life("wait", name).returncode == 1
    assert life("report", name, "--html", "page.html").returncode == 0
    assert_nothing_left(name)
