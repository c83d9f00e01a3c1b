"""One `smlocal check`: from its options to the report."""

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, Self

import click

from smlocal.api.image_name import is_image_name
from smlocal.api.job_files import kind_of
from smlocal.api.job_source import read_any, read_document, read_file
from smlocal.api.overrides import Overrides
from smlocal.base.ci.reports import junit
from smlocal.base.ci.services import CiService, group_begin, group_end, harmless
from smlocal.base.quick_dataclass import dataclass
from smlocal.check.cannot_look import JOB_FILE_NEEDED
from smlocal.check.check_image import check_image
from smlocal.check.examine import Ignore, ignores_of
from smlocal.check.interface import CheckReport, Finding, Outcome, Rule, RuleResult, Severity
from smlocal.check.registry import chosen_rules
from smlocal.check.report_forms import check_annotations, check_document, check_suite, check_summary, sarif
from smlocal.check.serving.model import ServingSubject, model_image
from smlocal.check.subject import LaunchProfile, ProcessingCommand
from smlocal.cli.ci_messages import add_summary, annotate, annotated_errors, file_of_repository
from smlocal.cli.described_documents import use_described_request
from smlocal.cli.ended_by_signals import ended_by_signals
from smlocal.cli.image_build import folder_image
from smlocal.cli.job_file_here import JOB_FILE_ENDINGS
from smlocal.cli.request_body import read_body
from smlocal.cli.terminal.layout import width_of, wrapped
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.engine.engines import engines_named
from smlocal.engine.interface import Engine
from smlocal.errors import ImageMissingError, UsageRefusedError
from smlocal.errors.of_jobs import ModelMissingError
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_reading import AskedJob
from smlocal.jobs.finish.report_path import check_report_path, write_report
from smlocal.jobs.kinds import preparing
from smlocal.jobs.planning.aspects.engines.plan import engine_of_each
from smlocal.jobs.store.home import home_directory
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.sagemaker.kinds import ENDPOINT, PROCESSING

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
        left = chosen_rules(skip=skip, profiles=wanted) if static and not only else ()
        for line in (*not_tested(report, again, left), *not_counted(report, fail_on)):
            click.echo(printable(line), err=True)
    if service is not None:
        annotate_check(service, report, to_stderr=as_json)
    files.write(report, Severity(fail_on))
    return 1 if report.fails(Severity(fail_on)) else report.not_run


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
    """The named file, as a training job, a model or a processing job."""
    if not _is_job_file(subject):
        return None, None, None
    document = read_file(subject)

    def say(text: str) -> None:
        click.echo(f"! {printable(text)}", err=True)

    use_described_request(document, say, allow_local_paths=allow_local_paths)
    document = preparing(kind_of(document.data).name).checked(document, say)
    document.overrides = "command line"
    given, kind = Overrides(image=image), kind_of(document.data)
    if kind is ENDPOINT:
        from smlocal.api.endpoints import model_to_deploy  # most checks are about jobs

        return None, model_to_deploy(document, image=image, variables={}, name=None)[0].document, None
    if kind is PROCESSING:
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
        return engines_named(() if job is None else job.local.SpreadOver[:1]).first
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


@dataclass(frozen=True, kw_only=True, slots=True)
class ReportPaths:
    """Files that can be written; None for what was not asked for."""

    junit: str | None
    sarif: str | None

    @classmethod
    def checked(cls, *, junit: str | None, sarif: str | None, anchor: str) -> Self:
        """Raise an error now for what could not be written at the end. Findings are put at the file `anchor`."""
        if sarif is not None and not file_of_repository(anchor or None):
            missing = f"{anchor} is not in it" if anchor else "name the Dockerfile with --dockerfile"
            raise click.UsageError(f"--sarif: each finding needs a file of the repository; {missing}.")
        paths = [os.path.abspath(path) for path in (junit, sarif) if path is not None]
        for path in paths:
            check_report_path(path)
        if len(set(paths)) < len(paths):
            raise click.UsageError("--junit and --sarif name the same file.")
        return cls(junit=junit, sarif=sarif)

    def write(self, report: CheckReport, fail_on: Severity) -> None:
        """Write each of them, completely or not at all."""
        if self.junit is not None:
            write_report(self.junit, junit([check_suite(report, fail_on)]))
        if self.sarif is not None:
            from importlib.metadata import version  # takes 10 ms

            write_report(self.sarif, sarif(report, version=version("smlocal"), place=file_of_repository))


def show_in_group(service: CiService, title: str, show: Callable[[], None]) -> None:
    """Show a text in a part of the log that can be folded, and keep the service from obeying what is in it."""
    with redirect_stdout(StringIO()) as shown:
        show()
    for line in (
        group_begin(service, title, time.time()),
        harmless(shown.getvalue()).removesuffix("\n"),
        group_end(service, title, time.time()),
    ):
        click.echo(line, color=True)  # GitLab's lines are made of escapes, which click removes


def annotate_check(service: CiService, report: CheckReport, *, to_stderr: bool) -> None:
    """Each finding at its line, and the whole check on the page of the run."""
    annotate(service, check_annotations(report, file_of_repository), None if to_stderr else sys.stdout)
    add_summary(service, check_summary(report))


_MARKS = {"error": "✗", "warning": "!", "info": "·"}
_SKIPPED = "?"
_INDENT = 2
_MOST_NAMED = 4
"""Rules in a command, or in the last line."""


def show_check(report: CheckReport, again: str = "smlocal check …") -> None:
    """Show what was found, what was skipped, and how it ended; `again`: the command for another look."""
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


def not_tested(report: CheckReport, again: str, left: Iterable[Rule] = ()) -> Iterator[str]:
    """Lines about rules that were not tested. `left`: the rules left out, some because they run a job."""
    ids = [result.rule.id for result in report.results if result.test]
    if ids:
        yield f"not tested: {', '.join(ids) if len(ids) <= _MOST_NAMED else f'{len(ids)} rules'} (how to test: above)"
    left = [rule for rule in left if rule.runs_jobs]
    if any(not rule.probes for rule in left):
        yield f"not tested, because it needs a job: SIGTERM, a missing model and others. To test them: {again}"
    elif left:
        yield f"not tested, because it needs an endpoint: the answer to /ping and others. To test them: {again}"


def not_counted(report: CheckReport, fail_on: str) -> Iterator[str]:
    """Why the exit code is 0 although something was found, or what it is although nothing was."""
    if report.not_run and not report.fails(Severity(fail_on)):
        yield f"exit code {report.not_run}: nothing was run, for the reason above"
    elif not report.fails(Severity(fail_on)) and report.fails(Severity.WARNING):
        yield "exit code 0: warnings do not count; they do with --fail-on warning"


def _skipped(report: CheckReport) -> dict[str, list[RuleResult]]:
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


def _details(lines: Iterable[str], name: int) -> None:
    for line in lines:
        text = line.lstrip()
        _more(text, name + len(line) - len(text))


def _where(finding: Finding) -> str:
    places = [f"{finding.file}:{finding.line}" if finding.line else finding.file, finding.job, finding.host]
    return ", ".join(place for place in places if place)


def _conclusion(report: CheckReport) -> str:
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
