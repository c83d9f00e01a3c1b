"""Containers in which a person looks around: of a running job, of an ended one as it was left, or of a new one."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smlocal.base.at_use import at_use
from smlocal.base.files import remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.engine.engines import Engines, engines_at
from smlocal.engine.interface import ContainerOrigin, Engine, ProcessStreams
from smlocal.errors import EngineError, ImageMissingError, ImagePullError, MachineNotReadyError, SmlocalError
from smlocal.errors.of_jobs import CommandNotStartedError, ShellMissingError
from smlocal.jobs.containers import HOST_LABEL, container_spec, labels
from smlocal.jobs.decide.events import EventQueue
from smlocal.jobs.host.delivery import Delivery
from smlocal.jobs.host.host_run import HostRun
from smlocal.jobs.planning.aspects.network.look import make_network
from smlocal.jobs.planning.model import HostPlan, JobPlan, mounted_directory
from smlocal.jobs.planning.recall import recall_containers, remember
from smlocal.jobs.prepared import Prepared
from smlocal.jobs.store.home import shells_directory
from smlocal.jobs.store.lease import Lease, leased_folders, make_leased
from smlocal.jobs.view import Reporter

if TYPE_CHECKING:
    from smlocal.jobs.control.found_containers import hosts_with_containers
    from smlocal.jobs.finish import cleanup
    from smlocal.jobs.finish.artifacts import restore_ownership
    from smlocal.jobs.mirrored.folders import delete_downloaded_checkpoints
else:
    cleanup = at_use("smlocal.jobs.finish.cleanup")
    restore_ownership = at_use("smlocal.jobs.finish.artifacts", "restore_ownership")
    hosts_with_containers = at_use("smlocal.jobs.control.found_containers", "hosts_with_containers")
    delete_downloaded_checkpoints = at_use("smlocal.jobs.mirrored.folders", "delete_downloaded_checkpoints")

SHELL_LABEL = "smlocal.shell"
"""On the container and the image of a shell in a kept job: which shell it is."""
_DOCUMENT = "shell.json"
_SHELL = ("sh", "-c", "if command -v bash >/dev/null 2>&1; then exec bash; fi; exec sh")
_NOT_THERE = regex(
    r"executable file (?:`[^`]*` )?not found|no such file or directory|permission denied|exec format error",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShellProgram:
    """The program that a person wants to run."""

    command: Sequence[str]
    """Empty for a shell: bash, or sh if there is none."""
    terminal: bool

    @property
    def words(self) -> tuple[str, ...]:
        """The command of the container."""
        return tuple(self.command) or _SHELL

    def error(self, refusal: EngineError, image: str) -> SmlocalError:
        """The error to raise if the engine refused to start it."""
        if not refusal.status or not _NOT_THERE.search(refusal.sentence):
            return refusal
        if self.command:
            return CommandNotStartedError(
                f"{self.command[0]} cannot be started in the container",
                details=[refusal.sentence.strip()],
                remedy=["The command is not run by a shell: for pipes and variables write -- sh -c '...'"],
            )
        return ShellMissingError(
            f"the image {image} has no shell: neither bash nor sh",
            remedy=["To run another program of the image: smlocal shell ... -- PROGRAM"],
        )


@contextmanager
def shell_in_running(engine: Engine, container: str, program: ShellProgram, *, image: str) -> Iterator[ProcessStreams]:
    """Start another process in a container."""
    try:
        with closing(engine.execute(container, program.words, terminal=program.terminal)) as streams:
            yield streams
    except EngineError as error:
        raise program.error(error, image) from error


@contextmanager
def shell_in_kept(
    engine: Engine,
    plan: JobPlan,
    host: HostPlan,
    container: str,
    program: ShellProgram,
    *,
    home: str,
    warn: Callable[[str], None],
) -> Iterator[ProcessStreams]:
    """Start a container with the mounts, the environment and the files of the ended one, which does not change."""
    for each in _not_served(plan, host):
        warn(each)
    plan = replace(plan, debug=None)
    folder = ShellFolder.make(home)
    folder.record({"Engine": plan.engine_of(host).address, "Job": plan.name})
    ours = ""
    try:
        ours = _create(engine, plan, host, container, program, shell=folder.id)
        try:
            with closing(engine.attach_streams(ours, terminal=program.terminal)) as streams:
                engine.start(ours)
                yield streams
        except EngineError as error:
            raise program.error(error, plan.image.name) from error
    finally:
        try:
            if ours:
                _give_back(plan, host, engine, ours)
            _remove_marked(engine, plan.name, folder.id)
            folder.remove()
        except (EngineError, MachineNotReadyError) as error:
            warn(
                f"the container of this shell could not be removed ({error.sentence}); smlocal recover removes it later"
            )


def _create(engine: Engine, plan: JobPlan, host: HostPlan, container: str, program: ShellProgram, *, shell: str) -> str:
    origin = engine.origin(container)
    try:
        image = engine.commit(container, (SHELL_LABEL, shell))
        # Not the host's label, which an image of the container has: the new one must not be taken for the host.
        marks = {**labels(plan), HOST_LABEL: "", SHELL_LABEL: shell}
        spec = container_spec(plan, host, labels=marks, mounts=origin.mounts)
        return engine.create(
            replace(
                spec,
                name=f"{spec.name}-shell-{shell}",
                image=image,
                entrypoint=program.words,
                command=(),
                standard_input=True,
                terminal=program.terminal,
            )
        )
    except EngineError as error:
        if not error.status or engine.image(origin.image) is not None:
            raise
        raise _image_gone(plan, origin) from error


def _give_back(plan: JobPlan, host: HostPlan, engine: Engine, container: str) -> None:
    """Files written in the kept folders belong to the user, like the rest of them."""
    engine.signal(container, "SIGKILL")
    delivery = Delivery(plan=plan, home="", reporter=Reporter(), on_failure=lambda _, __: None)
    run = HostRun(plan=plan, host=host, engine=engine, events=EventQueue(), reporter=Reporter(), delivery=delivery)
    run.take_over(container, running=False)
    restore_ownership([run])


def _image_gone(plan: JobPlan, origin: ContainerOrigin) -> ImageMissingError:
    return ImageMissingError(
        f"the image of the job '{plan.name}' is no longer there: {plan.image.name}",
        details=[f"Its id was {origin.image}."],
        remedy=[f"Build or pull it again, then: smlocal rerun {plan.name} --keep failed"],
    )


def _not_served(plan: JobPlan, host: HostPlan) -> Iterator[str]:
    for pipe in host.inputs.pipes:
        yield f'channel "{pipe.name}" (Pipe) is no longer served: its FIFO has no writer'
    for tree in host.inputs.trees:
        if tree.staging == "fuse":
            yield f'channel "{tree.name}" (FastFile from S3) is no longer served: {tree.target} is empty'
    if plan.credentials is not None:
        yield "AWS credentials are no longer served"
    if plan.warm_pool is not None and plan.warm_pool.directory:
        cache = mounted_directory(plan, host, plan.folders.warm_pool)
        if not os.path.isdir(cache):
            os.makedirs(cache, mode=0o700)  # or the container could not be made; the next command deletes it
            yield f"the warm pool is no longer this job's: {plan.folders.warm_pool} is empty"


@contextmanager
def shell_in_new(
    prepare: Callable[[], Prepared],
    program: ShellProgram,
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
    plan = replace(
        prepared.plan,
        debug=None,
        warm_pool=None,
        job_directory=folder.path,
        image=replace(prepared.plan.image, entrypoint=program.words, command=()),
    )
    folder.record({"Engine": plan.engines.first.address, "Plan": remember(plan)})
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
    program: ShellProgram,
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
    if plan.network.own is not None:
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
        events=EventQueue(),
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


def _started(run: HostRun, program: ShellProgram) -> ProcessStreams:
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
        raise program.error(error, run.plan.image.name) from error
    return found[0]


@dataclass(kw_only=True, slots=True)
class ShellFolder:
    """The process of the shell holds the lock on it for as long as it lives."""

    path: str
    id: str
    _lease: Lease | None

    @classmethod
    def make(cls, home: str) -> "ShellFolder":
        """Make a new one."""
        name = os.urandom(4).hex()
        path = os.path.join(shells_directory(home), name)
        return cls(path=path, id=name, _lease=make_leased(path))

    def record(self, document: Mapping[str, Any]) -> None:
        """Record what is about to be made on the engine."""
        with open(os.path.join(self.path, _DOCUMENT), "w", encoding="utf-8", opener=_owner_only) as file:
            json.dump(document, file)

    def remove(self) -> None:
        """Delete it."""
        remove_tree(self.path)
        if self._lease is not None:
            self._lease.release()


def remove_dead_shells(home: str) -> None:
    """Remove what shells have left whose process was killed.

    Anything that cannot be removed now is left for the next time.
    """
    for folder in leased_folders(shells_directory(home)):
        with suppress(SmlocalError, OSError, ValueError, LookupError):
            _remove_dead(folder)


def _remove_marked(engine: Engine, job: str, shell: str) -> None:
    """Remove the container of a shell in a kept job, and the image that was made for it."""
    for each in (*engine.owned(job), *engine.images(job)):
        if each.labels.get(SHELL_LABEL) == shell:
            engine.remove(each)


def _remove_staged(engines: Engines, plan: JobPlan, folder: str) -> list[str]:
    """Remove everything made for a new container; returns the parts that could not be removed, as sentences."""
    for engine in engines:
        cleanup.kill_containers(engine, plan.name, plan.run_id)
    failures = restore_ownership(hosts_with_containers(engines, plan))
    for each in cleanup.clear_engines(engines, plan.name, plan.run_id, engine_lost=False).values():
        failures += each
    return failures + cleanup.clear_disk(folder)


def _remove_dead(path: str) -> None:
    lease = Lease.take(path)
    if lease is None:
        return

    with lease:
        document = _document(path)
        if document is not None:
            if "Plan" not in document:
                _remove_marked(engines_at([document["Engine"]]).first, document["Job"], os.path.basename(path))
            else:
                plan = recall_containers(document["Plan"])
                if _remove_staged(engines_at(plan.engine_addresses), plan, path):
                    return
        remove_tree(path)


def _document(path: str) -> Any:
    """None if nothing was made on the engine."""
    try:
        with open(os.path.join(path, _DOCUMENT), encoding="utf-8") as file:
            return json.load(file)
    except (FileNotFoundError, ValueError):
        return None


def _owner_only(path: str, flags: int) -> int:
    """The environment of a job may hold secrets."""
    return os.open(path, flags, 0o600)


def _remove(engines: Engines, plan: JobPlan, folder: ShellFolder, warn: Callable[[str], None]) -> None:
    try:
        failures = _remove_staged(engines, plan, folder.path)
    except (EngineError, MachineNotReadyError) as error:
        failures = [error.sentence]
    if not failures:
        folder.remove()
    for each in failures:
        warn(f"not everything of this shell could be removed ({each}); smlocal recover tries again")
