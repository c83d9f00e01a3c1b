"""Looks at this machine for a job, once, and has its kind make the plan of what it finds."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.base.files import free_bytes
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.engines import Engines
from smlocal.engine.facts import ImageFacts
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
from smlocal.jobs.planning.aspects.image.look import check_architecture, image_of_all, with_files
from smlocal.jobs.planning.aspects.inputs.look import (
    check_access,
    list_inputs,
    no_fuse,
    seen_inputs,
    store_of,
)
from smlocal.jobs.planning.aspects.inputs.plan import InputFacts
from smlocal.jobs.planning.aspects.looks import Asked, examined, try_out
from smlocal.jobs.planning.aspects.mirrored.look import list_mirrored
from smlocal.jobs.planning.aspects.mirrored.plan import MirroredFacts
from smlocal.jobs.planning.aspects.network.look import choose_network, refuse_contradictions
from smlocal.jobs.planning.aspects.output.look import output_folder
from smlocal.jobs.planning.aspects.output.plan import OutputFacts
from smlocal.jobs.planning.aspects.rules.look import rule_facts
from smlocal.jobs.planning.facts import Facts
from smlocal.jobs.planning.model import SPREAD_OVER, JobPlan
from smlocal.jobs.planning.workload import Workload
from smlocal.jobs.prepared import Prepared, find_credentials
from smlocal.jobs.view import Reporter
from smlocal.terms.listing import s3_form

if TYPE_CHECKING:
    from smlocal.base.alike_names import ignores_case
    from smlocal.jobs.planning.aspects.inputs import look_space
    from smlocal.jobs.planning.aspects.inputs.look_names import check_names
    from smlocal.jobs.planning.aspects.place.look import check_place, inputs_there
else:
    check_names = at_use("smlocal.jobs.planning.aspects.inputs.look_names", "check_names")
    look_space = at_use("smlocal.jobs.planning.aspects.inputs.look_space")
    check_place = at_use("smlocal.jobs.planning.aspects.place.look", "check_place")
    ignores_case = at_use("smlocal.base.alike_names", "ignores_case")
    inputs_there = at_use("smlocal.jobs.planning.aspects.place.look", "inputs_there")

_Machines = Mapping[str, MachineFacts]
"""By the address of the engine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JobPlace:
    """Where a job is, and under which name."""

    name: str
    region: str
    account: str
    home: str
    engines: Engines
    run_id: str | None = None
    """Of a job that is already recorded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DataFacts:
    """What a job reads, and where it writes."""

    inputs: InputFacts
    mirrored: MirroredFacts
    output: str
    """The folder for artifacts."""
    publishes: bool
    """True if anything is to be written to S3."""


def prepare(
    work: Workload,
    place: JobPlace,
    plan: Callable[[Facts], JobPlan],
    *,
    reporter: Reporter,
    strict: bool,
    job: Mapping[str, Any],
) -> Prepared:
    """Check everything that can be checked before the job is made. Mistakes are an error.

    `job`: the job file to store.
    """
    refuse_contradictions(work)
    data = data_facts(work, place.region, strict=strict)
    home, engines = place.home, place.engines
    asked = place_hosts([host.name for host in work.hosts], work.local, engines)
    _check_places(work, asked, home)
    placed = with_facts(asked, lambda each: with_known_folders(each.facts, home))
    check_access(work, placed)
    if data.publishes:
        from smlocal.jobs.finish.publish import check_publishing

        check_publishing(place.region)
    machines = _machines(work, placed, home=home, required=work.has_instances)
    image, refused = None, None
    if work.has_instances:
        image, refused = image_of_all(placed, work.image, work.local.Pull, reporter)
    placed = with_facts(asked, lambda each: with_folder_facts(each.facts, each.engine, image, home))
    check_access(work, placed)
    if image is not None:
        for each in placed.each:
            with about_engine(placed, each):
                try_out(_asked(work, each), each, machines[each.facts.address])
        image = _with_files(work, image, placed, home)
    planned = plan(_facts(work, data, placed, image, place, machines=machines, remove_leftovers=True))
    if _writes_data(planned):
        look_space.check_space(planned, home)
    return Prepared(plan=planned, job=job, pull_refused=refused, credentials=find_credentials(planned, engines))


def _writes_data(plan: JobPlan) -> bool:
    """Whether data is downloaded or copied before the containers start."""
    trees = [tree for host in plan.hosts for tree in host.inputs.trees]
    if plan.inputs.code is not None:
        trees.append(plan.inputs.code)
    return any(tree.listing.remote or tree.staging == "copy" for tree in trees)


def only_plan(work: Workload, place: JobPlace, plan: Callable[[Facts], JobPlan], *, strict: bool) -> JobPlan:
    """Only the plan: no image is pulled, and missing GPUs or Neuron devices are not an error."""
    refuse_contradictions(work)
    data = data_facts(work, place.region, strict=strict)
    home = place.home
    placed = place_hosts([host.name for host in work.hosts], work.local, place.engines)
    _check_places(work, placed, home)
    image = placed.first.engine.image(work.image)
    check_architecture(work.image, image, placed.first.facts)
    placed = with_facts(placed, lambda each: with_folder_facts(each.facts, each.engine, image, home))
    if image is not None:
        image = _with_files(work, image, placed, home)
    machines = _machines(work, placed, home=home, required=False)
    planned = plan(_facts(work, data, placed, image, place, machines=machines))
    return look_space.with_warning(planned, home) if _writes_data(planned) else planned


def plan_again(work: Workload, place: JobPlace, plan: Callable[[Facts], JobPlan], old: JobPlan) -> JobPlan:
    """The plan of a recorded job, with its inputs as they are now."""
    placed = place_as_before(old, place.engines)
    image = placed.first.engine.image(old.image.name)
    if image is not None and old.image.facts is not None:
        known = old.image.facts
        image = replace(image, reserved_files=known.reserved_files, serve_program=known.serve_program)
    placed = with_facts(placed, lambda each: with_known_folders(each.facts, place.home))
    machines = _machines(work, placed, home=place.home, before=old.engines.by_address)
    data = data_facts(work, place.region, strict=False)
    new = plan(_facts(work, data, placed, image, place, machines=machines))
    kept = (note for note in old.notes if note.id == SPREAD_OVER)
    return replace(new, output=old.output, spread=old.spread, notes=(*new.notes, *kept))


def data_facts(work: Workload, region: str, *, strict: bool) -> DataFacts:
    """Find them; mistakes in them are an error."""
    store = store_of(work, region)
    inputs = list_inputs(work, strict=strict, region=region, store=store)
    mirrored = list_mirrored(work, strict=strict, region=region, store=store)
    return DataFacts(inputs=inputs, mirrored=mirrored, output=output_folder(work), publishes=_publishes(work, mirrored))


def _publishes(work: Workload, mirrored: MirroredFacts) -> bool:
    written = [work.output.uri, *(each.uri for each in work.mirrored if each.name not in mirrored.folders)]
    return work.local.Publish and (
        (mirrored.checkpoints is not None and mirrored.checkpoints.remote)
        or any(s3_form(uri).startswith("s3://") for uri in written)
    )


def _asked(work: Workload, placed: PlacedEngine, *, required: bool = True, before: MachineFacts | None = None) -> Asked:
    """The job's demands on the machine of one engine."""
    return Asked(
        hosts=tuple(host for host in work.hosts if host.name in placed.hosts),
        local=work.local,
        document=work.document,
        image=work.image,
        required=required,
        before=before,
    )


