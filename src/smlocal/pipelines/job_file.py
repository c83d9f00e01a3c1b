"""Reads a pipeline's file: a definition, or a CreatePipeline request, and how an execution of it is to begin."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.errors import UsageRefusedError
from smlocal.jobfile import local_block
from smlocal.jobfile.document import Document, recorded_document
from smlocal.jobfile.job_reading import JobReading
from smlocal.jobfile.option import LOCAL, Option
from smlocal.jobfile.settings import LocalSettings
from smlocal.sagemaker.pipelines.definition import Definition
from smlocal.sagemaker.pipelines.names import made_id
from smlocal.sagemaker.pipelines.reading import read_definition
from smlocal.sagemaker.pipelines.step_reading import says
from smlocal.terms.member_table import MemberTable
from smlocal.terms.validation.violation import Path, Violation, closest, spoken

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
_NAME: Final = regex(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")
_LONGEST_STEM, _LONGEST_NAME = 40, 256


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
    PLACES: ClassVar[Mapping[str, Path]] = {
        "members": (),
        "hyperparameters": (LOCAL, PARAMETERS),
        "select": (LOCAL, SELECT),
        "source_execution": (LOCAL, SOURCE),
        "queue": (LOCAL, QUEUE_URL),
    }
    USUAL_STEM = "pipeline"

    def read(self, document: Document, *, strict: bool, local_allowed: bool = True) -> PipelineFile:
        """Validate a document. `strict` requires what the service requires. One error lists all mistakes."""
        return file_of(document, start={}, stem=self.USUAL_STEM, strict=strict, local_allowed=local_allowed)

    def read_named(
        self, document: Document, *, name: str | None, stem: str, strict: bool, local_allowed: bool = True
    ) -> tuple[PipelineFile, str]:
        """The validated execution, and its name; `stem` is that of its file."""
        if name is not None and not _NAME.fullmatch(name):
            raise UsageRefusedError(
                f"{name!r} cannot be the name of an execution",
                remedy=["Choose a name that has at most 63 letters, digits and hyphens."],
            )
        file = file_of(document, start={}, stem=stem, strict=strict, local_allowed=local_allowed, begins=True)
        return file, name or job_name(file.pipeline, file.execution_id)

    def to_send(
        self, document: Document, *, stem: str, others: Callable[[Definition], Iterable[Violation]]
    ) -> PipelineFile:
        """The pipeline that the service is to run, with the steps themselves in place of stand-ins."""
        given = document.data.get(LOCAL)
        if isinstance(given, dict):
            real = {name: each for name, each in given.items() if name != STEPS}
            document = document.with_data({**document.data, LOCAL: real})
        return file_of(document, start={}, stem=stem, begins=True, strict=True, sent=True, others=others)

    def begin_again(self, document: Document, recorded: Mapping[str, Any], name: str) -> str:
        """The same pipeline, with what a client said about the execution."""
        del name
        start = recorded[START]
        for each in start.get("PipelineParameters", ()):
            if not document.has((LOCAL, PARAMETERS, each["Name"])):
                document.set((LOCAL, PARAMETERS, each["Name"]), each["Value"])
        chosen = start.get("SelectiveExecutionConfig")
        if chosen and not document.has((LOCAL, SELECT)):
            document.set((LOCAL, SELECT), [each["StepName"] for each in chosen["SelectedSteps"]])
            document.set((LOCAL, SOURCE), chosen.get("SourcePipelineExecutionArn"))
        return str(start["PipelineName"])

    @property
    def TABLE(self) -> MemberTable:  # noqa: N802 - as other kinds have it
        """How each member of a file is handled; only asked to show it."""
        from smlocal.sagemaker.pipelines.members import TABLE

        return TABLE

    def validated(self, document: Document, *, strict: bool) -> tuple[None, dict[str, Any], list[Violation]]:
        """The document, and the keys that no pipeline has, to show how its members are handled."""
        del strict
        known = {name.partition("[")[0].partition(".")[0] for name in self.TABLE.rows}
        unknown = [name for name in document.data if name not in {*known, LOCAL}]
        return None, document.data, [Violation(path=(name,), text=f"unknown key {name}") for name in unknown]

    def instead(self, data: Mapping[str, Any], refused: Sequence[tuple[Option, str]]) -> list[str]:
        """Options are about one job."""
        del data, refused
        return ["Leave it out, or set it in the steps of the file. Values of parameters: --parameter NAME=VALUE"]

    def begun(self, document: Document, *, start: Mapping[str, Any], execution_id: str) -> tuple[PipelineFile, str]:
        """The execution that a client asks for, every parameter of which has a value, and its name."""
        file = file_of(document, start=start, execution_id=execution_id, begins=True)
        return file, job_name(file.pipeline, file.execution_id)


READING: Final = PipelineReading()


def job_name(pipeline: str, execution_id: str) -> str:
    """The name of the job that an execution is here."""
    return f"{_as_name(pipeline)[:_LONGEST_STEM].strip('-')}-{execution_id}"


def _as_name(stem: str) -> str:
    """A valid name made of a file's."""
    return _NOT_IN_NAMES.sub("-", stem).strip("-")[:_LONGEST_NAME].strip("-") or PipelineReading.USUAL_STEM


