"""From a valid pipeline to the plan of an execution. It also records executions that another process starts."""

import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from smlocal.data.sources.local_path import local_path
from smlocal.data.sources.s3.aws_session import profile_region
from smlocal.engine.engines import Engines
from smlocal.jobfile.document import recorded_document
from smlocal.jobfile.option import LOCAL
from smlocal.jobs.planning.model import IdentityPlan, Note, RecordedPlan
from smlocal.jobs.prepared import PreparedPlan
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.submission.scheduler import WaitingJob
from smlocal.jobs.view import Reporter
from smlocal.pipelines.earlier_runs import expected_answers, with_source
from smlocal.pipelines.job_file import EXECUTION, OUTPUT, START, STEPS, PipelineFile, file_of
from smlocal.pipelines.known_values import parameter_values
from smlocal.pipelines.outline import outline
from smlocal.sagemaker.contract import identity
from smlocal.sagemaker.pipelines.arguments import with_parameters
from smlocal.sagemaker.pipelines.definition import Definition
from smlocal.sagemaker.pipelines.expressions import JOIN, is_expression
from smlocal.sagemaker.pipelines.graph import own_arguments
from smlocal.sagemaker.pipelines.names import execution_arn
from smlocal.sagemaker.pipelines.reading import invalid_definition
from smlocal.sagemaker.pipelines.step_reading import says
from smlocal.sagemaker.pipelines.stored import OUTLINE
from smlocal.terms.validation.violation import Path, Violation, closest

KIND: Final = "sagemaker_pipeline"
_ROLES: Final = ("RoleArn", "ExecutionRoleArn")


def prepare(
    file: PipelineFile,
    *,
    name: str,
    home: str,
    engines: Engines,  # noqa: ARG001 - the same for all kinds; each job of a step looks for its own
    reporter: Reporter,  # noqa: ARG001 - as above
    strict: bool,  # noqa: ARG001 - as above
    run_id: str | None = None,
) -> PreparedPlan:
    """Check everything that can be checked before an execution is made. Mistakes are an error."""
    file = file_of(file.document, start=file.start, execution_id=file.execution_id, begins=True)
    with Store.open(home) as store:
        file = with_source(file, store, _identity(file).arn.partition("/execution/")[0])
    plan = _plan(file, name=name, home=home, run_id=run_id)
    return PreparedPlan(plan=plan, job=_record(file, plan.identity.region))


def plan_job(file: PipelineFile, *, name: str, home: str, engines: Engines, strict: bool) -> RecordedPlan:  # noqa: ARG001 - as above
    """Only the plan, with what the cache would say now."""
    arn = _identity(file).arn
    with Store.open(home) as store:
        file = with_source(file, store, arn.partition("/execution/")[0])
        plan = _plan(file, name=name, home=home, run_id=None)
        return replace(plan, details={OUTLINE: outline(file, cached=expected_answers(file, store, arn))})


def waiting_job(file: PipelineFile, name: str) -> WaitingJob:  # noqa: ARG001 - the same for all kinds
    """What is recorded of a valid execution. The jobs of its steps count, and it does not."""
    _check_stand_ins(file)
    place = _identity(file)
    return WaitingJob(
        platform=KIND, arn=place.arn, request=dict(file.start), job=_record(file, place.region), leads=True
    )


def retried_job(recorded: Mapping[str, Any], start: Mapping[str, Any]) -> WaitingJob:
    """What is recorded of an execution that goes on after its end. `recorded`: the file of its job before."""
    document, execution_id = recorded_document(recorded), recorded[EXECUTION]
    waiting = waiting_job(file_of(document, start=start, execution_id=execution_id, begins=True), "")
    output = {member: recorded[member] for member in (OUTPUT,) if member in recorded}  # not of this process's folder
    return replace(waiting, job={**waiting.job, **output})


def _plan(file: PipelineFile, *, name: str, home: str, run_id: str | None) -> RecordedPlan:
    _check_stand_ins(file)
    if absent := list(_absent_inputs(file)):
        raise invalid_definition(file.document, absent)
    return RecordedPlan(
        platform=KIND,
        name=name,
        run_id=run_id or os.urandom(4).hex(),
        job_directory=os.path.join(home, "jobs", name),
        request=dict(file.start),
        identity=_identity(file),
        notes=tuple(_notes(file)),
        details={OUTLINE: outline(file)},
    )


def _check_stand_ins(file: PipelineFile) -> None:
    absent = list(_absent(file))
    if absent:
        raise invalid_definition(file.document, absent)


