"""Opens a shell in a container of a job."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from smlocal.api.job_files import engines_of, prepare
from smlocal.api.job_names import host_named
from smlocal.base.quick_dataclass import dataclass
from smlocal.engine.engines import connect_to
from smlocal.engine.interface import ProcessStreams
from smlocal.errors.of_jobs import ContainerNotRunningError, ShellNotAllowedError
from smlocal.jobfile.job_reading import AskedJob
from smlocal.jobs.containers import host_container, is_running
from smlocal.jobs.documents import RECALL
from smlocal.jobs.finish.describe import has_kept_containers
from smlocal.jobs.kinds import host_called, spoken_of
from smlocal.jobs.planning.model import HostPlan, JobPlan, host_directory
from smlocal.jobs.planning.recall import recall
from smlocal.jobs.prepared import Prepared
from smlocal.jobs.shells import ShellProgram, remove_dead_shells, shell_in_kept, shell_in_new, shell_in_running
from smlocal.jobs.store.home import home_directory, prepare_home
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord
from smlocal.jobs.view import Reporter


@dataclass(frozen=True, kw_only=True, slots=True)
class JobWithContainers:
    """A job that is not finished, or has kept its containers."""

    plan: JobPlan
    record: JobRecord
    home: str
    called: Mapping[str, str]
    """Other names of its hosts."""


def find_containers(name: str) -> JobWithContainers | None:
    """None for an ended job that has kept nothing."""
    with Store.open(home_directory()) as store:
        record = store.get(name)
        if record.status.terminal and not has_kept_containers(store.directory(name)):
            return None
        recalled = store.document(name, RECALL)
        if recalled is None:  # submitted, and not prepared yet
            raise ContainerNotRunningError(
                f"the job '{name}' has no container yet",
                details=[f"The job is in the phase {record.phase}."],
                remedy=["Try again while it is training."],
            )
        plan = recall(recalled)
        if not isinstance(plan, JobPlan):
            raise ContainerNotRunningError(
                f"the {spoken_of(record).job} '{name}' has no container of its own",
                remedy=[f"The jobs that it has started have some: smlocal describe {name}"],
            )
        called = host_called(store, name)
        return JobWithContainers(plan=plan, record=record, home=store.home, called=called)


def shell_in_job(
    job: JobWithContainers, host: str, program: ShellProgram, *, warn: Callable[[str], None]
) -> AbstractContextManager[ProcessStreams]:
    """In the container of a running job, or in one that continues from the kept container of an ended job."""
    plan, record = job.plan, job.record
    chosen = host_of(plan, host, called=job.called)
    engine = connect_to(plan.engine_of(chosen).address)
    place = engine.facts().place
    if place is not None:
        kept = host_directory(plan, chosen) if record.status.terminal else None
        raise _not_allowed(place.name, plan.name, kept)
    container = host_container(engine, plan, chosen)
    if record.status.terminal:
        if container is None:
            raise ContainerNotRunningError(
                f"the kept container of {chosen.host.name} of the job '{plan.name}' is gone",
                remedy=[f"smlocal rerun {plan.name} --keep failed     runs the job again"],
            )

        remove_dead_shells(job.home)
        return shell_in_kept(engine, plan, chosen, container, program, home=job.home, warn=warn)
    if container is None or not is_running(engine, container):
        raise ContainerNotRunningError(
            f"no container of {chosen.host.name} of the job '{plan.name}' is running now",
            details=[f"The job is in the phase {record.phase}."],
            remedy=[
                "Try again while it is training, or when it has ended. smlocal run --keep failed keeps the containers."
            ],
        )

    return shell_in_running(engine, container, program, image=plan.image.name)


def _not_allowed(place: str, job: str, kept: str | None) -> ShellNotAllowedError:
    """`kept`: the folder with the files of a container that has ended."""
    what = "making an image of the kept container" if kept else "another process in the container"
    return ShellNotAllowedError(
        f"{place} does not allow {what} of the job '{job}'",
        remedy=[
            f"ls {kept}     shows the /opt/ml of that container"
            if kept
            else f"smlocal logs {job} --follow     shows what it prints",
            "smlocal shell JOB.yaml     opens a shell in a new container, as it is before the job begins",
            "smlocal run JOB.yaml --entrypoint 'ls -R /opt/ml'     runs another command in place of the program",
        ],
    )


@contextmanager
def shell_in_new_container(
    job: AskedJob,
    name: str,
    host: str,
    program: ShellProgram,
    *,
    strict: bool,
    reporter: Reporter,
    ready: Callable[[], None],
) -> Iterator[ProcessStreams]:
    """In a container as the job would have it at its start. No job is recorded."""
    home = prepare_home(home_directory())
    remove_dead_shells(home)
    engines = engines_of(job)

    def prepared() -> Prepared:
        found = prepare(job, name=name, home=home, engines=engines, reporter=reporter, strict=strict)
        if not isinstance(found, Prepared):
            raise AssertionError(name)  # noqa: TRY004 - jobs of these kinds have containers
        return found

    with shell_in_new(
        prepared,
        program,
        choose=lambda plan: host_of(plan, host),
        home=home,
        engines=engines,
        reporter=reporter,
        ready=ready,
    ) as streams:
        yield streams


def host_of(plan: JobPlan, text: str, *, called: Mapping[str, str] | None = None) -> HostPlan:
    """The host with this number or name."""
    hosts = {host.host.name: host for host in plan.hosts}
    return hosts[host_named(plan.name, text, [*hosts], called=called)]
