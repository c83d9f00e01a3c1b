"""Look at the machine once, so that the plan can be made without looking again."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smlocal.contract import identity
from smlocal.contract.s3_uri import s3_form
from smlocal.engine.interface import Engine
from smlocal.errors import RegionNameError, RequestInvalidError
from smlocal.job.prepare.accelerators import check_accelerators, gpus_for, neuron_for
from smlocal.job.prepare.engine_access import check_folders, check_pipes, no_fuse
from smlocal.job.prepare.image import check_architecture, image_name, see_image
from smlocal.job.prepare.inputs import Inputs, see_inputs
from smlocal.job.prepare.machine import machine_facts
from smlocal.job.prepare.network_choice import check_host_count, see_place
from smlocal.job.prepare.output_folder import free_bytes, output_folder
from smlocal.job.prepare.reserved_files import with_reserved_files
from smlocal.job.reporter import Reporter
from smlocal.jobfile.document import Document
from smlocal.jobfile.job_file import JobFile, read_job
from smlocal.planning.build import build_plan
from smlocal.planning.facts import EngineFacts, Facts, GpuFacts, ImageFacts
from smlocal.planning.limits import wants_limits
from smlocal.planning.model import JobPlan
from smlocal.quick_dataclass import dataclass
from smlocal.sources.s3.aws_session import profile_region

if TYPE_CHECKING:
    from smlocal.job.credential_endpoint import CredentialEndpoint


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """What was looked at before the engine was asked for anything."""

    region: str
    account: str
    inputs: Inputs
    output: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A plan that can be executed, or the reason why the registry will not give its image."""

    plan: JobPlan
    job: Mapping[str, Any]
    """What was asked for, so that it can be planned again."""
    pull_refused: str | None = None
    credentials: "CredentialEndpoint | None" = None
    """Where the containers get credentials, which have been found; it is not open yet."""


def prepare(job: JobFile, *, name: str, home: str, engine: Engine, reporter: Reporter, strict: bool) -> Prepared:
    """Everything that must be right before a job is made; what is wrong is told by an error of `errors`."""
    check_host_count(job, most=job.local.MaxHosts)
    seen = _see(job, strict=strict)
    facts = engine.facts()
    check_folders(job, facts)
    check_pipes(job, facts)
    if _publishes(job, seen.inputs):
        from smlocal.job.finish.publish import check_publishing

        check_publishing(seen.region)
    gpus, neuron = gpus_for(job, engine, facts), neuron_for(job, facts)
    name_of_image = image_name(job)
    image, refused = see_image(engine, name_of_image, job.local.Pull, reporter)
    check_architecture(name_of_image, image, facts)
    if image is not None:
        check_accelerators(job, gpus, engine)
        if job.local.Ulimits:
            from smlocal.job.prepare.limits import check_engine_limits

            check_engine_limits(job, engine, name_of_image)
        image = with_reserved_files(image, engine, home)
    plan = _plan(job, seen, facts, image, engine, name=name, home=home, gpus=gpus, neuron=neuron, sweep=True)
    return Prepared(
        plan=plan,
        job={"Data": job.document.data, "File": job.document.name, "Directory": job.document.directory},
        pull_refused=refused,
        credentials=find_credentials(plan, engine),
    )


def find_credentials(plan: JobPlan, engine: Engine) -> "CredentialEndpoint | None":
    """Credentials for the containers, found."""
    if plan.credentials is None:
        return None
    from smlocal.job.credential_endpoint import CredentialEndpoint, check_engine

    check_engine(plan.engine)
    if plan.credentials.mode == "role" and not plan.credentials.role_arn:
        raise RequestInvalidError(
            "Local.Credentials is role, and the request has no RoleArn",
            remedy=["Set it: --role ARN, or RoleArn in the job file; or use --credentials inherit."],
        )
    credentials = CredentialEndpoint.of(plan, engine)
    if credentials is not None:
        credentials.find()
    return credentials


