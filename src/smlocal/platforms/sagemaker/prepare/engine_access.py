"""Whether the containers of an engine can use folders, FIFOs and FUSE mounts of this machine."""

from collections.abc import Sequence

from smlocal.errors import EngineRemoteError, PipeUnreachableError
from smlocal.job.prepare.placed_engines import PlacedEngines
from smlocal.planning.facts import EngineFacts
from smlocal.platforms.sagemaker.contract.documents.config_files import effective_mode
from smlocal.platforms.sagemaker.jobfile.job_file import JobFile
from smlocal.platforms.sagemaker.prepare.inputs import Inputs


def check_access(job: JobFile, placed: PlacedEngines) -> None:
    """Refuse what needs engines that see this machine's folders, or run on its kernel."""
    for engine in [each.facts for each in placed.each] if placed.blind is None else [placed.blind]:
        _check_file_systems(job, engine)
        _check_pipes(job, engine)
        _check_late_names(job, engine)


def _check_file_systems(job: JobFile, engine: EngineFacts) -> None:
    """Channels that are file systems need an engine that can mount local folders."""
    mounted = [
        c.ChannelName for c in job.request.InputDataConfig or () if c.DataSource.FileSystemDataSource is not None
    ]
    if mounted and not engine.shares_folders:
        raise EngineRemoteError(
            f'channel "{mounted[0]}": the engine at {engine.address} does not see the folders of this machine '
            "and cannot mount one as a file system",
            remedy=[f"Use an engine of this machine ({_how(engine)})."],
        )


def _check_late_names(job: JobFile, engine: EngineFacts) -> None:
    """`LateNames` changes a file of this machine that the containers see."""
    if any(fault.Kind == "LateNames" for fault in job.local.Faults) and not engine.shares_folders:
        raise EngineRemoteError(
            f"Local.Faults: LateNames is not possible with the engine at {engine.address}, which does not see "
            "the folders of this machine",
            remedy=[f"Remove the fault, or use an engine of this machine ({_how(engine)})."],
        )


def _check_pipes(job: JobFile, engine: EngineFacts) -> None:
    """A FIFO connects two processes of one kernel. The containers of some engines run on another one."""
    pipes = [c.ChannelName for c in job.request.InputDataConfig or () if effective_mode(c, job.request) == "Pipe"]
    if not pipes or (engine.shares_folders and engine.local and not engine.desktop):
        return
    if engine.desktop:
        why = "runs in a virtual machine"
    elif engine.shares_folders:
        why = "is at an address of the network, so that it may run on another kernel"
    else:
        why = "does not see the folders of this machine"
    raise PipeUnreachableError(
        f'channel "{pipes[0]}": a FIFO of this machine cannot reach containers of the engine at {engine.address}, '
        f"which {why}",
        remedy=[f"Use an engine of this machine ({_how(engine)}), or File or FastFile mode: InputMode: FastFile."],
    )


def _how(engine: EngineFacts) -> str:
    """How to use another engine."""
    return "change Local.Engines, or --engine" if engine.named else "docker context use default, or unset DOCKER_HOST"


def no_fuse(job: JobFile, inputs: Inputs, engines: Sequence[EngineFacts]) -> str | None:
    """Why FUSE cannot be used. Only checked if a channel would use it."""
    channels = job.request.InputDataConfig or ()
    streamed = [c.ChannelName for c in channels if effective_mode(c, job.request) == "FastFile"]
    if not any(name in inputs.listings and inputs.listings[name].remote for name in streamed):
        return None
    if any(each.desktop for each in engines):
        return "the engine runs in a virtual machine"
    if not all(each.shares_folders for each in engines):
        return "the engine does not see the folders of this machine"
    if not all(each.same_mounts for each in engines):
        return "the engine does not see what is mounted on this machine"
    from smlocal.channels.fastfile.availability import why_no_fuse

    return why_no_fuse()
