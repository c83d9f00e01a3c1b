"""The Python API on a real engine, in the process of the test: it has threads, handlers and a loop of its own."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import smlocal
from smlocal import errors

SAVES = "echo saved >/opt/ml/model/m; "
STOPPABLE = "trap 'echo late >/opt/ml/model/late; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
WAITS = "echo ready; until [ -e /opt/ml/output/go ]; do sleep 0.02; done"
Clean = Callable[[str], None]


@pytest.fixture(autouse=True)
def here(life: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process is one that uses the home and the folder of the test, and is left as it was."""
    for name in [name for name in os.environ if name.startswith(("SMLOCAL_", "AWS_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SMLOCAL_HOME", str(life.home))
    monkeypatch.chdir(life.folder)
    ours = signal.valid_signals() - {signal.SIGALRM}  # pytest-timeout has that one
    handlers = {number: signal.getsignal(number) for number in ours}
    wakeup = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(wakeup)
    yield
    assert {number: signal.getsignal(number) for number in ours} == handlers
    assert signal.set_wakeup_fd(wakeup) == wakeup


def script(text: str, **more: Any) -> dict[str, Any]:
    return {"environment": {"SCRIPT": text}, "output": "out", **more}


def test_none_is_as_if_not_given() -> None:
    plan = smlocal.plan(
        image="any:latest", channels=None, hyperparameters=None, environment=None, sources=None, output=None
    )
    assert plan.hosts


def test_a_job_by_keywords_and_what_can_be_asked_of_it(
    life: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], assert_nothing_left: Clean
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("of the channel")
    before = set(threading.enumerate())
    lines = f"{SAVES}cat /opt/ml/input/data/train/a; printf '\\n\\ttab\\nno end'; cat /opt/ml/input/config/hyper*"
    job = smlocal.run(
        image=life.image,
        name="asked",
        channels={"train": tmp_path / "data"},
        hyperparameters={"epochs": 3, "rate": 0.5, "deep": True},
        **script(lines),
    )
    assert isinstance(job, smlocal.TrainingJob)
    assert (repr(job), job.name, job.status, job.secondary_status) == (
        "TrainingJob('asked')",
        "asked",
        "Completed",
        "Completed",
    )
    assert job.failure_reason is None
    *shown, last = job.logs()
    assert shown == ["of the channel", "#011tab"]
    assert last.startswith("no end{")
    for each in ('"epochs": "3"', '"rate": "0.5"', '"deep": "True"'):
        assert each.replace(" ", "") in last.replace(" ", "")
    assert list(job.logs(raw=True))[1] == "\ttab"
    assert list(job.logs(host="algo-1")) == [*shown, last]
    model = job.model
    assert model is not None
    assert model.path == str(tmp_path / "out" / "asked" / "output" / "model.tar.gz")
    assert Path(model).stat().st_size == model.size
    with model.open() as archive:
        member = archive.extractfile("m")
        assert member is not None
        assert member.read() == b"saved\n"
    assert job.output is None
    assert job.describe(service=True)["TrainingJobStatus"] == "Completed"
    assert job.describe()["Local"]["SupervisorPid"] == os.getpid()
    assert smlocal.TrainingJob("asked").describe() == job.describe()
    assert capfd.readouterr() == ("", "")
    life.until(lambda: set(threading.enumerate()) <= before)
    assert_nothing_left("asked")


def test_a_dict_with_a_local_block_and_what_overrides_it(life: Any, tmp_path: Path) -> None:
    request = {
        "TrainingJobName": "by-dict",
        "AlgorithmSpecification": {
            "TrainingImage": life.image,
            "TrainingInputMode": "File",
            "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}],
        },
        "Environment": {"SCRIPT": "exit 1"},
        "OutputDataConfig": {"S3OutputPath": "s3://not-here/out"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "Local": {"Output": str(tmp_path / "elsewhere")},
    }
    before = repr(request)
    job = smlocal.run(request, environment={"SCRIPT": "echo loss=0.5; echo loss=0.25; exit 3"}, max_run=60)
    assert repr(request) == before
    assert job.status == "Failed"
    assert "exit code: 3" in str(job.failure_reason)
    assert job.describe()["StoppingCondition"]["MaxRuntimeInSeconds"] == 60
    (loss,) = job.metrics.summaries()
    assert (loss.name, loss.count, loss.lowest, loss.last and loss.last.value) == ("loss", 2, 0.25, 0.25)
    assert [each.value for each in job.metrics.values()] == [0.5, 0.25]


def test_a_plan_is_what_would_be_run(life: Any) -> None:
    path = life.job_file("plan-is-run", "exit 0")
    plan = smlocal.plan(path, instance_count=2)
    assert (plan.name, plan.image.name, len(plan.hosts)) == ("plan-is-run", life.image, 2)
    assert life.store.count() == 0
    from smlocal.jobs.planning.model import JobPlan

    assert isinstance(plan, JobPlan)


def test_what_is_refused_is_an_error_and_makes_no_job(life: Any) -> None:
    with pytest.raises(errors.RequestInvalidError, match="request") as broken:
        smlocal.run({"TrainingJobName": "a_b", "Local": {}})
    assert any("request" in line for line in broken.value.details)
    with pytest.raises(errors.SourceMissingError):
        smlocal.run(image=life.image, channels={"train": "nowhere"})
    with pytest.raises(errors.RequestInvalidError) as keyword:
        smlocal.run(image=life.image, instance_count=0)
    assert any("keyword arguments" in line for line in (keyword.value.sentence, *keyword.value.details))
    with pytest.raises(errors.ImageMissingError):
        smlocal.run(image="no-such-image:none", pull="never")
    with pytest.raises(errors.UsageRefusedError, match="no job"):
        smlocal.run()
    with pytest.raises(errors.JobFileMissingError):
        smlocal.plan("nowhere.yaml")
    with pytest.raises(errors.JobFileSyntaxError, match="JSON"):
        smlocal.plan({"HyperParameters": {"a": object()}})
    with pytest.raises(errors.JobUnknownError):
        smlocal.TrainingJob("nobody")
    assert life.store.count() == 0


def test_what_a_finished_job_refuses(life: Any) -> None:
    job = smlocal.run(life.job_file("only-once", "exit 0"))
    with pytest.raises(errors.NameInUseError):
        smlocal.run(life.job_file("only-once", "exit 0"))
    assert smlocal.run(life.job_file("only-once", "exit 3"), replace=True).status == "Failed"
    with pytest.raises(errors.JobFinishedError):
        job.stop()
    with pytest.raises(errors.HostUnknownError, match="algo-2"):
        job.logs(host="algo-2")
    with pytest.raises(errors.UsageRefusedError, match="nan"):
        job.stop(grace=float("nan"))


def test_what_is_shown_is_printed_by_the_thread_that_called(
    life: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    writers: set[threading.Thread] = set()
    write = sys.stdout.write

    def note(text: str) -> int:
        writers.add(threading.current_thread())
        return write(text)

    monkeypatch.setattr(sys.stdout, "write", note)
    smlocal.run(life.job_file("shown", "echo from the container; printf rest", hosts=2), show=True)
    said = capsys.readouterr()
    assert said.err == ""
    for expected in ("shown: ", "algo-1 | from the container\n", "algo-2 | from the container\n", "| rest\n", "exit 0"):
        assert expected in said.out
    assert writers == {threading.current_thread()}


def test_four_jobs_from_four_threads_and_one_of_them_is_stopped(life: Any, assert_nothing_left: Clean) -> None:
    scripts = [f"echo {number}; {SAVES}" for number in range(3)]

    def stop_it() -> str:
        life.until(lambda: life.store.count() and any(each.name == "threads-3" for each in life.store.list()))
        job = smlocal.TrainingJob("threads-3")
        for line in job.logs(follow=True):
            assert line == "ready"
            job.stop()
        return job.wait().status

    with ThreadPoolExecutor(5) as pool:
        jobs = [
            pool.submit(smlocal.run, image=life.image, name=f"threads-{number}", **script(each))
            for number, each in enumerate([*scripts, STOPPABLE])
        ]
        assert pool.submit(stop_it).result(200) == "Stopped"
        assert [job.result(200).status for job in jobs] == [*["Completed"] * 3, "Stopped"]
    for number, job in enumerate(jobs[:3]):
        assert list(job.result().logs()) == [str(number)]
    for job in jobs:
        assert_nothing_left(job.result().name)


def test_an_event_loop_goes_on_and_keeps_its_handlers(life: Any) -> None:
    heard: list[int] = []

    async def main() -> tuple[str, int]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGUSR1, signal.SIGTERM):
            loop.add_signal_handler(number, heard.append, number)
        running = asyncio.create_task(asyncio.to_thread(smlocal.run, life.job_file("looped", STOPPABLE)))
        turns = 0
        while not running.done():
            turns += 1
            await asyncio.sleep(0.01)
            if turns == 20:
                # Another process, which knows this one by its id only.
                await asyncio.to_thread(life.until_logged, "looped", "ready")
                with life.begin("stop", "looped") as command:
                    said = await asyncio.to_thread(command.communicate, timeout=60)
                assert said == ("", "stopping looped\n")
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.to_thread(life.until, lambda: bool(heard))
        for number in (signal.SIGUSR1, signal.SIGTERM):
            loop.remove_signal_handler(number)
        return (await running).status, turns

    status, turns = asyncio.run(main())
    assert status == "Stopped"
    assert turns > 20
    assert heard == [signal.SIGTERM]


def test_a_stop_breaks_staging_off(life: Any, tmp_path: Path, assert_nothing_left: Clean) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for number in range(20_000):
        (many / f"{number}").touch()
    path = life.job_file("broken-off", "exit 0")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(smlocal.run, path, channels={"train": many}, staging="copy")
        life.until(lambda: any(each.phase == "Downloading" for each in life.store.list()))
        smlocal.TrainingJob("broken-off").stop()
        assert running.result(60).status == "Stopped"
    assert life.phases("broken-off") == ["Starting", "Downloading", "Stopping", "Stopped"]
    assert_nothing_left("broken-off")


def test_a_detached_job_has_a_supervisor_of_its_own(life: Any, assert_nothing_left: Clean) -> None:
    job = smlocal.run(life.job_file("apart", WAITS), detach=True)
    pid = job.describe()["Local"]["SupervisorPid"]
    assert pid != os.getpid()
    assert os.getsid(pid) != os.getsid(0)
    life.until_logged("apart", "ready")
    assert (job.status, job.model) == ("InProgress", None)
    with pytest.raises(errors.WaitTimeoutError, match="apart"):
        job.wait(timeout=0.2)  # passes: the job waits for the test
    with pytest.raises(TimeoutError):
        job.wait(timeout=0)
    life.let_go("apart")
    assert list(job.logs(follow=True)) == ["ready"]
    assert job.wait(60).status == "Completed"
    assert_nothing_left("apart")


def test_a_detached_job_that_cannot_be_made_is_an_error_here(life: Any) -> None:
    smlocal.run(life.job_file("there", "exit 0"))
    with pytest.raises(errors.NameInUseError):
        smlocal.run(life.job_file("there", "exit 0"), detach=True)
    assert life.store.count() == 1
