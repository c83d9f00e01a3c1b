"""`smlocal pack`: pack what a finished job could not pack."""

import json
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from smlocal.base.readable import readable_bytes, short_path
from smlocal.cli.job_argument import job_argument, job_named
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.links import with_file_links
from smlocal.cli.terminal.printable import json_without_commands


@shown_command(
    "pack",
    examples=(
        ("smlocal pack my-job", "Pack the artifacts again."),
        ("smlocal pack my-job --output ./out", "Pack the artifacts into another folder."),
    ),
)
@partial(job_argument, required=True)
@click.option(
    "--output",
    "-o",
    type=click.Path(readable=False),
    metavar="DIR",
    help="Destination folder. Default: the job's output folder.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, name: str, output: str | None, as_json: bool) -> int:
    """Pack the artifacts that a finished job could not pack.

    The output folder was full or missing; the job's folder keeps the files until they are packed. The status of the
    job does not change.
    """
    artifacts = job_named(name).pack(output=output)
    if as_json:
        click.echo(json_without_commands(json.dumps({"Artifacts": artifacts}, indent=2)))
        return 0
    _say(artifacts)
    return 0


def _say(artifacts: Mapping[str, Any]) -> None:
    for kind in ("Model", "Output"):
        if artifacts[kind]:
            line = f"{short_path(artifacts[kind])}  {readable_bytes(artifacts[f'{kind}Bytes'])}"
            click.echo(with_file_links(line, [artifacts[kind]], sys.stdout))
    for note in artifacts["Notes"]:
        click.echo(f"note: {note}", err=True)
