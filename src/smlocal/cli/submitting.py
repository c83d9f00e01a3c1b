"""Run a job file on the service: the request, what is to be uploaded, the question, and the job until it ends."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from smlocal.api.job_source import default_job_name, made_of_inputs, override
from smlocal.api.kinds_of_files import refuse_to_submit
from smlocal.api.overrides import apply_overrides
from smlocal.base.at_use import at_use
from smlocal.base.readable import readable_bytes
from smlocal.cli.ended_by_signals import ended_by_signals
from smlocal.cli.job_options import asked_document, said
from smlocal.cli.job_there import NOT_CONFIRMED, JobThere, ServiceView, confirmed, region_if_known, run_there
from smlocal.cli.screen_options import screen_of
from smlocal.cli.terminal.printable import json_without_commands, printable
from smlocal.jobfile.document import Document
from smlocal.jobfile.yaml_text import yaml_text
from smlocal.jobs.finish.report_path import usable_report
from smlocal.sagemaker.contract.model.processing import CreateProcessingJobRequest
from smlocal.sagemaker.contract.model.tuning import CreateHyperParameterTuningJobRequest
from smlocal.sagemaker.jobfile.local_paths import refuse_local_paths
from smlocal.sagemaker.kinds import PIPELINE, PROCESSING, TUNING, request_reading
from smlocal.service import submission as training_submission
from smlocal.service import tuning_submission
from smlocal.service.job_kind import cli_command, kind_of
from smlocal.service.service import Service
from smlocal.service.submit_checks import cost_of
from smlocal.service.submit_plan import SubmitOptions, complete_processing, plan_submit
from smlocal.service.uploads import look, open_bucket, send

if TYPE_CHECKING:
    from smlocal.api.overrides import Overrides
    from smlocal.cli.submitting_pipelines import submit_pipeline
    from smlocal.cli.terminal.screen import Screen
    from smlocal.service.submit_plan import SubmitPlan
    from smlocal.service.uploads import ToSend
else:
    submit_pipeline = at_use("smlocal.cli.submitting_pipelines", "submit_pipeline")


def job_there(service: "Service", name: str, screen: "Screen", make: Callable[[], None]) -> JobThere:
    """The job of this name, which `make` creates."""
    followed = training_submission.Followed(service, name, ServiceView(screen))

    def hints(answer: Mapping[str, Any]) -> list[str]:
        texts = {host: tail.decode(errors="replace") for host, tail in followed.tails.items()}
        return [*training_submission.failure_hints(answer.get("FailureReason", ""), texts)]

    described = f"{cli_command(service.kind, 'describe', name)}{service.cli_options}"
    log = f"aws logs tail {service.kind.log_group} --log-stream-name-prefix {name}/ --follow"
    return JobThere(
        name=name,
        make=make,
        follow=followed.follow,
        stop=lambda: training_submission.stop(service, name),
        stopping="SIGTERM, and up to 120 s to save work",
        status_member=service.kind.status_member,
        described_by=described,
        runs_on=(
            f"{name} runs on.",
            f"  its state   {described}",
            f"  its log     {log}{service.cli_options}",
            f"  stop it     {cli_command(service.kind, 'stop', name)}{service.cli_options}",
        ),
        hints=hints,
    )


def tuning_job_there(service: "Service", name: str, screen: "Screen", make: Callable[[], None]) -> JobThere:
    """The tuning job of this name, which `make` creates."""
    named = f"--hyper-parameter-tuning-job-name {name}{service.cli_options}"
    described = f"aws sagemaker describe-hyper-parameter-tuning-job {named}"
    log = f"aws logs tail /aws/sagemaker/TrainingJobs --log-stream-name-prefix {name}- --follow"
    return JobThere(
        name=name,
        make=make,
        follow=tuning_submission.FollowedTuning(service, name, ServiceView(screen)).follow,
        stop=lambda: tuning_submission.stop(service, name),
        stopping="SIGTERM for training jobs, and up to 120 s to save",
        status_member=tuning_submission.STATUS,
        described_by=described,
        runs_on=(
            f"{name} runs on.",
            f"  its state   {described}",
            f"  its logs    {log}{service.cli_options}",
            f"  stop it     aws sagemaker stop-hyper-parameter-tuning-job {named}",
        ),
    )


_MOST_FILES = 10


def submit(given: dict[str, Any]) -> int:
    """Do what the options of the command say; returns its exit code."""
    report = usable_report(given["report"])
    document, overrides = asked_document(given)
    refuse_to_submit(document)
    if PIPELINE.describes(document.data):
        return submit_pipeline(document, overrides, given, report)
    with tempfile.TemporaryDirectory(prefix="smlocal-submit-") as scratch:
        _complete(document, overrides, given)
        local = document.data.get("Local")
        own = local.get("Region") if isinstance(local, dict) else None
        service = Service(
            profile=given["profile"],
            region=given["region"] or (own if isinstance(own, str) else None),
            kind=kind_of(document.data),
        )
        screen = screen_of(given)
        try:
            with ended_by_signals():
                plan = _plan(document, given, service, screen, scratch)
                for note in plan.notes:
                    screen.warning(note)
                if given["dry_run"]:
                    screen.finish()
                    _print_plan(plan, given, region_if_known(service))
                    return 0
                if not _ready(plan, given, service, screen):
                    return NOT_CONFIRMED
            name = _name(plan)
            there = tuning_job_there if TUNING.describes(plan.request) else job_there
            job = there(service, name, screen, lambda: _create(plan, service, screen))
            code = run_there(
                job, screen, ask=not given["yes"], wait=given["wait"], as_json=given["as_json"], report=report
            )
        except BaseException:
            screen.finish()
            raise
    if code is None:
        screen.finish()
        _print_started(service, plan, name, as_json=given["as_json"])
    return code or 0


def _complete(document: "Document", overrides: "Overrides", given: dict[str, Any]) -> None:
    """Change the job file by everything that overrides it, and give it a name."""
    made_of_inputs(document, overrides)
    if kind_of(document.data) is PROCESSING:
        _complete_processing(document, overrides, given)
        return
    if TUNING.describes(document.data):
        _complete_tuning(document, overrides, given)
        return
    if given["output_to"] is not None:
        document.set(("OutputDataConfig", "S3OutputPath"), given["output_to"])
    override(document, overrides, fill_in=given["job"] is None, on_message=said(given))
    if not document.has(("TrainingJobName",)):
        path = given["job"] if given["job"] not in (None, "-") else None
        specification = document.data.get("AlgorithmSpecification")
        image = specification.get("TrainingImage") if isinstance(specification, dict) else None
        document.data["TrainingJobName"] = default_job_name(path, image if isinstance(image, str) else None)
    if document.elsewhere is not None:
        refuse_local_paths(document)


def _complete_processing(document: "Document", overrides: "Overrides", given: dict[str, Any]) -> None:
    """The same for a processing job; outputs that go to this machine go below --output-to."""
    apply_overrides(document, overrides)
    if not document.has(("ProcessingJobName",)):
        path = given["job"] if given["job"] not in (None, "-") else None
        document.data["ProcessingJobName"] = default_job_name(path, PROCESSING.reads.image_in(document.data))
    refuse_local_paths(document, CreateProcessingJobRequest)
    complete_processing(document, output_to=given["output_to"])


def _complete_tuning(document: "Document", overrides: "Overrides", given: dict[str, Any]) -> None:
    """The file of a tuning job. --role and --output-to hold for all its training jobs."""
    role = overrides.get("role")
    others: Overrides = {**overrides, "role": None}
    apply_overrides(document, others)
    if role or given["role"]:
        tuning_submission.set_in_definitions(document, ("RoleArn",), role or given["role"], fill_in=not role)
    if given["output_to"] is not None:
        tuning_submission.set_in_definitions(document, ("OutputDataConfig", "S3OutputPath"), given["output_to"])
    if not document.has((tuning_submission.NAME,)):
        stem = os.path.splitext(os.path.basename(given["job"]))[0] if given["job"] != "-" else "tuning"
        document.data[tuning_submission.NAME] = request_reading(TUNING).new_name(stem, datetime.now().astimezone())
    refuse_local_paths(document, CreateHyperParameterTuningJobRequest)


def _plan(
    document: "Document", given: dict[str, Any], service: "Service", screen: "Screen", scratch: str
) -> "SubmitPlan":
    """The validated request with its uploads. Reads all local data; nothing is sent."""
    options = SubmitOptions(
        upload_to=given["upload_to"],
        upload_sources=given["upload_sources"],
        code_given=given["code"] is not None,
        region=region_if_known(service),
        scratch=scratch,
    )
    make = tuning_submission.plan_tuning if TUNING.describes(document.data) else plan_submit
    return make(
        document,
        options,
        read=lambda done, total: screen.working(f"reading: {readable_bytes(done)} of {readable_bytes(total)}"),
    )


def _ready(plan: "SubmitPlan", given: dict[str, Any], service: "Service", screen: "Screen") -> bool:
    """Check, ask and upload; False if the answer was no."""
    submission = tuning_submission if TUNING.describes(plan.request) else training_submission
    submission.check_name(service, _name(plan))
    unknown = submission.check_image(service, plan.request)
    if unknown is not None:
        screen.progress(unknown)
    store = open_bucket(service.region, given["profile"]) if plan.uploads else None
    left = look(store, plan.uploads) if store is not None else None
    if left is not None and left.note:
        screen.warning(left.note)
    if not _confirmed(plan, left, given, service, screen):
        return False
    if store is not None and left is not None:
        if left.pending:
            with _said_if_ended(screen, "ended while uploading: no job was made. The same command sends the rest"):
                send(store, left.pending, screen.working)
        store.close()
        screen.progress(_uploaded(left))
    return True


def _create(plan: "SubmitPlan", service: "Service", screen: "Screen") -> None:
    """Create the job."""
    name = _name(plan)
    if TUNING.describes(plan.request):
        tuning_submission.create(service, plan.request)
        about = printable(tuning_submission.about(plan.request))
        screen.headline(name, f"{about} · {service.region}", hosts=["algo-1"])
        return
    training_submission.create(service, plan.request)
    count, kind, hosts = _hosts(plan.request)
    image = service.kind.reads.image_in(plan.request) or "no image"
    screen.headline(
        name, f"{printable(image)} · {count} × {kind} · {service.region}", hosts=hosts, member=service.kind.name_member
    )


def _name(plan: "SubmitPlan") -> str:
    return str(plan.request.get("HyperParameterTuningJobName") or plan.request[kind_of(plan.request).name_member])


@contextmanager
def _said_if_ended(screen: "Screen", sentence: str) -> Iterator[None]:
    """Say this if a signal ends the block."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        screen.warning(sentence)
        raise


