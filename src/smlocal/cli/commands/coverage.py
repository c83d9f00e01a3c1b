"""`smlocal coverage`: how each member of a request is handled."""

import json
import sys
from collections.abc import Mapping

import click

from smlocal.cli.request_names import NAMED, TRAINING, requests_named
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import width_of, wrapped
from smlocal.cli.terminal.pager import pages

_NOTE_INDENT = 6
_LEAST_NOTE = 52


@shown_command(
    "coverage",
    examples=(
        ("smlocal coverage", "Show every field of CreateTrainingJob."),
        ("smlocal coverage job.yaml", "Show the fields of a file of any kind."),
        ("smlocal coverage --of tuning --json", "Print every field of another request as JSON."),
    ),
)
@click.argument("job", required=False, type=click.Path(readable=False), metavar="[JOB]")
@click.option("--of", "request", type=click.Choice(NAMED), help=f"Request, or kind of file.  [default: {TRAINING}]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@pages
def command(*, job: str | None, request: str | None, as_json: bool) -> None:
    """Show how each field of a request is handled.

    Each field is emulated, recorded or refused. JOB is a file of any kind: only its fields are shown.
    """
    from smlocal.api.request_tables import coverage_of_file, coverage_tables

    if job is not None and request is not None:
        raise click.UsageError("Give a job file or --of, not both.")
    if job is not None:
        table = coverage_of_file(job)
    else:
        tables = coverage_tables()
        table = {name: tables[name] for name in requests_named(request or TRAINING)}
    if as_json:
        click.echo(json.dumps(table, indent=2, ensure_ascii=False))
        return
    members = {name: row for rows in table.values() for name, row in rows.items()}
    column = max(map(len, members), default=0)
    width = width_of(sys.stdout)
    for member, row in members.items():
        click.echo(_row(member, row, column, width))
        for value, special in row.get("values", {}).items():
            click.echo(_row(f"  = {value}", special, column, width))


def _row(name: str, row: Mapping[str, str], column: int, width: int | None) -> str:
    note = row.get("note", "")
    if width is not None and column + _LEAST_NOTE > width:
        # There is no room beside the longest name: each note is below its member.
        below = "\n".join(wrapped(note, indent=_NOTE_INDENT, width=width))
        return f"{name}  {row['support']}" + (f"\n{'':<{_NOTE_INDENT}}{below}" if note else "")
    head = f"{name:<{column}}  {row['support']:<9}  "
    return (head + "\n".join(wrapped(note, indent=len(head), width=width))).rstrip()
