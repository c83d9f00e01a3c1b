"""Data on the page of a processing job: inputs and outputs, with files and bytes."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from smlocal.base.readable import readable_bytes
from smlocal.jobs.documents import PLAN
from smlocal.jobs.page_parts import Cell, PageParts, PageSection, Table
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.view import JobView
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.processing.showing import EXIT_MESSAGE, instances_of
from smlocal.sagemaker.processing.workload import count_files

_COUNTS = frozenset({1, 2})


def page_parts(store: Store, view: JobView) -> PageParts:
    """From the plan, and the counts of the upload."""
    hosts = (store.document(view.name, PLAN) or {}).get("Hosts") or [{}]
    mounts = {each["Target"]: each for each in hosts[0].get("Mounts") or () if "Uri" in each}
    inputs = tuple(tuple(_input(each, mounts)) for each in view.answer.get("ProcessingInputs") or ())
    outputs = tuple(tuple(_output(each)) for each in view.local.get("Outputs") or ())
    titles = ("Files", "Size", "In the container")
    return PageParts(
        instances=instances_of(view.answer),
        details=tuple(_details(view.answer)),
        sections=(
            PageSection(
                title="Inputs",
                blocks=(Table(columns=("Input", *titles, "From"), rows=inputs, numbers=_COUNTS, more="input"),),
            ),
            PageSection(
                title="Outputs",
                blocks=(Table(columns=("Output", *titles, "To"), rows=outputs, numbers=_COUNTS, more="output"),),
            ),
        ),
    )


def _details(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """More about the job, for its page."""
    if answer.get(EXIT_MESSAGE):
        yield "Message", answer[EXIT_MESSAGE]
    app = answer["AppSpecification"]
    program = [*(app.get("ContainerEntrypoint") or ()), *(app.get("ContainerArguments") or ())]
    if program:
        yield "Program", " ".join(program)
    yield "Image", app["ImageUri"]
    yield "ARN", answer["ProcessingJobArn"]


def _input(given: Mapping[str, Any], mounts: Mapping[str, Mapping[str, Any]]) -> Iterator[Cell]:
    source = given.get("S3Input") or given.get("DatasetDefinition") or {}
    path = os.path.normpath(source.get("LocalPath", ""))
    found = mounts.get(path) or mounts.get(f"{path}_0") or {}  # a folder, or the first FIFO
    yield Cell(text=given["InputName"])
    yield from _counts(found.get("Files"), found.get("Bytes"))
    yield Cell(text=source.get("LocalPath", "its own program reads it"))
    place = found.get("Source", "")
    uri = source.get("S3Uri", "")
    yield Cell(text=place if place and not uri.startswith(("s3://", "https://")) else uri, whole=place)


def _output(found: Mapping[str, Any]) -> Iterator[Cell]:
    yield Cell(text=found["Name"])
    folder = found["Directory"]
    if "Files" in found:
        yield from _counts(found["Files"], found["Bytes"], whole=found["AllCounted"])
    elif os.path.isdir(folder) and not found["Published"]:  # it runs, or has an engine elsewhere
        count, size, whole = count_files(folder, most=facts.MOST_COUNTED)
        yield from _counts(count, size, whole=whole)
    else:
        yield from _counts(None, None)
    yield Cell(text=found["LocalPath"])
    yield Cell(text=found["Published"] or folder)


def _counts(files: int | None, size: int | None, *, whole: bool = True) -> Iterator[Cell]:
    more = "" if whole else "more than "
    yield Cell(text="" if files is None else f"{more}{files:,}")
    shown, exactly = ("", "") if size is None else (f"{more}{readable_bytes(size)}", f"{size:,} B")
    yield Cell(text=shown, whole=exactly)
