"""Run a pipeline on the service: made or updated there, started with its parameters, and followed step by step."""

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from smlocal.api.overrides import Overrides, apply_overrides
from smlocal.cli.ended_by_signals import ended_by_signals
from smlocal.cli.job_there import NOT_CONFIRMED, JobThere, ServiceView, confirmed, region_if_known, run_there
from smlocal.cli.screen_options import screen_of
from smlocal.cli.terminal.printable import json_without_commands
from smlocal.errors import SmlocalError, UsageRefusedError
from smlocal.jobfile.document import Document
from smlocal.jobfile.option import LOCAL
from smlocal.jobfile.yaml_text import yaml_text
from smlocal.sagemaker.kinds import PIPELINE
from smlocal.service import pipeline_submission
from smlocal.service.pipeline_submission import PipelinePlan
from smlocal.service.service import Service
from smlocal.service.submission import answer_document

if TYPE_CHECKING:
    from smlocal.cli.terminal.screen import Screen

_REFUSED: Mapping[str, tuple[str, str]] = {
    "output_to": ("--output-to", "its steps say where their outputs go, maybe with a parameter"),
    "upload_to": ("--upload-to", "nothing is uploaded for it"),
    "upload_sources": ("--upload-sources", "nothing is uploaded for it"),
    "code": ("--code", "its steps say where their code is"),
}
"""By keyword: options of other kinds, and why a pipeline has no use for them."""


def submit_pipeline(document: Document, overrides: Overrides, given: dict[str, Any], report: str | None) -> int:
    """Do what the options of the command say; returns its exit code."""
    _refuse_options(document)
    role = overrides.get("role")
    apply_overrides(document, {**overrides, "role": None})
    local = document.data.get(LOCAL)
    own = local.get("Region") if isinstance(local, dict) else None
    service = Service(
        profile=given["profile"], region=given["region"] or (own if isinstance(own, str) else None), kind=PIPELINE
    )
    screen = screen_of(given)
    try:
        with ended_by_signals():
            plan = pipeline_submission.plan_pipeline(
                document,
                name=overrides.get("name"),
                role=role or (None if "RoleArn" in document.data else given["role"]),
                region=region_if_known(service),
            )
            for note in plan.notes:
                screen.warning(note)
            if given["dry_run"]:
                screen.finish()
                _print_plan(plan, given, region_if_known(service))
                return 0
            found = pipeline_submission.find(service, plan.name)
            for unknown in pipeline_submission.check_images(service, plan):
                screen.progress(unknown)
            lines = [_upserted(plan, found), *plan.guard]
            if not confirmed(lines, given, service, screen, nothing="Nothing was changed or started."):
                return NOT_CONFIRMED
        there = _Execution(service, plan, found, screen)
        code = run_there(
            there.job(), screen, ask=not given["yes"], wait=given["wait"], as_json=given["as_json"], report=report
        )
    except BaseException:
        screen.finish()
        raise
    if code is None:
        screen.finish()
        _print_started(service, there.arn, as_json=given["as_json"])
    return code or 0


def _refuse_options(document: Document) -> None:
    """The configuration file may have them for other kinds."""
    context = click.get_current_context()
    for keyword, (option, why) in _REFUSED.items():
        if context.get_parameter_source(keyword) in {ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT}:
            raise UsageRefusedError(
                f"{document.name} is a pipeline, which does not take {option}: {why}", remedy=["Leave it out."]
            )


def _upserted(plan: PipelinePlan, found: Mapping[str, Any] | None) -> str:
    if found is None:
        return f"pipeline {plan.name}: it is created"
    if pipeline_submission.is_same(plan, found):
        return f"pipeline {plan.name}: the service has it, and it stays as it is"
    return f"pipeline {plan.name}: the service has one of this name, which is replaced (UpdatePipeline)"


