"""A pipeline on the service: its definition and how it begins, what is made of them there, and its execution."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Protocol

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import RequestInvalidError, ServiceForbiddenError, ServiceJobUnknownError, ServiceRefusedError
from smlocal.errors.of_commands import ImageNotInEcrError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.kind import module_of
from smlocal.sagemaker.contract.model import shapes
from smlocal.sagemaker.kinds import PIPELINE
from smlocal.sagemaker.pipelines.deciding import Progress, State
from smlocal.sagemaker.pipelines.definition import Definition
from smlocal.sagemaker.pipelines.parameters import values_of
from smlocal.sagemaker.pipelines.reading import DEFINITION, is_request, name_violations
from smlocal.sagemaker.pipelines.selecting import selection_trouble
from smlocal.sagemaker.pipelines.step_reading import says
from smlocal.sagemaker.pipelines.step_types import MOST_BYTES
from smlocal.service.following import Following, Viewer
from smlocal.service.pipeline_steps import MadeStep, made_steps
from smlocal.service.service import Service
from smlocal.service.submission import check_image_named
from smlocal.service.submit_checks import push_commands, region_in_ecr
from smlocal.terms.model.structure import Structure
from smlocal.terms.validation.violation import Path, Violation
from smlocal.terms.validation.walk import missing
from smlocal.terms.validation.walk import violations as shape_violations

NAME: Final = "PipelineName"
STATUS: Final = "PipelineExecutionStatus"
ENDED: Final = frozenset({"Succeeded", "CompletedWithFailures", "Failed", "Stopped"})
ARN: Final = "PipelineExecutionArn"
_ROLE: Final = "RoleArn"
_SOURCE: Final = "SourcePipelineExecutionArn"
_ONCE: Final = "ClientRequestToken"
"""Each submit is a request of its own: botocore makes the token."""
_COMPARED: Final = ("PipelineDisplayName", "PipelineDescription", _ROLE, "ParallelismConfiguration")
_HERE_ONLY: Final = {
    "Steps": "the service runs the steps themselves, and not their stand-ins in Local.Steps: {steps}",
    "Queue": "messages of Callback steps go to the queues that the definition names, and not to Local.Queue",
    "Sources": "the service reads data in S3, and not the folders of Local.Sources",
    "Code": "the service has no code of Local.Code: containers get what their steps name",
}
_MOST_NAMED: Final = 10
_MOST_IMAGES: Final = 5
"""Whose commands an error shows."""
_PAUSE: Final = 2.0


class _Role(Structure):
    """The part of CreatePipeline that only the service needs."""

    RoleArn: shapes.RoleArn


class SentPipeline(Protocol):
    """A valid pipeline that is to be sent, as the folder of its kind has read it."""

    @property
    def definition(self) -> Definition:
        """Of the pipeline."""
        ...

    @property
    def start(self) -> Mapping[str, Any]:
        """The StartPipelineExecution request."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelinePlan:
    """The requests to send."""

    request: dict[str, Any]
    """CreatePipeline, or UpdatePipeline if there is one of this name."""
    start: dict[str, Any]
    """StartPipelineExecution."""
    definition: Definition = field(repr=False)
    guard: tuple[str, ...]
    """What it may take."""
    notes: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of the pipeline."""
        return str(self.request[NAME])

    def images(self) -> Iterator[str]:
        """Those of its steps that are known before it runs, each once."""
        yield from dict.fromkeys(image for step in _made(self.definition, self.start) for _, image in step.images())


def plan_pipeline(document: Document, *, name: str | None, role: str | None, region: str | None) -> PipelinePlan:
    """Validate as the service does; one error lists all mistakes, also paths of this machine and images out of ECR.

    `name` and `role` replace those of the document.
    """
    if is_request(document.data):
        for member, value in ((NAME, name), (_ROLE, role)):
            if value is not None:
                document.set((member,), value)
    given = document.data
    asked = {**given} if is_request(given) else {DEFINITION: given}
    request = {NAME: name or asked.get(NAME), _ROLE: role or asked.get(_ROLE)}
    request |= {member: each for member, each in asked.items() if member not in {NAME, _ROLE, LOCAL, _ONCE}}
    reading: Any = PIPELINE.reads
    here: list[str] = []

    def read(*, with_images: bool) -> SentPipeline:
        def others(definition: Definition) -> Iterator[Violation]:
            yield from _wrong(request, definition, given, here)
            if with_images:
                yield from (each for each, _ in _foreign_images(_parameters_in(given), definition))

        sent: SentPipeline = reading.to_send(document, stem=name or "", others=others)
        return sent

    try:
        file = read(with_images=False)
    except RequestInvalidError:
        try:
            read(with_images=True)  # it has the same mistakes, and those of the images
        except RequestInvalidError as found:
            found.remedy = (*found.remedy, *_remedies(request, here))
            raise found from None
        raise
    start = {**file.start, NAME: request[NAME]}
    _refuse_foreign_images(document, [*_foreign_images(start, file.definition)], region)
    request[DEFINITION] = _definition_text(request[DEFINITION], document)
    return PipelinePlan(
        request={member: each for member, each in request.items() if each is not None},
        start=start,
        definition=file.definition,
        guard=tuple(_guard(file)),
        notes=tuple(_notes(given.get(LOCAL), file, region)),
    )


def _parameters_in(given: Mapping[str, Any]) -> dict[str, Any]:
    """The beginning of an execution, of a document that may be wrong."""
    local = given.get(LOCAL)
    values = local.get("Parameters") if isinstance(local, dict) else None
    known = values if isinstance(values, dict) else {}
    return {"PipelineParameters": [{"Name": name, "Value": value} for name, value in known.items()]}


def _made(definition: Definition, start: Mapping[str, Any]) -> Iterator[MadeStep]:
    given = {each["Name"]: each["Value"] for each in start.get("PipelineParameters", ())}
    values, _ = values_of(definition.parameters, given)
    return made_steps(definition, values)


def _wrong(
    request: Mapping[str, Any], definition: Definition, given: Mapping[str, Any], here: list[str]
) -> Iterator[Violation]:
    """What the service demands besides, and smlocal does not. Paths of this machine are added to `here`."""
    if request[NAME] is None:
        yield missing((NAME,))
    elif given.get(NAME) != request[NAME]:  # otherwise it has been looked at
        yield from name_violations(request[NAME])
    yield from shape_violations(_Role, {_ROLE: request[_ROLE]} if request[_ROLE] is not None else {}, strict=True)
    for step in _made(definition, _parameters_in(given)):
        for path, uri in step.paths_here():
            here.append(uri)
            if step.step.type.name == "RegisterModel":  # the models of the others know where a path is wrong
                yield says(path, f"{uri[:200]} is a path of this machine, which the service cannot read")
    local = given.get(LOCAL)
    yield from _wrong_selection(local if isinstance(local, dict) else {}, definition)


def _wrong_selection(local: Mapping[str, Any], definition: Definition) -> Iterator[Violation]:
    selected, source = local.get("Select"), local.get("Source")
    if not isinstance(selected, list) or not all(name in definition.steps for name in selected):
        return  # that is told already
    if isinstance(source, str) and not source.startswith("arn:"):
        text = "is an execution of this machine; the service needs the ARN of an execution there"
        yield says((LOCAL, "Source"), text)
        return
    there = {name: Progress(state=State.SUCCEEDED) for name in definition.steps}  # only the service knows
    trouble = selection_trouble(definition, selected, source_arn=source, source=there)
    if trouble is not None:
        yield Violation(path=(LOCAL, "Select"), text=trouble, service=trouble)


def _foreign_images(start: Mapping[str, Any], definition: Definition) -> Iterator[tuple[Violation, str]]:
    for step in _made(definition, start):
        for path, image in step.images():
            if region_in_ecr(image) is None:
                text = f"{step.name}: {image} is not in Amazon ECR, and the service pulls no other images"
                yield Violation(path=path, text=text), image


def _refuse_foreign_images(document: Document, found: Sequence[tuple[Violation, str]], region: str | None) -> None:
    """`ImageNotInEcrError` for images that the service cannot pull."""
    if not found:
        return
    images = [*dict.fromkeys(image for _, image in found)]
    shown = ", ".join([*images[:_MOST_IMAGES], *(["…"] if len(images) > _MOST_IMAGES else [])])
    word = "is not an image" if len(images) == 1 else "are not images"
    raise ImageNotInEcrError(
        f"{shown} {word} in Amazon ECR, and the service pulls no other images",
        details=[f"{_where(document, each.path)}   {each.text.partition(' is not in ')[0]}" for each, _ in found],
        remedy=(
            "Push it there, with the number of your account, and write that name into the definition:",
            *(line for image in images[:_MOST_IMAGES] for line in push_commands(image, region)),
        ),
    )


def _where(document: Document, path: Path) -> str:
    return document.where((DEFINITION,) if is_request(document.data) else path)


def _remedies(request: Mapping[str, Any], here: Sequence[str]) -> Iterator[str]:
    """What helps against what a file for this machine may leave out, or have."""
    if request[NAME] is None:
        yield "The name of the pipeline:  --name NAME"
    if request[_ROLE] is None:
        yield "The role of the pipeline:  --role arn:aws:iam::ACCOUNT:role/NAME"
    if here:
        yield "Data of a pipeline is not uploaded. Copy it, and name its place in S3 in the file or with -p NAME=VALUE:"
        yield "  aws s3 cp --recursive DIR s3://BUCKET/PREFIX"


def _definition_text(given: Any, document: Document) -> str:
    """As it is sent. Text is sent as it is written."""
    if isinstance(given, str):
        return given
    text = json.dumps({member: each for member, each in given.items() if member != LOCAL}, ensure_ascii=False)
    if len(text.encode()) > MOST_BYTES:
        raise RequestInvalidError(f"{document.name} is larger than {MOST_BYTES >> 20} MiB, which no definition may be")
    return text


def _guard(file: SentPipeline) -> Iterator[str]:
    found = module_of(PIPELINE.name, "outline").outline(file)
    hours = ", ".join(f"{hours:,g} h of {kind}" for kind, hours in found["InstanceHoursAtMost"].items())
    yield f"may take: {f'at most {hours}' if hours else 'no hours that are known before it runs'}"
    reasons: dict[str, list[str]] = {}
    for name, why in found["NotCounted"].items():
        reasons.setdefault(why, []).append(name)
    yield from (f"not counted: {_named(names)}: {why}" for why, names in reasons.items())
    endpoints = [step.name for step in file.definition.steps.values() if step.type.name == "Endpoint"]
    if endpoints:
        yield f"not counted: {_named(endpoints)}: an endpoint costs until it is deleted"


def _named(names: Sequence[str]) -> str:
    return ", ".join([*names[:_MOST_NAMED], *(["…"] if len(names) > _MOST_NAMED else [])])


def _notes(local: Any, file: SentPipeline, region: str | None) -> Iterator[str]:
    settings: Mapping[str, Any] = local if isinstance(local, dict) else {}
    for member, text in _HERE_ONLY.items():
        if settings.get(member):
            yield text.format(steps=_named([*settings["Steps"]]) if member == "Steps" else "")
    if settings.get("Cache") == "contents":
        yield "the service's cache does not look at what lies in S3, whatever Local.Cache says"
    places = {
        other: image
        for step in _made(file.definition, file.start)
        for _, image in step.images()
        if (other := region_in_ecr(image)) is not None and region is not None and other != region
    }
    for other in places:
        yield f"an image is in {other}, and the pipeline in {region}: the service pulls images of its own region"


# On the service.


def find(service: Service, name: str) -> dict[str, Any] | None:
    """The pipeline of this name; None if there is none."""
    try:
        return service.call("sagemaker", "DescribePipeline", PipelineName=name)
    except ServiceJobUnknownError:
        return None


def check_images(service: Service, plan: PipelinePlan) -> list[str]:
    """`ImageNotInEcrError` for an image that Amazon ECR does not have; sentences where that cannot be found out."""
    said = [check_image_named(service, image, named_by="in the definition") for image in plan.images()]
    return [*dict.fromkeys(each for each in said if each is not None)]


def is_same(plan: PipelinePlan, found: Mapping[str, Any]) -> bool:
    """True if the service has this pipeline already."""
    try:
        alike = json.loads(found[DEFINITION]) == json.loads(plan.request[DEFINITION])
    except (KeyError, ValueError, RecursionError):  # a person may write it in YAML
        alike = found.get(DEFINITION) == plan.request[DEFINITION]
    return alike and all(
        member not in plan.request or plan.request[member] == found.get(member) for member in _COMPARED
    )


def put(service: Service, plan: PipelinePlan, found: Mapping[str, Any] | None) -> str:
    """Make the pipeline, or change the one that is there; returns what was done."""
    if found is None:
        try:
            service.call("sagemaker", "CreatePipeline", **plan.request)
        except ServiceRefusedError as error:
            if not any("already exists" in each for each in error.details):
                raise  # otherwise it was made since
        else:
            return "created"
    done, tags = "unchanged", plan.request.get("Tags")
    if found is None or not is_same(plan, found):
        changes = {member: each for member, each in plan.request.items() if member != "Tags"}
        found, done = service.call("sagemaker", "UpdatePipeline", **changes), "updated"
    if tags:
        service.call("sagemaker", "AddTags", ResourceArn=found["PipelineArn"], Tags=tags)
    return done


def start(service: Service, plan: PipelinePlan) -> str:
    """Start an execution; returns its ARN."""
    return str(service.call("sagemaker", "StartPipelineExecution", **plan.start)[ARN])


def describe(service: Service, arn: str) -> dict[str, Any]:
    """The answer of DescribePipelineExecution."""
    return service.call("sagemaker", "DescribePipelineExecution", PipelineExecutionArn=arn)


def stop(service: Service, arn: str) -> None:
    """Ask the service to stop the execution, and the jobs of its steps."""
    try:
        service.call("sagemaker", "StopPipelineExecution", PipelineExecutionArn=arn)
    except ServiceRefusedError:
        if describe(service, arn)[STATUS] not in {*ENDED, "Stopping"}:
            raise  # otherwise it has ended by itself


class PipelineViewer(Viewer, Protocol):
    """The viewer of an execution that is followed."""

    def step_changed(self, step: str, status: str, seconds: float | None, detail: str) -> None:
        """A step has begun, without `seconds`, or has ended."""


_STEP_ENDED: Final = frozenset({"Succeeded", "Failed", "Stopped"})


class FollowedPipeline(Following):
    """One execution; `follow` may be called again after it was interrupted."""

    def __init__(self, service: Service, arn: str, viewer: PipelineViewer, *, pause: float = _PAUSE) -> None:
        """`pause`: the seconds between two looks."""
        super().__init__(service, arn, viewer, pause=pause)
        self._steps_viewer = viewer
        self._shown: dict[str, tuple[str, int]] = {}
        """By step: the status and the attempt that were shown last."""
        self._list_refused = False

    def _look(self) -> dict[str, Any] | None:
        answer = describe(self._service, self._name)
        steps = self._steps()
        for step in reversed(steps):  # the newest comes first
            self._show(step)
        if answer[STATUS] in ENDED:
            return answer
        self._viewer.working(answer[STATUS] if self._list_refused else _state(answer, steps))
        return None

    def _steps(self) -> list[dict[str, Any]]:
        if self._list_refused:
            return []
        try:
            pages = self._service.pages("sagemaker", "ListPipelineExecutionSteps", PipelineExecutionArn=self._name)
            return [step for page in pages for step in page["PipelineExecutionSteps"]]
        except ServiceForbiddenError as error:
            self._list_refused = True
            self._viewer.warning(f"steps cannot be shown: {error.sentence}")
            return []

    def _show(self, step: Mapping[str, Any]) -> None:
        name, status, attempt = step["StepName"], step["StepStatus"], step.get("AttemptCount") or 0
        before, tried = self._shown.get(name, ("", attempt))
        if status == "Starting" or (before, tried) == (status, attempt):
            return
        self._shown[name] = (status, attempt)
        if status in _STEP_ENDED:
            seconds = (step["EndTime"] - step["StartTime"]).total_seconds() if "EndTime" in step else 0.0
            said = (_made_by(step) if not before else "", _said_of_end(step))  # the name was shown when it began
            self._steps_viewer.step_changed(name, status, max(0.0, seconds), ": ".join(filter(None, said)))
        elif not before:
            self._steps_viewer.step_changed(name, status, None, _said_of_begin(step))
        elif attempt != tried:
            self._viewer.progress(f"{name} is tried again, attempt {attempt}: {_made_by(step)}".removesuffix(": "))
        else:
            answered = f", {_said_of_begin(step)}" if _token(step) else ""
            self._viewer.progress(f"{name}: {status}{answered}")


def _made_by(step: Mapping[str, Any]) -> str:
    """The name of the job, model or function of a step; empty if there is none yet."""
    metadata = step.get("Metadata") or {}
    arns = [each["Arn"] for each in metadata.values() if isinstance(each, Mapping) and each.get("Arn")]
    return str(arns[0]).partition("/")[2] or str(arns[0]) if arns else ""


def _token(step: Mapping[str, Any]) -> str:
    """Of a Callback that waits, also while it is stopped; empty for other steps."""
    return str(((step.get("Metadata") or {}).get("Callback") or {}).get("CallbackToken") or "")


def _said_of_begin(step: Mapping[str, Any]) -> str:
    token = _token(step)
    answered = f"aws sagemaker send-pipeline-execution-step-success --callback-token {token}"
    return f"waits for an answer:  {answered}" if token else _made_by(step)


def _said_of_end(step: Mapping[str, Any]) -> str:
    if step.get("FailureReason"):
        return str(step["FailureReason"])
    cached = (step.get("CacheHitResult") or {}).get(_SOURCE)
    reused = (step.get("SelectiveExecutionResult") or {}).get(_SOURCE)
    if cached or reused:
        return f"{'from the cache' if cached else 'result'}: {str(cached or reused).rpartition('/')[2]}"
    outcome = ((step.get("Metadata") or {}).get("Condition") or {}).get("Outcome")
    return str(outcome).lower() if outcome else ""


def _state(answer: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> str:
    """The execution in one line."""
    counts: dict[str, int] = {}
    for step in steps:
        counts[step["StepStatus"]] = counts.get(step["StepStatus"], 0) + 1
    said = ", ".join(f"{count} {status.lower()}" for status, count in counts.items())
    running = [step["StepName"] for step in steps if step["StepStatus"] not in _STEP_ENDED]
    return f"{answer[STATUS]}: {said or 'no step yet'}{f' ({_named(running)})' if running else ''}"
