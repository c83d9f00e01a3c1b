"""`smlocal check`: check a training image before anybody pays for it."""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

import click

from smlocal.api.image_name import is_image_name
from smlocal.api.overrides import Overrides
from smlocal.base.ci.services import CiService
from smlocal.check import DEFAULT_TIMEOUT, LONGEST_TIMEOUT
from smlocal.check.cannot_look import JOB_FILE_NEEDED
from smlocal.cli.ci_messages import (
    ReportPaths,
    annotate_check,
    annotated_errors,
    chosen_service,
    ci_option,
    show_in_group,
)
from smlocal.cli.described_documents import allow_local_paths_option, use_described_request
from smlocal.cli.ended_by_signals import ended_by_signals
from smlocal.cli.image_build import folder_image
from smlocal.cli.job_argument import JOB_FILE_ENDINGS
from smlocal.cli.job_file_here import job_file_here
from smlocal.cli.request_body import read_body
from smlocal.cli.shown_help import shown_command, shown_option
from smlocal.cli.terminal.layout import width_of, wrapped
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.engine.interface import Engine
from smlocal.errors import ImageMissingError, UsageRefusedError
from smlocal.errors.hosting import ModelMissingError
from smlocal.jobfile.option import Head
from smlocal.jobs.store.home import home_directory
from smlocal.sagemaker.processing.facts import is_processing

if TYPE_CHECKING:
    from smlocal.check.examine import Ignore
    from smlocal.check.interface import CheckReport, Finding, RuleResult
    from smlocal.check.subject import ProcessingCommand
    from smlocal.jobfile.document import Document
    from smlocal.sagemaker.jobfile.job_file import JobFile
    from smlocal.sagemaker.processing.job_file import ProcessingFile

_MARKS = {"error": "✗", "warning": "!", "info": "·"}
_SKIPPED = "?"
_INDENT = 2
_PROFILES = (
    *("serve", "processing", "model-trainer", "model-trainer=mpi"),
    *("remote-function", "toolkit", "toolkit-mpi", "smddp"),
)
_LEVELS = ("error", "warning", "info")
_FIRST_HOST = "algo-1"
_MOST_NAMED = 4
"""Rules in a command, or in the last line."""


def _rule_ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """For the completion of a shell."""
    del context
    from smlocal.check.registry import RULES

    end = "=" if parameter.name == "ignores" else ""
    return [rule + end for name in RULES if (rule := name.replace("_", "-")).startswith(incomplete)]


