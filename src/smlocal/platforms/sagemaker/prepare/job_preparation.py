"""From a validated job to its plan: look at the machine once, then compute."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from smlocal.base.files import free_bytes
from smlocal.engine.engines import Engines, engines_named
from smlocal.job.documents import STRICT
from smlocal.job.prepare.host_placement import place_as_before, place_hosts
from smlocal.job.prepare.image_everywhere import image_of_all
from smlocal.job.prepare.image_pull import check_architecture
from smlocal.job.prepare.machine_size import machine_facts
from smlocal.job.prepare.network_choice import choose_network
from smlocal.job.prepare.placed_engines import PlacedEngine, PlacedEngines, about_engine, with_facts
from smlocal.job.prepare.plain_runtime import plain_runtime
from smlocal.job.prepare.shared_folders import with_folder_facts, with_known_folders
from smlocal.job.prepared import Prepared, find_credentials
from smlocal.job.view import Reporter
from smlocal.jobfile.document import recorded_document
from smlocal.planning.facts import EngineShare, Facts, GpuFacts, ImageFacts, MachineFacts
from smlocal.planning.limits import wants_limits
from smlocal.planning.model import JobPlan
from smlocal.platforms.sagemaker.contract.documents.hosts import host_names
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.platforms.sagemaker.planning.build import build_plan
from smlocal.platforms.sagemaker.planning.hosts import host_count
from smlocal.platforms.sagemaker.prepare.accelerators import gpu_facts, neuron_count, try_accelerators
from smlocal.platforms.sagemaker.prepare.engine_access import check_access, no_fuse
from smlocal.platforms.sagemaker.prepare.host_count import check_host_count
from smlocal.platforms.sagemaker.prepare.inputs import names_only_s3
from smlocal.platforms.sagemaker.prepare.job_image import image_name
from smlocal.platforms.sagemaker.prepare.request_facts import RequestFacts, request_facts
from smlocal.platforms.sagemaker.prepare.reserved_files import with_reserved_files
from smlocal.store.records import JobRecord

_Accelerators = Mapping[str, tuple[GpuFacts, int | None]]
"""GPUs and the number of Neuron devices, by the address of the engine."""


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
    """Check everything that can be checked before the job is made. What is wrong is an error.

    `run_id`: of a job that is already recorded.
    """
    check_host_count(job, most=job.local.MaxHosts)
    request = request_facts(job, strict=strict)
    asked = place_hosts(_host_names(job), job.local, engines)
    placed = with_facts(asked, lambda each: with_known_folders(each.facts, home))
    engine = placed.first.engine
    check_access(job, placed)
    if request.publishes:
        from smlocal.job.finish.publish import check_publishing

        check_publishing(request.region)
    accelerators = _accelerators(job, placed, required=True)
    image, refused = image_of_all(placed, image_name(job), job.local.Pull, reporter)
    placed = with_facts(asked, lambda each: with_folder_facts(each.facts, each.engine, image, home))
    check_access(job, placed)
    if image is not None:
        _try_containers(job, placed, accelerators)
        image = with_reserved_files(image, engine, home)
    plan = _plan(
        job,
        request,
        placed,
        image,
        name=name,
        home=home,
        accelerators=accelerators,
        run_id=run_id,
        remove_leftovers=True,
    )
    if any(rule.needs_evaluator for rule in plan.rules):
        from smlocal.debugger.evaluator import see_to_evaluator  # few jobs have rules

        see_to_evaluator(engine, reporter.progress, reporter.working)
    return Prepared(
        plan=plan,
        job=job.document.record(),
        pull_refused=refused,
        credentials=find_credentials(plan, engines),
    )


def prepare_recorded(recorded: Mapping[str, Any], record: JobRecord, *, home: str, reporter: Reporter) -> Prepared:
    """Prepare a job that was recorded and never begun."""
    document = recorded_document(recorded)
    strict = bool(recorded.get(STRICT))
    job = read_job(document, strict=strict)
    return prepare(
        job,
        name=record.name,
        home=home,
        engines=engines_named(job.local.Engines),
        reporter=reporter,
        strict=strict,
        run_id=record.run_id,
    )


def plan_again(recorded: Mapping[str, Any], old: JobPlan, *, home: str, engines: Engines) -> JobPlan:
    """The plan of a recorded job, with its inputs as they are now."""
    document = recorded_document(recorded)
    job = read_job(document, strict=False)
    placed = place_as_before(old, engines)
    image = placed.first.engine.image(old.image)
    if image is not None and old.image_facts is not None:
        image = replace(image, reserved_files=old.image_facts.reserved_files)
    placed = with_facts(placed, lambda each: with_known_folders(each.facts, home))
    plan = _plan(
        job,
        request_facts(job, strict=False),
        placed,
        image,
        name=old.name,
        home=home,
        accelerators=_accelerators_of(old),
        run_id=old.run_id,
    )
    return replace(plan, output=old.output)


def plan_job(job: JobFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:
    """Only the plan: no image is pulled, and missing GPUs or Neuron devices are no error."""
    check_host_count(job, most=None)
    request = request_facts(job, strict=strict)
    placed = place_hosts(_host_names(job), job.local, engines)
    engine = placed.first.engine
    image = engine.image(image_name(job))
    check_architecture(image_name(job), image, placed.first.facts)
    placed = with_facts(placed, lambda each: with_folder_facts(each.facts, each.engine, image, home))
    if image is not None:
        image = with_reserved_files(image, engine, home)
    accelerators = _accelerators(job, placed, required=False)
    return _plan(job, request, placed, image, name=name, home=home, accelerators=accelerators)


def _host_names(job: JobFile) -> tuple[str, ...]:
    resources = job.request.ResourceConfig
    return () if resources is None else tuple(host_names(host_count(resources)))


def _accelerators(job: JobFile, placed: PlacedEngines, *, required: bool) -> _Accelerators:
    """What the machine of each engine has. Too few for its hosts are an error if they are `required`."""
    found = {}
    for each in placed.each:
        with about_engine(placed, each):
            gpus, neuron = gpu_facts(job, each, required=required), neuron_count(job, each, required=required)
            found[each.facts.address] = (gpus, neuron)
    return found


def _try_containers(job: JobFile, placed: PlacedEngines, accelerators: _Accelerators) -> None:
    """Try whether each engine gives its containers what can only be tried: GPUs, Neuron devices and ulimits."""
    for each in placed.each:
        with about_engine(placed, each):
            gpus, _ = accelerators[each.facts.address]
            try_accelerators(job, gpus, each)
            if job.local.Ulimits:
                from smlocal.job.prepare.limit_checks import try_ulimits

                try_ulimits(job.local, job.document, each.engine, image_name(job))


def _accelerators_of(plan: JobPlan) -> _Accelerators:
    """What an earlier plan of the job had."""
    machines = plan.engine_machines
    return {address: (machine.gpus, machine.neuron) for address, machine in machines.items()}


def _rule_facts(job: JobFile) -> dict[str, Any]:
    if not job.request.DebugRuleConfigurations:
        return {}
    from smlocal.debugger.evaluator import built_in_rules, recorded_rules  # few jobs have rules
    from smlocal.platforms.sagemaker.prepare.rule_paths import rule_paths

    return {"rule_paths": rule_paths(job), "built_in_rules": built_in_rules(), "recorded_rules": recorded_rules()}


def _plan(
    job: JobFile,
    request: RequestFacts,
    placed: PlacedEngines,
    image: ImageFacts | None,
    *,
    name: str,
    home: str,
    accelerators: _Accelerators,
    run_id: str | None = None,
    remove_leftovers: bool = False,
) -> JobPlan:
    inputs = request.inputs
    if placed.first.facts.shares_folders and not all(each.facts.same_mounts for each in placed.each) and image:
        from smlocal.platforms.sagemaker.prepare.seen_inputs import seen_inputs  # most engines have our mounts

        inputs = seen_inputs(job, inputs, placed, image.id)
    run_id = run_id or os.urandom(4).hex()
    engine_facts = placed.first.facts
    shares = tuple(_share(job, placed, each, accelerators, home, image=image) for each in placed.each)
    no_volume = None
    if wants_limits(job.local):
        from smlocal.job.prepare.limit_checks import why_no_volume

        no_volume = why_no_volume(engine_facts)
    network = choose_network(
        len(_host_names(job)) or 1,
        job.local,
        placed,
        isolated=job.request.EnableNetworkIsolation is True,
        run_id=run_id,
        remove_leftovers=remove_leftovers,
    )
    facts = Facts(
        engine=engine_facts,
        machine=shares[0].machine,
        shares=shares if len(shares) > 1 else (),
        manager=placed.manager,
        no_volume=no_volume,
        image=image,
        listings=inputs.listings,
        file_systems=inputs.file_systems,
        sources=inputs.sources,
        only_s3=frozenset(each.ChannelName for each in job.request.InputDataConfig or () if names_only_s3(job, each)),
        no_fuse=no_fuse(job, inputs, [each.facts for each in placed.each]),
        code=inputs.code,
        checkpoints=inputs.checkpoints,
        collectors=inputs.collectors,
        **_rule_facts(job),
        output=request.output,
        output_free=free_bytes(request.output),
        region=request.region,
        account=request.account,
        run_id=run_id,
        job_directory=os.path.join(home, "jobs", name),
        subnet=network.subnet,
        gateway=network.gateway,
        loopback_only=network.loopback_only,
    )
    return build_plan(job, facts, name=name)


def _share(
    job: JobFile,
    placed: PlacedEngines,
    each: PlacedEngine,
    accelerators: _Accelerators,
    home: str,
    *,
    image: ImageFacts | None,
) -> EngineShare:
    with about_engine(placed, each):
        machine = _machine(job, each, *accelerators[each.facts.address], home)
        machine = replace(machine, plain_runtime=plain_runtime(each.engine, image, job.request.Environment))
    return EngineShare(engine=each.facts, machine=machine, hosts=each.hosts)


def _machine(job: JobFile, placed: PlacedEngine, gpus: GpuFacts, neuron: int | None, home: str) -> MachineFacts:
    machine = replace(machine_facts(gpus, placed.facts), neuron=neuron)
    if not wants_limits(job.local):
        return machine
    from smlocal.job.prepare.limit_checks import check_limits, with_limit_facts  # few jobs have any

    check_limits(job.local, job.document, machine)
    return with_limit_facts(machine, placed.engine, home=home)
