"""From a validated job to its plan: look at the machine once, then compute."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smlocal.ai_platform.identity import job_region
from smlocal.ai_platform.jobfile.job_file import ReplicaJobFile, read_job
from smlocal.ai_platform.locations import BucketFolder, bucket_folders
from smlocal.ai_platform.planning_of_jobs import ReplicaFacts, build_plan, host_of
from smlocal.ai_platform.replicas import Replica, replicas
from smlocal.base.at_use import at_use
from smlocal.data.sources.local_path import local_path
from smlocal.engine.engines import Engines
from smlocal.engine.facts import EngineFacts, ImageFacts
from smlocal.engine.interface import Engine
from smlocal.errors import EngineRemoteError, ImagePullError, SourceMissingError, TooManyHostsError
from smlocal.jobfile.document import Document
from smlocal.jobs.documents import STRICT
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine, PlacedEngines, plain_runtime
from smlocal.jobs.planning.aspects.engines.look_folders import with_folder_facts, with_known_folders
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.aspects.image.look import check_architecture, pull_image
from smlocal.jobs.planning.aspects.looks import Asked, examined, try_out
from smlocal.jobs.planning.aspects.network.look import choose_network
from smlocal.jobs.planning.aspects.output.look import DEFAULT_OUTPUT, folder_at
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.prepared import Prepared
from smlocal.jobs.view import Reporter

if TYPE_CHECKING:
    from smlocal.engine.seen_folders import is_folder_seen
else:
    is_folder_seen = at_use("smlocal.engine.seen_folders", "is_folder_seen")


def prepare(
    job: ReplicaJobFile,
    *,
    name: str,
    home: str,
    engines: Engines,
    reporter: Reporter,
    strict: bool,  # noqa: ARG001 - the same for all platforms; reading the job file was strict already
    run_id: str | None = None,
) -> Prepared:
    """Check everything that can be checked before the job is made. Mistakes are an error.

    `run_id`: of a job that is already recorded.
    """
    engine = engines.first
    planned = replicas(job.kind, job.request, job=name)
    _check_count(planned, most=job.local.MaxHosts)
    facts = _facts_of(engine)
    buckets = _buckets(job, name)
    asked, placed = _asked(job, planned), _placed(engine, facts)
    machine = examined(asked, placed, home=home)
    images: dict[str, ImageFacts | None] = {}
    for image in dict.fromkeys(each.image for each in planned):
        found, refused = pull_image(engine, image, job.local.Pull, reporter)
        if refused is not None:
            raise ImagePullError(refused)
        check_architecture(image, found, facts)
        images[image] = found
    facts = with_folder_facts(facts, engine, images[planned[0].image], home)
    _check_buckets(buckets, engine, facts, images[planned[0].image])
    try_out(asked, placed, machine)
    plan = _plan(
        job,
        planned,
        facts,
        engine,
        images=images,
        buckets=buckets,
        name=name,
        home=home,
        machine=machine,
        run_id=run_id,
        making=True,
    )
    return Prepared(
        plan=plan,
        job={"Data": job.document.data, "File": job.document.name, "Directory": job.document.directory},
    )


def read_recorded(recorded: Mapping[str, Any]) -> ReplicaJobFile:
    """The job file of a recorded job."""
    return read_job(_document(recorded), strict=bool(recorded.get(STRICT)))


def plan_again(recorded: Mapping[str, Any], old: JobPlan, *, home: str, engines: Engines) -> JobPlan:
    """The complete plan of a recorded job."""
    job = read_job(_document(recorded), strict=False)
    planned, engine = replicas(job.kind, job.request, job=old.name), engines.first
    images = {each.image: engine.image(each.image) for each in planned}
    facts = with_known_folders(engine.facts(), home)
    return _plan(
        job,
        planned,
        facts,
        engine,
        images=images,
        buckets=_buckets(job, old.name),
        name=old.name,
        home=home,
        machine=examined(_asked(job, planned, before=old.engines.machine), _placed(engine, facts), home=home),
        run_id=old.run_id,
    )


def plan_job(job: ReplicaJobFile, *, name: str, home: str, engines: Engines, strict: bool) -> JobPlan:  # noqa: ARG001 - as above
    """Only the plan: no image is pulled, and missing GPUs are not an error."""
    planned, engine = replicas(job.kind, job.request, job=name), engines.first
    facts = _facts_of(engine)
    images = {each.image: engine.image(each.image) for each in planned}
    for image, found in images.items():
        check_architecture(image, found, facts)
    facts = with_folder_facts(facts, engine, images[planned[0].image], home)
    machine = examined(_asked(job, planned, required=False), _placed(engine, facts), home=home)
    buckets = _buckets(job, name, make=False)
    return _plan(job, planned, facts, engine, images=images, buckets=buckets, name=name, home=home, machine=machine)


def _facts_of(engine: Engine) -> EngineFacts:
    """What it is. In a place that restricts it, replicas, which have names and a network, are an error."""
    facts = engine.facts()
    if facts.place is not None:
        from smlocal.jobs.planning.aspects.place.look import refuse_platform

        refuse_platform(facts.place, "jobs of AI Platform")
    return facts


def _document(recorded: Mapping[str, Any]) -> Document:
    return Document(dict(recorded["Data"]), name=recorded["File"], directory=recorded["Directory"])


def _plan(
    job: ReplicaJobFile,
    planned: tuple[Replica, ...],
    engine_facts: EngineFacts,
    engine: Engine,
    *,
    images: Mapping[str, ImageFacts | None],
    buckets: tuple[BucketFolder, ...],
    name: str,
    home: str,
    machine: MachineFacts,
    run_id: str | None = None,
    making: bool = False,
) -> JobPlan:
    run_id = run_id or os.urandom(4).hex()
    runtimes = {plain_runtime(engine, image, None) for image in images.values()}
    accelerators = replace(machine.accelerators, plain_runtime=next(iter(runtimes - {""}), ""))
    only = _placed(engine, engine_facts)
    network = choose_network(
        len(planned), job.local, PlacedEngines(each=(only,)), isolated=False, run_id=run_id, remove_leftovers=making
    )
    facts = ReplicaFacts(
        engine=engine_facts,
        machine=replace(machine, accelerators=accelerators),
        images=images,
        buckets=buckets,
        output=_output(job, name),
        region=job_region(job.kind, job.request, stated=job.local.Region),
        run_id=run_id,
        job_directory=os.path.join(home, "jobs", name),
        subnet=network.subnet,
    )
    return build_plan(job, facts, name=name)


def _asked(
    job: ReplicaJobFile, planned: tuple[Replica, ...], *, required: bool = True, before: MachineFacts | None = None
) -> Asked:
    return Asked(
        hosts=tuple(host_of(each, number) for number, each in enumerate(planned, start=1)),
        local=job.local,
        document=job.document,
        image=planned[0].image,
        required=required,
        before=before,
    )


def _placed(engine: Engine, facts: EngineFacts) -> PlacedEngine:
    return PlacedEngine(engine=engine, facts=facts, hosts=())


def _check_count(planned: tuple[Replica, ...], *, most: int) -> None:
    if len(planned) > most:
        raise TooManyHostsError(
            f"{len(planned)} replicas would be {len(planned)} containers at once on this machine, and Local.MaxHosts is"
            f" {most}",
            remedy=["Use fewer, or raise Local.MaxHosts if this machine has enough memory."],
        )


def _output(job: ReplicaJobFile, name: str) -> str:
    """The folder for what the job writes to locations that no folder stands for."""
    return os.path.join(
        folder_at(job.local.Output or os.path.abspath(DEFAULT_OUTPUT), job.document.directory, job.local.rights), name
    )


def _buckets(job: ReplicaJobFile, name: str, *, make: bool = True) -> tuple[BucketFolder, ...]:
    sources = {
        key: os.path.abspath(local_path(path, job.document.directory, job.local.rights))
        for key, path in job.local.Sources.items()
    }
    for location, folder in sources.items():
        if not os.path.isdir(folder):
            raise SourceMissingError(
                f"the folder for {location} does not exist: {folder}",
                details=[f"{job.document.where(('Local', 'Sources', location))}   {location}"],
                remedy=["Make it, or correct Local.Sources."],
            )
    found = bucket_folders(job.kind, job.request, sources=sources, output=_output(job, name))
    for bucket in found if make else ():
        if bucket.is_output:
            os.makedirs(bucket.folder, exist_ok=True)
    return found


def _check_buckets(
    buckets: tuple[BucketFolder, ...], engine: Engine, facts: EngineFacts, image: ImageFacts | None
) -> None:
    """Folders that stand for buckets are mounted as they are."""
    if not buckets or (facts.shares_folders and facts.same_mounts):
        return

    for bucket in buckets:
        if not facts.shares_folders or (image and not is_folder_seen(bucket.folder, [engine], image.id)):
            raise EngineRemoteError(
                f"{bucket.location}: the engine at {facts.address} does not see {bucket.folder} "
                "and cannot mount it for the bucket",
                remedy=["Use a folder that the engine sees at the same path, or an engine of this machine."],
            )
