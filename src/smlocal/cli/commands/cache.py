"""`smlocal cache`: the downloads from S3 that are kept for the next run."""

import json
import sys
import time
from typing import TYPE_CHECKING

import click

from smlocal.base.at_use import at_use
from smlocal.base.readable import local_time, readable_bytes
from smlocal.cli.shown_help import shown_group
from smlocal.cli.terminal.layout import table, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.jobs.store.home import home_directory

if TYPE_CHECKING:
    from smlocal.data.channels.cache.eviction import Contents, Download, contents
else:
    contents = at_use("smlocal.data.channels.cache.eviction", "contents")

_HEAD = ("SOURCE", "OBJECTS", "SIZE", "LAST USED", "IN USE BY")
_SHRINKABLE = ((0, 12),)


@shown_group(
    "cache",
    examples=(
        ("smlocal cache ls", "List the downloads."),
        ("smlocal cache rm s3://my-bucket/data", "Remove the downloads below a prefix."),
    ),
)
def command() -> None:
    """Show or clear the cache of S3 downloads.

    Later runs read from it instead of downloading again.
    """


@command.command(
    "ls",
    examples=(
        ("smlocal cache ls", "List the downloads."),
        ("smlocal cache ls --json", "Print the list as JSON."),
    ),
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def show(*, as_json: bool) -> None:
    """List cached downloads, most recently used first."""
    found = contents(home_directory())
    if as_json:
        _print_document(found)
        return
    if not found.downloads:
        click.echo("The cache is empty. Jobs with File channels in S3 fill it.", err=True)
    else:
        for line in table([_HEAD, *map(_row, found.downloads)], width=width_of(sys.stdout), shrinkable=_SHRINKABLE):
            click.echo(line)

    click.echo(
        f"{readable_bytes(found.bytes)} of {readable_bytes(found.limit)} in {found.directory}"
        f"{'' if found.bytes <= found.limit else '; a job has set a larger limit with Local.CacheGiB'}",
        err=True,
    )


@command.command(
    "rm",
    examples=(
        ("smlocal cache rm s3://my-bucket/data", "Remove the downloads below a prefix."),
        ("smlocal cache rm --all", "Remove everything that no job uses."),
    ),
)
@click.argument("patterns", nargs=-1, metavar="[PATTERN...]")
@click.option("--all", "everything", is_flag=True, help="Remove everything that no running job uses.")
def remove(*, patterns: tuple[str, ...], everything: bool) -> None:
    """Remove cached downloads that match PATTERN.

    PATTERN is an s3:// prefix, or a shell pattern with * ? []. Downloads that a running job uses are kept.
    """
    from smlocal.data.channels.cache.eviction import remove as remove_downloads

    if bool(patterns) is everything:
        raise click.UsageError("Say what to remove: an s3:// prefix, or --all.")
    for gone in remove_downloads(home_directory(), None if everything else patterns):
        click.echo(f"removed {printable(gone.uri or gone.name)} ({readable_bytes(gone.bytes)})", err=True)


def _row(download: "Download") -> tuple[str, ...]:
    if not download.uri:
        return ("(damaged)", "", "", "", ", ".join(download.jobs))
    return (
        printable(download.uri),
        f"{download.objects}",
        readable_bytes(download.bytes),
        local_time(min(download.last_used, time.time())),
        ", ".join(download.jobs),
    )


def _print_document(found: "Contents") -> None:
    downloads = [
        {
            "Id": each.name,
            "Uri": each.uri,
            "Endpoint": each.endpoint,
            "Objects": each.objects,
            "Bytes": each.bytes,
            "LastUsed": round(each.last_used, 3),
            "InUseBy": each.jobs,
        }
        for each in found.downloads
    ]
    document = {"Directory": found.directory, "Bytes": found.bytes, "Limit": found.limit, "Downloads": downloads}
    click.echo(json_without_commands(json.dumps({"Cache": document}, indent=2)))