def _hosts(request: dict[str, Any]) -> tuple[int, str, list[str]]:
    cost = cost_of(request)
    if cost is None:
        return 1, "no instances", ["algo-1"]
    count = sum(number for number, _ in cost.instances)
    return count, ", ".join(kind for _, kind in cost.instances), [f"algo-{index + 1}" for index in range(count)]


def _files(count: int) -> str:
    return f"{count:,} file{'s' if count != 1 else ''}"


def _uploaded(left: "ToSend") -> str:
    there = f"; {left.there:,} were there" if left.there else ""
    if not left.pending:
        return f"nothing to upload: {_files(left.there)} in S3 already"
    return f"uploaded {_files(len(left.pending))}, {readable_bytes(left.bytes)}{there}"


def _confirmed(
    plan: "SubmitPlan", left: "ToSend | None", given: dict[str, Any], service: "Service", screen: "Screen"
) -> bool:
    """Show what the job may take, and ask."""
    lines = _guard_lines(plan)
    if left is not None:
        size = f"{_files(len(left.pending))}, {readable_bytes(left.bytes)}" if left.pending else "nothing"
        there = f"; {_files(left.there)} in S3 already" if left.there else ""
        lines = [f"to upload: {size}{there}", *lines]
    return confirmed(lines, given, service, screen, nothing="Nothing was uploaded, and no job was made.")