def _machines(
    work: Workload, placed: PlacedEngines, *, home: str, required: bool = True, before: _Machines | None = None
) -> _Machines:
    """The facts about the machine of each engine. Parts missing for its hosts are an error if `required`.

    `before`: the facts that an earlier plan of the job has found.
    """
    found = {}
    for each in placed.each:
        address = each.facts.address
        with about_engine(placed, each):
            asked = _asked(work, each, required=required, before=None if before is None else before[address])
            found[address] = examined(asked, each, home=home)
    return found


def _check_places(work: Workload, placed: PlacedEngines, home: str) -> None:
    """Refuse what the place of an engine does not let the job have."""
    for each in placed.each:
        if each.facts.place is not None:
            check_place(each.facts.place, work.local, hosts=len(work.hosts), isolated=work.isolated, home=home)


def _with_files(work: Workload, image: ImageFacts, placed: PlacedEngines, home: str) -> ImageFacts:
    """The image with what is known of its files: a place is not known to let anybody look at them."""
    if placed.first.facts.place is not None:
        return image
    return with_files(image, placed.first.engine, home, root=work.folders.root)


def _facts(
    work: Workload,
    data: DataFacts,
    placed: PlacedEngines,
    image: ImageFacts | None,
    place: JobPlace,
    *,
    machines: _Machines,
    remove_leftovers: bool = False,
) -> Facts:
    inputs = data.inputs
    if (there := placed.first.facts.place) is not None:
        inputs = inputs_there(there, inputs, [each.name for each in work.channels if each.mode == "Pipe"])
    elif placed.first.facts.shares_folders and not all(each.facts.same_mounts for each in placed.each) and image:
        inputs = seen_inputs(work, inputs, placed, image.id)
    run_id = place.run_id or os.urandom(4).hex()
    shares = tuple(_share(work, placed, each, machines[each.facts.address], image) for each in placed.each)
    network = choose_network(
        len(work.hosts),
        work.local,
        placed,
        isolated=work.isolated,
        run_id=run_id,
        remove_leftovers=remove_leftovers,
    )
    inputs = replace(inputs, no_fuse=no_fuse(work, inputs, [each.facts for each in placed.each]))
    first = placed.first.facts
    if os.path.exists(f"{place.home}/JOBS") and ignores_case(place.home):
        check_names(work, inputs, placed)
        first = replace(first, ignores_case=True)
    return Facts(
        region=place.region,
        account=place.account,
        run_id=run_id,
        job_directory=os.path.join(place.home, "jobs", place.name),
        engines=EnginesFacts(
            first=first,
            machine=shares[0].machine,
            shares=shares if len(shares) > 1 else (),
            manager=placed.manager,
        ),
        image=image,
        inputs=inputs,
        output=OutputFacts(folder=data.output, free=free_bytes(data.output)),
        network=network,
        mirrored=data.mirrored,
        rules=rule_facts(work),
    )


def _share(
    work: Workload, placed: PlacedEngines, each: PlacedEngine, machine: MachineFacts, image: ImageFacts | None
) -> EngineShare:
    with about_engine(placed, each):
        runtime = plain_runtime(each.engine, image, work.variables)
    machine = replace(machine, accelerators=replace(machine.accelerators, plain_runtime=runtime))
    return EngineShare(engine=each.facts, machine=machine, hosts=each.hosts)
