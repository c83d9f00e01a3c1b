"""Random orders of events, with supervisors that die at random moments. `World` checks every action."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.ai_platform.lifecycle.job_world import PRIMARY, REPLICAS, World

from smlocal.ai_platform.lifecycle.actions import Decision, Happened
from smlocal.ai_platform.lifecycle.events import (
    CancelAsked,
    CancelAskedAgain,
    Event,
    InternalError,
    MaintenanceBegun,
    StockOut,
)
from smlocal.ai_platform.lifecycle.lifecycle import Lifecycle
from smlocal.ai_platform.lifecycle.progress import Rules, read_progress
from smlocal.ai_platform.lifecycle.states import MOST_REPLICA_RESTARTS, MOST_RETRIES, ErrorClass

PERMANENT = {ErrorClass.USER_EXCEPTION, ErrorClass.OUT_OF_MEMORY}
RULES = st.builds(
    Rules,
    region=st.just("us-central1"),
    max_running=st.sampled_from([None, 500.0]),
    max_wait=st.sampled_from([None, 300.0]),
    restart_job_on_worker_restart=st.booleans(),
    disable_retries=st.booleans(),
    grace=st.sampled_from([0.0, 30.0]),
)
Step = tuple[str, int, str]
"""The event, an exit code or a number of seconds, and the replica to which it happens."""
CALM = {
    "all-ready": 30,
    "ready": 10,
    "exit": 40,
    "go-on": 20,
    "lose": 1,
    "maintain": 2,
    "wait": 4,
    "die": 2,
    "adopt": 2,
}
"""How often each step occurs in jobs whose replicas fail again and again."""
WILD = CALM | {"out-of-memory": 1, "refuse": 1, "stock-out": 1, "internal": 1, "internal-of": 1, "cancel": 1, "kill": 1}
CODES = [*[137, 143] * 20, *[6, 134, 139] * 2, 0, 0, 1]
SEEDS = st.integers(min_value=0, max_value=2**32)


def steps_of(seed: int, weights: dict[str, int], codes: list[int], number: int = 150) -> Iterator[Step]:
    """Hypothesis makes short lists, which hardly ever reach a second attempt."""
    random = Random(seed)
    names = [replica.name for replica in REPLICAS]
    for what in random.choices([*weights], [*weights.values()], k=number):
        yield what, random.choice([0, 30, 60, 100] if what == "wait" else codes), random.choice(names)


def take(world: World, step: Step) -> None:
    """One step, if it is possible now."""
    what, value, name = step
    if name in world.lifecycle.running and name in world.containers:
        if world.containers[name].up:
            take_of_container(world, what, value, name)
        elif what == "ready":
            world.ready(name)
        elif what == "refuse":
            world.refuse_start(name)
    if what in ASKED and world.progress.attempt:
        world.handle(ASKED[what])
    else:
        take_of_supervisor(world, what, value)


def take_of_supervisor(world: World, what: str, seconds: int) -> None:
    """One step that concerns the whole job."""
    match what:
        case "all-ready":
            for name in sorted(world.lifecycle.running & world.progress.starting & world.containers.keys()):
                world.ready(name)
        case "go-on":
            world.go_on()
        case "wait":
            world.wait(seconds)
        case "die":
            world.forgetful = True


def take_of_container(world: World, what: str, value: int, name: str) -> None:
    """One step of a container that runs."""
    match what:
        case "exit":
            world.exits(name, value)
        case "out-of-memory":
            world.exits(name, 137, oom_killed=True)
        case "lose":
            world.lose(name)
        case "maintain":
            world.handle(MaintenanceBegun(replica=name))
        case "internal-of":
            world.handle(InternalError(why="staged", replica=name))


ASKED: dict[str, Event] = {
    "stock-out": StockOut(),
    "internal": InternalError(why="staged"),
    "cancel": CancelAsked(),
    "kill": CancelAskedAgain(),
}


def run(rules: Rules, steps: Iterable[Step]) -> World:
    """A job with these steps, to its end. A supervisor that dies has decided one more thing, and is replaced then."""
    world = World(rules=rules)
    for step in steps:
        dead = world.forgetful
        take(world, step)
        if dead:
            world.adopt()
    if world.forgetful:
        world.adopt()
    world.finish()
    return world


def check(world: World) -> None:
    """The state at the end of every job."""
    entries = world.entries
    assert world.every_container_has_one_end()
    restarts = Counter(
        (entry.attempt, entry.replica) for entry in entries if entry.decision is Decision.RESTART_REPLICA
    )
    assert max(restarts.values(), default=0) <= MOST_REPLICA_RESTARTS
    retries = [entry for entry in entries if entry.decision is Decision.RETRY_JOB]
    assert len(retries) <= 3
    moved = sum(entry.decision is Decision.RESTART_JOB for entry in entries)
    attempts = [entry.attempt for entry in entries if entry.happened is Happened.ATTEMPT]
    assert attempts == list(range(1, len(attempts) + 1))
    assert len(attempts) <= 1 + len(retries) + moved
    for index, entry in enumerate(entries):
        if entry.error in PERMANENT:
            assert entry.decision is Decision.FAIL
            assert all(later.happened is not Happened.ATTEMPT for later in entries[index:])
        if entry.error is ErrorClass.INTERNAL and entry.decision is Decision.RETRY_JOB:
            assert sum(earlier in retries for earlier in entries[:index]) < 2
    deciding = [entry for entry in entries if entry.decision in {Decision.SUCCEED, Decision.FAIL, Decision.CANCEL}]
    assert len(deciding) == 1 or [entry.decision for entry in deciding] == [Decision.CANCEL]
    ends = {Decision.SUCCEED: "SUCCEEDED", Decision.FAIL: "FAILED", Decision.CANCEL: "CANCELLED"}
    assert world.states[-1] == ends[deciding[-1].decision]
    if world.states[-1] == "SUCCEEDED":
        assert (deciding[-1].replica, deciding[-1].exit_code, world.error) == (PRIMARY, 0, None)
    else:
        assert world.error is not None
        assert world.error.message


@given(RULES, SEEDS)
def test_in_any_order_the_rules_hold_and_every_container_is_accounted_for(rules: Rules, seed: int) -> None:
    check(run(rules, steps_of(seed, WILD, CODES)))


@given(RULES, SEEDS)
def test_the_rules_hold_when_replicas_fail_again_and_again(rules: Rules, seed: int) -> None:
    check(run(rules, steps_of(seed, CALM, [137, 139, 143, 143, 143, 143])))


@given(RULES, SEEDS, SEEDS)
def test_whoever_takes_a_job_over_decides_as_the_one_before(rules: Rules, seed: int, moments: int) -> None:
    """At some steps the state machine is replaced by one made from what was stored of it."""
    one, several = World(rules=rules), World(rules=rules)
    random = Random(moments)
    for step in steps_of(seed, WILD | {"die": 0}, CODES):
        if random.random() < 0.1:
            stored = json.loads(json.dumps(several.progress.stored()))
            several.lifecycle = Lifecycle(replicas=REPLICAS, rules=rules, progress=read_progress(stored))
        for world in (one, several):
            take(world, step)
    for world in (one, several):
        world.finish()
    assert (one.entries, one.states, one.error) == (several.entries, several.states, several.error)
    assert (one.restarts, one.signals) == (several.restarts, several.signals)


@given(RULES, SEEDS)
def test_after_the_end_nothing_happens_to_a_job(rules: Rules, seed: int) -> None:
    world = World(rules=rules)
    world.begin_and_run()
    world.exits(PRIMARY, 1)
    world.finish()
    before = (len(world.entries), len(world.states), len(world.restarts), len(world.signals))
    for step in steps_of(seed, WILD | {"die": 0}, CODES):
        take(world, step)
    assert (len(world.entries), len(world.states), len(world.restarts), len(world.signals)) == before


def test_the_random_jobs_go_where_mistakes_could_be() -> None:
    """They have several attempts, all kinds of ends, and replicas that use up their restarts."""
    rules = Rules(region="us-central1")
    worlds = [run(rules, steps_of(seed, WILD, CODES)) for seed in range(60)]
    calm = [run(rules, steps_of(seed, CALM, [143])) for seed in range(5)]
    assert {world.states[-1] for world in worlds} == {"SUCCEEDED", "FAILED", "CANCELLED"}
    assert max(world.progress.attempt for world in worlds) >= MOST_RETRIES[ErrorClass.TRANSIENT]
    assert sum("RUNNING" in world.states for world in worlds) > len(worlds) / 2
    used_up = [world for world in calm if any(entry.restarts == MOST_REPLICA_RESTARTS for entry in world.entries)]
    assert used_up
