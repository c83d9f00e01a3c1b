"""A shell in a new container made from a host that has ended and was kept (`Local.Keep`)."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from smlocal.engine.interface import ContainerOrigin, Engine, ProcessStreams
from smlocal.errors import EngineError, ImageMissingError, MachineNotReadyError
from smlocal.job.host.container_spec import container_spec
from smlocal.job.labels import HOST_LABEL, labels
from smlocal.job.shell.program import Program
from smlocal.job.shell.shell_folders import SHELL_LABEL, ShellFolder, remove_marked
from smlocal.planning.model import HostPlan, JobPlan


@contextmanager
def shell_in_kept(
    engine: Engine,
    plan: JobPlan,
    host: HostPlan,
    container: str,
    program: Program,
    *,
    home: str,
    warn: Callable[[str], None],
) -> Iterator[ProcessStreams]:
    """Start a container with the mounts, the environment and the files of the ended one, which does not change."""
    for each in _not_served(plan, host):
        warn(each)
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
            raise program.error(error, plan.image) from error
    finally:
        try:
            if ours:
                _give_back(plan, host, engine, ours)
            remove_marked(engine, plan.name, folder.id)
            folder.remove()
        except (EngineError, MachineNotReadyError) as error:
            warn(
                f"the container of this shell could not be removed ({error.sentence}); smlocal recover removes it later"
            )


def _create(engine: Engine, plan: JobPlan, host: HostPlan, container: str, program: Program, *, shell: str) -> str:
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
    """What was written in the kept folders belongs to the user, as the rest of them does."""
    from smlocal.job.decide.events import Events  # not before the shell, for which a person waits
    from smlocal.job.finish.collect import restore_ownership
    from smlocal.job.host.delivery import Delivery
    from smlocal.job.host.host_run import HostRun
    from smlocal.job.reporter import Reporter

    engine.signal(container, "SIGKILL")
    delivery = Delivery(plan=plan, home="", reporter=Reporter(), on_failure=lambda _, __: None)
    run = HostRun(plan=plan, host=host, engine=engine, events=Events(), reporter=Reporter(), delivery=delivery)
    run.take_over(container, running=False)
    restore_ownership([run])


def _image_gone(plan: JobPlan, origin: ContainerOrigin) -> ImageMissingError:
    return ImageMissingError(
        f"the image of the job '{plan.name}' is no longer there: {plan.image}",
        details=[f"Its id was {origin.image}."],
        remedy=[f"Build or pull it again, then: smlocal rerun {plan.name} --keep failed"],
    )


def _not_served(plan: JobPlan, host: HostPlan) -> Iterator[str]:
    for pipe in host.pipes:
        yield f'channel "{pipe.name}" (Pipe) is no longer served: its FIFO has no writer'
    for tree in host.channels:
        if tree.staging == "fuse":
            yield f'channel "{tree.name}" (FastFile from S3) is no longer served: {tree.target} is empty'
    if plan.credentials is not None:
        yield "AWS credentials are no longer served"
