"""`smlocal describe`: the state of a job."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from smlocal.cli.job_argument import job_argument, job_named
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import row, width_of
from smlocal.cli.terminal.links import with_file_links
from smlocal.cli.terminal.pager import pages
from smlocal.cli.terminal.printable import json_without_commands, printable

if TYPE_CHECKING:
    from smlocal.jobs.view import JobView

_COLUMN = 12


@shown_command(
    "describe",
    examples=(
        ("smlocal describe @last", "Show the newest job."),
        ("smlocal describe my-job --json", "Print its description as JSON."),
    ),
)
@job_argument
@click.option("--json", "as_json", is_flag=True, help="Print the DescribeTrainingJob response with a Local block.")
@click.option("--verbose", "-v", is_flag=True, help="Also show the values of each step of a pipeline.")
@click.option("--service", is_flag=True, help="Print exactly the DescribeTrainingJob response, as JSON.")
@pages
def command(*, name: str, as_json: bool, verbose: bool, service: bool) -> None:
    """Show a job: status, reason, times and artifacts.

    For a job of AI Platform Training or a custom job, --json prints the Job or CustomJob (smlocal help ai-platform).
    """
    job = job_named(name)
    if as_json or service:
        click.echo(json_without_commands(json.dumps(job.describe(service=service), indent=2)))
        return
    view, width = job.view(), width_of(sys.stdout)
    lines = [
        line
        for head, text in _rows(view, job.log_files, job.described_rows(view, detailed=verbose))
        for line in row(f"{printable(head):<{_COLUMN}}", printable(text), width=width)
    ]
    click.echo(with_file_links("\n".join(lines), _files(view, job.log_files), sys.stdout))
    if view.local.get("DockerCommand"):
        click.echo(f"By hand\n{printable(view.local['DockerCommand'])}")  # in one line, to be pasted


def _files(view: "JobView", logs: Mapping[str, str]) -> Iterator[str]:
    """What the lines may name."""
    yield from logs.values()
    yield from (host["Log"] for host in view.local.get("Hosts", ()) if host["Log"])
    artifacts = view.local.get("Artifacts") or {}
    yield from (artifacts[kind] for kind in ("Model", "Output") if artifacts.get(kind))


def _rows(
    view: "JobView", logs: Mapping[str, str], of_platform: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Heads, and the texts beside them."""
    local, answer = view.local, view.answer
    yield from of_platform
    yield from _hosts(local, {} if view.status.terminal else logs)
    yield from (("Note", note) for note in (local.get("Artifacts") or {}).get("Notes", ()))
    for metric in answer.get("FinalMetricDataList", ()):
        yield "Metric", f"{metric['MetricName']}  {metric['Value']:.6g}"
    yield from (("Note", note) for note in (local.get("Metrics") or {}).get("Notes", ()))
    if local.get("Usage"):
        from smlocal.cli.views.figures import describe_lines

        yield "Used", ""
        yield from ((f"  {name}", text) for name, text in describe_lines(local["Usage"]))
    if local.get("Explanation"):
        yield "Because", local["Explanation"]
    yield from (("Hint", hint) for hint in local.get("Hints", ()))
    yield from (("Left", left) for left in local.get("Leftovers", ()))
    if local.get("Notes"):
        yield "Differences from the service", ""
        yield from (("", note["Text"]) for note in local["Notes"])


def _hosts(local: Mapping[str, Any], logs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """`logs`: of a job that has not ended."""
    where = local.get("Placement", {})
    for name, path in logs.items():
        yield _padded(name), "   ".join((*_on(where, name), f"log {path}"))
    if logs:
        return
    for host in local.get("Hosts", ()):
        code = "no exit code" if host["ExitCode"] is None else f"exit {host['ExitCode']}"
        log = [f"log {host['Log']}"] if host["Log"] else []
        yield _padded(host["Name"]), "   ".join((code, *_on(where, host["Name"]), *log))


def _on(where: Mapping[str, str], host: str) -> Iterator[str]:
    """The engine, of a job on several."""
    if host in where:
        yield f"on {where[host]}"


def _padded(name: str) -> str:
    """With a gap also behind a long name."""
    return name if len(name) < _COLUMN else f"{name}  "
