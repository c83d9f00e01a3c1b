"""The commands' views of a job, in the words of its service."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import fastjsonschema
import pytest

import smlocal

FAILS_ONCE = "if [ -e /gcs/b/been ]; then touch /gcs/b/again; sleep 600; fi; touch /gcs/b/been; kill -9 $$"
WAITS_AND_FAILS = "until [ -e /gcs/b/again ]; do sleep 0.05; done; echo 'what went wrong'; exit 1"
MESSAGE = "The replica workerpool0-0 exited with a non-zero status of 1. Termination reason: Error."
RESTARTED = "workerpool1-0: exit 137, restarted (1 of 5)"
IN_HISTORY = "workerpool1-0: exit 137 (replica failure), restarted (1 of 5)"


def test_the_document_of_a_run_has_the_error_at_once(replicas: Any) -> None:
    file = replicas.custom_job("aip-last-document", (1, "exit 7"), ErrorDelaySeconds=3600)
    done = replicas("run", file, "--name", "aip-last-document", "--json")
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["error"]["code"] == 3


@pytest.mark.slow(2)
def test_every_view_of_a_job_that_failed_after_a_restart(
    replicas: Any, monkeypatch: pytest.MonkeyPatch, assert_nothing_left: Callable[[str], None]
) -> None:
    name = "aip-views"
    # Its PID 1 is not the shell: signals that it sends to itself are not ignored.
    worker = f"sh -c '{FAILS_ONCE}'; exit $?"
    file = replicas.custom_job(name, (1, WAITS_AND_FAILS), (1, worker), ErrorDelaySeconds=3600)
    junit, html, report = (str(replicas.folder / each) for each in ("junit.xml", "report.html", "report.json"))

    done = replicas("run", file, "--name", name, "--junit", junit, "--report", report, "--ci", "github")
    assert done.returncode == 1, done.stderr
    lines = done.stderr.splitlines()
    assert any("workerpool0: 1 × n1-standard-4 · workerpool1: 1 × n1-standard-4" in line for line in lines)
    assert {f"  {RESTARTED}", "● JOB_STATE_RUNNING", f"JOB_STATE_FAILED: {MESSAGE}"} <= {*lines}
    assert any(line.startswith("  output    ") and line.endswith("  gs://b") for line in lines)
    assert any(line.endswith(f"{name}%3A JOB_STATE_FAILED::{MESSAGE}") for line in lines)
    assert "workerpool0-0 | what went wrong" in done.stdout
    ((case,),) = ET.parse(junit).getroot()
    assert case[0].attrib == {"type": "JOB_STATE_FAILED", "message": MESSAGE}

    text = replicas("describe", name).stdout
    assert "State       JOB_STATE_FAILED\nError       not there yet" in text
    assert IN_HISTORY in text
    assert "workerpool0-0  exit 1   log " in text
    service = json.loads(replicas("describe", name, "--service").stdout)
    assert {"error", "Local"} & {*service} == set()
    described = json.loads(replicas("describe", name, "--json").stdout)
    local, error = described["Local"], {"code": 3, "message": MESSAGE}
    assert "error" not in described
    assert local["ErrorExpected"] > described["endTime"]
    last = json.loads((replicas.folder / "report.json").read_text())
    assert (last["error"], last["endTime"], last["Local"].get("ErrorExpected")) == (error, described["endTime"], None)
    assert json.loads(Path(local["Directory"], "describe.json").read_text()) == last
    assert local["Lifecycle"]["Error"] == {"code": 3, "message": MESSAGE}
    entries = [entry for entry in local["Lifecycle"]["Entries"] if entry.get("Replica") == "workerpool1-0"]
    assert {key: entries[0][key] for key in ("Attempt", "Container", "ExitCode", "Error", "Decision")} == {
        "Attempt": 1,
        "Container": 1,
        "ExitCode": 137,
        "Error": "replica-failure",
        "Decision": "restart-replica",
    }

    (row,) = [line for line in replicas("jobs").stdout.splitlines() if line.startswith(name)]
    assert "JOB_STATE_FAILED" in row
    listed = json.loads(replicas("jobs", "--json").stdout)
    assert listed["TrainingJobSummaries"] == []
    assert [(each["JobName"], each["state"]) for each in listed["customJobs"]] == [(name, "JOB_STATE_FAILED")]
    assert replicas("wait", name).returncode == 1
    assert "what went wrong" in replicas("logs", name, "--host", "workerpool0-0").stdout
    assert replicas("report", name, "--html", html).returncode == 0
    page = (replicas.folder / "report.html").read_text()
    assert '<p class="outcome failed">JOB_STATE_FAILED after' in page
    assert f'<pre class="reason">{MESSAGE}</pre>' in page
    assert "<title>exit 137, restarted (1 of 5)</title>" in page
    assert f"<td>{IN_HISTORY}</td>" in page

    monkeypatch.setenv("SMLOCAL_HOME", str(replicas.home))
    job = smlocal.TrainingJob(name)
    assert (job.state, job.status, job.failure_reason) == ("JOB_STATE_FAILED", "Failed", MESSAGE)
    assert replicas("rm", name).returncode == 0
    assert_nothing_left(name)


@pytest.mark.slow(1)
def test_a_shell_in_a_replica_by_its_own_host_name_and_a_stop(replicas: Any) -> None:
    name = "aip-shell"
    replicas.begin_job(replicas.custom_job(name, (1, "sleep 600"), (2, "touch /gcs/b/$(hostname); sleep 600")))
    replicas.until(lambda: len(list(replicas.bucket.iterdir())) == 2)
    for own in sorted(each.name for each in replicas.bucket.iterdir()):
        done = replicas("shell", name, "--host", own, "--", "hostname")
        assert (done.returncode, done.stdout.strip()) == (0, own), done.stderr
    stopped = replicas("stop", name, "--grace", "0", "--wait")
    assert stopped.returncode == 0
    first, last = stopped.stderr.splitlines()
    assert first == f"cancelling {name}"
    assert last.startswith(f"{name}: JOB_STATE_CANCELLED after ")


@pytest.mark.slow(2)
def test_two_runs_are_compared_by_how_each_replica_ended(replicas: Any) -> None:
    waits = "until [ -e /gcs/b/done ]; do sleep 0.05; done"
    first = replicas.custom_job("aip-compared-1", (1, waits), (2, "touch /gcs/b/done; exit 0"))
    second = replicas.custom_job("aip-compared-2", (1, f"{waits}; exit 7"), (2, "touch /gcs/b/done; exit 0"))
    for file in (first, second):
        replicas("run", file, "--name", file.stem)
    done = replicas("compare", "aip-compared-1", "aip-compared-2", "--json")
    assert done.returncode == 1, done.stderr
    sections = json.loads(done.stdout)["Sections"]
    exits = {each["Path"]: (each["A"], each["B"]) for each in sections["exit"]["Differences"]}
    assert exits["state"] == ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED")
    assert exits["workerpool0-0"] == (0, 7)
    (reason,) = sections["reason"]["Differences"]
    assert (reason["Path"], reason["A"]) == ("error.message", None)
    assert "workerpool0-0 exited with a non-zero status of 7" in reason["B"]
    assert {each["Path"] for each in sections["request"]["Differences"]} == {
        "jobSpec.workerPoolSpecs[0].containerSpec.command"
    }
    assert replicas("compare", "aip-compared-1", "aip-compared-1").stdout.splitlines()[2] == "Nothing differs"


@pytest.mark.slow(2)
def test_results_fit_the_published_schema(replicas: Any) -> None:
    def fits(kind: str, document: Any) -> None:
        schema = json.loads(replicas("schema", "--of", kind, "--result").stdout)
        fastjsonschema.compile({**schema, "$schema": "http://json-schema.org/draft-07/schema#"})(document)

    report = replicas.folder / "report.json"
    replicas("run", replicas.custom_job("aip-schema", (1, "exit 7"), (1, "sleep 60")), "--report", report)
    failed = json.loads(report.read_text())
    fits("CustomJob", failed)
    fits("CustomJob", json.loads(replicas("describe", failed["displayName"], "--json").stdout))
    replicas("run", replicas.training_job("aip_schema", "exit 0"), "--report", report)
    succeeded = json.loads(report.read_text())
    fits("Job", succeeded)
    with pytest.raises(fastjsonschema.JsonSchemaValueException, match="state"):
        fits("Job", {**succeeded, "state": "Completed"})
    with pytest.raises(fastjsonschema.JsonSchemaValueException, match="Lifecycle"):
        fits("Job", {**succeeded, "Local": {**succeeded["Local"], "Lifecycle": None}})


def test_events_and_the_plan_of_a_job_of_one_master(replicas: Any) -> None:
    name = "aip_events"
    file = replicas.training_job(name, "exit 0")
    plan = replicas("plan", file)
    assert plan.returncode == 0, plan.stderr
    assert "Replicas     master-0 on n1-standard-4: " in plan.stdout
    assert "/gcs/b is " in plan.stdout
    document = json.loads(replicas("plan", file, "--json").stdout)
    assert (document["Name"], "Script" in document) == (name, False)
    refused = replicas("plan", file, "--script")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "cannot be a script" in refused.stderr
    assert replicas("validate", file).returncode == 0

    done = replicas("run", file, "--progress", "json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stderr.splitlines()]
    (planned,) = [event for event in events if event["Event"] == "Planned"]
    assert [(each["Name"], each["MachineType"]) for each in planned["Replicas"]] == [("master-0", "n1-standard-4")]
    (changed,) = [event for event in events if event["Event"] == "Replica"]
    assert (changed["Name"], changed["Happened"], changed["Follows"]) == ("master 0", "exit 0", "")
    assert (events[-1]["Event"], events[-1]["jobId"], events[-1]["state"]) == ("Ended", name, "SUCCEEDED")
    assert "State       SUCCEEDED" in replicas("describe", name).stdout
