"""One `docker run` command that starts a host of a job again, for jobs that one command can start."""

from collections.abc import Iterator
from shlex import quote

from smlocal.contract.secrets.masking import masked, masked_file, masked_words
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.platforms.sagemaker.contract import paths
from smlocal.platforms.sagemaker.planning.script import is_mounted, limit_options
from smlocal.quick_dataclass import dataclass

VARIABLES = "variables"
"""The file of environment variables beside the input."""
_INPUT = f"{paths.INPUT}/"


@dataclass(frozen=True, kw_only=True, slots=True)
class DockerLine:
    """The command, and the files that it needs."""

    words: tuple[str, ...]
    """For a shell."""
    files: dict[str, bytes]
    """By their paths in the folder that was given."""
    folders: tuple[str, ...]


def docker_line(plan: JobPlan, folder: str) -> DockerLine | None:
    """The command, with its files in `folder`; None for a job that needs more: `smlocal plan --script` is for those."""
    if len(plan.hosts) != 1 or _needs_more(plan, plan.hosts[0]):
        return None
    (host,) = plan.hosts
    shown = {name: value for name, value in host.environment.items() if not _is_secret(name, value)}
    variables = "".join(f"{name}={value}\n" for name, value in shown.items())
    return DockerLine(
        words=tuple(_words(plan, host, folder, [name for name in host.environment if name not in shown])),
        files={
            VARIABLES: variables.encode(),
            **{f"input/{path.removeprefix(_INPUT)}": content for path, content in host.files.items()},
        },
        folders=tuple(f"input/{tree.target.removeprefix(_INPUT)}" for tree in host.channels),
    )


def _needs_more(plan: JobPlan, host: HostPlan) -> bool:
    return bool(
        not plan.engine.shares_folders
        or plan.network is not None
        or plan.code is not None
        or plan.checkpoints is not None
        or plan.collectors
        or plan.credentials is not None
        or host.pipes
        or not host.files  # a recalled plan
        or any(not is_mounted(tree) or tree.listing.failure is not None for tree in host.channels)
        # A file of variables has one in each line.
        or any("\n" in value or "\r" in value for value in host.environment.values())
        or any(not path.startswith(_INPUT) or masked_file(path, data) != data for path, data in host.files.items())
        or _command(plan) != masked_words(_command(plan))
    )


def _command(plan: JobPlan) -> list[str]:
    return [*(plan.entrypoint or ()), *(plan.command or ())]


def _is_secret(name: str, value: str) -> bool:
    return value != "" and masked(name, value) != value


def _words(plan: JobPlan, host: HostPlan, folder: str, others: list[str]) -> Iterator[str]:
    yield "docker"
    if plan.engine.named:
        yield from ("-H", quote(plan.engine.address))
    yield from ("run", "--rm", "--hostname", quote(host.hostname))
    for name, address in host.extra_hosts.items():
        yield from ("--add-host", quote(f"{name}:{address}"))
    yield from ("--env-file", quote(f"{folder}/{VARIABLES}"))
    for name in others:  # docker takes them from its own environment
        yield from ("-e", quote(name))
    yield from limit_options(host)
    yield from ("-v", quote(f"{folder}/input:{paths.INPUT}:ro"))
    for tree in host.channels:
        yield from ("-v", quote(f"{tree.listing.root}:{tree.target}:ro"))
    for path in (paths.MODEL, paths.OUTPUT, paths.OUTPUT_DATA, paths.WARM_POOL):
        yield from ("-v", path)
    if plan.entrypoint:
        yield from ("--entrypoint", quote(plan.entrypoint[0]))
    yield from (quote(plan.image), *map(quote, _command(plan)[1 if plan.entrypoint else 0 :]))
