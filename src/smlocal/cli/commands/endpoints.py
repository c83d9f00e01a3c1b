"""`smlocal endpoints`: list the endpoints of this machine."""

import json
import sys
from typing import TYPE_CHECKING

import click

from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import shortened, table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.sagemaker.serving.address import invocation_address

if TYPE_CHECKING:
    from smlocal.api.endpoints import ListedEndpoint

_HEAD = ("NAME", "STATUS", "RESTARTS", "ADDRESS OR REASON")
_SHRINKABLE = ((3, 20), (0, 12))
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
    rows = [_HEAD, *(_row(each) for each in found)]
    for line in table(rows, width=width_of(sys.stdout), shrinkable=_SHRINKABLE):
        click.echo(line)


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


def _row(endpoint: "ListedEndpoint") -> tuple[str, ...]:
    record, state = endpoint.record, endpoint.state
    said = record.failure_reason or ""
    if endpoint.status == "InService":
        said = invocation_address(endpoint.called, state.port)
        if state.trouble is not None:
            said = f"{said} ({state.trouble})"
    return record.name, endpoint.status, str(state.restarts or ""), shortened(printable(said), _REASON)
