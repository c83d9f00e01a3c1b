"""A shell in a new container, prepared as a run prepares it, with the shell instead of the training program."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from smlocal.engine.engines import Engines
from smlocal.engine.interface import ProcessStreams
from smlocal.errors import EngineError, ImagePullError, MachineNotReadyError
from smlocal.job.decide.events import Events
from smlocal.job.host.delivery import Delivery
from smlocal.job.host.host_run import HostRun
from smlocal.job.mirrored.checkpoints import delete_downloaded_checkpoints
from smlocal.job.prepared import Prepared
from smlocal.job.reporter import Reporter
from smlocal.job.shell.program import Program
from smlocal.job.shell.shell_folders import ShellFolder, remove_staged
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.planning.recall import remember


@contextmanager
def shell_in_new(
    prepare: Callable[[], Prepared],
    program: Program,
    *,
    choose: Callable[[JobPlan], HostPlan],
    home: str,
    engines: Engines,
    reporter: Reporter,
    ready: Callable[[], None],
) -> Iterator[ProcessStreams]:
    """Stage one host of what `prepare` prepares, and start its container. `ready` is called before it is started."""
    prepared = prepare()
    if prepared.pull_refused is not None:
        raise ImagePullError(prepared.pull_refused)
    choose(prepared.plan)  # before anything is made
    folder = ShellFolder.make(home)
    plan = replace(prepared.plan, job_directory=folder.path, entrypoint=program.words, command=())
    folder.record({"Engine": plan.engine.address, "Plan": remember(plan)})
    with ExitStack() as ended:
        ended.callback(_remove, engines, plan, folder, reporter.warning)
        run = _staged(prepared, plan, choose, program, home=home, engines=engines, reporter=reporter, ended=ended)
        ready()
        streams = _started(run, program)
        ended.callback(streams.close)
        yield streams


def _staged(
    prepared: Prepared,
    plan: JobPlan,
    choose: Callable[[JobPlan], HostPlan],
    program: Program,
    *,
    home: str,
    engines: Engines,
    reporter: Reporter,
    ended: ExitStack,
) -> HostRun:
    credentials = prepared.credentials
    containers: list[str] = []
    if credentials is not None:
        credentials.warn = reporter.warning
        credentials.containers = lambda: containers
        ended.enter_context(credentials.ready())
        ended.callback(credentials.close)
        credentials.open(lambda _, __: None)
    if plan.network is not None:
        from smlocal.job.prepare.job_network import make_network  # most jobs have one host

        plan = make_network(engines, plan)
    host = choose(plan)
    delivery = Delivery(
        plan=plan,
        home=home,
        reporter=reporter,
        on_failure=lambda reason, why: reporter.warning(f"the data ends here: {why or reason}"),
    )
    ended.callback(delivery.close)
    run = HostRun(
        plan=plan,
        host=host,
        engine=engines.at(host.engine),
        events=Events(),
        reporter=reporter,
        delivery=delivery,
        environment={} if credentials is None else credentials.environment,
        standard_input=True,
        terminal=program.terminal,
    )
    os.makedirs(os.path.join(plan.job_directory, "hosts"), exist_ok=True)
    run.prepare()
    delete_downloaded_checkpoints(plan)
    delivery.open_pipes(host)
    containers.append(run.container.id)
    return run


def _started(run: HostRun, program: Program) -> ProcessStreams:
    found: list[ProcessStreams] = []

    def start() -> None:
        streams = run.engine.attach_streams(run.container.id, terminal=program.terminal)
        try:
            run.engine.start(run.container.id)
        except BaseException:
            streams.close()
            raise
        found.append(streams)

    try:
        run.start_container(start)
    except EngineError as error:
        raise program.error(error, run.plan.image) from error
    return found[0]


def _remove(engines: Engines, plan: JobPlan, folder: ShellFolder, warn: Callable[[str], None]) -> None:
    try:
        failures = remove_staged(engines, plan, folder.path)
    except (EngineError, MachineNotReadyError) as error:
        failures = [error.sentence]
    if not failures:
        folder.remove()
    for each in failures:
        warn(f"not everything of this shell could be removed ({each}); smlocal recover tries again")