@shown_command(
    "check",
    examples=(
        ("smlocal check my-image", "Check an image, with short jobs."),
        ("smlocal check my-image --static --fail-on warning", "Start no container; warnings count."),
        (
            "smlocal check job.yaml --train-and-serve --body request.csv",
            "Check training, serve the model, ask once.",
        ),
    ),
)
@click.argument("subject", required=False, metavar="[IMAGE/JOB/MODEL]")
@shown_option(
    "--image", metavar="IMAGE", help="Image to check in place of the one in the job file.", head=Head.CHECK, common=True
)
@shown_option("--static", is_flag=True, help="Look at the image only; do not run jobs.", head=Head.CHECK, common=True)
@shown_option(
    "--timeout",
    type=click.IntRange(1, LONGEST_TIMEOUT),
    default=DEFAULT_TIMEOUT,
    metavar="SECONDS",
    help=f"Stop each job of the check after this time. Default: {DEFAULT_TIMEOUT}.",
    head=Head.CHECK,
)
@shown_option(
    "--only",
    metavar="ID",
    multiple=True,
    shell_complete=_rule_ids,
    help="Check only this rule; repeatable.",
    head=Head.CHECK,
    common=True,
)
@shown_option(
    "--skip",
    metavar="ID",
    multiple=True,
    shell_complete=_rule_ids,
    help="Skip this rule; repeatable.",
    head=Head.CHECK,
    common=True,
)
@shown_option(
    "--for",
    "profiles",
    type=click.Choice(_PROFILES),
    multiple=True,
    help="serve, processing: check the image as an endpoint, or for processing jobs, in place of training. Others: "
    "check that it has what this launcher needs. Repeatable.",
    head=Head.CHECK,
    common=True,
)
@shown_option(
    "--train-and-serve",
    is_flag=True,
    help="Check training, then serve the model that the job has left, and ask once.",
    head=Head.CHECK,
    common=True,
)
@shown_option(
    "--model",
    type=click.Path(readable=False),
    metavar="PATH",
    help="Archive or folder that the endpoint of the check serves. Default: none.",
    head=Head.CHECK,
)
@shown_option(
    "--body",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Request that the endpoint is asked once. Default: a line of numbers.",
    head=Head.CHECK,
)
@shown_option(
    "--content-type",
    metavar="TYPE",
    help="Type of the request. Default: text/csv.",
    head=Head.CHECK,
    default="text/csv",
)
@shown_option(
    "--fail-on",
    type=click.Choice(_LEVELS),
    default="error",
    help="Exit with 1 for findings of this severity or worse. Default: error.",
    head=Head.CHECK,
    common=True,
)
@shown_option(
    "--ignore",
    "ignores",
    metavar="ID=REASON",
    multiple=True,
    shell_complete=_rule_ids,
    help="Accept the findings of a rule; repeatable.",
    head=Head.CHECK,
)
@shown_option(
    "--dockerfile",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Dockerfile of the image; findings then name its lines.",
    head=Head.RESULT,
    common=True,
)
@shown_option("--json", "as_json", is_flag=True, help="Print one JSON document.", head=Head.RESULT, common=True)
@shown_option(
    "--junit",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Write the results to FILE as JUnit XML, one case for each rule.",
    head=Head.RESULT,
)
@shown_option(
    "--sarif",
    type=click.Path(readable=False),
    metavar="FILE",
    help="Write the findings to FILE as SARIF, for code scanning.",
    head=Head.RESULT,
)
@allow_local_paths_option
@ci_option
def command(*, subject: str | None, ci: str | None, **given: Any) -> int:
    """Check an image and report every problem.

    IMAGE is a local image. JOB is a job file: its image, or that of --image, is checked for this job; for a processing
    job, no job is run. MODEL is a model file, as for deploy: its image is checked as an endpoint. Default: the only one
    of job.yaml, job.yml and job.json in this folder.

    Exits with 0 if no finding reaches --fail-on, and with 1 otherwise.
    """
    subject = job_file_here("Give an image or a job file.") if subject is None else subject
    service = chosen_service(ci)
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
    service: "CiService | None",
) -> int:
    accepted = tuple(_ignore(text) for text in ignores)
    files = ReportPaths.checked(
        junit=junit, sarif=sarif, anchor=dockerfile or (subject if _is_job_file(subject) else "")
    )

    from smlocal.check.check_image import check_image
    from smlocal.check.examine import ignores_of
    from smlocal.check.interface import Severity
    from smlocal.check.serving.model import ServingSubject, model_image
    from smlocal.check.subject import LaunchProfile

    job, model_file, processing = _files(subject, image, allow_local_paths=allow_local_paths)
    name = _image(job) if job is not None else model_image(model_file) if model_file is not None else subject
    if processing is not None:
        name = processing.image
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
        from smlocal.check.report_forms import check_document

        click.echo(json_without_commands(json.dumps(check_document(report, Severity(fail_on)), indent=2)))
    else:
        again = _words_again(
            subject, image, profiles, model if model is not None else "", train_and_serve=train_and_serve
        )
        if service is None:
            _show(report, again)
        else:
            show_in_group(service, f"smlocal check {report.image}", lambda: _show(report, again))
        for line in (*_not_tested(report, again, static=static and not only), *_not_counted(report, fail_on)):
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


def _unbuilt(subject: str, folder: str) -> "UsageRefusedError":

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
) -> "tuple[JobFile | None, Document | None, ProcessingFile | None]":
    """The file that is named: that of a training job, of a model, or of a processing job."""
    if not _is_job_file(subject):
        return None, None, None
    from smlocal.api.job_source import read_any, read_document, read_file

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
    if is_processing(document.data):
        job, _ = read_any(document, given, path=subject, fill_in=False, strict=False)
        return None, None, cast("ProcessingFile", job)
    return read_document(document, given, path=subject, fill_in=False, strict=False)[0], None, None


def _command_of(job: "ProcessingFile") -> "ProcessingCommand":
    from smlocal.check.subject import ProcessingCommand

    given = job.request.AppSpecification
    entrypoint, arguments = given.ContainerEntrypoint, given.ContainerArguments
    return ProcessingCommand(
        file=job.document.name,
        entrypoint=tuple(entrypoint) if entrypoint else None,
        arguments=tuple(arguments) if arguments else None,
    )


def _there(model: str | None) -> str:
    if model is not None and not os.path.exists(model):
        raise ModelMissingError(f"the model does not exist: {model}", remedy=["Correct the path after --model."])
    return model or ""


def _engine(job: "JobFile | None") -> "Engine":
    """The engine of the first host, whose container is looked at."""
    from smlocal.engine.engines import engines_named
    from smlocal.jobs.planning.aspects.engines.plan import engine_of_each

    if job is None or not job.local.Engines:
        return engines_named(()).first
    return engines_named(engine_of_each([_FIRST_HOST], job.local.Engines, job.local.Placement).values()).first


def _image(job: "JobFile") -> str:
    specification = job.request.AlgorithmSpecification
    return (specification.TrainingImage if specification is not None else None) or ""