def _absent(file: PipelineFile) -> Iterator[Violation]:
    """Stand-ins that this machine does not have."""
    for name, stand_in in file.definition.stand_ins.items():
        path = (LOCAL, STEPS, name)
        if stand_in.file and not os.path.isfile(os.path.join(file.document.directory, stand_in.file)):
            yield says((*path, "Python"), f"there is no file {stand_in.file}")
        if stand_in.command:
            program = stand_in.command[0]
            # `which` takes paths too, but as relative to the folder of this process.
            place = os.path.join(file.document.directory, program) if os.path.dirname(program) else program
            if shutil.which(place) is None:
                yield says((*path, "Command"), f"there is no program {program}")


def _absent_inputs(file: PipelineFile) -> Iterator[Violation]:
    """Local paths that steps read, that are not there, and that no earlier step can write."""
    definition = file.definition
    if any(each.command or each.file for each in definition.stand_ins.values()):
        return  # they may write anywhere
    chosen = file.start.get("SelectiveExecutionConfig")
    selected = [*definition.steps] if chosen is None else [each["StepName"] for each in chosen["SelectedSteps"]]
    values = parameter_values(file)
    read: list[tuple[str, Path]] = []
    written: list[str] = []
    for name, step in definition.steps.items():
        for path, value in _locations(with_parameters(own_arguments(step), values), (*step.path, "Arguments")):
            begin = _beginning(value)
            if begin is None or "://" in begin:
                continue
            if "S3Input" not in path and "S3DataSource" not in path:
                written.append(_place(begin, file))
            elif begin is value and name in selected and name not in definition.stand_ins:
                read.append((begin, path))
    for given, path in read:
        place = _place(given, file)
        if os.path.exists(place) or any(os.path.commonpath((place, each)) in (place, each) for each in written):
            continue
        parent = os.path.dirname(place)
        meant = closest(os.path.basename(place), os.listdir(parent)) if os.path.isdir(parent) else None
        hint = f"; did you mean {given.rstrip('/').removesuffix(os.path.basename(place))}{meant}?" if meant else ""
        yield says(path, f"{given} does not exist here{hint}")


def _place(given: str, file: PipelineFile) -> str:
    return os.path.abspath(local_path(given, file.document.directory, file.local.rights))


def _locations(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Members of arguments that say where data is."""
    if isinstance(value, dict) and not is_expression(value):
        for name, each in value.items():
            if name in {"S3Uri", "S3OutputPath"}:
                yield (*path, name), each
            else:
                yield from _locations(each, (*path, name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _locations(each, (*path, index))


def _beginning(value: Any) -> str | None:
    """Text, or what an expression is known to begin with."""
    if is_expression(value):
        given = value.get(JOIN)
        parts = given.get("Values") if isinstance(given, dict) else None
        value = parts[0] if isinstance(parts, list) and parts else None
    return value if isinstance(value, str) and value else None


def _record(file: PipelineFile, region: str) -> dict[str, Any]:
    """For another process: the document, with what depends on the environment of this one, and how it begins."""
    record = file.document.record()
    local = {**(record["Data"].get(LOCAL) or {}), "Region": region}
    return {
        **record,
        "Data": {**record["Data"], LOCAL: local},
        START: dict(file.start),
        EXECUTION: file.execution_id,
        OUTPUT: os.path.abspath("smlocal-output"),
    }


def _identity(file: PipelineFile) -> IdentityPlan:
    """With the ARN of the execution."""
    pipeline = file.start.get("PipelineArn")
    if pipeline is None:
        region = identity.region(stated=file.local.Region, environment=os.environ, profile=profile_region(), image=None)
        account = identity.account(role=_role(file.definition), image=None)
        pipeline = identity.resource_arn("pipeline", file.pipeline, region=region, account=account)
    _, _, _, region, account, _ = str(pipeline).split(":", 5)
    return IdentityPlan(arn=execution_arn(pipeline, file.execution_id), region=region, account=account)


def _role(definition: Definition) -> str | None:
    """The role of the pipeline, or of one of its steps: it says the account."""
    given = [definition.request, *(step.arguments for step in definition.steps.values())]
    found = (each.get(name) for each in given for name in _ROLES)
    return next((role for role in found if isinstance(role, str)), None)


def _notes(file: PipelineFile) -> Iterator[Note]:
    definition = file.definition
    for name, stand_in in definition.stand_ins.items():
        if name in definition.steps:
            yield Note(id="stand-in", text=f"{name}: {stand_in.spoken}, in place of the service's step")
    for step in definition.steps.values():
        if step.type.name == "Callback" and step.name not in definition.stand_ins:
            yield Note(id="callback", text=f"{step.name} waits until somebody answers it: smlocal describe shows how")
    where = "these machines" if file.local.SpreadOver else "this machine"
    yield Note(id="pipeline-parallel", text=f"steps that run at once share {where}, so each is slower than alone")
    if file.contents:
        yield Note(id="cache-contents", text="the cache also looks at what lies in folders; the service does not")