def plan_again(asked: Mapping[str, Any], old: JobPlan, *, home: str, engine: Engine) -> JobPlan:
    """The whole plan of a job that was recorded earlier: its inputs are listed as they are now."""
    document = Document(dict(asked["Data"]), name=asked["File"], directory=asked["Directory"])
    job = read_job(document, strict=False)
    image, machine = engine.image(old.image), old.machine
    if image is not None and old.image_facts is not None:
        image = replace(image, reserved_files=old.image_facts.reserved_files)
    seen, facts = _see(job, strict=False), engine.facts()
    plan = _plan(
        job,
        seen,
        facts,
        image,
        engine,
        name=old.name,
        home=home,
        gpus=machine.gpus,
        neuron=machine.neuron,
        run_id=old.run_id,
    )
    return replace(plan, output=old.output)


def look(job: JobFile, *, name: str, home: str, engine: Engine, strict: bool) -> JobPlan:
    """The plan alone: nothing is pulled, and a missing GPU or Neuron device does not prevent reading it."""
    check_host_count(job, most=None)
    seen = _see(job, strict=strict)
    facts = engine.facts()
    image = engine.image(image_name(job))
    check_architecture(image_name(job), image, facts)
    if image is not None:
        image = with_reserved_files(image, engine, home)
    gpus, neuron = gpus_for(job, engine, facts, must=False), neuron_for(job, facts, must=False)
    return _plan(job, seen, facts, image, engine, name=name, home=home, gpus=gpus, neuron=neuron)


def _publishes(job: JobFile, inputs: Inputs) -> bool:
    """Whether anything is to be written to S3."""
    request = job.request
    collectors = {
        "TensorBoardOutputConfig": request.TensorBoardOutputConfig,
        "DebugHookConfig": request.DebugHookConfig,
    }
    asked = [config.S3OutputPath for member, config in collectors.items() if config and member not in inputs.collectors]
    return job.local.Publish and (
        (inputs.checkpoints is not None and inputs.checkpoints.remote)
        or any(s3_form(uri).startswith("s3://") for uri in (request.OutputDataConfig.S3OutputPath, *asked))
    )


def _see(job: JobFile, *, strict: bool) -> _Seen:
    image = image_name(job)
    region = _region(job, image)
    return _Seen(
        region=region,
        account=identity.account(role=job.request.RoleArn, image=image),
        inputs=see_inputs(job, strict=strict, region=region),
        output=output_folder(job),
    )


def _region(job: JobFile, image: str) -> str:
    region = identity.region(stated=job.local.Region, environment=os.environ, profile=profile_region(), image=image)
    if identity.is_region_name(region):
        return region
    variables = ("AWS_REGION", "AWS_DEFAULT_REGION")
    source = next((each for each in variables if os.environ.get(each) == region), "the AWS profile in use")
    raise RegionNameError(
        f"{source} says '{region}', which is not a valid region",
        remedy=["Set AWS_REGION, for example to us-east-1, or Local.Region in the job file."],
    )


def _plan(
    job: JobFile,
    seen: _Seen,
    engine_facts: EngineFacts,
    image: ImageFacts | None,
    engine: Engine,
    *,
    name: str,
    home: str,
    gpus: GpuFacts,
    neuron: int | None,
    run_id: str | None = None,
    sweep: bool = False,
) -> JobPlan:
    inputs = seen.inputs
    run_id = run_id or os.urandom(4).hex()
    machine = replace(machine_facts(gpus, engine_facts), neuron=neuron)
    no_volume = None
    if wants_limits(job.local):
        from smlocal.job.prepare.limits import check_limits, see_limits, volume_trouble

        check_limits(job, machine)
        machine, no_volume = see_limits(machine, engine, home=home), volume_trouble(engine_facts)
    place = see_place(job, engine, engine_facts, run_id=run_id, sweep=sweep)
    facts = Facts(
        engine=engine_facts,
        machine=machine,
        no_volume=no_volume,
        image=image,
        listings=inputs.listings,
        file_systems=inputs.file_systems,
        sources=inputs.sources,
        no_fuse=no_fuse(job, inputs, engine_facts),
        code=inputs.code,
        checkpoints=inputs.checkpoints,
        collectors=inputs.collectors,
        output=seen.output,
        output_free=free_bytes(seen.output),
        region=seen.region,
        account=seen.account,
        run_id=run_id,
        job_directory=os.path.join(home, "jobs", name),
        subnet=place.subnet,
        gateway=place.gateway,
        loopback_only=place.loopback_only,
    )
    return build_plan(job, facts, name=name)
