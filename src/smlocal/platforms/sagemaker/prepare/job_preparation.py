"""From a validated job to its plan: look at the machine once, then compute."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from smlocal.engine.engines import Engines, engines_named
from smlocal.engine.interface import Engine
from smlocal.job.documents import STRICT
from smlocal.job.prepare.image_pull import check_architecture, pull_image
from smlocal.job.prepare.machine_size import machine_facts
from smlocal.job.prepare.network_choice import choose_network
from smlocal.job.prepare.output_folders import free_bytes
from smlocal.job.prepare.shared_folders import with_folder_facts, with_known_folders
from smlocal.job.prepared import Prepared, find_credentials
from smlocal.job.reporter import Reporter
from smlocal.jobfile.document import Document
from smlocal.planning.facts import EngineFacts, Facts, GpuFacts, ImageFacts
from smlocal.planning.limits import wants_limits
from smlocal.planning.model import JobPlan
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile, read_job
from smlocal.platforms.sagemaker.planning.build import build_plan
from smlocal.platforms.sagemaker.planning.hosts import host_count
from smlocal.platforms.sagemaker.prepare.accelerators import gpu_facts, neuron_count, try_accelerators
from smlocal.platforms.sagemaker.prepare.engine_access import check_access, no_fuse
from smlocal.platforms.sagemaker.prepare.host_count import check_host_count
from smlocal.platforms.sagemaker.prepare.job_image import image_name
from smlocal.platforms.sagemaker.prepare.request_facts import RequestFacts, request_facts
from smlocal.platforms.sagemaker.prepare.reserved_files import with_reserved_files
from smlocal.store.records import JobRecord


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
    engine = engines.first
    check_host_count(job, most=job.local.MaxHosts)
    request = request_facts(job, strict=strict)
    asked = engine.facts()
    facts = with_known_folders(asked, home)
    check_access(job, facts)
    if request.publishes:
        from smlocal.job.finish.publish import check_publishing

        check_publishing(request.region)
    gpus, neuron = gpu_facts(job, engine, facts), neuron_count(job, facts)
    image_reference = image_name(job)
    image, refused = pull_image(engine, image_reference, job.local.Pull, reporter)
    check_architecture(image_reference, image, facts)
    facts = with_folder_facts(asked, engine, image, home)
    check_access(job, facts)
    if image is not None:
        try_accelerators(job, gpus, engine)
        if job.local.Ulimits:
            from smlocal.job.prepare.limit_checks import try_ulimits

            try_ulimits(job.local, job.document, engine, image_reference)
        image = with_reserved_files(image, engine, home)
    plan = _plan(
        job,
        request,
        facts,
        image,
        engine,
        name=name,
        home=home,
        gpus=gpus,
        neuron=neuron,
        run_id=run_id,
        remove_leftovers=True,
    )
    if any(rule.needs_evaluator for rule in plan.rules):
        from smlocal.debugger.image import see_to_evaluator  # few jobs have rules

        see_to_evaluator(engine, reporter.progress, reporter.working)
    return Prepared(
        plan=plan,
        job={"Data": job.document.data, "File": job.document.name, "Directory": job.document.directory},
        pull_refused=refused,
        credentials=find_credentials(plan, engines),
    )


def prepare_recorded(recorded: Mapping[str, Any], record: JobRecord, *, home: str, reporter: Reporter) -> Prepared:
    """Prepare a job that was recorded and never begun."""
    document = Document(dict(recorded["Data"]), name=recorded["File"], directory=recorded["Directory"])
    strict = bool(recorded.get(STRICT))
    job = read_job(document, strict=strict)
    return prepare(
        job,
        name=record.name,
        home=home,
        engines=engines_named(()),
        reporter=reporter,
        strict=strict,
        run_id=record.run_id,
    )


def plan_again(recorded: Mapping[str, Any], old: JobPlan, *, home: str, engines: Engines) -> JobPlan:
    """The plan of a recorded job, with its inputs as they are now."""
    document = Document(dict(recorded["Data"]), name=recorded["File"], directory=recorded["Directory"])
    job = read_job(document, strict=False)
    engine = engines.first
    image, machine = engine.image(old.image), old.machine
    if image is not None and old.image_facts is not None:
        image = replace(image, reserved_files=old.image_facts.reserved_files)
    request, facts = request_facts(job, strict=False), with_known_folders(engine.facts(), home)
    plan = _plan(
        job,
        request,
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


def plan_job(job: JobFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:
    """Only the plan: no image is pulled, and missing GPUs or Neuron devices are no error."""
    engine = engines.first
    check_host_count(job, most=None)
    request = request_facts(job, strict=strict)
    facts = engine.facts()
    image = engine.image(image_name(job))
    check_architecture(image_name(job), image, facts)
    facts = with_folder_facts(facts, engine, image, home)
    if image is not None:
        image = with_reserved_files(image, engine, home)
    gpus, neuron = gpu_facts(job, engine, facts, required=False), neuron_count(job, facts, required=False)
    return _plan(job, request, facts, image, engine, name=name, home=home, gpus=gpus, neuron=neuron)


def _rule_facts(job: JobFile) -> dict[str, Any]:
    if not job.request.DebugRuleConfigurations:
        return {}
    from smlocal.debugger.built_in_rules import built_in_rules, recorded_rules  # few jobs have rules
    from smlocal.platforms.sagemaker.prepare.rule_paths import rule_paths

    return {"rule_paths": rule_paths(job), "built_in_rules": built_in_rules(), "recorded_rules": recorded_rules()}


def _plan(
    job: JobFile,
    request: RequestFacts,
    engine_facts: EngineFacts,
    image: ImageFacts | None,
    engine: Engine,
    *,
    name: str,
    home: str,
    gpus: GpuFacts,
    neuron: int | None,
    run_id: str | None = None,
    remove_leftovers: bool = False,
) -> JobPlan:
    inputs = request.inputs
    run_id = run_id or os.urandom(4).hex()
    machine = replace(machine_facts(gpus, engine_facts), neuron=neuron)
    no_volume = None
    if wants_limits(job.local):
        from smlocal.job.prepare.limit_checks import check_limits, why_no_volume, with_limit_facts

        check_limits(job.local, job.document, machine)
        machine, no_volume = with_limit_facts(machine, engine, home=home), why_no_volume(engine_facts)
    resources = job.request.ResourceConfig
    network = choose_network(
        1 if resources is None else host_count(resources),
        job.local,
        engine,
        engine_facts,
        isolated=job.request.EnableNetworkIsolation is True,
        run_id=run_id,
        remove_leftovers=remove_leftovers,
    )
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
