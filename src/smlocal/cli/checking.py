"""One `smlocal check`: from its options to the report."""

import json
import os
import shlex
from typing import Any

import click

from smlocal.api.image_name import is_image_name
from smlocal.api.job_source import read_any, read_document, read_file
from smlocal.api.overrides import Overrides
from smlocal.base.ci.services import CiService
from smlocal.check.check_image import check_image
from smlocal.check.examine import Ignore, ignores_of
from smlocal.check.interface import Severity
from smlocal.check.report_forms import check_document
from smlocal.check.serving.model import ServingSubject, model_image
from smlocal.check.subject import LaunchProfile, ProcessingCommand
from smlocal.cli.check_for_ci import ReportPaths, annotate_check, show_in_group
from smlocal.cli.ci_messages import annotated_errors
from smlocal.cli.described_documents import use_described_request
from smlocal.cli.ended_by_signals import ended_by_signals
from smlocal.cli.image_build import folder_image
from smlocal.cli.job_argument import JOB_FILE_ENDINGS
from smlocal.cli.request_body import read_body
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.cli.views.check_report import not_counted, not_tested, show_check
from smlocal.engine.engines import engines_named
from smlocal.engine.interface import Engine
from smlocal.errors import ImageMissingError, UsageRefusedError
from smlocal.errors.hosting import ModelMissingError
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_reading import AskedJob
from smlocal.jobs.planning.aspects.engines.plan import engine_of_each
from smlocal.jobs.store.home import home_directory
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.kinds import PROCESSING

_FIRST_HOST = "algo-1"


def check(*, subject: str, service: CiService | None, **given: Any) -> int:
    """Check what `subject` names as the options say; returns the exit code."""
    with ended_by_signals(), annotated_errors(service, subject if _is_job_file(subject) else given["dockerfile"]):
        if given["image"] is not None and not _is_job_file(subject):
            raise click.UsageError("--image takes the place of the image of a job file; name one, or only the image.")
        if given["train_and_serve"] and given["model"] is not None:
            raise click.UsageError("--model is served in place of what --train-and-serve trains; give one of them.")
        if not given["content_type"].isascii() or not given["content_type"].isprintable():
            raise click.UsageError("--content-type: only printable ASCII characters are possible.")
        _refuse_unbuilt(subject)
        return _check(subject=subject, service=service, **given)


def _check(
    *,
    subject: str,
    image: str | None,
    static: bool,
    timeout: int,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    profiles: tuple[str, ...],
    train_and_serve: bool,
    model: str | None,
    body: str | None,
    content_type: str,
    fail_on: str,
    ignores: tuple[str, ...],
    dockerfile: str | None,
    as_json: bool,
    junit: str | None,
    sarif: str | None,
    allow_local_paths: bool,
    service: CiService | None,
) -> int:
    accepted = tuple(_ignore(text) for text in ignores)
    files = ReportPaths.checked(
        junit=junit, sarif=sarif, anchor=dockerfile or (subject if _is_job_file(subject) else "")
    )

    job, model_file, processing = _files(subject, image, allow_local_paths=allow_local_paths)
    name = _image(job) if job is not None else model_image(model_file) if model_file is not None else subject
    if processing is not None:
        name = PROCESSING.reads.image_in(processing.document.data) or ""
        accepted = (*accepted, *ignores_of(processing))
    serving = ServingSubject(
        image=name,
        document=model_file,
        model=_there(model),
        local=(job.document.data.get("Local") or {}) if job is not None else {},
        body=None if body is None else read_body(body),
        content_type=content_type,
    )
    wanted = {LaunchProfile(each) for each in profiles}
    wanted |= {LaunchProfile.TRAIN_AND_SERVE} if train_and_serve else set()
    wanted |= {LaunchProfile.PROCESSING} if processing is not None else set()
    wanted |= {LaunchProfile.SERVE} if model_file is not None or model is not None else set()
    try:
        report = check_image(
            name,
            _engine(job),
            home=home_directory(),
            job=job,
            only=only,
            skip=skip,
            profiles=list(wanted),
            serving=serving,
            processing=_command_of(processing) if processing is not None else None,
            static=static,
            ignores=accepted,
            dockerfile=dockerfile or "",
            timeout=timeout,
            said=lambda text: click.echo(printable(text), err=True),
        )
    except ImageMissingError as error:
        if job is None and model_file is None and os.path.isdir(subject):
            raise _unbuilt(subject, subject) from error
        raise
    if as_json:
        click.echo(json_without_commands(json.dumps(check_document(report, Severity(fail_on)), indent=2)))
    else:
        again = _words_again(
            subject, image, profiles, model if model is not None else "", train_and_serve=train_and_serve
        )
        if service is None:
            show_check(report, again)
        else:
            show_in_group(service, f"smlocal check {report.image}", lambda: show_check(report, again))
        for line in (*not_tested(report, again, static=static and not only), *not_counted(report, fail_on)):
            click.echo(printable(line), err=True)
    if service is not None:
        annotate_check(service, report, to_stderr=as_json)
    files.write(report, Severity(fail_on))
    return 1 if report.fails(Severity(fail_on)) else 0