def file_of(
    document: Document,
    *,
    start: Mapping[str, Any],
    stem: str = "",
    execution_id: str = "",
    local_allowed: bool = True,
    begins: bool = False,
    strict: bool = False,
    sent: bool = False,
    others: Callable[[Definition], Iterable[Violation]] = lambda _: (),
) -> PipelineFile:
    """The valid pipeline; one error lists all mistakes. `begins`: every parameter must have a value.

    `start`: the StartPipelineExecution request of a client. Without one, `Local` says how the execution begins.
    `strict`: as the service wants it. `sent`: the service runs it. `others` looks for more mistakes.
    """
    given = document.data.get(LOCAL)
    own = given if isinstance(given, dict) else {}
    begin = dict(start) or dict(_start(own))
    values = {each["Name"]: each["Value"] for each in begin.get("PipelineParameters", ())}
    local, found = local_block.read_local(_of_jobs(document, own), allowed=local_allowed)
    definition = read_definition(
        document,
        given=values if begins or values else None,
        begins=begins,
        runs_here=not sent and (local_allowed or not strict),
        strict=strict,
        in_place=sent,
        others=lambda definition: [*map(_meant, found), *_wrong(own, definition), *others(definition)],
    )
    assert local is not None  # noqa: S101 - for mypy: what is wrong with it was found
    pipeline = begin.get("PipelineName") or definition.request.get("PipelineName") or _as_name(stem)
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
        yield "PipelineParameters", [{"Name": name, "Value": _as_text(value)} for name, value in values.items()]
    if isinstance(selected, list):
        source = {"SourcePipelineExecutionArn": local[SOURCE]} if isinstance(local.get(SOURCE), str) else {}
        yield "SelectiveExecutionConfig", {**source, "SelectedSteps": [{"StepName": name} for name in selected]}


def _as_text(value: Any) -> Any:
    """A value as clients send it; what no parameter can be is left as it is, and is refused."""
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def _meant(violation: Violation) -> Violation:
    """The mistake of an unknown member, with a member of pipelines that may be meant."""
    path = violation.path
    meant = closest(str(path[1]), (*OWN, CACHE)) if len(path) == 2 and "unknown key" in violation.text else None  # noqa: PLR2004 - Local and a member
    text = f"unknown key {spoken(path)}: did you mean {meant}?"
    return violation if meant is None else Violation(path=path, text=text)


def _wrong(local: Mapping[str, Any], definition: Definition) -> Iterator[Violation]:
    if not isinstance(local.get(PARAMETERS, {}), dict):
        yield says((LOCAL, PARAMETERS), "must be a map of names and values")
    selected = local.get(SELECT, [])
    if not isinstance(selected, list):
        yield says((LOCAL, SELECT), "must be a list of names of steps")
        selected = []
    for index, name in enumerate(selected):
        if name not in definition.steps:
            meant = closest(str(name), definition.steps)
            hint = f"; did you mean {meant}?" if meant else ""
            yield says((LOCAL, SELECT, index), f"the pipeline has no step '{str(name)[:80]}'{hint}")
    if local.get(SOURCE) is not None and not selected:
        yield says((LOCAL, SOURCE), f"is for selected steps: {SELECT} names them")
    if local.get("EngineInstances") is not None and not local.get("SpreadOver"):
        yield says((LOCAL, "EngineInstances"), "needs the engines in Local.SpreadOver, or --spread-over")
    for name in (SOURCE, QUEUE_URL):
        if not isinstance(local.get(name, ""), str):
            yield says((LOCAL, name), "must be text")


def recorded_file(recorded: Mapping[str, Any]) -> PipelineFile:
    """The pipeline of a recorded execution."""
    return file_of(recorded_document(recorded), start=recorded[START], execution_id=recorded[EXECUTION])
