"""From a validated job to its plan: look at the machine once, then compute."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from smlocal.base.files import free_bytes
from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.aws_session import profile_region
from smlocal.engine.engines import Engines
from smlocal.engine.facts import ImageFacts
from smlocal.errors import RegionNameError, TooManyHostsError
from smlocal.jobfile.document import recorded_document
from smlocal.jobs.documents import STRICT
from smlocal.jobs.planning.aspects.engines.look import (
    PlacedEngine,
    PlacedEngines,
    about_engine,
    place_as_before,
    place_hosts,
    plain_runtime,
    with_facts,
)
from smlocal.jobs.planning.aspects.engines.look_folders import with_folder_facts, with_known_folders
from smlocal.jobs.planning.aspects.engines.plan import EnginesFacts, EngineShare, MachineFacts
from smlocal.jobs.planning.aspects.image.look import check_architecture, image_of_all, with_reserved_files
from smlocal.jobs.planning.aspects.inputs.look import check_access, list_inputs, no_fuse, seen_inputs, store_of
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.jobs.planning.aspects.looks import Asked, examined, try_out
from smlocal.jobs.planning.aspects.mirrored.look import list_mirrored
from smlocal.jobs.planning.aspects.mirrored.plan import MirroredFacts
from smlocal.jobs.planning.aspects.network.look import choose_network
from smlocal.jobs.planning.aspects.output.look import output_folder
from smlocal.jobs.planning.aspects.output.plan import OutputFacts
from smlocal.jobs.planning.aspects.rules.look import rule_facts
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.prepared import Prepared, find_credentials
from smlocal.jobs.view import Reporter
from smlocal.sagemaker.contract import identity
from smlocal.sagemaker.contract.documents.hosts import host_names
from smlocal.sagemaker.contract.requested_hosts import MAX_PLANNED_HOSTS, host_count, hosts_of
from smlocal.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.sagemaker.plan import build_plan
from smlocal.sagemaker.simulated import check_capacity, has_capacity, refuse_above_limit
from smlocal.terms.s3_uri import s3_form

_Machines = Mapping[str, MachineFacts]
"""By the address of the engine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestFacts:
    """These facts of one request."""

    region: str
    account: str
    inputs: InputFacts
    mirrored: MirroredFacts
    output: str
    """The folder for artifacts."""
    publishes: bool
    """True if anything is to be written to S3."""


def prepare(
    job: JobFile,
    *,
    name: str,
    home: str,
    engines: Engines,
    reporter: Reporter,
    strict: bool,
    run_id: str | None = None,
) -> Prepared:
    """Check everything that can be checked before the job is made. Mistakes are an error.

    `run_id`: of a job that is already recorded.
    """
    if run_id is None:
        refuse_above_limit(job)
    check_host_count(job, most=job.local.MaxHosts)
    request = request_facts(job, strict=strict)
    asked = place_hosts(_host_names(job), job.local, engines)
    placed = with_facts(asked, lambda each: with_known_folders(each.facts, home))
    engine = placed.first.engine
    check_access(job, placed)
    if request.publishes:
        from smlocal.jobs.finish.publish import check_publishing

        check_publishing(request.region)
    runs = has_capacity(job)  # else there is no container
    machines = _machines(job, placed, home=home, required=runs)
    image, refused = None, None
    if runs:
        image, refused = image_of_all(placed, image_name(job), job.local.Pull, reporter)
    placed = with_facts(asked, lambda each: with_folder_facts(each.facts, each.engine, image, home))
    check_access(job, placed)
    if image is not None:
        for each in placed.each:
            with about_engine(placed, each):
                try_out(_asked(job, each), each, machines[each.facts.address])
        image = with_reserved_files(image, engine, home)
    plan = _plan(
        job,
        request,
        placed,
        image,
        name=name,
        home=home,
        machines=machines,
        run_id=run_id,
        remove_leftovers=True,
    )
    if any(rule.needs_evaluator for rule in plan.rules.each):
        from smlocal.debugger.evaluator import see_to_evaluator  # few jobs have rules

        see_to_evaluator(engine, reporter.progress, reporter.working)
    return Prepared(
        plan=plan,
        job=job.document.record(),
        pull_refused=refused,
        credentials=find_credentials(plan, engines),
    )