def _guard_lines(plan: "SubmitPlan") -> list[str]:
    if TUNING.describes(plan.request):
        return tuning_submission.guard_lines(plan.request)
    cost = cost_of(plan.request)
    if cost is None:
        return ["the request names no instances: the service chooses what the job takes"]
    lines = [f"may take: {cost.sentence}"]
    if not cost.stated:
        lines.append("the request has no MaxRuntimeInSeconds, so the service's default counts (--max-run)")
    if cost.spot:
        lines.append("on spot instances, which cost less")
    return lines


def _print_plan(plan: "SubmitPlan", given: dict[str, Any], region: str | None) -> None:
    """The request on stdout, as the AWS CLI reads it; the rest on stderr."""
    uploads = [
        {
            "What": upload.subject,
            "From": upload.shown,
            "To": upload.prefix,
            "Files": [{"Path": file.path, "Bytes": file.size} for file in upload.files],
        }
        for upload in plan.uploads
    ]
    if given["as_json"]:
        document = {"Request": plan.request, "Uploads": uploads, "Guard": _guard_lines(plan), "Notes": plan.notes}
        click.echo(json_without_commands(json.dumps(document, indent=2)))
        return
    click.echo(yaml_text(plan.request), nl=False)
    for upload in plan.uploads:
        click.echo(
            f"upload   {upload.subject}: {_files(len(upload.files))}, {readable_bytes(upload.bytes)}, "
            f"from {printable(upload.shown)} to {upload.prefix}",
            err=True,
        )
        for file in upload.files[:_MOST_FILES]:
            click.echo(f"  {readable_bytes(file.size):>9}  {printable(file.path)}", err=True)
        if len(upload.files) > _MOST_FILES:
            click.echo(f"  and {len(upload.files) - _MOST_FILES:,} more (--json shows all)", err=True)
    for line in _guard_lines(plan):
        click.echo(line, err=True)
    where = "".join(
        [f" --region {region}" if region else "", f" --profile {given['profile']}" if given["profile"] else ""]
    )
    click.echo("by hand, once the files are there and the request is in request.yaml:", err=True)
    made = TUNING if TUNING.describes(plan.request) else kind_of(plan.request)
    click.echo(f"  aws sagemaker create-{made.in_commands} --cli-input-yaml file://request.yaml{where}", err=True)


def _print_started(service: "Service", plan: "SubmitPlan", name: str, *, as_json: bool) -> None:
    if not as_json:
        click.echo(name)
        return

    answer = tuning_submission.describe(service, name) if TUNING.describes(plan.request) else service.describe(name)
    click.echo(json_without_commands(json.dumps(training_submission.answer_document(answer), indent=2)))
    sys.stdout.flush()
