"""Jobs that run whole on one of several engines (`Local.SpreadOver`): the choice, when a job begins.

Engines are asked what they have; then the choice and the entry of the job in the book are one change of the store, so
that jobs which begin together do not all take the same engine.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.engines import Engines, engines_named
from smlocal.engine.http import chosen_timeouts
from smlocal.engine.interface import Engine
from smlocal.errors import EngineError, EngineLostError, EngineUnreachableError, MachineNotReadyError
from smlocal.errors.of_jobs import EnginesGoneError, EnginesTooSmallError
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.decide import spreading as book
from smlocal.jobs.decide.events import StagingStoppedError
from smlocal.jobs.decide.spreading import BOOK, LOST, TAKEN, Need, Room, choose_engine, need_of
from smlocal.jobs.documents import RECALL
from smlocal.jobs.planning.aspects.accelerators.plan import gpu_counts
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine, PlacedEngines, machine_facts
from smlocal.jobs.planning.aspects.network.look import refuse_contradictions
from smlocal.jobs.planning.model import Note, RecordedPlan
from smlocal.jobs.planning.workload import Workload
from smlocal.jobs.prepared import PreparedPlan
from smlocal.jobs.store.database import StoreChanges
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.resources import StoredResource
from smlocal.jobs.view import Reporter
from smlocal.terms.statuses import JobStatus

if TYPE_CHECKING:
    from smlocal.jobs.planning.aspects.accelerators.look import find_gpus
    from smlocal.jobs.planning.aspects.image.look import image_of_all
else:
    find_gpus = at_use("smlocal.jobs.planning.aspects.accelerators.look", "find_gpus")
    image_of_all = at_use("smlocal.jobs.planning.aspects.image.look", "image_of_all")

_PAUSE: Final = 0.1
"""Seconds between looks at the store while no engine has room."""
Prepare = Callable[[Engines], PreparedPlan]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answers:
    """The engines of a job, as they have answered."""

    engines: Engines
    """Those that do; there may be none."""
    names: Mapping[str, str]
    """How the job file names each engine, by its address."""
    lost: Mapping[str, str]
    """Why the others do not answer, by their addresses."""

    def check(self) -> None:
        """`EnginesGoneError` if none answers."""
        if len(self.engines) == 0:
            raise EnginesGoneError(
                "none of the engines of Local.SpreadOver answers",
                details=[f"{self.names[address]}: {why}" for address, why in self.lost.items()],
                remedy=[
                    "Start one of them, or correct Local.SpreadOver (--spread-over; smlocal serve and exec: --engine)."
                ],
            )


def prepare_spread(
    prepare: Prepare,
    work: Workload | None,
    local: LocalSettings,
    *,
    home: str,
    name: str,
    run_id: str | None,
    here: bool,
    endless: bool,
    reporter: Reporter,
) -> PreparedPlan:
    """Prepare a job with `Local.SpreadOver`. `work`: None for a search or a pipeline, whose jobs have their own.

    `run_id`: None for a job that is not recorded. `here`: only engines of this machine can run it. `endless`: no other
    job waits for its instances.
    """
    if work is None:
        return _prepare_leader(prepare, local)
    refuse_contradictions(work)
    if on_swarm(work):
        return prepare(engines_named(local.Engines))
    need = _need(work)
    if endless:
        need = replace(need, instances=0)
    with Store.open(home) as store:
        for _ in local.SpreadOver:
            chosen, answers = _begin(store, work, need, name=name, run_id=run_id or "", here=here, reporter=reporter)
            only = answers.engines.only([chosen.address])
            try:
                _bring_image(work, chosen.address, answers.engines, reporter)
                prepared = prepare(only)
            except (EngineLostError, EngineUnreachableError) as error:
                leave_alone(store, {chosen.address})
                reporter.progress(f"{chosen.engine} no longer answers: {error.sentence}")
            else:
                return _on(chosen, prepared, answers)
    raise EnginesGoneError(
        "the engines of Local.SpreadOver were lost while the job was prepared",
        remedy=["Check each of them: DOCKER_HOST=ADDRESS smlocal doctor"],
    )


def on_swarm(work: Workload) -> bool:
    """True for a job with several hosts that has engines for them beside those for whole jobs."""
    return len(work.hosts) > 1 and bool(work.local.Engines)


def _on(chosen: Room, prepared: PreparedPlan, answers: Answers) -> PreparedPlan:
    text = f"the job runs whole on {chosen.engine}, the only engine of Local.SpreadOver"
    if (count := len(answers.names)) > 1:
        text = (
            f"the job runs whole on {chosen.engine}, which had the most free room of {count} engines (Local.SpreadOver)"
        )
    if silent := [name for address, name in answers.names.items() if address not in answers.engines.addresses]:
        text += f"; no answer from {', '.join(silent)}"
    plan = prepared.plan
    return replace(
        prepared, plan=replace(plan, spread=chosen.engine, notes=(*plan.notes, Note(id="spread-over", text=text)))
    )


def _prepare_leader(prepare: Prepare, local: LocalSettings) -> PreparedPlan:
    answers = ask(engines_named(local.SpreadOver), local.SpreadOver)
    answers.check()
    prepared = prepare(answers.engines)
    notes = (_spread(local, "each job"), *_silent(answers))
    return replace(prepared, plan=replace(prepared.plan, notes=(*prepared.plan.notes, *notes)))


def _silent(answers: Answers) -> Iterator[Note]:
    for address, why in answers.lost.items():
        said = f"{answers.names[address]} does not answer, and gets no jobs until it does: {why}"
        yield Note(id="engine-silent", text=said, warning=True)


def _spread(local: LocalSettings, whole: str) -> Note:
    engines = local.SpreadOver
    text = f"{whole} runs whole on one of {len(engines)} engines: {', '.join(engines)}"
    if len(engines) == 1:
        text = f"{whole} runs whole on {engines[0]}, the only engine of Local.SpreadOver"
    return Note(id="spread-over", text=text)


def looked_at(plan: Callable[[Engines], RecordedPlan], work: Workload | None, local: LocalSettings) -> RecordedPlan:
    """The plan of a job that has not begun, with notes that its engine is chosen then, and which do not answer now."""
    if work is not None and on_swarm(work):
        return plan(engines_named(local.Engines))
    answers = _looked(local, work)
    found = plan(answers.engines.only(answers.engines.addresses[:1]))
    notes = (_spread(local, "each job" if work is None else "the job"), *_silent(answers))
    return replace(found, notes=(*found.notes, *notes))


def ask(engines: Engines, names: Iterable[str]) -> Answers:
    """Ask all engines at the same time whether they are there. `names`: of each, in the order of `engines`."""
    _, answers = _rooms(engines, dict(zip(engines.addresses, names, strict=True)), gpus=False)
    return answers


def engines_to_look(local: LocalSettings, work: Workload | None) -> Engines:
    """The engine to ask before a job begins; of those in `Local.SpreadOver`, the first that answers."""
    if not local.SpreadOver or (work is not None and on_swarm(work)):
        return engines_named(local.Engines)
    engines = _looked(local, work).engines
    return engines.only(engines.addresses[:1])


def _looked(local: LocalSettings, work: Workload | None) -> Answers:
    if work is not None:
        refuse_contradictions(work)
    answers = ask(engines_named(local.SpreadOver), local.SpreadOver)
    answers.check()
    return answers


def engine_of_sample(work: Workload, engines: Engines, reporter: Reporter) -> Engines:
    """For a search: the engine that its first job would get now. All engines have the image then.

    `engines`: all that answer.
    """
    if on_swarm(work):
        return engines_named(work.local.Engines)
    if work.has_instances and len(engines) > 1:
        image_of_all(_placed(engines), work.image, work.local.Pull, reporter)
    need = _need(work)
    rooms, _ = _rooms(engines, {address: address for address in engines.addresses}, gpus=need.gpus != 0)
    chosen = choose_engine(list(rooms), need)
    return engines if chosen is None else engines.only([chosen.address])


def leave_alone(store: Store, addresses: Iterable[str]) -> None:
    """Give lost engines no jobs for a while."""
    until = time.time() + chosen_timeouts().lost / 2
    _change(store, lambda body: {**body, LOST: {**body[LOST], **dict.fromkeys(addresses, until)}})


# One job.


def _begin(
    store: Store, work: Workload, need: Need, *, name: str, run_id: str, here: bool, reporter: Reporter
) -> tuple[Room, Answers]:
    """Choose its engine and write that down; wait while as many instances are in use on all as may be."""
    local, told = work.local, False
    most = local.EngineInstances
    if most is not None and need.instances > most:
        raise EnginesTooSmallError(
            f"the job has {need.instances} hosts, and Local.EngineInstances is {most}",
            remedy=["Raise Local.EngineInstances, or use fewer instances."],
        )
    engines = engines_named(local.SpreadOver)
    names = dict(zip(engines.addresses, local.SpreadOver, strict=True))
    with StoreChanges(store.home) as changes:
        while True:
            rooms, answers = _rooms(_not_paused(store, engines), names, gpus=need.gpus != 0)
            if answers.lost:
                leave_alone(store, answers.lost)
            answers.check()
            rooms = [room for room in rooms if not here or room.address.startswith("unix://")] or rooms
            again = time.monotonic() + chosen_timeouts().back
            while time.monotonic() < again:
                seen = changes.number()
                chosen = _take(store, rooms, need, name=name, run_id=run_id, most=most)
                if chosen is not None:
                    return chosen, answers
                if not told:
                    reporter.progress("waiting: Local.EngineInstances are in use on each engine")
                    told = True
                while time.monotonic() < again and changes.number() == seen:
                    time.sleep(_PAUSE)
                if run_id and store.get(name).status is JobStatus.STOPPING:
                    raise StagingStoppedError


def _take(store: Store, rooms: Iterable[Room], need: Need, *, name: str, run_id: str, most: int | None) -> Room | None:
    """Choose an engine and enter the job into the book, in one change; None if no engine has room."""
    seen = time.time()
    unfinished = {record.name for record in store.unfinished() if not record.pending}
    booked = set(_body(store)[TAKEN])
    others = [book.taken_by_plan(plan) for _, plan in store.jobs_with(RECALL, [*(unfinished - booked - {name})])]
    chosen: Room | None = None

    def write(body: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
        nonlocal chosen
        now = time.time()
        taken = book.kept(body[TAKEN], unfinished=unfinished, seen=seen, now=now)
        taken.pop(name, None)
        known = [
            replace(
                room,
                taken=(
                    *book.taken_at(room.address, taken.values()),
                    *(each[room.address] for each in others if room.address in each),
                ),
            )
            for room in rooms
        ]
        chosen = choose_engine(known, need, most=most)
        if chosen is not None:
            taken[name] = book.entry_of(chosen, need, run=run_id, at=now)
        return {**body, TAKEN: taken}

    _change(store, write)
    return chosen


def _need(work: Workload) -> Need:
    return need_of(work.hosts, gpu_counts(work.hosts, work.local, None))


def _bring_image(work: Workload, address: str, engines: Engines, reporter: Reporter) -> None:
    """Send the image from another engine, if the chosen one lacks it."""
    if not work.has_instances or work.local.Pull != "missing" or engines.at(address).image(work.image) is not None:
        return
    for other in engines.addresses:
        if other != address and engines.at(other).image(work.image) is not None:
            image_of_all(_placed(engines.only([other, address])), work.image, work.local.Pull, reporter)
            return


def _placed(engines: Engines) -> PlacedEngines:
    return PlacedEngines(each=tuple(PlacedEngine(engine=each, facts=each.facts(), hosts=()) for each in engines))


# Asking the engines.


def _rooms(engines: Engines, names: Mapping[str, str], *, gpus: bool) -> tuple[list[Room], Answers]:
    """What each engine has, those that answer. All are asked at the same time."""
    from concurrent.futures import ThreadPoolExecutor  # most jobs have one engine

    def look(address: str) -> Room | str:
        try:
            return _room(engines.at(address), address, names[address], gpus=gpus)
        except (EngineError, MachineNotReadyError) as error:
            return error.sentence

    with ThreadPoolExecutor(max_workers=len(engines)) as threads:
        found = dict(zip(engines.addresses, threads.map(look, engines.addresses), strict=True))
    rooms = [each for each in found.values() if isinstance(each, Room)]
    lost = {address: each for address, each in found.items() if isinstance(each, str)}
    return rooms, Answers(engines=engines.only([room.address for room in rooms]), names=names, lost=lost)


def _room(engine: Engine, address: str, name: str, *, gpus: bool) -> Room:
    facts = engine.facts()
    machine = machine_facts(facts)
    ids = find_gpus(engine, facts).ids if gpus else None
    return Room(
        engine=name,
        address=address,
        cpus=machine.cpus,
        memory_mib=machine.memory_mib,
        gpus=None if ids is None else len(ids),
    )


def _not_paused(store: Store, engines: Engines) -> Engines:
    """Without those that were lost a moment ago, unless no other is left."""
    now, lost = time.time(), _body(store)[LOST]
    left = [address for address in engines.addresses if lost.get(address, 0.0) <= now]
    return engines.only(left) if left else engines


def _body(store: Store) -> Mapping[str, dict[str, float]]:
    found = store.resource(*BOOK)
    return {TAKEN: {}, LOST: {}} if found is None else found.body


def _change(store: Store, make: Callable[[dict[str, dict[str, object]]], dict[str, dict[str, object]]]) -> None:
    kind, name = BOOK
    now = time.time()
    if store.change_resource(kind, name, make, at=now) is None:
        empty: dict[str, dict[str, object]] = {TAKEN: {}, LOST: {}}
        store.add_resource(StoredResource(kind=kind, name=name, arn="", created=now, modified=now, body=empty))
        store.change_resource(kind, name, make, at=now)
