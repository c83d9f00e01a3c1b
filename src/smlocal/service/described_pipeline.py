"""A pipeline of the service, or one execution of it, as a file that runs here."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import (
    JobFileSyntaxError,
    PathInDescriptionError,
    RequestInvalidError,
    ServiceForbiddenError,
    ServiceJobUnknownError,
    UsageRefusedError,
)
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.yaml_text import one_line, yaml_text
from smlocal.sagemaker.kinds import PIPELINE
from smlocal.sagemaker.pipelines.definition import Definition
from smlocal.sagemaker.pipelines.parameters import values_of
from smlocal.sagemaker.pipelines.reading import DEFINITION, is_request, read_definition
from smlocal.service.pipeline_steps import made_steps
from smlocal.service.service import Service
from smlocal.service.unavailable_here import unavailable_here
from smlocal.terms.validation.violation import dotted

_ARN: Final = re.compile(
    r"(?P<pipeline>arn:aws[a-z-]*:sagemaker:(?P<region>[a-z0-9-]+):\d{12}:pipeline/[^/]+)(?P<run>/execution/[^/]+)?"
)
_REQUEST: Final = (
    *("PipelineName", "PipelineDisplayName", "PipelineDescription", "RoleArn", "ParallelismConfiguration", "Tags"),
)
"""What an answer has of the request that made it, besides the definition."""
_MOST_LINES: Final = 20
_RUNNING: Final = frozenset({"Executing", "Stopping"})
_OPTIONS_OF_JOBS: Final = ("--image", "--code")
"""What does not help for a pipeline: it has several images."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedPipeline:
    """One pipeline, and the values of an execution of it."""

    request: dict[str, Any]
    """CreatePipeline without the definition; empty if only that is known."""
    definition: Any
    """As a map; as text if it is not JSON."""
    local: dict[str, Any]
    """The settings for this machine."""
    said: str
    """What it is."""
    from_elsewhere: bool
    """False for a file of the user's own."""
    notes: tuple[str, ...] = ()
    checked: Definition | None = field(repr=False)
    """None if smlocal would refuse it."""

    def data(self) -> dict[str, Any]:
        """The document."""
        local = {LOCAL: self.local} if self.local else {}
        if not self.request and isinstance(self.definition, dict):
            return {**self.definition, **local}
        return {**self.request, DEFINITION: self.definition, **local}

    def check_local_paths(self, *, name: str) -> None:
        """`PathInDescriptionError` if it names paths of this machine. `name`: of the file, or the ARN."""
        if self.checked is None or not self.from_elsewhere:
            return
        steps = made_steps(self.checked, self._values(self.checked))
        found = [f"{step.name}.{dotted(path[-2:])}: {uri[:200]}" for step in steps for path, uri in step.paths_here()]
        if found:
            raise PathInDescriptionError(
                f"{name} is the description of a pipeline, and names paths of this machine",
                details=found[:_MOST_LINES],
                remedy=["Write s3:// locations there: the service has no others, and anyone may have written it."],
            )

    def _values(self, definition: Definition) -> dict[str, Any]:
        return values_of(definition.parameters, self.local.get("Parameters") or {})[0]

    def stand_ins(self) -> dict[str, str]:
        """The steps that need a stand-in which the file does not have, and their types."""
        given = self.local.get("Steps") or {}
        steps = () if self.checked is None else self.checked.steps.values()
        return {step.name: step.type.name for step in steps if step.type.needs_stand_in and step.name not in given}

    def remarks(self) -> Iterator[str]:
        """Sentences about it, and about what this machine lacks."""
        yield from self.notes
        if self.checked is None:
            yield "smlocal does not run all of it; smlocal validate shows why"
            return
        needed = self.stand_ins()
        if needed:
            shown = ", ".join(f"{name} ({kind})" for name, kind in needed.items())
            yield f"these steps run only on the service, and need stand-ins in Local.Steps: {shown}"
        lines: dict[str, list[str]] = {}
        values = self._values(self.checked)
        for step in made_steps(self.checked, values):
            for line in _lacking(step.requests(), self.local):
                names = lines.setdefault(line, [])
                names += [] if step.name in names else [step.name]
            if step.step.type.name in {"Model", "RegisterModel"}:
                for _, image in step.images():
                    lines.setdefault(f"its image {image} is pulled unless it is here", []).append(step.name)
        shown_lines = [f"{', '.join(names)}: {line}" for line, names in lines.items()]
        yield from shown_lines[:_MOST_LINES]
        if len(shown_lines) > _MOST_LINES:
            yield f"and {len(shown_lines) - _MOST_LINES:,} more: smlocal plan shows the steps"

    def file_text(self, *, file: str) -> str:
        """A file that `smlocal run` takes: JSON if its name says so, else YAML with remarks as comments."""
        if file.endswith(".json"):
            return f"{json.dumps(self.data(), indent=2, ensure_ascii=False)}\n"
        return "".join(f"{line}\n" for line in self._lines(file))

    def _lines(self, file: str) -> Iterator[str]:
        yield f"# A pipeline. Run it here:  smlocal run {one_line(file)}"
        yield f"# {one_line(self.said)}"
        yield ""
        data = self.data()
        local = data.pop(LOCAL, {})
        yield from yaml_text(data).splitlines()
        needed = self.stand_ins()
        if local:
            yield from yaml_text({LOCAL: local}).splitlines()
        if not needed:
            return
        indent = "  # " if local else "#   "
        if not local:
            yield f"# {LOCAL}:"
        yield f"{indent}Steps: # what stands in for steps that only the service runs"
        for name, kind in needed.items():
            stand_in = f'{{Python: "{name}.py:handler"}}' if kind == "Lambda" else "{Outputs: {}}"
            yield f"{indent}  {name}: {stand_in} # {kind}; or Command, Outputs, Skip"


