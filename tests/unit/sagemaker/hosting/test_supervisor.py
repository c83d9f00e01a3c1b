"""The supervisor of an endpoint, with a store and events, and without containers."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from smlocal.engine.engines import engines_at
from smlocal.engine.facts import EngineFacts
from smlocal.engine.interface import ContainerState
from smlocal.jobfile.document import Document
from smlocal.jobs.containers import FoundContainer, FoundContainers
from smlocal.jobs.context import ContainerContext
from smlocal.jobs.control.requests import StopRequests
from smlocal.jobs.decide.events import ContainerExited, Woken
from smlocal.jobs.history import read_past
from smlocal.jobs.logs.log_file import log_path
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.supervision import make_context
from smlocal.jobs.view import Reporter
from smlocal.sagemaker.hosting.planning import plan_endpoint
from smlocal.sagemaker.hosting.supervisor import HostingSupervisor
from smlocal.sagemaker.serving.model_file import read_model
from smlocal.sagemaker.serving.state import WEIGHTS, read_state
from smlocal.terms.statuses import JobPhase

NAME = "supervised-endpoint"
STARTED = "2026-01-01T00:00:00Z"


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostingSupervisor]:
    """Of two variants, each with one container."""
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    models = [{"ModelName": "one", "PrimaryContainer": {"Image": "held"}}]
    variants = [{"VariantName": name, "ModelName": "one", "InitialInstanceCount": 1} for name in ("Blue", "Green")]
    of = read_model(Document({"Models": models, "ProductionVariants": variants}, name="m", directory="/here"))
    facts = EngineFacts(
        address="unix:///absent.sock",
        local=True,
        shares_folders=True,
        version="28.0.0",
        architecture="amd64",
        operating_system="linux",
        storage_driver="overlay2",
    )
    engines = engines_at([facts.address])
    placed = PlacedEngine(engine=engines.first, facts=facts, hosts=())
    found = {each.at: () for each in of.containers}
    machine = MachineFacts(cpus=4, memory_mib=8000)
    plan = plan_endpoint(of, found, placed, {}, name=NAME, home=str(tmp_path), machine=machine, run_id="0a")
    with Store.open(str(tmp_path)) as store, StopRequests() as requests:
        store.create(
            NAME,
            run_id="0a",
            created=time.time(),
            documents={"request": dict(plan.request)},
            supervisor_pid=os.getpid(),
            platform=plan.platform,
        ).release()
        context = make_context(NAME, store=store, reporter=Reporter(), stop_requests=requests)
        yield HostingSupervisor(context=ContainerContext.of(context, engines), plan=plan)


def test_weights_that_change_as_a_container_ends_have_an_effect(supervisor: HostingSupervisor) -> None:
    for variant in ("Blue", "Green"):
        supervisor.router.place(variant, ("127.0.0.1", 1))
    context = supervisor.context
    ended = ContainerExited(container="Blue", exit_code=1)
    context.events.put(ended)
    context.store.put_document(NAME, WEIGHTS, {"Blue": 0.0, "Green": 1.0})
    context.events.put(Woken())
    assert supervisor._next(time.monotonic() + 60) == ended
    assert {supervisor.router.route({}).variant for _ in range(50)} == {"Green"}


@pytest.mark.parametrize("phase", [JobPhase.DOWNLOADING, JobPhase.TRAINING])
def test_an_end_that_an_earlier_supervisor_has_counted_is_not_counted_again(
    supervisor: HostingSupervisor, phase: JobPhase
) -> None:
    """That one was killed in the pause before the restart. The engine is not there, so the restart fails."""
    state = ContainerState(
        status="exited", exit_code=3, oom_killed=False, error="", started_at=STARTED, finished_at=STARTED
    )
    found = {name: FoundContainer(id=f"id-{name}", state=state, engine_started=STARTED) for name in ("Blue", "Green")}
    logs = [Path(log_path(supervisor.plan.job_directory, name)) for name in found]
    for log in logs:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("said once\n")
    for name, each in found.items():
        supervisor.state.restarted(name, 3)
        supervisor.state.counted[name] = each.id
    supervisor.state = read_state(supervisor.state.document())
    supervisor.context.phases.begin()
    supervisor.found = FoundContainers(hosts=found)
    supervisor.resume(read_past([]), phase)
    if supervisor.front is not None:
        supervisor.front.close()
    assert supervisor.state.restarts == 2
    assert {server.trouble for server in supervisor.servers.values()} == {"the container ended with exit code 3"}
    assert [log.read_text() for log in logs] == ["said once\n"] * 2
    assert supervisor.state.logged == {"Blue": len("said once\n")}
    assert supervisor.attempt.outcome.failure is not None
