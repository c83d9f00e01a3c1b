"""The fixture `endpoint` in a pytest of its own, with real containers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.kit.fixtures import left_of
from tests.kit.pytest_plugin_option import WITH_PLUGIN

from smlocal.jobs.store.jobs import Store

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, home: Path, image: Callable[[str], str]) -> Run:
    """Runs tests in a pytest of its own; nothing of them may be left on the engine."""
    tag = image("train-serve")

    def run(text: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(text.replace("IMAGE", repr(tag)))
        done = pytester.runpytest_subprocess(*WITH_PLUGIN, "--smlocal-required", "-W", "error", *options)
        assert [left_of(name) for name in remembered(home)] == [[] for _ in remembered(home)]
        return done

    return run


def remembered(home: Path) -> list[str]:
    with Store.open(str(home)) as store:
        return [record.name for record in store.list()]


@pytest.mark.slow(2)
def test_a_model_that_was_trained_is_served_and_forgotten(run: Run, home: Path) -> None:
    done = run("""
import urllib.request

def test_it(training_job, endpoint):
    job = training_job(image=IMAGE).assert_completed()
    served = endpoint(job)
    answer = served.invoke("1,2", content_type="text/csv")
    assert (answer.text, answer.content_type, answer.json) == ("3,6\\n", "text/csv", answer.json)
    request = urllib.request.Request(served.address, data=b"7", headers={"Content-Type": "text/csv", **served.headers})
    with urllib.request.urlopen(request) as direct:
        assert direct.read() == b"21\\n"
    assert "serving" in served.logs
    assert repr(served).startswith("<endpoint pytest-")
    assert repr(answer) == "<answer text/csv: b'3,6\\\\n'>"
""")
    done.assert_outcomes(passed=1)
    assert remembered(home) == []


@pytest.mark.slow(3)
def test_a_test_that_fails_shows_its_endpoint_which_is_stopped_and_remembered(run: Run, home: Path) -> None:
    done = run("""
def test_no_model(endpoint, tmp_path):
    endpoint(tmp_path, image=IMAGE, startup_seconds=20)

def test_wrong(endpoint, tmp_path):
    (tmp_path / "factor").write_text("2")
    endpoint(tmp_path, image=IMAGE, name="served-with-a-name").invoke("x", content_type="text/csv")

def test_refused(endpoint):
    endpoint("nowhere.tar.gz", image=IMAGE)
""")
    done.assert_outcomes(failed=3)
    done.stdout.fnmatch_lines(
        [
            "E *AssertionError: endpoint pytest-*-test-no-model is Failed: *did not pass the ping health check*",
            "*- endpoint pytest-*-test-no-model: Failed -*",
            "the container ended 3 times before it answered /ping, with exit code 1",
            "*No such file or directory: '/opt/ml/model/factor'",
            "E *InvocationFailedError: ModelError: Received client error (400) from primary*no numbers*",
            "E *OriginalStatusCode  400",
            "*- endpoint served-with-a-name: InService -*",
            "E *ModelMissingError: the archive of the model does not exist: *nowhere.tar.gz*",
        ]
    )
    names = remembered(home)
    assert len(names) == 2
    assert "served-with-a-name" in names


@pytest.mark.slow(2)
def test_nothing_is_remembered_if_nothing_is_to_be_kept(run: Run, home: Path) -> None:
    done = run(
        """
def test_it(endpoint, tmp_path):
    (tmp_path / "factor").write_text("2")
    endpoint(tmp_path, image=IMAGE)
    assert False
""",
        "--smlocal-keep",
        "none",
    )
    done.assert_outcomes(failed=1)
    assert remembered(home) == []