def _lacking(requests: Any, local: Mapping[str, Any]) -> Iterator[str]:
    for _, request in requests:
        for each in unavailable_here(request, local):
            usable = each.option and not each.option.startswith(_OPTIONS_OF_JOBS)
            yield each.line if usable else each.text


def described(document: Document) -> DescribedPipeline:
    """The pipeline in a saved answer, a request or a definition."""
    data = document.data
    local = data.get(LOCAL)
    if "PipelineArn" not in data:
        request = {name: each for name, each in data.items() if name not in {DEFINITION, LOCAL}}
        named = is_request(data) and "PipelineName" in data
        definition = data[DEFINITION] if is_request(data) and DEFINITION in data else request
        return _made(
            request=request if named else {},
            definition=definition,
            local=dict(local) if isinstance(local, dict) else {},
            said=f"Made of {document.name}.",
            from_elsewhere=False,
        )
    return _of_answer(data, {})


def fetch(arn: str, *, profile: str | None, region: str | None) -> DescribedPipeline:
    """The pipeline of the service, or an execution of it, with the values of its parameters."""
    found = _ARN.fullmatch(arn)
    if found is None:
        raise UsageRefusedError(f"{arn!r} is not the ARN of a pipeline or of an execution of one")
    service = Service(profile=profile, region=region or found["region"], kind=PIPELINE)
    try:
        return _execution(service, arn, found["pipeline"]) if found["run"] else _pipeline(service, found["pipeline"])
    finally:
        service.close()


def _pipeline(service: Service, arn: str) -> DescribedPipeline:
    answer = service.call("sagemaker", "DescribePipeline", PipelineName=arn)
    tags, notes = _tags(service, str(answer["PipelineArn"]))
    return _of_answer({**answer, **({"Tags": tags} if tags else {})}, {}, notes=notes)


def _tags(service: Service, arn: str) -> tuple[list[dict[str, str]], list[str]]:
    try:
        return service.tags(arn), []
    except ServiceForbiddenError as error:
        return [], [f"Tags are not known: the AWS credentials may not do {error.action}."]


def _execution(service: Service, arn: str, pipeline: str) -> DescribedPipeline:
    answer = service.call("sagemaker", "DescribePipelineExecution", PipelineExecutionArn=arn)
    definition = service.call("sagemaker", "DescribePipelineDefinitionForExecution", PipelineExecutionArn=arn)
    pages = service.pages("sagemaker", "ListPipelineParametersForExecution", PipelineExecutionArn=arn)
    values = {each["Name"]: each["Value"] for page in pages for each in page.get("PipelineParameters", ())}
    notes: list[str] = []
    try:
        about = service.call("sagemaker", "DescribePipeline", PipelineName=pipeline)
        tags, notes = _tags(service, str(about["PipelineArn"]))
        about = {**about, **({"Tags": tags} if tags else {})}
    except (ServiceForbiddenError, ServiceJobUnknownError) as error:
        notes.append(f"The role and the tags of the pipeline are not known: {error.sentence}.")
        about = {"PipelineName": pipeline.rpartition("/")[2], "PipelineArn": pipeline}
    chosen = answer.get("SelectiveExecutionConfig")
    if chosen:
        names = " ".join(f"--select {each['StepName']}" for each in chosen["SelectedSteps"])
        source = chosen.get("SourcePipelineExecutionArn")
        results = f", with results of {source}, which this machine does not have" if source else ""
        notes.append(f"The execution ran only selected steps ({names}){results}.")
    status = answer["PipelineExecutionStatus"]
    if status in _RUNNING:
        notes.append(f"{arn} had not ended when it was described: {status}")
    about = {**about, **{name: answer[name] for name in ("ParallelismConfiguration",) if name in answer}}
    said = f"As the execution {arn} ({status})."
    return _of_answer({**about, DEFINITION: definition[DEFINITION]}, values, notes=notes, said=said)


def _of_answer(
    answer: Mapping[str, Any], values: Mapping[str, str], *, notes: list[str] | None = None, said: str = ""
) -> DescribedPipeline:
    arn = _ARN.fullmatch(str(answer.get("PipelineArn")))
    region = "" if arn is None else arn["region"]
    state = ", ".join(filter(None, (str(answer.get("PipelineStatus") or ""), region)))
    return _made(
        request={name: answer[name] for name in _REQUEST if answer.get(name)},
        definition=answer.get(DEFINITION),
        local={
            **({"Region": region} if region else {}),
            **({"Parameters": dict(values)} if values else {}),
        },
        said=said or f"As the pipeline {answer.get('PipelineName')} ({state}).",
        from_elsewhere=True,
        notes=tuple(notes or ()),
    )


def _made(*, definition: Any, request: dict[str, Any], local: dict[str, Any], **more: Any) -> DescribedPipeline:
    if isinstance(definition, str):
        with suppress(ValueError, RecursionError):  # text in another form, which smlocal may know
            definition = json.loads(definition)
    data = {**request, DEFINITION: definition} if request else definition
    checked = None
    if isinstance(data, dict):
        document = Document({**data, LOCAL: local}, name="pipeline", directory=os.getcwd())
        with suppress(RequestInvalidError, JobFileSyntaxError):
            checked = read_definition(document, begins=False, runs_here=False, strict=False, in_place=True)
    return DescribedPipeline(request=request, definition=definition, local=local, checked=checked, **more)
