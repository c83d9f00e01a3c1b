"""`smlocal compare`: what differs between two jobs."""

import sys
from functools import cache
from typing import TYPE_CHECKING

import click

from smlocal.cli.job_argument import completed_jobs
from smlocal.cli.service_options import service_options
from smlocal.cli.terminal.printable import json_without_commands

if TYPE_CHECKING:
    from smlocal.remote.service import Service

_DIFFERS = 1


@click.command("compare")
@click.argument("a", metavar="A", shell_complete=completed_jobs)
@click.argument("b", metavar="B", shell_complete=completed_jobs)
@click.option("--download", is_flag=True, help="Also read the artifacts of jobs of the service, from S3.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option("--allow-local-paths", is_flag=True, help="Also read artifacts at any path that a file names.")
@service_options
def command(
    *,
    a: str,
    b: str,
    profile: str | None,
    region: str | None,
    download: bool,
    allow_local_paths: bool,
    as_json: bool,
) -> int:
    """Show what differs between two jobs.

    A and B are each a job of this machine (NAME), a job of the service (service:NAME), or a saved description or
    request (a path). Exit codes: 0 nothing differs, 1 something differs.
    """
    from smlocal.remote.compare.differences import compare
    from smlocal.remote.compare.find import check_same_kind, find_subject

    @cache
    def service() -> "Service":
        from smlocal.remote.service import Service

        return Service(profile=profile, region=region)

    one, other = (
        find_subject(each, service=service, download=download, allow_local_paths=allow_local_paths) for each in (a, b)
    )
    check_same_kind(one, other)
    found = compare(one, other)
    if as_json:
        import json

        from smlocal.remote.compare.differences import comparison_document

        click.echo(json_without_commands(json.dumps(comparison_document(found), indent=2, default=str)))
    else:
        from smlocal.cli.terminal.columns import width_of
        from smlocal.cli.views.comparison_lines import comparison_lines

        for line in comparison_lines(found, width=width_of(sys.stdout)):
            click.echo(line)
    return 0 if found.same else _DIFFERS
