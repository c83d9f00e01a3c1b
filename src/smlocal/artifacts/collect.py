"""All artifacts of a job that has ended, in the service's layout."""

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Literal, Protocol

from smlocal.artifacts.archive import Follower, write_archive
from smlocal.artifacts.progress import Telling
from smlocal.artifacts.publish import publish
from smlocal.artifacts.tree import Clash, HostTree
from smlocal.contract import paths
from smlocal.quick_dataclass import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Artifacts:
    """What was written, and what the user should know about it."""

    model: str | None
    """`model.tar.gz`, or the folder `model` without compression; None when no host wrote a model."""
    model_bytes: int
    """Size of the archive, or of the files together."""
    output: str | None
    output_bytes: int
    notes: tuple[str, ...]
    clashes: tuple[Clash, ...]


class Publication(Follower, Protocol):
    """Sends artifacts on to where they are meant for, archives while they are written."""

    def folder(self, path: str) -> None:
        """A model without compression lies here."""

    def sentence(self) -> str:
        """How far it is, in a few words; empty when there is nothing to say."""
        ...


def collect(
    model: Sequence[HostTree],
    output: Sequence[HostTree],
    *,
    destination: str,
    compression: Literal["GZIP", "NONE"] = "GZIP",
    merge_output: bool = False,
    working: Callable[[str], None] | None = None,
    publication: Publication | None = None,
    replaces: Collection[str] = (),
    owner: str = "",
) -> Artifacts:
    """Write the artifacts of all hosts, given in host order, into the folder `destination` (`<output>/<job>/output`).

    The model is every host's; `output.tar.gz` is the first host's alone, as seen on the service, unless `merge_output`.
    `working` is told now and then how far it is. `replaces` are artifacts of an earlier job, which may be replaced.
    `owner` marks what is half-written.
    """
    telling = Telling(working, publication.sentence if publication is not None else str)
    notes: list[str] = []
    clashes: list[Clash] = []
    model_path: str | None = None
    model_bytes = 0
    if compression == "GZIP":
        path = os.path.join(destination, "model.tar.gz")
        if archive := write_archive(
            model, path, progress=telling.about("model.tar.gz"), follower=publication, owner=owner
        ):
            model_path, model_bytes = archive.path, archive.bytes_out
            notes += archive.notes
            clashes += _within(paths.MODEL, archive.clashes)
    elif published := publish(
        model,
        folder := os.path.join(destination, "model"),
        progress=telling.about("model"),
        replace=folder in replaces,
        owner=owner,
    ):
        if publication is not None:
            publication.folder(published.path)
        model_path, model_bytes = published.path, published.bytes_in
        notes += published.notes
        clashes += _within(paths.MODEL, published.clashes)
    if model_path is None:
        notes += [note for tree in model for note in tree.skipped]

    kept = output if merge_output else output[:1]
    notes += [
        f"{tree.host}: its files in /opt/ml/output/data are not in output.tar.gz; the service kept"
        f" only {output[0].host}'s (2020; Local.MergeOutput)"
        for tree in output[len(kept) :]
        if tree.entries
    ]
    path = os.path.join(destination, "output.tar.gz")
    data = write_archive(kept, path, progress=telling.about("output.tar.gz"), follower=publication, owner=owner)
    notes += data.notes if data else [note for tree in kept for note in tree.skipped]
    clashes += _within(paths.OUTPUT_DATA, data.clashes) if data else ()
    return Artifacts(
        model=model_path,
        model_bytes=model_bytes,
        output=data.path if data else None,
        output_bytes=data.bytes_out if data else 0,
        notes=tuple(notes),
        clashes=tuple(clashes),
    )


def _within(folder: str, clashes: Sequence[Clash]) -> list[Clash]:
    """With paths of the container, which tell a model's file from one of the output data."""
    return [replace(clash, path=f"{folder}/{clash.path}") for clash in clashes]
