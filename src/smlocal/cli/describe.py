"""`smlocal describe`: what became of a job."""

from collections.abc import Iterator, Mapping
from typing import Any

import click


@click.command("describe")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="The DescribeTrainingJob answer, with a Local block.")
@click.option("--service", is_flag=True, help="Leave the Local block out.")
def command(*, name: str, as_json: bool, service: bool) -> None:
    """Show a job: its status, its reason, its times and where its artifacts are."""
    from smlocal.job.describe import describe_job
    from smlocal.job.orphans import see_to
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    with Store.open(home_directory()) as store:
        see_to(store, name)
        answer = describe_job(store, name, service=service)
    if as_json:
        import json

        click.echo(json.dumps(answer, indent=2))
        return
    for line in _lines(answer):
        click.echo(line)


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    from smlocal.cli.when import clock

    specification = answer.get("AlgorithmSpecification") or {}
    resources = answer.get("ResourceConfig") or {}
    secondary = answer["SecondaryStatus"]
    status = answer["TrainingJobStatus"]
    rows: list[tuple[str, str]] = [
        ("Job", answer["TrainingJobName"]),
        ("Status", status if secondary == status else f"{status} ({secondary})"),
    ]
    if "FailureReason" in answer:
        rows.append(("Reason", answer["FailureReason"]))
    rows += [
        ("ARN", answer["TrainingJobArn"]),
        ("Image", specification.get("TrainingImage", "")),
        ("Hosts", f"{resources.get('InstanceCount', 1)} × {resources.get('InstanceType', '')}"),
        ("Created", clock(answer["CreationTime"])),
    ]
    if "TrainingTimeInSeconds" in answer:
        rows.append(("Trained", f"{answer['TrainingTimeInSeconds']} s"))
    rows.append(("Model", answer["ModelArtifacts"]["S3ModelArtifacts"]))
    for name, value in rows:
        head, *rest = str(value).splitlines() or [""]
        yield f"{name:<10}{head}"
        yield from (f"{'':<10}{line}" for line in rest)
    yield "Phases"
    for transition in answer["SecondaryStatusTransitions"]:
        ended = transition.get("EndTime")
        seconds = "" if ended is None else f"{ended - transition['StartTime']:.1f} s"
        yield f"  {transition['Status']:<12}{seconds:>9}   {transition['StatusMessage']}"
    yield from _local(answer.get("Local"))


def _local(local: Mapping[str, Any] | None) -> Iterator[str]:
    if local is None:
        return
    for host in local.get("Hosts", ()):
        code = "did not run" if host["ExitCode"] is None else f"exit {host['ExitCode']}"
        log = f"   log {host['Log']}" if host["Log"] else ""
        yield f"{host['Name']:<10}{code}{log}"
    artifacts = local.get("Artifacts") or {}
    for name in ("Model", "Output"):
        if artifacts.get(name):
            yield f"{name + ' at':<10}{artifacts[name]}"
    if local.get("Explanation"):
        yield f"{'Because':<10}{local['Explanation']}"
    for hint in local.get("Hints", ()):
        yield f"{'Hint':<10}{hint}"
    if local.get("Notes"):
        yield "Not as on the service"
        yield from (f"  {note['Text']}" for note in local["Notes"])
