"""One `smlocal reproduce`: a job of the service, run here, and how both ended."""

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from smlocal.api.job_source import read_any
from smlocal.api.overrides import apply_defaults
from smlocal.cli.commands.run import run_job
from smlocal.cli.image_build import with_built_image
from smlocal.cli.job_of_service import job_of_service, names_file
from smlocal.cli.job_options import overrides_and_defaults, said
from smlocal.cli.same_command import same_command
from smlocal.cli.terminal.layout import width_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.errors import MachineNotReadyError, SourceEmptyError, SourceUnmappedError
from smlocal.jobfile.document import Document
from smlocal.jobs.supervision import Result
from smlocal.sagemaker.kinds import PROCESSING, TRAINING
from smlocal.service.described_job import read_answer
from smlocal.service.described_request import described as described_request
from smlocal.service.described_request import fetch
from smlocal.service.job_end import LogEnd
from smlocal.service.job_kind import kind_of, refuse_to_reproduce
from smlocal.service.last_lines import saved_log, service_log
from smlocal.service.reproduction import (
    AnyDescribed,
    Reproduction,
    check_ended,
    document_for,
    reproduction,
    reproduction_document,
)
from smlocal.service.service import Service
from smlocal.service.unavailable_here import Unavailable, lines_about, unavailable_here

if TYPE_CHECKING:
    from smlocal.jobfile.job_reading import AskedJob

from smlocal.cli.terminal.layout import row, shortened
from smlocal.cli.terminal.printable import without_colours
from smlocal.service.job_end import JobEnd, comparable_line

_HEAD = 15
_COLUMN = 32
"""Of the left end, if both fit in one line."""
_LINES = 10
_LONGEST_LINE = 400
_NONE = "none"


def reproduction_lines(found: Reproduction, *, width: int | None) -> Iterator[str]:
    """The whole screen, with the sentence at its end."""
    there, here = found.there, found.here
    yield from _pair("", "there", "here", width)
    yield from _pair("Job", there.name, here.name, width)
    yield from _pair("Status", _status(there), _status(here), width)
    yield from _pair("FailureReason", there.reason or _NONE, here.reason or _NONE, width)
    if there.message or here.message:
        yield from _pair("ExitMessage", there.message or _NONE, here.message or _NONE, width)
    yield from _pair("Exit code", _code(there), _code(here), width)
    yield from _pair("Phases", _phases(there), _phases(here), width)
    for name in dict.fromkeys((*there.metrics, *here.metrics)):
        yield from _pair(f"Metric {name}", _value(there, name), _value(here, name), width)
    yield from _logs(found, width)
    if found.explanations:
        yield "What may explain it"
    for each in found.explanations:
        helps = each.option or (f"leave out {each.without}" if each.without else "")
        yield from row("  ", printable(f"{each.text}{f': {helps}' if helps else ''}"), width=width)
    yield ""
    yield from row("", printable(found.verdict.sentence), width=width)


def _pair(head: str, there: str, here: str, width: int | None) -> Iterator[str]:
    """In one line if there is room, else below each other."""
    there, here = printable(there), printable(here)
    head = f"{shortened(printable(head), 2 * _HEAD):<{_HEAD}} "
    line = f"{head}{there:<{_COLUMN}} {here}"
    if "\n" not in there + here and len(there) <= _COLUMN and (width is None or len(line) <= width):
        yield line.rstrip()
        return
    yield from row(f"{head}there ", there, width=width)
    yield from row(f"{'':<{_HEAD}} here  ", "the same" if there == here else here, width=width)


def _status(end: JobEnd) -> str:
    return end.status if end.secondary in {end.status, ""} else f"{end.status} ({end.secondary})"


def _code(end: JobEnd) -> str:
    return "not known" if end.exit_code is None else str(end.exit_code)


def _phases(end: JobEnd) -> str:
    timed = (f"{each.status} {each.seconds:.1f} s" for each in end.phases if each.seconds and each.status != end.status)
    return " · ".join(timed) or "not known"


def _value(end: JobEnd, name: str) -> str:
    return f"{end.metrics[name]:.6g}" if name in end.metrics else _NONE


def _logs(found: Reproduction, width: int | None) -> Iterator[str]:
    """One block if both end alike."""
    names, host = (found.there.name, found.here.name), found.here.host
    there, here = ([*end.log.of(host)][-_LINES:] for end in (found.there, found.here))
    alike = [comparable_line(line, names=names) for line in there] == [
        comparable_line(line, names=names) for line in here
    ]
    if there and alike:
        yield from _block("Last lines of the log, the same there and here", there, width)
        return
    for place, end, lines in (("there", found.there, there), ("here", found.here, here)):
        if lines:
            yield from _block(f"Last lines of the log {place}", lines, width)
        else:
            yield from row(f"{f'Log {place}':<{_HEAD}} ", printable(end.log.missing or "empty"), width=width)


def _block(head: str, lines: Sequence[str], width: int | None) -> Iterator[str]:
    yield head
    for line in lines:
        text = printable(without_colours(line))
        yield f"  {shortened(text, _LONGEST_LINE if width is None else max(20, width - 2))}"


_NOT_REPRODUCED = 1
_DOWNLOAD_FAILED = "Data download failed"
"""In the reason of a job whose data could not be had: an empty folder may stand for it."""
_AS_RUN: dict[str, Any] = {"report": None, "junit": None, "detach": False, "replace": False, "verbose": False}
"""Options of `run` that this command does not have."""


