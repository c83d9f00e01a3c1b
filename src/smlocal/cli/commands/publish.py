"""`smlocal publish`: upload what a finished job left on disk."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

import click

from smlocal.cli.terminal.printable import printable

if TYPE_CHECKING:
    from smlocal.job.finish.publish import Publishable, Published

_SIGNALLED = 128


@click.command("publish")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, name: str, as_json: bool) -> int:
    """Upload the artifacts of a finished job to its S3OutputPath.

    Existing objects with the same names are replaced. The status of the job does not change.
    """
    from smlocal.job.control.orphans import see_to
    from smlocal.job.finish.publish import publish_again, publishable
    from smlocal.store.home import home_directory
    from smlocal.store.jobs import Store

    show = _Line()
    with Store.open(home_directory()) as store, _heard() as heard:
        see_to(store, name)
        job = publishable(store, name)
        try:
            published = publish_again(store, job, working=show.working, given_up=lambda: bool(heard))
        finally:
            show.end()
    if published.broken_off:
        click.echo(f"interrupted; to try again: smlocal publish {name}", err=True)
        return _SIGNALLED + heard[0]
    if published.failure is not None:
        raise _failed(job, published)
    _say(job, published, as_json=as_json)
    return 0


def _say(job: "Publishable", published: "Published", *, as_json: bool) -> None:
    if as_json:
        import json

        from smlocal.job.finish.publish import published_document

        document = {"TrainingJobName": job.name, **published_document(published), "Notes": published.notes}
        click.echo(json.dumps({"Publish": document}, indent=2))
        return
    from smlocal.readable import readable_bytes

    for each in published.objects:
        click.echo(f"{printable(each.uri)}  {readable_bytes(each.bytes)}")
    for note in published.notes:
        click.echo(f"note: {printable(note)}", err=True)


def _failed(job: "Publishable", published: "Published") -> Exception:
    """What S3 says of this machine's credentials, or that it says nothing, is another matter than a refusal."""
    from smlocal.errors import ArtifactError
    from smlocal.job.finish.publish import unready

    error = unready(job, published)
    if error is not None:
        return error
    return ArtifactError(
        published.failure or "",
        details=[published.error.uri] if published.error is not None else (),
        remedy=[f"The artifacts are still in: {', '.join(job.places)}"],
    )


class _Line:
    """One line that overwrites itself, on a terminal; a line every ten seconds elsewhere."""

    def __init__(self) -> None:
        from smlocal.cli.terminal.columns import width_of

        self._width = width_of(sys.stderr)
        self._drawn = False
        self._next = 0.0

    def working(self, text: str) -> None:
        import time

        from smlocal.cli.terminal.columns import shortened

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
def _heard() -> Iterator[list[int]]:
    """The signals that were sent meanwhile: one breaks the upload off, so that nothing half-sent stays in S3."""
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        del frame
        heard.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, hear) for number in numbers}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
