"""The fixture in a pytest of its own, with real containers."""

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit import until
from tests.kit.fixtures import left_of
from tests.kit.pytest_plugin_option import WITH_PLUGIN

from smlocal.jobs.store.jobs import Store

_PASSES = """
def test_it(training_job):
    job = training_job(image={image!r}, environment={{"SCRIPT": "echo out >/opt/ml/model/m"}})
    assert job.assert_completed().model.read("m") == b"out\\n"
"""
_FAILS = """
def test_it(training_job):
    script = "seq 1 30; printf why >/opt/ml/output/failure; exit 3"
    training_job(image={image!r}, environment={{"SCRIPT": script}}).assert_completed()
"""
Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, home: Path, image: Callable[[str], str]) -> Run:
    """Runs tests in a pytest of its own; nothing of them may be left on the engine."""
    tag = image("sh")

    def run(text: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(text.format(image=tag))
        done = pytester.runpytest_subprocess(*WITH_PLUGIN, "--smlocal-required", "-W", "error", *options)
        assert [left_of(name) for name in jobs_of(home)] == [[] for _ in jobs_of(home)]
        return done

    return run


def jobs_of(home: Path) -> list[str]:
    with Store.open(str(home)) as store:
        return [record.name for record in store.list()]


def remove_jobs(*arguments: str) -> str:
    command = [sys.executable, "-m", "smlocal", "rm", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=90)
    return done.stderr


@pytest.mark.slow(1)
def test_a_job_that_completes_and_is_forgotten(run: Run, home: Path) -> None:
    run(r"""
def test_it(training_job, tmp_path):
    (tmp_path / "a").write_text("of the channel")
    request = {{
        "AlgorithmSpecification": {{
            "TrainingImage": {image!r},
            "TrainingInputMode": "File",
            "MetricDefinitions": [{{"Name": "loss", "Regex": "loss=([0-9.]+)"}}, {{"Name": "none", "Regex": "x(1)"}}],
        }},
        "ResourceConfig": {{"InstanceType": "ml.m5.large", "InstanceCount": 1}},
        "OutputDataConfig": {{"S3OutputPath": "s3://bucket/models"}},
    }}
    script = (
        "cat /opt/ml/input/data/train/a /opt/ml/input/config/hyperparameters.json; echo; "
        "mkdir /opt/ml/model/d; echo saved >/opt/ml/model/d/m; for n in 0.5 0.25; do echo loss=$n; done"
    )
    job = training_job(
        request, channels={{"train": tmp_path}}, hyperparameters={{"epochs": 3}}, environment={{"SCRIPT": script}}
    )
    assert job.assert_completed() is job
    assert (job.status, job.failure_reason) == ("Completed", None)
    first, *rest = job.logs.splitlines()
    assert first.startswith("of the channel{{") and '"3"' in first
    assert rest == ["loss=0.5", "loss=0.25"]
    assert job.model.names() == ["d/m"]
    assert job.model.read("d/m") == b"saved\n"
    with job.model.open() as archive:
        assert "d/m" in archive.getnames()
    assert job.metrics == {{"loss": [0.5, 0.25], "none": []}}
    assert job.job.describe()["TrainingJobName"] == job.name
""").assert_outcomes(passed=1)
    assert jobs_of(home) == []


@pytest.mark.slow(2)
@pytest.mark.parametrize("worker", ["", "gw0-"])
def test_a_failing_test_shows_the_reason_and_the_last_lines_and_its_job_is_kept(
    worker: str, run: Run, home: Path
) -> None:
    done = run(_FAILS, *(("-n", "1") if worker else ()))
    done.assert_outcomes(failed=1)
    (name,) = jobs_of(home)
    assert re.fullmatch(rf"pytest-[0-9a-f]{{8}}-{worker}1-test-it", name)
    text = done.stdout.str()
    assert f"AssertionError: training job {name} is Failed: AlgorithmError: why, exit code: 3" in text
    assert "finished_job.py" not in text  # the test's own line is shown, not the plugin's
    section = text.partition(f" training job {name}: Failed ")[2].partition("=== short")[0]
    _, reason, _, *lines, describe, remove = section.strip().splitlines()[:25]
    assert reason == "AlgorithmError: why, exit code: 3"
    assert lines == [str(number) for number in range(11, 31)]
    assert describe == f"--- more: smlocal describe {name}; smlocal logs {name}"
    removal = re.fullmatch("--- to remove all jobs of this run: smlocal rm '(.*)'", remove)
    assert removal
    assert remove_jobs(removal[1]) == f"removed {name}\n"
    assert jobs_of(home) == []


@pytest.mark.slow(2)
def test_the_command_that_removes_a_job_with_a_name_of_its_own(run: Run, home: Path) -> None:
    done = run(_FAILS.replace("image=", 'name="mine", image='))
    done.assert_outcomes(failed=1)
    removal = re.search("--- to remove it and all jobs that this run has named: smlocal rm (.*)", done.stdout.str())
    assert removal
    assert "removed mine\n" in remove_jobs(*shlex.split(removal[1]))
    assert jobs_of(home) == []


@pytest.mark.slow(2)
def test_a_name_that_another_job_has(run: Run, home: Path) -> None:
    named = _PASSES.replace("image=", 'name="mine", image=')
    run(named, "--smlocal-keep=all").assert_outcomes(passed=1)
    done = run(named)
    done.assert_outcomes(failed=1)
    text = done.stdout.str()
    assert "give none: training_job then makes up a unique one" in text
    assert "replace" not in text.partition("NameInUseError")[2]
    assert jobs_of(home) == ["mine"]
    assert remove_jobs("mine")


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize(("text", "keep", "kept"), [(_PASSES, "all", 1), (_PASSES, "failed", 0), (_FAILS, "none", 0)])
def test_what_is_kept(text: str, keep: str, kept: int, run: Run, home: Path) -> None:
    done = run(text, f"--smlocal-keep={keep}")
    assert len(jobs_of(home)) == kept
    if text is _FAILS:
        done.stdout.fnmatch_lines("*AlgorithmError: why, exit code: 3")
        assert "smlocal describe" not in done.stdout.str()


@pytest.mark.slow(5)
def test_a_failed_job_in_a_test_that_passes_and_a_model_that_is_not_there(run: Run, home: Path) -> None:
    run(r"""
import pytest

def test_it(training_job):
    job = training_job(image={image!r}, environment={{"SCRIPT": "exit 3"}})
    assert job.status == "Failed"
    assert job.failure_reason == "AlgorithmError: , exit code: 3"
    assert "Failed" in repr(job)
    with pytest.raises(AssertionError, match="no model was written by training job pytest-.* is Failed"):
        job.model
    slow = training_job(
        image={image!r}, max_run=3, environment={{"SCRIPT": "trap 'exit 0' TERM; while :; do sleep 0.1; done"}}
    )
    with pytest.raises(AssertionError, match=r"is Stopped \(MaxRuntimeExceeded\)"):
        slow.assert_completed()
""").assert_outcomes(passed=1)
    assert jobs_of(home) == []


_SHARED = """
import pytest

@pytest.fixture(scope="module")
def trained(shared_training_job):
    return shared_training_job(image={image!r}, environment={{"SCRIPT": "echo once; exit CODE"}}).assert_completed()

def test_one(trained):
    assert trained.logs == "once"

def test_two(trained):
    assert trained.status == "Completed"

def test_of_something_else():
    assert WORKS
"""


@pytest.mark.slow(3, others=True)
@pytest.mark.parametrize(
    ("code", "works", "outcomes", "kept"),
    [
        ("0", "True", {"passed": 3}, 0),
        ("0", "False", {"passed": 2, "failed": 1}, 0),
        ("3", "True", {"passed": 1, "errors": 2}, 1),
    ],
)
def test_one_job_for_several_tests(
    code: str, works: str, outcomes: dict[str, int], kept: int, run: Run, home: Path
) -> None:
    done = run(_SHARED.replace("CODE", code).replace("WORKS", works))
    done.assert_outcomes(**outcomes)
    assert len(jobs_of(home)) == kept
    assert done.stdout.str().count("AlgorithmError: , exit code: 3\n--- the end of its log") == 2 * kept


@pytest.mark.slow(2)
def test_side_by_side_under_xdist(run: Run, home: Path) -> None:
    text = _PASSES.replace("def ", "import pytest\n\n@pytest.mark.parametrize('n', range(4))\ndef ").replace(
        "(tr", "(n, tr"
    )
    run(text, "-n", "2", "--smlocal-keep=all").assert_outcomes(passed=4)
    names = jobs_of(home)
    assert len(names) == 4
    assert len({name.split("-")[1] for name in names}) == 1
    assert {name.split("-")[2] for name in names} == {"gw0", "gw1"}


@pytest.mark.slow(2)
def test_what_a_killed_run_leaves_goes_with_one_command(
    pytester: pytest.Pytester, home: Path, image: Callable[[str], str]
) -> None:
    script = "trap : TERM; touch /opt/ml/output/began; while :; do sleep 0.1; done"
    pytester.makepyfile(f"""
        def test_it(training_job):
            training_job(image={image("sh")!r}, environment={{"SCRIPT": {script!r}}})
    """)
    command = [sys.executable, "-m", "pytest", *WITH_PLUGIN, "--smlocal-required"]
    pytest_process = subprocess.Popen(command, cwd=pytester.path, stdout=subprocess.DEVNULL)
    try:
        until(lambda: any(home.glob("jobs/*/hosts/algo-1/output/began")))
    finally:
        pytest_process.send_signal(signal.SIGKILL)
        pytest_process.wait()
    (name,) = jobs_of(home)
    assert left_of(name)
    assert remove_jobs("--stop", f"{name[: len('pytest-12345678')]}*") == f"removed {name}\n"
    assert left_of(name) == []
    assert jobs_of(home) == []
