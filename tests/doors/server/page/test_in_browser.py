"""The page as a person sees it, in headless Chromium."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.doors.server.page.chromium import Browser, Tab, program, running_browser
from tests.kit.fixtures import touch_inside
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST

from smlocal.jobfile.document import Document
from smlocal.pipelines.job_file import EXECUTION, OUTPUT, START
from smlocal.sagemaker.pipelines.stored import STATE, step_document
from smlocal.sagemaker.tuning.facts import NAME, TUNING
from smlocal.sagemaker.tuning.trials import Trial, document_kind


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if program() is None:
        pytest.skip("no Chromium here: apt-get install --no-install-recommends chromium")
    with running_browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def tab(browser: Browser, endpoint: Any) -> Iterator[Tab]:
    """A page that loads nothing from elsewhere, and has nothing to complain about."""
    made = browser.tab()
    yield made
    elsewhere = [each for each in made.requests if not each.startswith((endpoint.address, "data:,"))]
    assert not elsewhere
    assert not made.complaints
    made.close()


def let_go(endpoint: Any, job: str) -> None:
    """Make the file that a container waits for."""
    touch_inside(Path(endpoint.store.directory(job)) / "hosts" / "algo-1" / "output" / "go")


@pytest.mark.slow(2)
def test_a_job_from_starting_to_completed(tab: Tab, endpoint: Any, script_job: Callable[..., dict[str, Any]]) -> None:
    tab.go(endpoint.address)
    tab.sees("There are no jobs yet")
    script = (
        "echo begin; i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo loss=0.$((90-i)); sleep 0.05; done;"
        " until [ -e /opt/ml/output/go ]; do sleep 0.1; done; echo done > /opt/ml/model/m"
    )
    specification = {
        **script_job("", "")["AlgorithmSpecification"],
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=([0-9.]+)"}],
    }
    endpoint.client("sagemaker").create_training_job(
        **script_job("seen-tree", script, AlgorithmSpecification=specification)
    )
    tab.sees("seen-tree")  # without a reload
    tab.sees("Training", "tbody")  # a row that is drawn again under the pointer is not clicked
    tab.click("tbody a")
    tab.wait("location.pathname == '/-/jobs/seen-tree'")
    tab.sees("InProgress")
    tab.sees("Training", ".timeline")
    tab.sees("begin\nloss=0.89\n", "#log")
    tab.sees("loss", "[data-part=metrics]")  # a curve before the end
    assert "InProgress" in tab.text(".outcome")
    let_go(endpoint, "seen-tree")
    tab.sees("Completed in", ".outcome")
    tab.sees("The log is complete.")
    assert tab.text("#log").splitlines() == ["begin", *(f"loss=0.{90 - i}" for i in range(1, 31))]
    tab.sees("Download model.tar.gz")
    tab.sees("0.6", "[data-part=metrics] .value")
    assert tab.value("document.title").startswith("seen-tree: Completed")
    assert tab.value("document.querySelector('button[formaction], form[action$=stop]')") is None
    tab.go(endpoint.address)
    tab.sees("Completed", "tbody td.completed")


@pytest.mark.slow(2)
def test_a_table_stays_sorted_as_it_was_chosen(tab: Tab, endpoint: Any) -> None:
    def trial(number: int, rate: str, value: float) -> dict[str, Any]:
        found = Trial(number=number, name=f"t-{number}", tuned={"rate": rate}, status="Completed", value=value)
        return {document_kind(number): found.document()}

    counts = {"Completed": 2, "InProgress": 0, "RetryableError": 0, "NonRetryableError": 0, "Stopped": 0}
    documents = {
        "request": REQUEST,
        TUNING: {"Count": 2, "TrainingJobStatusCounters": counts},
        **trial(1, "0.2", 1.0),
        **trial(2, "0.1", 3.0),
    }
    about = {"arn": "arn:aws:sagemaker:us-east-1:0:hyper-parameter-tuning-job/seen-search", "platform": NAME}
    known = {"run_id": "0" * 8, "created": time.time(), "supervisor_pid": os.getpid(), "documents": documents}
    with endpoint.store.create("seen-search", **known, **about):
        rows = "[...document.querySelectorAll('.rows tbody tr')].filter((row) => row.offsetParent)"
        shown = f"{rows}.map((row) => row.cells[0].textContent).join()"
        tab.go(f"{endpoint.address}/-/jobs/seen-search")
        tab.wait(f"{shown} === 't-1,t-2'")  # the best first
        tab.click("th:nth-child(4) label")
        tab.wait(f"{shown} === 't-2,t-1'")
        endpoint.store.put_documents("seen-search", trial(1, "0.2", 0.125))
        tab.sees("0.125", ".rows")  # drawn again
        assert tab.value(shown) == "t-2,t-1"


@pytest.mark.slow(2)
def test_values_of_a_step_stay_open_and_its_box_leads_to_its_row(tab: Tab, endpoint: Any) -> None:
    steps = [
        {"Name": name, "Type": "Fail", "Arguments": {"ErrorMessage": {"Get": "Execution.PipelineName"}}}
        for name in ("One", "Two")
    ]

    def step(number: int, state: str) -> dict[str, Any]:
        progress = {"state": state, "attempts": 1, "began": time.time(), "number": number, "reason": f"because {state}"}
        document = {"Type": "Fail", "Progress": progress, "Arguments": {"ErrorMessage": "seen"}}
        return {step_document(str(steps[number - 1]["Name"])): document}

    start = {"PipelineName": "seen"}
    data = {"Version": "2020-12-01", "Steps": steps}
    job = {**Document(data, name="pipeline.json", directory="/").record(), START: start, EXECUTION: "a", OUTPUT: "/out"}
    state = {"Names": ["One", "Two"], "Items": {}, "Status": "Executing", "Stopping": False}
    documents = {"request": start, "job": job, STATE: state, **step(1, "Failed"), **step(2, "Executing")}
    about = {"arn": "arn:aws:sagemaker:us-east-1:0:pipeline/seen/execution/a", "platform": "sagemaker_pipeline"}
    known = {"run_id": "0" * 8, "created": time.time(), "supervisor_pid": os.getpid(), "documents": documents}
    with endpoint.store.create("seen-a", **known, **about):
        tab.look(width=420, height=800)
        tab.go(f"{endpoint.address}/-/jobs/seen-a")
        tab.sees("because Executing", ".rows")
        tab.click("details:nth-of-type(2) summary")
        tab.wait("document.querySelectorAll('details[open]').length === 1")
        tab.value("document.querySelector('.graph').scrollTo(30, 0)")
        endpoint.store.put_documents("seen-a", step(2, "Failed"))
        tab.sees("because Failed", "#step-1")  # drawn again
        assert tab.value("document.querySelector('details[open] summary').firstChild.data.trim()") == "Two"
        assert tab.value("document.querySelector('.graph').scrollLeft") == 30
        assert tab.value("document.documentElement.scrollWidth") == 420
        tab.click(".graph a[href='#step-1'] .name")
        tab.wait("document.querySelector('tr:target').id === 'step-1'")


@pytest.mark.slow(2)
def test_a_job_stopped_by_the_button_with_the_keyboard(tab: Tab, endpoint: Any, run_job: Callable[..., None]) -> None:
    run_job("seen-stop", "trap 'echo saving; exit 0' TERM; echo up; sleep 600 & wait", until="Training")
    tab.go(f"{endpoint.address}/-/jobs/seen-stop")
    tab.sees("up", "#log")
    for _ in range(10):
        tab.press("Tab")
        if tab.value("document.activeElement.textContent") == "Stop this training job":
            break
    tab.wait("document.querySelector('.outcome').textContent.includes('so far')")
    assert tab.value("document.activeElement.textContent") == "Stop this training job"  # updates do not take the focus
    tab.press("Enter")
    tab.sees("Stopped after", ".outcome")
    tab.sees("saving", "#log")
    assert "Stop this training job" not in tab.text()
    assert endpoint.store.get("seen-stop").status == "Stopped"


@pytest.mark.slow(1)
def test_a_failure_is_read(tab: Tab, endpoint: Any, run_job: Callable[..., None]) -> None:
    reason = "Traceback: five is not a <b>number</b> </script>"
    run_job(
        "seen-failure",
        f"printf %s '{reason}' > /opt/ml/output/failure; echo '<img src=x onerror=alert(1)>'; exit 3",
        until="Failed",
    )
    tab.go(endpoint.address)
    tab.sees(f"AlgorithmError: {reason}, exit code: 3", "td.reason")
    tab.go(f"{endpoint.address}/-/jobs/seen-failure")
    tab.sees(f"AlgorithmError: {reason}, exit code: 3", "pre.reason")
    tab.sees("<img src=x onerror=alert(1)>", "#log")
    assert tab.value("document.images.length") == 0
    tab.sees("exit 3", ".details")


@pytest.mark.slow(2)
def test_a_log_is_followed_paused_and_left_behind(tab: Tab, endpoint: Any, run_job: Callable[..., None]) -> None:
    script = (
        "seq 1 20000; i=20000; until [ -e /opt/ml/output/go ] && [ $i -ge 20030 ]; do"
        " i=$((i+1)); echo $i; sleep 0.1; done;"
        " printf 'a\\rb\\n\\303'; sleep 1; printf '\\244'; echo; seq 90000 92000"
    )
    run_job("seen-log", script, until="Training")
    tab.go(f"{endpoint.address}/-/jobs/seen-log")
    tab.wait("document.getElementById('log').textContent.includes('\\n20005\\n')")
    at_end = "(l => l.scrollHeight - l.scrollTop - l.clientHeight < 24)(document.getElementById('log'))"
    assert tab.value(at_end)
    assert tab.value("document.getElementById('log').textContent.split('\\n').length") <= 5001
    tab.click("#follow")
    tab.sees("Paused", "#log-state")
    before = tab.text("#log")
    time.sleep(0.5)
    assert tab.text("#log") == before
    assert tab.text("#follow") == "Follow"
    tab.click("#follow")
    let_go(endpoint, "seen-log")
    tab.wait("document.getElementById('log').textContent.endsWith('\\n92000\\n')")
    tab.sees("a#015b\nä\n90000", "#log")
    numbers = [int(line) for line in tab.text("#log").splitlines() if line.isdecimal()]
    assert numbers == sorted(set(numbers))
    assert set(range(20_006, 20_031)) < set(numbers)
    tab.sees("The log is complete.")


@pytest.mark.slow(2)
def test_a_job_file_is_corrected_and_started(
    tab: Tab, endpoint: Any, script_job: Callable[..., dict[str, Any]]
) -> None:
    request = script_job("seen-typed", "echo typed")
    tab.go(f"{endpoint.address}/-/new")
    tab.click("#document")
    tab.type(json.dumps({**request, "HyperParamters": {}}, indent=2))
    tab.click("form.new button")
    tab.sees("unknown key HyperParamters: did you mean HyperParameters?", "#problem")
    tab.complaints.clear()  # the browser notes that the answer was 400
    assert "HyperParamters" in tab.value("document.getElementById('document').value")
    tab.value("document.getElementById('document').value = ''")
    tab.click("#document")
    tab.type(json.dumps(request))
    tab.click("form.new button")
    tab.wait("location.pathname == '/-/jobs/seen-typed'")
    tab.sees("Completed in", ".outcome")
    tab.sees("typed", "#log")


@pytest.mark.slow(1)
def test_a_job_file_is_picked(
    tab: Tab, endpoint: Any, script_job: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "job.json"
    path.write_text(json.dumps(script_job("seen-picked", "echo picked")))
    tab.go(f"{endpoint.address}/-/new")
    root = tab.call("DOM.getDocument")["root"]["nodeId"]
    field = tab.call("DOM.querySelector", nodeId=root, selector="#file")["nodeId"]
    tab.call("DOM.setFileInputFiles", files=[str(path)], nodeId=field)
    tab.wait("document.getElementById('document').value.includes('seen-picked')")
    tab.click("form.new button")
    tab.sees("picked", "#log")
    tab.sees("Completed in", ".outcome")


@pytest.mark.slow(2, others=True)
@pytest.mark.parametrize("scripts", [True, False])
def test_it_fits_a_phone_in_the_dark(scripts: bool, tab: Tab, endpoint: Any, run_job: Callable[..., None]) -> None:
    run_job("a-job-with-a-name-as-long-as-names-of-jobs-may-be-on-service-1", "echo x; exit 1", until="Failed")
    tab.look(width=380, height=800, dark=True, scripts=scripts)
    for path in ("/", "/-/new", "/-/jobs/a-job-with-a-name-as-long-as-names-of-jobs-may-be-on-service-1"):
        tab.go(endpoint.address + path)
        assert tab.value("document.documentElement.scrollWidth") <= 380, path
        assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 27)"
    tab.sees("AlgorithmError")
    tab.sees("x", "#log")


@pytest.mark.slow(2)
def test_two_hosts_have_a_log_each(tab: Tab, endpoint: Any, run_job: Callable[..., None]) -> None:
    resources = {"InstanceType": "ml.m5.large", "InstanceCount": 2, "VolumeSizeInGB": 1}
    run_job(
        "seen-hosts", "grep -o 'current_host[^,]*' /opt/ml/input/config/resourceconfig.json", ResourceConfig=resources
    )
    tab.go(f"{endpoint.address}/-/jobs/seen-hosts")
    tab.sees('"algo-1"', "#log")
    tab.click(".hosts a:last-child")
    tab.sees('"algo-2"', "#log")
    assert tab.text(".hosts [aria-current]") == "algo-2"
