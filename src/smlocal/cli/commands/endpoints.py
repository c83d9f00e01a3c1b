"""`smlocal endpoints`: list the endpoints of this machine."""

import json
import sys
from typing import TYPE_CHECKING

import click

from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import LEAST, NO_COLOURS, has_colours, shortened, status_colour, table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.sagemaker.serving.address import invocation_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from smlocal.api.endpoints import ListedEndpoint

_HEAD = ("NAME", "STATUS", "RESTARTS", "ADDRESS OR REASON")
_STATUS = 1
_REASON = 200


@shown_command("endpoints", examples=(("smlocal endpoints", "List all of them."),))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, with the service's Endpoints.")
def command(*, as_json: bool) -> None:
    """List the endpoints of this machine, newest first.

    smlocal describe, logs, stop and rm take these names too. After a client has updated an endpoint, stop and rm act on
    the job that serves it now.
    """
    from smlocal.api.endpoints import list_endpoints

    found = list_endpoints()
    if as_json:
        click.echo(json_without_commands(json.dumps({"Endpoints": [_document(each) for each in found]}, indent=2)))
        return
    if not found:
        click.echo("No endpoints yet. Make one with smlocal deploy.", err=True)
        return
    for line in _lines(found, width_of(sys.stdout)):
        click.echo(line, color=has_colours(sys.stdout))


def _lines(found: "Sequence[ListedEndpoint]", width: int | None) -> "Iterator[str]":
    """A table. An address that does not fit is below its row, uncut, so it can be copied."""
    rows = [(*_row(each), *_said(each)) for each in found]
    beside = [(name, status, restarts, " ".join(filter(None, said))) for name, status, restarts, *said in rows]
    colours = {_STATUS: status_colour} if has_colours(sys.stdout) else NO_COLOURS
    widths = [max(map(len, cells)) for cells in zip(_HEAD, *beside, strict=True)]
    if width is None or sum(widths) + 3 * (len(widths) - 1) <= width:
        yield from table([_HEAD, *beside], width=None, colours=colours)
        return
    head, *lines = table([_HEAD[:-1], *(each[:3] for each in rows)], width=None, colours=colours)
    yield head
    for line, (_, _, _, address, more) in zip(lines, rows, strict=True):
        yield line
        if address:
            yield f"  {address}"
        if more:
            yield f"  {shortened(more, max(LEAST, width - 2))}"


def _document(endpoint: "ListedEndpoint") -> dict[str, object]:
    record, port = endpoint.record, endpoint.state.port
    known = {
        "EndpointName": endpoint.called,
        "JobName": record.name if record.name != endpoint.called else None,
        "EndpointArn": record.arn,
        "CreationTime": record.created,
        "LastModifiedTime": record.modified,
        "EndpointStatus": endpoint.status,
        "FailureReason": record.failure_reason,
        "Address": invocation_address(endpoint.called, port) if endpoint.status == "InService" else None,
        "KeyFile": endpoint.state.key_file if endpoint.status == "InService" else None,
        "RestartCount": endpoint.state.restarts,
    }
    return {name: value for name, value in known.items() if value is not None}


def _row(endpoint: "ListedEndpoint") -> tuple[str, str, str]:
    return endpoint.record.name, endpoint.status, str(endpoint.state.restarts or "")


def _said(endpoint: "ListedEndpoint") -> tuple[str, str]:
    """The address, and problems."""
    if endpoint.status != "InService":
        return "", shortened(printable(" ".join((endpoint.record.failure_reason or "").split())), _REASON)
    trouble = endpoint.state.trouble
    address = invocation_address(endpoint.called, endpoint.state.port)
    return address, shortened(printable(f"({trouble})"), _REASON) if trouble else ""