def _ignore(text: str) -> "Ignore":
    rule, equals, reason = text.partition("=")
    if not equals or not rule.strip() or not reason.strip():
        raise click.UsageError(f"--ignore {text}: write ID=REASON; an ignore needs a reason.")
    from smlocal.check.examine import Ignore

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


def _show(report: "CheckReport", again: str = "smlocal check …") -> None:

    name = max((len(result.rule.id) for result in report.results), default=0)
    told = ""
    for result in report.results:
        for finding in result.findings:
            _line(_MARKS[result.severity], result.rule.id, finding.message, name, where=_where(finding))
            _details(finding.details, name)
            told = "\n".join((told, finding.message, *finding.details))
        if result.findings:
            _more(result.remedy, name)
        for ignored in result.ignored:
            _line("-", result.rule.id, f"ignored ({ignored.reason}): {ignored.finding.message}", name)
    for reason, results in _skipped(report).items():
        ids = [each.rule.id for each in results]
        _line(_SKIPPED, ids[0] if len(ids) == 1 else f"{len(ids)} rules", f"skipped: {reason}", name)
        if len(ids) > 1:
            _more(", ".join(ids), name)
        details = results[0].skipped_details
        if not all(line.strip() in told for line in details):  # the job whose end is the reason is often a finding
            _details(details, name)
        told = "\n".join((told, reason, *details))
        if test := results[0].test:
            command = "" if test == JOB_FILE_NEEDED else f", then: {_only(again, ids)}"
            _more(f"to test {'it' if len(ids) == 1 else 'them'}: {test}{command}", name)
    click.echo(_conclusion(report), err=True)


def _only(again: str, ids: list[str]) -> str:
    """The command for these rules; without them where they are many."""
    return again if len(ids) > _MOST_NAMED else " ".join([again, *(f"--only {each}" for each in ids)])


def _not_tested(report: "CheckReport", again: str, *, static: bool) -> "Iterator[str]":
    """What nobody should take for passed."""
    ids = [result.rule.id for result in report.results if result.test]
    if ids:
        yield f"not tested: {', '.join(ids) if len(ids) <= _MOST_NAMED else f'{len(ids)} rules'} (how to test: above)"
    if static:
        yield f"not tested: what only jobs show, such as SIGTERM and a missing model; to test it: {again}"


def _not_counted(report: "CheckReport", fail_on: str) -> "Iterator[str]":
    """Why the exit code is 0 although something was found."""
    from smlocal.check.interface import Severity

    if not report.fails(Severity(fail_on)) and report.fails(Severity.WARNING):
        yield "exit code 0: warnings do not count; they do with --fail-on warning"


def _skipped(report: "CheckReport") -> "dict[str, list[RuleResult]]":
    """The rules that were skipped, by the reason: a job that fails is the reason of a dozen."""
    found: dict[str, list[RuleResult]] = {}
    for result in report.results:
        if result.skipped:
            found.setdefault(result.skipped, []).append(result)
    return found


def _line(mark: str, rule: str, text: str, name: int, *, where: str = "") -> None:
    head = f"{mark} {rule:<{name}}  "
    width = width_of(sys.stdout)
    shown = printable(f"{text} ({where})" if where else text)
    click.echo(head + "\n".join(wrapped(" ".join(shown.split("\n")), indent=len(head), width=width)))


def _more(text: str, name: int) -> None:
    indent = name + _INDENT + 2
    click.echo(" " * indent + "\n".join(wrapped(printable(text), indent=indent, width=width_of(sys.stdout))))


def _details(lines: "Iterable[str]", name: int) -> None:
    for line in lines:
        text = line.lstrip()
        _more(text, name + len(line) - len(text))


def _where(finding: "Finding") -> str:
    places = [f"{finding.file}:{finding.line}" if finding.line else finding.file, finding.job, finding.host]
    return ", ".join(place for place in places if place)


def _conclusion(report: "CheckReport") -> str:
    from smlocal.check.interface import Outcome, Severity

    counts = []
    for severity in Severity:
        number = sum(len(each.findings) for each in report.results if each.severity is severity)
        if number:
            word = {"error": "error", "warning": "warning", "info": "note"}[severity]
            counts.append(f"{number} {word}{'s' * (number != 1)}")
    passed = sum(result.outcome is Outcome.PASSED for result in report.results)
    skipped = sum(result.outcome is Outcome.SKIPPED for result in report.results)
    ignored = sum(len(result.ignored) for result in report.results)
    counts.append(f"{passed} of {len(report.results)} rules passed")
    counts += [f"{skipped} skipped"] * bool(skipped) + [f"{ignored} ignored"] * bool(ignored)
    return printable(f"{report.image}: {', '.join(counts)}")
