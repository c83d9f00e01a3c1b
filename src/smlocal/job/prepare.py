"""Look at the machine once, so that the plan can be made without looking again."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from smlocal.contract import identity
from smlocal.contract.config_files import effective_mode
from smlocal.contract.document import Document
from smlocal.contract.job_file import JobFile, read_job
from smlocal.contract.s3_uri import s3_form
from smlocal.engine.interface import Engine
from smlocal.errors import (
    EngineRemoteError,
    ImageArchitectureError,
    ImageMissingError,
    ImagePullError,
    OutputUnusableError,
    PipeUnreachableError,
    RequestInvalidError,
)
from smlocal.job.inputs import Inputs, see_inputs
from smlocal.job.machine import machine_facts
from smlocal.job.place import check_host_count, see_place
from smlocal.job.reporter import Reporter
from smlocal.plan.build import build_plan, hosts_of
from smlocal.plan.facts import EngineFacts, Facts, GpuFacts, ImageFacts
from smlocal.plan.gpus import wants_gpus
from smlocal.plan.limits import wants_limits
from smlocal.plan.model import JobPlan
from smlocal.quick_dataclass import dataclass
from smlocal.sources.local_path import local_path
from smlocal.sources.mapping import is_remote

if TYPE_CHECKING:
    from smlocal.job.credentials import Desk

Pull = Literal["missing", "always", "never"]
DEFAULT_OUTPUT = "./smlocal-output"


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
    desk: "Desk | None" = None
    """Where the containers get credentials, which have been found; it is not open yet."""


def prepare(job: JobFile, *, name: str, home: str, engine: Engine, reporter: Reporter, strict: bool) -> Prepared:
    """Everything that must be right before a job is made; what is wrong is told by an error of `errors`."""
    check_host_count(job, most=job.local.MaxHosts)
    seen = _see(job, strict=strict)
    facts = engine.facts()
    _check_reach(job, facts)
    _check_pipes(job, facts)
    if _publishes(job, seen.inputs):
        from smlocal.job.publish import check_publishing

        check_publishing(seen.region)
    gpus = _gpus(job, engine, facts)
    image_name = _image_name(job)
    image, refused = _image(engine, image_name, job.local.Pull, reporter)
    _check_architecture(image_name, image, facts)
    if image is not None:
        _check_gpus(job, gpus, engine)
        if job.local.Ulimits:
            from smlocal.job.limits import check_engine_limits

            check_engine_limits(job, engine, image_name)
    plan = _plan(job, seen, facts, image, engine, name=name, home=home, gpus=gpus, sweep=True)
    return Prepared(
        plan=plan,
        job={"Data": job.document.data, "File": job.document.name, "Directory": job.document.directory},
        pull_refused=refused,
        desk=_desk(plan, engine),
    )


def _desk(plan: JobPlan, engine: Engine) -> "Desk | None":
    """Credentials for the containers, found."""
    if plan.credentials is None:
        return None
    from smlocal.job.credentials import Desk, check_engine

    check_engine(plan.engine)
    if plan.credentials.mode == "role" and not plan.credentials.role_arn:
        raise RequestInvalidError(
            "Local.Credentials is role, and the request has no RoleArn",
            remedy=["Name it: --role ARN, or RoleArn in the job file; or use --credentials inherit."],
        )
    desk = Desk.of(plan, engine)
    if desk is not None:
        desk.find()
    return desk


def plan_again(asked: Mapping[str, Any], old: JobPlan, *, home: str, engine: Engine) -> JobPlan:
    """The whole plan of a job that was recorded earlier: its inputs are listed as they are now."""
    document = Document(dict(asked["Data"]), name=asked["File"], directory=asked["Directory"])
    job = read_job(document, strict=False)
    image, gpus = engine.image(old.image), old.machine.gpus
    seen, facts = _see(job, strict=False), engine.facts()
    plan = _plan(job, seen, facts, image, engine, name=old.name, home=home, gpus=gpus, run_id=old.run_id)
    return replace(plan, output=old.output)


def look(job: JobFile, *, name: str, home: str, engine: Engine, strict: bool) -> JobPlan:
    """The plan alone: nothing is pulled, and a missing GPU is no obstacle to reading it."""
    check_host_count(job, most=None)
    seen = _see(job, strict=strict)
    facts = engine.facts()
    image = engine.image(_image_name(job))
    _check_architecture(_image_name(job), image, facts)
    return _plan(job, seen, facts, image, engine, name=name, home=home, gpus=_gpus(job, engine, facts, must=False))


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


def _check_reach(job: JobFile, engine: EngineFacts) -> None:
    """A folder that the container writes in must be one that its engine can mount."""
    mounted = [
        c.ChannelName for c in job.request.InputDataConfig or () if c.DataSource.FileSystemDataSource is not None
    ]
    if mounted and not engine.local:
        raise EngineRemoteError(
            f'channel "{mounted[0]}": the engine at {engine.address} runs elsewhere and cannot mount a folder of this '
            "machine as a file system",
            remedy=["Use an engine of this machine: docker context use default, or unset DOCKER_HOST."],
        )


def _see(job: JobFile, *, strict: bool) -> _Seen:
    image = _image_name(job)
    region = identity.region(stated=job.local.Region, environment=os.environ, profile=_profile_region(), image=image)
    return _Seen(
        region=region,
        account=identity.account(role=job.request.RoleArn, image=image),
        inputs=see_inputs(job, strict=strict, region=region),
        output=_output(job),
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
    run_id: str | None = None,
    sweep: bool = False,
) -> JobPlan:
    inputs = seen.inputs
    run_id = run_id or os.urandom(4).hex()
    machine = machine_facts(gpus, engine_facts)
    no_volume = None
    if wants_limits(job.local):
        from smlocal.job.limits import check_limits, see_limits, volume_trouble

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
        no_fuse=_no_fuse(job, inputs, engine_facts),
        code=inputs.code,
        checkpoints=inputs.checkpoints,
        collectors=inputs.collectors,
        output=seen.output,
        region=seen.region,
        account=seen.account,
        run_id=run_id,
        job_directory=os.path.join(home, "jobs", name),
        subnet=place.subnet,
        gateway=place.gateway,
        loopback_only=place.loopback_only,
    )
    return build_plan(job, facts, name=name)


def _gpus(job: JobFile, engine: Engine, facts: EngineFacts, *, must: bool = True) -> GpuFacts:
    """The GPUs that are here; only for a job that asks for some, and those that it `must` have are counted."""
    resources = job.request.ResourceConfig
    if resources is None or not wants_gpus(hosts := hosts_of(resources), job.local):
        return GpuFacts()
    from smlocal.job.gpus import check_count, check_driver, see_gpus

    gpus = see_gpus(engine, facts)
    if must:
        check_count(hosts, job.local, gpus)
        if engine.image(_image_name(job)) is None:
            check_driver(hosts, job.local, gpus, facts, _image_name(job))
    return gpus


def _check_gpus(job: JobFile, gpus: GpuFacts, engine: Engine) -> None:
    """A GPU request never silently becomes a CPU run: ask the engine before anything is staged."""
    resources = job.request.ResourceConfig
    if resources is None or not wants_gpus(hosts := hosts_of(resources), job.local):
        return
    from smlocal.job.gpus import check_engine

    check_engine(hosts, job.local, gpus, engine, _image_name(job))


def _check_pipes(job: JobFile, engine: EngineFacts) -> None:
    """A FIFO joins two processes of one kernel, and the containers of some engines have another."""
    pipes = [c.ChannelName for c in job.request.InputDataConfig or () if effective_mode(c, job.request) == "Pipe"]
    if not pipes or (engine.local and not engine.desktop):
        return
    raise PipeUnreachableError(
        f'channel "{pipes[0]}": a FIFO of this machine cannot reach containers of the engine at {engine.address}, '
        "which runs in a machine of its own",
        remedy=["Use an engine of this machine, or File or FastFile mode: InputMode: FastFile."],
    )


def _no_fuse(job: JobFile, inputs: Inputs, engine: EngineFacts) -> str | None:
    """Why FUSE is not to be had; only looked at where a channel would use it."""
    channels = job.request.InputDataConfig or ()
    streamed = [c.ChannelName for c in channels if effective_mode(c, job.request) == "FastFile"]
    if not any(name in inputs.listings and inputs.listings[name].remote for name in streamed):
        return None
    if engine.desktop or not engine.local:
        return "the engine runs in a machine of its own"
    from smlocal.channels.fastfile.availability import fuse_trouble

    return fuse_trouble()


def _image_name(job: JobFile) -> str:
    specification = job.request.AlgorithmSpecification
    return (specification.TrainingImage if specification is not None else None) or ""


def _profile_region() -> str | None:
    """The region of the AWS profile in use, read without the AWS library."""
    path = os.path.expanduser(os.environ.get("AWS_CONFIG_FILE") or "~/.aws/config")
    if not os.path.isfile(path):
        return None
    import configparser

    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return None
    profile = os.environ.get("AWS_PROFILE") or "default"
    section = "default" if profile == "default" else f"profile {profile}"
    return parser.get(section, "region", fallback=None)


def _output(job: JobFile) -> str:
    """The local folder for artifacts: the request's own path, else Local.Output, else one below the working folder."""
    uri = job.request.OutputDataConfig.S3OutputPath
    if uri.startswith(("s3://", "https://")):
        uri = job.local.Output or os.path.abspath(DEFAULT_OUTPUT)
    remedy = ["Choose another folder with --output or in OutputDataConfig.S3OutputPath."]
    if is_remote(uri):
        raise OutputUnusableError(f"the output path {uri} is no folder of this machine", remedy=remedy)
    path = os.path.abspath(local_path(uri, job.document.directory))
    existing = path
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        what = "a file" if os.path.exists(existing) else "a link that leads nowhere"
        raise OutputUnusableError(f"the output path {uri} cannot be a folder: {existing} is {what}", remedy=remedy)
    if not os.access(existing, os.W_OK | os.X_OK):
        raise OutputUnusableError(
            f"the output path {uri} cannot be written: you may not write in {existing}", remedy=remedy
        )
    return path


def _image(engine: Engine, name: str, pull: Pull, reporter: Reporter) -> tuple[ImageFacts | None, str | None]:
    """The image's facts after pulling by policy; instead of facts, why the registry refused."""
    facts = engine.image(name)
    if pull == "never" and facts is None:
        raise ImageMissingError(
            f"the image {name} is not here, and --pull never forbids to fetch it",
            remedy=["Build or load it, or leave --pull never out.", "docker images lists what is here."],
        )
    if pull == "always" or facts is None:
        from smlocal.engine.ecr import ecr_login

        try:
            engine.pull(name, ecr_login(name), reporter.progress)
        except ImagePullError as error:
            return None, error.sentence
        facts = engine.image(name)
    return facts, None


def _check_architecture(name: str, image: ImageFacts | None, engine: EngineFacts) -> None:
    if image is None or not image.architecture or not engine.architecture:
        return
    if image.architecture != engine.architecture:
        raise ImageArchitectureError(
            f"the image {name} is built for {image.operating_system}/{image.architecture}, "
            f"the engine runs {engine.operating_system}/{engine.architecture}",
            remedy=[f"Build it with --platform {engine.operating_system}/{engine.architecture}."],
        )
