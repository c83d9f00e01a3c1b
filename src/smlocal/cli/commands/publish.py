"""`smlocal publish`: upload what a finished job left on disk."""

import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

import click

from smlocal.base.readable import readable_bytes
from smlocal.cli.job_argument import job_argument, job_named
from smlocal.cli.shown_help import shown_command
from smlocal.cli.terminal.layout import shortened, width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.jobs.documents import published_document

if TYPE_CHECKING:
    from smlocal.jobs.finish.publish import PublishResult

_SIGNALLED = 128


@shown_command(
    "publish",
    examples=(
        ("smlocal publish my-job", "Upload the artifacts of a job."),
        ("smlocal publish @last --json", "Print what was uploaded as JSON."),
    ),
)
@partial(job_argument, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, name: str, as_json: bool) -> int:
    """Upload the artifacts of a finished job to its S3OutputPath.

    Existing objects with the same names are replaced. The status of the job does not change.
    """
    line = _ProgressLine()
    with _signals_received() as signals:
        try:
            published = job_named(name).publish(progress=line.show, cancelled=lambda: bool(signals))
        finally:
            line.end()
    if published.cancelled:
        click.echo(f"interrupted; to try again: smlocal publish {name}", err=True)
        return _SIGNALLED + signals[0]
    _show(name, published, as_json=as_json)
    return 0


def _show(name: str, published: "PublishResult", *, as_json: bool) -> None:
    if as_json:
        document = {"TrainingJobName": name, **published_document(published), "Notes": published.notes}
        click.echo(json_without_commands(json.dumps({"Publish": document}, indent=2)))
        return

    for each in published.objects:
        click.echo(f"{printable(each.uri)}  {readable_bytes(each.bytes)}")
    for note in published.notes:
        click.echo(f"note: {printable(note)}", err=True)


class _ProgressLine:
    """On a terminal one line that overwrites itself, elsewhere a line every ten seconds."""

    def __init__(self) -> None:
        self._width = width_of(sys.stderr)
        self._drawn = False
        self._next = 0.0

    def show(self, text: str) -> None:
        if not text:
            return
        text = printable(text)
        if self._width is not None:
            sys.stderr.write(f"\r\033[K{shortened(text, self._width - 1)}")
            sys.stderr.flush()
            self._drawn = True
        elif time.monotonic() >= self._next:
            if self._next:
                click.echo(text, err=True)
            self._next = time.monotonic() + 10

    def end(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


@contextmanager
def _signals_received() -> Iterator[list[int]]:
    """Collect signals instead of handling them: the upload ends properly, so that nothing incomplete stays in S3."""
    received: list[int] = []

    def receive(number: int, frame: FrameType | None) -> None:
        del frame
        received.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, receive) for number in numbers}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