class _Execution:
    """The execution, once it was started."""

    def __init__(self, service: Service, plan: PipelinePlan, found: Mapping[str, Any] | None, screen: "Screen") -> None:
        self._service, self._plan, self._found, self._screen = service, plan, found, screen
        self.arn = ""
        self._followed: pipeline_submission.FollowedPipeline | None = None
        self._runs_on: list[str] = []

    def job(self) -> JobThere:
        """What runs there."""
        name, options = self._plan.name, self._service.cli_options
        return JobThere(
            name=name,
            make=self._make,
            follow=self._follow,
            stop=lambda: pipeline_submission.stop(self._service, self.arn),
            stopping="SIGTERM for the jobs of its steps, and up to 120 s to save",
            status_member=pipeline_submission.STATUS,
            described_by=f"aws sagemaker list-pipeline-executions --pipeline-name {name}{options}",
            runs_on=self._runs_on,
        )

    def _make(self) -> None:
        service, plan = self._service, self._plan
        done = pipeline_submission.put(service, plan, self._found)
        try:
            self.arn = pipeline_submission.start(service, plan)
        except SmlocalError as error:
            error.remedy = (*error.remedy, f"The pipeline {plan.name} itself is {done}.")
            raise
        named = f"--pipeline-execution-arn {self.arn}{service.cli_options}"
        self._runs_on += [
            f"{plan.name} runs on.",
            f"  its state   aws sagemaker describe-pipeline-execution {named}",
            f"  its steps   aws sagemaker list-pipeline-execution-steps {named}",
            f"  stop it     aws sagemaker stop-pipeline-execution {named}",
        ]
        steps = len(plan.definition.steps)
        about = f"{done} · {steps:,} step{'s' * (steps != 1)} · {service.region}"
        self._screen.headline(plan.name, about, hosts=[], member=pipeline_submission.NAME)
        self._screen.progress(f"execution {self.arn}")
        self._followed = pipeline_submission.FollowedPipeline(service, self.arn, _StepView(self._screen))

    def _follow(self, interrupted: Callable[[], bool]) -> dict[str, Any] | None:
        assert self._followed is not None  # noqa: S101 - for mypy: nothing is followed that was not made
        return self._followed.follow(interrupted)


class _StepView(ServiceView):
    """Shows steps, too."""

    def __init__(self, screen: "Screen") -> None:
        """`screen`: of the command."""
        super().__init__(screen)
        self.step_changed = screen.step_changed


def _print_plan(plan: PipelinePlan, given: dict[str, Any], region: str | None) -> None:
    """The request on stdout, as the AWS CLI reads it; the rest on stderr."""
    if given["as_json"]:
        document = {
            "Request": plan.request,
            "Start": plan.start,
            "Uploads": [],
            "Guard": plan.guard,
            "Notes": plan.notes,
        }
        click.echo(json_without_commands(json.dumps(document, indent=2)))
        return
    click.echo(yaml_text(plan.request), nl=False)
    for line in plan.guard:
        click.echo(line, err=True)
    where = "".join(
        [f" --region {region}" if region else "", f" --profile {given['profile']}" if given["profile"] else ""]
    )
    click.echo(
        "by hand, with the request in request.yaml (update-pipeline if the service has one of its name):", err=True
    )
    click.echo(f"  aws sagemaker create-pipeline --cli-input-yaml file://request.yaml{where}", err=True)
    begin = "".join(
        f" --{option} {shlex.quote(json.dumps(plan.start[member]))}"
        for member, option in (
            ("PipelineParameters", "pipeline-parameters"),
            ("SelectiveExecutionConfig", "selective-execution-config"),
        )
        if plan.start.get(member)
    )
    click.echo(f"  aws sagemaker start-pipeline-execution --pipeline-name {plan.name}{begin}{where}", err=True)


def _print_started(service: Service, arn: str, *, as_json: bool) -> None:
    if not as_json:
        click.echo(arn)
        return
    answer = answer_document(pipeline_submission.describe(service, arn))
    click.echo(json_without_commands(json.dumps(answer, indent=2)))
    sys.stdout.flush()
