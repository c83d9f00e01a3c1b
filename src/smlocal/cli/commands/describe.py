"""`smlocal describe`: the state of a job."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from smlocal.cli.job_argument import job_argument
from smlocal.cli.terminal.columns import row, width_of
from smlocal.cli.terminal.printable import printable
from smlocal.contract.secrets.urls import without_passwords
from smlocal.readable import local_time

_COLUMN = 12


@click.command("describe")
@job_argument
@click.option("--json", "as_json", is_flag=True, help="Print the DescribeTrainingJob response with a Local block.")
@click.option("--service", is_flag=True, help="Print exactly the DescribeTrainingJob response, as JSON.")
def command(*, name: str, as_json: bool, service: bool) -> None:
    """Show a job: status, reason, times and artifacts."""
    from smlocal.api.training_job import TrainingJob

    job = TrainingJob(name)
    answer = job.describe(service=service)
    if as_json or service:
        import json

        click.echo(json.dumps(answer, indent=2))
        return
    width = width_of(sys.stdout)
    for head, text in _rows(answer, job.log_files, supervised=job.supervised):
        for line in row(f"{printable(head):<{_COLUMN}}", printable(text), width=width):
            click.echo(line)
    if answer["Local"].get("DockerCommand"):
        click.echo(f"By hand\n{printable(answer['Local']['DockerCommand'])}")  # in one line, to be pasted


def _rows(answer: Mapping[str, Any], logs: Mapping[str, str], *, supervised: bool) -> Iterator[tuple[str, str]]:
    """Heads, and the texts beside them."""
    local = answer["Local"]
    running = answer["TrainingJobStatus"] in {"InProgress", "Stopping"}
    for name, value in (*_about(answer), *_places(answer, local, running=running, supervised=supervised)):
        yield name, str(value)
    yield "Phases", ""
    yield from _phases(answer["SecondaryStatusTransitions"], local.get("Seconds", {}))
    yield from _hosts(local, logs if running else {})
    yield from (("Note", note) for note in (local.get("Artifacts") or {}).get("Notes", ()))
    for metric in answer.get("FinalMetricDataList", ()):
        yield "Metric", f"{metric['MetricName']}  {metric['Value']:.6g}"
    yield from (("Note", note) for note in (local.get("Metrics") or {}).get("Notes", ()))
    if local.get("Usage"):
        from smlocal.cli.views.usage_lines import describe_lines

        yield "Used", ""
        yield from ((f"  {name}", text) for name, text in describe_lines(local["Usage"]))
    if local.get("Explanation"):
        yield "Because", local["Explanation"]
    yield from (("Hint", hint) for hint in local.get("Hints", ()))
    yield from (("Left", left) for left in local.get("Leftovers", ()))
    if local.get("Notes"):
        yield "Differences from the service", ""
        yield from (("", note["Text"]) for note in local["Notes"])


def _about(answer: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The request and the result."""
    specification = answer.get("AlgorithmSpecification") or {}
    resources = answer.get("ResourceConfig") or {}
    status, secondary = answer["TrainingJobStatus"], answer["SecondaryStatus"]
    yield "Job", answer["TrainingJobName"]
    yield "Status", status if secondary == status else f"{status} ({secondary})"
    if "FailureReason" in answer:
        yield "Reason", answer["FailureReason"]
    yield "ARN", answer["TrainingJobArn"]
    yield "Image", specification.get("TrainingImage", "")
    yield "Hosts", f"{resources.get('InstanceCount', 1)} × {resources.get('InstanceType', '')}"
    yield "Created", local_time(answer["CreationTime"])
    if "TrainingTimeInSeconds" in answer:
        yield "Trained", f"{answer['TrainingTimeInSeconds']} s"
        if answer["BillableTimeInSeconds"] != answer["TrainingTimeInSeconds"]:
            yield "Billable", f"{answer['BillableTimeInSeconds']} s"


def _places(
    answer: Mapping[str, Any], local: Mapping[str, Any], *, running: bool, supervised: bool
) -> Iterator[tuple[str, Any]]:
    """The supervisor, the attempts, and where the artifacts are."""
    if answer["SecondaryStatus"] == "Pending":
        yield "Supervisor", "none; the job waits until smlocal serve starts it"
    elif running:
        yield "Supervisor", f"process {local['SupervisorPid']}" if supervised else "not running; a new one is starting"
    if local.get("Attempts", 1) > 1:
        counts = [f"{name.lower()}: {local[name]}" for name in ("Interruptions", "Retries") if local.get(name)]
        yield "Attempts", f"{local['Attempts']} ({', '.join(counts)})"
    artifacts = local.get("Artifacts") or {}
    uri = without_passwords(answer["ModelArtifacts"]["S3ModelArtifacts"])
    if running:
        yield "Model", f"will be {uri}"
    elif artifacts.get("Model"):
        yield "Model", artifacts["Model"] + (f"\nfor {uri}" if uri.startswith("s3://") else "")
    else:
        yield "Model", "none written"
    if artifacts.get("Output"):
        yield "Output", artifacts["Output"]
    if local.get("ContainersKept"):
        yield "Containers", f"kept, with their folders\nsmlocal rm {answer['TrainingJobName']} removes them"
    if artifacts.get("Kept"):
        yield "Kept", f"{artifacts['Kept']}\nsmlocal pack {answer['TrainingJobName']} --output DIR packs it"


def _phases(transitions: Sequence[Mapping[str, Any]], measured: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Each phase with its seconds, as the run measured them if the phase occurred once."""
    passed = [transition["Status"] for transition in transitions]
    for transition in transitions:
        status, ended = transition["Status"], transition.get("EndTime")
        seconds = None if ended is None else ended - transition["StartTime"]
        if passed.count(status) == 1:
            seconds = measured.get(status, seconds)
        shown = "" if seconds is None else f"{seconds:.1f} s"
        yield f"  {status:<12}{shown:>9}   ", transition["StatusMessage"]


def _hosts(local: Mapping[str, Any], logs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if logs:
        yield from ((name, f"log {path}") for name, path in logs.items())
        return
    for host in local.get("Hosts", ()):
        code = "did not run" if host["ExitCode"] is None else f"exit {host['ExitCode']}"
        yield host["Name"], f"{code}   log {host['Log']}" if host["Log"] else code
