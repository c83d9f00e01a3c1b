"""Reads a pipeline's file: a definition, or a CreatePipeline request, and how an execution of it is to begin."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, ClassVar, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile import local_block
from smlocal.jobfile.document import Document, recorded_document
from smlocal.jobfile.job_reading import JobReading
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.pipelines.definition import Definition
from smlocal.sagemaker.pipelines.names import made_id
from smlocal.sagemaker.pipelines.reading import invalid_definition, read_definition
from smlocal.sagemaker.pipelines.step_reading import says
from smlocal.terms.validation.violation import Path, Violation

PARAMETERS: Final = "Parameters"
SELECT: Final = "Select"
SOURCE: Final = "Source"
QUEUE_URL: Final = "Queue"
STEPS: Final = "Steps"
CACHE: Final = "Cache"
START: Final = "Start"
EXECUTION: Final = "Execution"
"""In the recorded file of an execution: its StartPipelineExecution request, and its id."""
OUTPUT: Final = "Output"
"""There too: where artifacts go whose bucket has no folder, if no client has started it."""
CONTENTS: Final = "contents"
"""The value of `Local.Cache` with which the cache also looks at what lies in folders."""
OWN: Final = (STEPS, PARAMETERS, SELECT, SOURCE, QUEUE_URL)
"""Members of `Local` that only pipelines have."""
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9]+")
_LONGEST_STEM: Final = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelineFile:
    """A valid pipeline, and the execution of it that is asked for."""

    definition: Definition
    local: LocalSettings
    """Those for the jobs of its steps."""
    document: Document = field(repr=False)
    pipeline: str
    """The pipeline's name."""
    start: Mapping[str, Any]
    """The StartPipelineExecution request, with the pipeline's name."""
    execution_id: str

    @property
    def contents(self) -> bool:
        """True if the cache also looks at what lies in folders."""
        return (self.document.data.get(LOCAL) or {}).get(CACHE) == CONTENTS


class PipelineReading(JobReading):
    """A document without a request has the name of its file."""

    NAME = "PipelineName"
    PLACES: ClassVar[Mapping[str, Path]] = {"hyperparameters": (LOCAL, PARAMETERS)}
    USUAL_STEM = "pipeline"

    def read(self, document: Document, *, strict: bool, local_allowed: bool = True) -> PipelineFile:
        """Validate a document. `strict` requires what the service requires. One error lists all mistakes."""
        del strict
        return file_of(document, start={}, stem=self.USUAL_STEM, local_allowed=local_allowed)

    def read_named(
        self, document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
    ) -> tuple[PipelineFile, str]:
        """The validated execution, and its name; `stem` is that of its file."""
        del strict
        file = file_of(document, start={}, stem=stem, local_allowed=local_allowed)
        return file, name or job_name(file.pipeline, file.execution_id)

    def begun(self, document: Document, *, start: Mapping[str, Any], execution_id: str) -> tuple[PipelineFile, str]:
        """The execution that a client asks for, every parameter of which has a value, and its name."""
        file = file_of(document, start=start, execution_id=execution_id, begins=True)
        return file, job_name(file.pipeline, file.execution_id)


READING: Final = PipelineReading()


def job_name(pipeline: str, execution_id: str) -> str:
    """The name of the job that an execution is here."""
    return f"{_NOT_IN_NAMES.sub('-', pipeline)[:_LONGEST_STEM].strip('-') or 'pipeline'}-{execution_id}"


def file_of(
    document: Document,
    *,
    start: Mapping[str, Any],
    stem: str = "",
    execution_id: str = "",
    local_allowed: bool = True,
    begins: bool = False,
) -> PipelineFile:
    """The valid pipeline; one error lists all mistakes. `begins`: every parameter must have a value.

    `start`: the StartPipelineExecution request of a client. Without one, `Local` says how the execution begins.
    """
    given = document.data.get(LOCAL)
    own = given if isinstance(given, dict) else {}
    begin = dict(start) or dict(_start(own))
    values = {each["Name"]: each["Value"] for each in begin.get("PipelineParameters", ())}
    definition = read_definition(document, given=values if begins or values else None)
    local, found = local_block.read_local(_of_jobs(document, own), allowed=local_allowed)
    found += _wrong(own, definition)
    if found or local is None:
        raise invalid_definition(document, found)
    pipeline = begin.get("PipelineName") or definition.request.get("PipelineName") or stem
    return PipelineFile(
        definition=definition,
        local=local,
        document=document,
        pipeline=pipeline,
        start={"PipelineName": pipeline, **begin},
        execution_id=execution_id or made_id(os.urandom(16)),
    )


def _of_jobs(document: Document, own: Mapping[str, Any]) -> Document:
    """With the settings for jobs alone."""
    if LOCAL not in document.data or not isinstance(document.data[LOCAL], dict):
        return document
    return document.with_data({**document.data, LOCAL: settings_of_jobs(own)})


def settings_of_jobs(local: Mapping[str, Any]) -> dict[str, Any]:
    """The members of `Local` that the jobs of steps get."""
    contents = local.get(CACHE) == CONTENTS
    return {name: each for name, each in local.items() if name not in OWN and not (contents and name == CACHE)}


def _start(local: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    values, selected = local.get(PARAMETERS), local.get(SELECT)
    if isinstance(values, dict):
        yield "PipelineParameters", [{"Name": name, "Value": value} for name, value in values.items()]
    if isinstance(selected, list):
        source = {"SourcePipelineExecutionArn": local[SOURCE]} if isinstance(local.get(SOURCE), str) else {}
        yield "SelectiveExecutionConfig", {**source, "SelectedSteps": [{"StepName": name} for name in selected]}


def _wrong(local: Mapping[str, Any], definition: Definition) -> Iterator[Violation]:
    if not isinstance(local.get(PARAMETERS, {}), dict):
        yield says((LOCAL, PARAMETERS), "must be a map of names and values")
    selected = local.get(SELECT, [])
    if not isinstance(selected, list):
        yield says((LOCAL, SELECT), "must be a list of names of steps")
        selected = []
    for index, name in enumerate(selected):
        if name not in definition.steps:
            yield says((LOCAL, SELECT, index), "the pipeline has no step of this name")
    for name in (SOURCE, QUEUE_URL):
        if not isinstance(local.get(name, ""), str):
            yield says((LOCAL, name), "must be text")


def recorded_file(recorded: Mapping[str, Any]) -> PipelineFile:
    """The pipeline of a recorded execution."""
    return file_of(recorded_document(recorded), start=recorded[START], execution_id=recorded[EXECUTION])