def _refuse_unbuilt(subject: str) -> None:
    """Refuse a folder or a Dockerfile. The name of a folder may also be that of an image, which is then meant."""
    name = os.path.basename(subject)
    if os.path.isdir(subject):
        if is_image_name(subject):
            return
        folder = subject
    elif os.path.isfile(subject) and (name.startswith("Dockerfile") or name.lower().endswith(".dockerfile")):
        folder = os.path.dirname(subject) or "."
    else:
        return
    raise _unbuilt(subject, folder)


def _unbuilt(subject: str, folder: str) -> UsageRefusedError:
    file = "" if subject == folder or os.path.basename(subject) == "Dockerfile" else f"-f {shlex.quote(subject)} "
    image = folder_image(folder)
    return UsageRefusedError(
        f"check takes an image or a job file, and {subject} is a {'folder' if subject == folder else 'Dockerfile'}",
        remedy=[f"Build it first: docker build -t {image} {file}{shlex.quote(folder)}", f"smlocal check {image}"],
    )


def _is_job_file(subject: str) -> bool:
    """True if there is a file of this name, or if it is called like one."""
    return os.path.isfile(subject) or subject.endswith(JOB_FILE_ENDINGS)


def _files(
    subject: str, image: str | None, *, allow_local_paths: bool
) -> tuple[JobFile | None, Document | None, AskedJob | None]:
    """The file that is named: that of a training job, of a model, or of a processing job."""
    if not _is_job_file(subject):
        return None, None, None
    document = read_file(subject)
    if not {"AlgorithmSpecification", "TransformInput"} & document.data.keys() and (
        {"PrimaryContainer", "Containers"} & document.data.keys()
    ):
        from smlocal.api.endpoints import model_to_deploy  # most checks are about jobs

        return None, model_to_deploy(subject, image=image, variables={}, name=None)[0].document, None
    use_described_request(
        document, lambda text: click.echo(f"! {printable(text)}", err=True), allow_local_paths=allow_local_paths
    )
    document.overrides = "command line"
    given = Overrides(image=image)
    if PROCESSING.describes(document.data):
        job, _ = read_any(document, given, path=subject, fill_in=False, strict=False)
        return None, None, job
    return read_document(document, given, path=subject, fill_in=False, strict=False)[0], None, None


def _command_of(job: AskedJob) -> ProcessingCommand:
    given = job.document.data["AppSpecification"]
    entrypoint, arguments = given.get("ContainerEntrypoint"), given.get("ContainerArguments")
    return ProcessingCommand(
        file=job.document.name,
        entrypoint=tuple(entrypoint) if entrypoint else None,
        arguments=tuple(arguments) if arguments else None,
    )


def _there(model: str | None) -> str:
    if model is not None and not os.path.exists(model):
        raise ModelMissingError(f"the model does not exist: {model}", remedy=["Correct the path after --model."])
    return model or ""


def _engine(job: JobFile | None) -> Engine:
    """The engine of the first host, whose container is looked at."""
    if job is None or not job.local.Engines:
        return engines_named(()).first
    return engines_named(engine_of_each([_FIRST_HOST], job.local.Engines, job.local.Placement).values()).first


def _image(job: JobFile) -> str:
    specification = job.request.AlgorithmSpecification
    return (specification.TrainingImage if specification is not None else None) or ""


def _ignore(text: str) -> Ignore:
    rule, equals, reason = text.partition("=")
    if not equals or not rule.strip() or not reason.strip():
        raise click.UsageError(f"--ignore {text}: write ID=REASON; an ignore needs a reason.")
    return Ignore(id=rule.strip(), reason=reason.strip())


def _words_again(
    subject: str, image: str | None, profiles: tuple[str, ...], model: str = "", *, train_and_serve: bool = False
) -> str:
    """The command for another look, to which rules can be added."""
    more = [
        *(["--train-and-serve"] if train_and_serve else []),
        *(["--model", model] if model else []),
        *(["--image", image] if image is not None else []),
        *(word for each in profiles for word in ("--for", each)),
    ]
    return shlex.join(["smlocal", "check", subject, *more])
