"""The page of a transform job: records, requests, bytes and failed objects."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from smlocal.base.readable import counted, readable_bytes
from smlocal.jobs.page_parts import Cell, FactRows, PageParts, PageSection, Sentences, Table
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.view import JobView
from smlocal.sagemaker.transform.showing import RESULTS


def page_parts(store: Store, view: JobView) -> PageParts:  # noqa: ARG001 - the view has it all
    """From the results at the end."""
    found = view.local.get(RESULTS)
    about = PageParts(
        instances=view.answer["TransformResources"].get("InstanceType", "local"), details=tuple(_details(view.answer))
    )
    if found is None:
        return about
    names, why = found["Failed"], found.get("Causes") or []
    rows = tuple(
        (Cell(text=name, status="Failed"), Cell(text=why[index] if index < len(why) else ""))
        for index, name in enumerate(names)
    )
    left_out = found.get("FailedCount", len(names)) - len(names)
    more = (Sentences(texts=(f"And {counted(left_out, 'more object')}: the data log names all.",)),) if left_out else ()
    return replace(
        about,
        sections=(
            PageSection(title="Data", blocks=(FactRows(rows=tuple(_facts(found))),)),
            PageSection(
                title="Objects without output",
                blocks=(Table(columns=("Object", "First error"), rows=rows, more="object"), *more),
            ),
        ),
    )


def _details(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """More about the job, for its page."""
    container = answer["Local"]["Request"].get("PrimaryContainer") or {}
    if model := container.get("ModelDataUrl"):
        yield "Model", model
    yield "Input", answer["TransformInput"]["DataSource"]["S3DataSource"]["S3Uri"]
    if found := answer["Local"].get(RESULTS):
        yield "Output", found["Directory"]
    if image := container.get("Image"):
        yield "Image", image
    yield "ARN", answer["TransformJobArn"]


def _facts(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Objects", f"{found['Outputs']:,} of {found['Objects']:,} transformed"
    if found.get("RecordsRead") is not None:
        out = "" if found["LinesWritten"] is None else f", {counted(found['LinesWritten'], 'line')} out"
        yield "Records", f"{found['RecordsRead']:,} in{out}"
    if "BytesRead" in found:
        yield "Size", f"{readable_bytes(found['BytesRead'])} in, {readable_bytes(found['BytesWritten'])} out"
    yield "Requests answered", f"{found['Requests']:,}"
    if "Retries" in found:
        yield "Retries", f"{found['Retries']:,}"
    yield "At once", f"{found['MaxConcurrentTransforms']:,}, {found['BatchStrategy']}"
    payload = found["MaxPayloadInMB"]
    yield "Largest request", f"{payload} MB" if payload else "a whole object"
