import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kit.pytest_plugin_option import WITH_PLUGIN

from smlocal.jobs.store.jobs import Store
from smlocal.pytest_plugin.training_jobs import unique_name
from smlocal.terms.statuses import COMPLETED

ROOT = Path(__file__).parents[3]
ONE_JOB = """
def test_one(training_job):
    training_job(image="any").assert_completed()
"""


@pytest.fixture(autouse=True)
def no_engine(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{pytester.path}/no.sock")
    monkeypatch.setenv("SMLOCAL_HOME", str(pytester.path / "home"))


@pytest.mark.slow(0.5)
def test_without_an_engine_a_test_is_skipped(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ONE_JOB)
    done = pytester.runpytest_subprocess(*WITH_PLUGIN, "-rs", "-W", "error")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines("*SKIPPED*no container engine: *no.sock*")


@pytest.mark.slow
def test_or_fails_where_one_is_required_and_says_what_to_do(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(ONE_JOB)
    done = pytester.runpytest_subprocess(*WITH_PLUGIN, "--smlocal-required")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["E *EngineUnreachableError*no.sock*", "E *doctor*"])


@pytest.mark.slow(0.5)
def test_a_refused_job_fails_the_test_and_says_where_and_what_to_do(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        def test_no_job(training_job):
            training_job("nowhere.yaml")

        def test_wrong_keyword(training_job):
            training_job(imagee="any")
    """)
    pytester.path.joinpath("nowheer.yaml").touch()
    done = pytester.runpytest_subprocess(*WITH_PLUGIN)
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(
        [
            "E *the job file nowhere.yaml does not exist",
            "E *Did you mean nowheer.yaml?",
            "E *no keyword 'imagee'; did you mean 'image'*",
        ]
    )
    text = done.stdout.str()
    assert "training job pytest-" not in text  # there is none to show
    assert '>       training_job("nowhere.yaml")' in text
    assert "job_source.py" not in text.partition("test_wrong_keyword(")[0]  # where in smlocal it was raised


@pytest.mark.slow(0.5)
@pytest.mark.parametrize("keyword", ["detach", "replace", "show"])
def test_what_run_accepts_and_the_fixture_does_not(keyword: str, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(f"""
        def test_one(training_job):
            training_job(image="any", name="mine", {keyword}=True)
    """)
    done = pytester.runpytest_subprocess(*WITH_PLUGIN)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(f"E *TypeError: training_job does not accept '{keyword}': *")


@pytest.mark.slow(0.5)
def test_the_example_needs_no_other_plugin() -> None:
    command = [sys.executable, "-m", "pytest", *WITH_PLUGIN, "-p", "no:timeout", "--collect-only", "-q"]
    done = subprocess.run(
        [*command, "examples/decision-tree"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 tests collected" in done.stdout


@pytest.mark.slow(0.5)
def test_a_job_that_was_there_before_is_no_job_of_the_test(pytester: pytest.Pytester) -> None:
    with Store.open(str(pytester.path / "home")) as store:
        store.create("mine", run_id="0" * 8, created=0.0, documents={}, supervisor_pid=None).release()
        store.transition(
            "mine",
            status=COMPLETED.status,
            phase=COMPLETED.phase,
            message=COMPLETED.message,
            at=1.0,
        )
    pytester.makepyfile("""
        def test_one(training_job):
            training_job(image="any", name="mine")
    """)
    pytester.runpytest_subprocess(*WITH_PLUGIN, "--smlocal-keep=none").assert_outcomes(failed=1)
    with Store.open(str(pytester.path / "home")) as store:
        assert store.get("mine").status == "Completed"


@pytest.mark.slow(0.5)
def test_a_wrong_option_is_refused(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_subprocess(*WITH_PLUGIN, "--smlocal-keep=some")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines("*--smlocal-keep*some*failed*all*none*")


@pytest.mark.slow(0.5)
def test_it_imports_nothing_until_it_is_used(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
        import json, sys
        def pytest_sessionfinish():
            with open("modules.json", "w") as file:
                json.dump([name for name in sys.modules if name.startswith("smlocal")], file)
    """)
    pytester.makepyfile("def test_of_something_else(): pass")
    pytester.runpytest_subprocess(*WITH_PLUGIN).assert_outcomes(passed=1)
    modules = json.loads((pytester.path / "modules.json").read_text())
    assert sorted(modules) == ["smlocal", "smlocal.pytest_plugin", "smlocal.pytest_plugin.plugin"]


@pytest.mark.parametrize(
    "test", ["test_it[Grüße/ß-…]", "test_" + "long_" * 40, "[[[", "test_at_the_limit_of_63_characters_x[a b]"]
)
@pytest.mark.parametrize("worker", [None, "gw12"])
def test_names_of_jobs_are_valid_and_differ(
    test: str,
    worker: str | None,
    pytestconfig: pytest.Config,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if worker is None:
        monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    else:
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
    names = [unique_name(pytestconfig, test), unique_name(pytestconfig, test)]
    assert names[0] != names[1]
    for name in names:
        assert re.fullmatch("[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", name)
        assert re.match(rf"pytest-[0-9a-f]{{8}}-{worker or '[0-9]'}", name)
