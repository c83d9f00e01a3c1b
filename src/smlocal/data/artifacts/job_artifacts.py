"""Write all artifacts of a finished job, in the service's layout."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from smlocal.base.at_use import at_use
from smlocal.base.files import Check, held_folder, no_check
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.artifacts.atomic_write import artifact_errors
from smlocal.data.artifacts.tree import Clash, HostTree, WriteReport
from smlocal.data.sources.progress import Meter
from smlocal.errors import ArtifactError

if TYPE_CHECKING:
    from smlocal.data.artifacts.archive import Progress, write_archive
    from smlocal.data.artifacts.model_folder import write_model_folder
    from smlocal.data.artifacts.s3_publish import Publisher
else:
    write_archive = at_use("smlocal.data.artifacts.archive", "write_archive")
    write_model_folder = at_use("smlocal.data.artifacts.model_folder", "write_model_folder")


@dataclass(frozen=True, kw_only=True, slots=True)
class Artifacts:
    """The written artifacts, and notes for the user."""

    model: str | None
    """`model.tar.gz`, or the folder `model` without compression; None if no host wrote a model."""
    model_bytes: int
    """Size of the archive, or of all files."""
    output: str | None
    output_bytes: int
    notes: tuple[str, ...]
    clashes: tuple[Clash, ...]


NO_ARTIFACTS: Final = Artifacts(model=None, model_bytes=0, output=None, output_bytes=0, notes=(), clashes=())


def write_artifacts(
    model: Sequence[HostTree],
    output: Sequence[HostTree],
    *,
    model_folder: str,
    output_folder: str,
    destination: str,
    compression: Literal["GZIP", "NONE"] = "GZIP",
    merge_output: bool = False,
    working: Callable[[str], None] | None = None,
    publisher: "Publisher | None" = None,
    replaces: Collection[str] = (),
    owner: str = "",
    links: bool = True,
    check: Check = no_check,
) -> Artifacts:
    """Write the artifacts into the folder `destination` (`<output>/<job>/output`). Hosts are given in host order.

    `model_folder` and `output_folder` are paths in the container.
    `model.tar.gz` has the files of all hosts. `output.tar.gz` has those of the first host only, as on the service,
    unless `merge_output`. `working` is called several times a second with the progress. `replaces` are artifacts of an
    earlier job, which may be replaced. `owner` marks unfinished files (`atomic_write`).
    Without `links`, no link in the path of `destination` is followed, and a model that is not packed has none. `check`
    is called between pieces; if it raises, the archive that is being written is dropped.
    """
    write = partial(
        _write,
        model,
        output,
        model_folder=model_folder,
        output_folder=output_folder,
        compression=compression,
        merge_output=merge_output,
        working=working,
        publisher=publisher,
        owner=owner,
        links=links,
        check=check,
    )
    if links:
        return write(destination=destination, replaces=replaces)
    with artifact_errors(destination), held_folder(destination, create=True) as held:
        try:
            done = write(destination=held, replaces=[path.replace(destination, held, 1) for path in replaces])
        except ArtifactError as error:
            raise ArtifactError(
                error.sentence.replace(held, destination),
                details=[text.replace(held, destination) for text in error.details],
                remedy=error.remedy,
            ) from error
    return replace(
        done,
        model=done.model and done.model.replace(held, destination),
        output=done.output and done.output.replace(held, destination),
    )


def _write(
    model: Sequence[HostTree],
    output: Sequence[HostTree],
    *,
    model_folder: str,
    output_folder: str,
    destination: str,
    compression: Literal["GZIP", "NONE"],
    merge_output: bool,
    working: Callable[[str], None] | None,
    publisher: "Publisher | None",
    replaces: Collection[str],
    owner: str,
    links: bool,
    check: Check,
) -> Artifacts:
    if compression == "GZIP":
        path = os.path.join(destination, "model.tar.gz")
        progress = _progress("model.tar.gz", working, publisher)
        model_report = write_archive(model, path, progress=progress, reader=publisher, owner=owner, check=check)
    else:
        path = os.path.join(destination, "model")
        progress = _progress("model", working, publisher)
        model_report = write_model_folder(
            model, path, progress=progress, replace=path in replaces, owner=owner, links=links, check=check
        )
        if publisher is not None and model_report is not None:
            publisher.add_folder(path, original=model_folder)

    kept = output if merge_output else output[:1]
    not_kept = [
        f"{tree.host}: its files in {output_folder} are not in output.tar.gz; the service kept"
        f" only {output[0].host}'s (2020; Local.MergeOutput)"
        for tree in output[len(kept) :]
        if tree.entries
    ]
    path = os.path.join(destination, "output.tar.gz")
    progress = _progress("output.tar.gz", working, publisher)
    output_report = write_archive(kept, path, progress=progress, reader=publisher, owner=owner, check=check)
    return Artifacts(
        model=model_report.path if model_report else None,
        model_bytes=model_report.bytes_out if model_report else 0,
        output=output_report.path if output_report else None,
        output_bytes=output_report.bytes_out if output_report else 0,
        notes=(*_notes(model_report, model), *not_kept, *_notes(output_report, kept)),
        clashes=(*_clashes(model_report, model_folder), *_clashes(output_report, output_folder)),
    )


def _progress(name: str, working: Callable[[str], None] | None, publisher: "Publisher | None") -> "Progress | None":
    """Show the progress of one archive or folder, and that of the upload."""
    if working is None:
        return None
    meter = Meter(
        lambda done: working(
            " · ".join(filter(None, (done.sentence(name), publisher.progress_text() if publisher else "")))
        ),
        total_bytes=None,
    )
    last = 0

    def report(done: int, total: int) -> None:
        nonlocal last
        meter.expect(total)
        meter.add(done - last)
        last = done

    return report


def _notes(report: WriteReport | None, trees: Sequence[HostTree]) -> Sequence[str]:
    return report.notes if report else [note for tree in trees for note in tree.skipped]


def _clashes(report: WriteReport | None, folder: str) -> list[Clash]:
    """With paths in the container, to tell a file of the model from one of the output data."""
    return [replace(clash, path=f"{folder}/{clash.path}") for clash in report.clashes] if report else []
