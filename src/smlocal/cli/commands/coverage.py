"""`smlocal coverage`: how each member of a request is handled."""

import json
import sys
from collections.abc import Mapping

import click

from smlocal.cli.request_names import REQUESTS, TRAINING
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import width_of, wrapped
from smlocal.cli.terminal.pager import pages

_NOTE_INDENT = 6
_LEAST_NOTE = 52


@shown_command(
    "coverage",
    examples=(
        ("smlocal coverage", "Show every field of CreateTrainingJob."),
        ("smlocal coverage --of CreateEndpointConfig", "Show every field of another request."),
        ("smlocal coverage --of CustomJob --json", "Print the fields of a custom job as JSON."),
    ),
)
@click.option(
    "--of",
    "request",
    type=click.Choice(REQUESTS),
    default=TRAINING,
    show_default=True,
    help="Request.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@pages
def command(*, request: str, as_json: bool) -> None:
    """Show how each field of a request is handled.

    Each field is emulated, recorded or refused.
    """
    from smlocal.api.request_tables import coverage_tables

    table = {request: coverage_tables()[request]}
    if as_json:
        click.echo(json.dumps(table, indent=2, ensure_ascii=False))
        return
    members = table[request]
    column = max(map(len, members))
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