def reproduce(
    *,
    job: str,
    chosen: str | None,
    logs: str | None,
    sample: int | None,
    profile: str | None,
    region: str | None,
    **given: Any,
) -> int:
    """Run the job here as the options say, and compare; returns the exit code."""
    file = job if names_file(job) else None
    described, remarks = _described(job, chosen=chosen, profile=profile, region=region)
    check_ended(described, file=file)
    saved = _saved(logs, job=described.name)
    document = document_for(
        described, directory=_folder(file), sample=sample, allow_local_paths=given["allow_local_paths"]
    )
    document.empty_source_fails = _DOWNLOAD_FAILED in str((described.answer or {}).get("FailureReason"))
    if profile is not None:
        use_profile(profile)

    def read() -> "tuple[AskedJob, str]":
        say = said(given)
        overrides, defaults = overrides_and_defaults(with_built_image(given, image_needed=False))
        if defaults is not None:
            apply_defaults(document, defaults, origin="configuration file")
        found = read_any(document, overrides, path=None, fill_in=False, strict=given["strict"], on_message=say)
        for note in (*(remarks if file is None else ()), *_notes(described, found[0])):
            say(note)
        return found

    def conclude(result: Result) -> int:
        def log_there(host: str) -> LogEnd:
            return saved or _log_there(described, host, file=file, profile=profile, region=region)

        found = reproduction(described, document.data, dict(result.answer), log_there)
        comparable = not chosen and kind_of(described.request) is TRAINING
        compared_with = (file or f"service:{described.name}") if comparable or file == "-" else None
        follows = _next(found, compared_with=compared_with)
        _show(replace(found, next=follows), as_json=given["as_json"], quiet=given["quiet"])
        return 0 if found.verdict.reproduced else _NOT_REPRODUCED

    try:
        return run_job(read, {**given, **_AS_RUN}, ci=None, title="reproduce", file=None, conclude=conclude)
    except (MachineNotReadyError, SourceUnmappedError, SourceEmptyError) as error:
        words = _once(each.words for each in missing_here(document))
        empty = isinstance(error, SourceEmptyError) and "--source" not in words  # a folder that was given has no files
        if words and file != "-" and not empty:
            error.command = same_command(words)
        raise


def use_profile(profile: str) -> None:
    """Have the run read S3 and ECR with the profile that --profile names: keys in the environment would count more."""
    for name in ("AWS_DEFAULT_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        os.environ.pop(name, None)
    os.environ["AWS_PROFILE"] = profile


def _saved(path: str | None, *, job: str) -> LogEnd | None:
    if path is None:
        return None
    return saved_log(path, job=job)


def _folder(file: str | None) -> str:
    """Where relative paths in the request start."""
    return os.getcwd() if file in {None, "-"} else os.path.dirname(os.path.abspath(str(file)))


def _described(
    job: str, *, chosen: str | None, profile: str | None, region: str | None
) -> tuple[AnyDescribed, Sequence[str]]:
    """The job of the service, and remarks about it."""
    document = read_answer(job) if names_file(job) else None
    if document is not None and PROCESSING.describes(document.data):
        return described_request(PROCESSING, document.data), ()
    if document is None and f":{PROCESSING.in_commands}/" in job:
        return fetch(PROCESSING, job, profile=profile, region=region)
    found = job_of_service(
        job, chosen=chosen, profile=profile, region=region, refuse=refuse_to_reproduce, read=document
    )
    return found.job, found.notes


def _notes(found: AnyDescribed, job: "AskedJob") -> Iterator[str]:
    """What to know before the run: what is left out, and what cannot be had here."""
    if found.newer:
        yield f"left out, because this version of smlocal does not know it: {', '.join(found.newer)}"
    if found.status == "Stopped" and (found.answer or {}).get("SecondaryStatus") == "Stopped":
        yield f"{found.name} was stopped by a call; nothing stops the run here"
    # The plan says itself where the toolkit's code would come from.
    yield from lines_about(each for each in missing_here(job.document) if each.path[0] != "HyperParameters")


def missing_here(document: Document) -> list[Unavailable]:
    """What the run may lack, with what options and the job file have already settled."""
    request = {name: value for name, value in document.data.items() if name != "Local"}
    return unavailable_here(request, document.data.get("Local") or {})


def _log_there(job: AnyDescribed, host: str, *, file: str | None, profile: str | None, region: str | None) -> LogEnd:
    if file is not None:
        return LogEnd(lines={}, missing="not known: give a saved log with --logs, or the name of the job, not a file")
    service = Service(profile=profile, region=job.region or region, kind=kind_of(job.request))
    try:
        return service_log(service, job.name, host=host)
    finally:
        service.close()


def _next(found: Reproduction, *, compared_with: str | None) -> str:
    """The command that goes on from here. `compared_with`: how `smlocal compare` is told which job it was."""
    words = _once(each.words for each in found.explanations)
    without = [each.without for each in found.explanations if each.without]
    if (words or without) and compared_with != "-":
        return same_command(words, without=without)
    name = found.here.name
    if found.verdict.reproduced and found.here.status == "Failed":
        return f"smlocal rerun {name}"
    if compared_with in {None, "-"}:
        return f"smlocal describe {name}"
    return shlex.join(["smlocal", "compare", name, str(compared_with)])


def _once(options: Iterable[tuple[str, ...]]) -> list[str]:
    """The words of several options, each option once."""
    return [word for each in dict.fromkeys(options) for word in each]


def _show(found: Reproduction, *, as_json: bool, quiet: bool) -> None:
    """Print both ends, and what follows."""
    if as_json:
        click.echo(json_without_commands(json.dumps(reproduction_document(found), indent=2)))
        return
    for line in reproduction_lines(found, width=width_of(sys.stdout)):
        click.echo(line)
    if not quiet:
        click.echo(f"  {'next':<9} {printable(found.next or '')}", err=True)  # in one line, to be pasted
