"""What `smlocal exec` says when its program has ended: the jobs that ran, or why none did."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from smlocal.cli.terminal.colour import paint
from smlocal.cli.terminal.columns import row, width_of
from smlocal.cli.terminal.printable import printable
from smlocal.cli.views.summary import COLOURS
from smlocal.contract.statuses import JobStatus
from smlocal.readable import readable_bytes, short_path

if TYPE_CHECKING:
    from smlocal.job.view import JobView
    from smlocal.server.local_mode import LocalModeLine

_MOST = 20
_HEAD = "  {:<9} "


def job_lines(names: Sequence[str]) -> Iterator[str]:
    """The jobs of a program, in the order in which it has started them. Those that are running go on."""
    from smlocal.api.training_job import TrainingJob
    from smlocal.errors import JobUnknownError

    yield "1 training job of this program" if len(names) == 1 else f"{len(names)} training jobs of this program"
    views: list[JobView] = []
    for name in names[:_MOST]:
        try:
            views.append(TrainingJob(name).view())
        except JobUnknownError:
            yield f"  {name}   deleted"
        else:
            yield from _lines(views[-1])
    if len(names) > _MOST:
        yield f"  and {len(names) - _MOST} more: smlocal jobs"
    if views:
        yield from _next(views)


def _lines(view: "JobView") -> Iterator[str]:
    if not view.status.terminal:
        yield f"  {view.name}   {view.state}: it goes on"
        return
    state = paint(view.ended_as, COLOURS[view.status])
    yield f"  {view.name}   {state} in {view.seconds:.1f} s"
    if view.status is JobStatus.FAILED:
        yield from _row("reason", (view.reason.splitlines() or [""])[0])
    artifacts = view.local.get("Artifacts") or {}  # none if it could not begin
    for kind in ("Model", "Output"):
        if artifacts.get(kind):
            yield from _row(kind.lower(), f"{short_path(artifacts[kind])}  {readable_bytes(artifacts[f'{kind}Bytes'])}")


def _next(views: "Sequence[JobView]") -> Iterator[str]:
    """For the first job that did not go well, or else for the last one."""
    running = [view for view in views if not view.status.terminal]
    failed = [view for view in views if view.status is JobStatus.FAILED]
    if failed:
        commands = [f"logs {failed[0].name}", f"describe {failed[0].name}"]
    elif running:
        commands = [f"logs -f {running[0].name}", f"wait {running[0].name}"]
    else:
        commands = [f"logs {views[-1].name}", f"describe {views[-1].name}"]
    yield from _row("next", " · ".join(f"smlocal {each}" for each in commands))


def local_mode_text(found: "Sequence[LocalModeLine]") -> Iterator[str]:
    """The lines to change."""
    yield (
        "no training job has come from this program, and it asks for the local mode of the SageMaker SDK, which starts "
        "containers itself and does not call smlocal. Change:"
    )
    for each in found[:_MOST]:
        yield from _row("in", each.place)
        yield from _row("this", each.line)
        yield from _row("to this", each.instead or "(leave it out)")
    if len(found) > _MOST:
        yield from _row("", f"and {len(found) - _MOST} more")
    yield from _row("more", "docs/local-mode.md")


def _row(head: str, text: str) -> Iterator[str]:
    yield from row(_HEAD.format(head), printable(text), width=width_of(sys.stderr))