def read_recorded(recorded: Mapping[str, Any]) -> JobFile:
    """The job file of a job that was recorded and never begun."""
    job = read_job(recorded_document(recorded), strict=bool(recorded.get(STRICT)))
    check_capacity(job)
    return job


def plan_again(recorded: Mapping[str, Any], old: JobPlan, *, home: str, engines: Engines) -> JobPlan:
    """The plan of a recorded job, with its inputs as they are now."""
    document = recorded_document(recorded)
    job = read_job(document, strict=False)
    placed = place_as_before(old, engines)
    image = placed.first.engine.image(old.image.name)
    if image is not None and old.image.facts is not None:
        image = replace(image, reserved_files=old.image.facts.reserved_files)
    placed = with_facts(placed, lambda each: with_known_folders(each.facts, home))
    plan = _plan(
        job,
        request_facts(job, strict=False),
        placed,
        image,
        name=old.name,
        home=home,
        machines=_machines(job, placed, home=home, before=old.engines.by_address),
        run_id=old.run_id,
    )
    return replace(plan, output=old.output)


def plan_job(job: JobFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:
    """Only the plan: no image is pulled, and missing GPUs or Neuron devices are not an error."""
    check_host_count(job, most=None)
    request = request_facts(job, strict=strict)
    placed = place_hosts(_host_names(job), job.local, engines)
    engine = placed.first.engine
    image = engine.image(image_name(job))
    check_architecture(image_name(job), image, placed.first.facts)
    placed = with_facts(placed, lambda each: with_folder_facts(each.facts, each.engine, image, home))
    if image is not None:
        image = with_reserved_files(image, engine, home)
    machines = _machines(job, placed, home=home, required=False)
    return _plan(job, request, placed, image, name=name, home=home, machines=machines)


def check_host_count(job: JobFile, *, most: int | None) -> None:
    """All hosts are containers of one machine: refuse more than `most`, and more than can be planned."""
    resources = job.request.ResourceConfig
    count = 1 if resources is None else host_count(resources)
    if count > MAX_PLANNED_HOSTS:
        raise TooManyHostsError(
            f"{count} hosts are too many for one machine: the maximum is {MAX_PLANNED_HOSTS}",
            remedy=["Use fewer: --instance-count, or ResourceConfig.InstanceCount."],
        )
    if most is not None and count > most:
        raise TooManyHostsError(
            f"{count} hosts would be {count} containers at once on this machine, and Local.MaxHosts is {most}",
            remedy=[
                "Use fewer: --instance-count, or ResourceConfig.InstanceCount.",
                "Raise Local.MaxHosts if this machine has enough memory: smlocal plan shows what they need.",
            ],
        )


def _host_names(job: JobFile) -> tuple[str, ...]:
    resources = job.request.ResourceConfig
    return () if resources is None else tuple(host_names(host_count(resources)))


def _asked(job: JobFile, placed: PlacedEngine, *, required: bool = True, before: MachineFacts | None = None) -> Asked:
    """The job's demands on the machine of one engine."""
    resources = job.request.ResourceConfig
    hosts = () if resources is None else tuple(host for host in hosts_of(resources) if host.name in placed.hosts)
    return Asked(
        hosts=hosts,
        local=job.local,
        document=job.document,
        image=image_name(job),
        required=required,
        before=before,
    )


def _machines(
    job: JobFile, placed: PlacedEngines, *, home: str, required: bool = True, before: _Machines | None = None
) -> _Machines:
    """The facts about the machine of each engine. Parts missing for its hosts are an error if `required`.

    `before`: the facts that an earlier plan of the job has found.
    """
    found = {}
    for each in placed.each:
        address = each.facts.address
        with about_engine(placed, each):
            asked = _asked(job, each, required=required, before=None if before is None else before[address])
            found[address] = examined(asked, each, home=home)
    return found


def _plan(
    job: JobFile,
    request: RequestFacts,
    placed: PlacedEngines,
    image: ImageFacts | None,
    *,
    name: str,
    home: str,
    machines: _Machines,
    run_id: str | None = None,
    remove_leftovers: bool = False,
) -> JobPlan:
    inputs = request.inputs
    if placed.first.facts.shares_folders and not all(each.facts.same_mounts for each in placed.each) and image:
        inputs = seen_inputs(job, inputs, placed, image.id)
    run_id = run_id or os.urandom(4).hex()
    shares = tuple(_share(job, placed, each, machines[each.facts.address], image) for each in placed.each)
    network = choose_network(
        len(_host_names(job)) or 1,
        job.local,
        placed,
        isolated=job.request.EnableNetworkIsolation is True,
        run_id=run_id,
        remove_leftovers=remove_leftovers,
    )
    facts = Facts(
        region=request.region,
        account=request.account,
        run_id=run_id,
        job_directory=os.path.join(home, "jobs", name),
        engines=EnginesFacts(
            first=placed.first.facts,
            machine=shares[0].machine,
            shares=shares if len(shares) > 1 else (),
            manager=placed.manager,
        ),
        image=image,
        inputs=replace(inputs, no_fuse=no_fuse(job, inputs, [each.facts for each in placed.each])),
        output=OutputFacts(folder=request.output, free=free_bytes(request.output)),
        network=network,
        mirrored=request.mirrored,
        rules=rule_facts(job),
    )
    return build_plan(job, facts, name=name)


def _share(
    job: JobFile, placed: PlacedEngines, each: PlacedEngine, machine: MachineFacts, image: ImageFacts | None
) -> EngineShare:
    with about_engine(placed, each):
        runtime = plain_runtime(each.engine, image, job.request.Environment)
    machine = replace(machine, accelerators=replace(machine.accelerators, plain_runtime=runtime))
    return EngineShare(engine=each.facts, machine=machine, hosts=each.hosts)


def request_facts(job: JobFile, *, strict: bool) -> RequestFacts:
    """Find them; mistakes in them are an error."""
    region = region_of(job)
    store = store_of(job, region)
    inputs = list_inputs(job, strict=strict, region=region, store=store)
    mirrored = list_mirrored(job, strict=strict, region=region, store=store)
    return RequestFacts(
        region=region,
        account=account_of(job),
        inputs=inputs,
        mirrored=mirrored,
        output=output_folder(job),
        publishes=_publishes(job, mirrored),
    )


def image_name(job: JobFile) -> str:
    """As in the request; empty if it has none."""
    specification = job.request.AlgorithmSpecification
    return (specification.TrainingImage if specification is not None else None) or ""


def account_of(job: JobFile) -> str:
    """The account that the job's ARN names."""
    return identity.account(role=job.request.RoleArn, image=image_name(job))


def region_of(job: JobFile) -> str:
    """The region of a job; `RegionNameError` if the environment has none that is valid."""
    region = identity.region(
        stated=job.local.Region, environment=os.environ, profile=profile_region(), image=image_name(job)
    )
    if identity.is_region_name(region):
        return region
    variables = ("AWS_REGION", "AWS_DEFAULT_REGION")
    source = next((each for each in variables if os.environ.get(each) == region), "the AWS profile in use")
    raise RegionNameError(
        f"{source} says '{region}', which is not a valid region",
        remedy=["Set AWS_REGION, for example to us-east-1, or Local.Region in the job file."],
    )


def _publishes(job: JobFile, mirrored: MirroredFacts) -> bool:
    request = job.request
    collectors = {
        "TensorBoardOutputConfig": request.TensorBoardOutputConfig,
        "DebugHookConfig": request.DebugHookConfig,
    }
    asked = [
        config.S3OutputPath for member, config in collectors.items() if config and member not in mirrored.collectors
    ]
    return job.local.Publish and (
        (mirrored.checkpoints is not None and mirrored.checkpoints.remote)
        or any(s3_form(uri).startswith("s3://") for uri in (request.OutputDataConfig.S3OutputPath, *asked))
    )
