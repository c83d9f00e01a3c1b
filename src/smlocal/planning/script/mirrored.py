"""Folders that are mirrored while a job runs: by hand they are restored before it, and saved once, at its end."""

from collections.abc import Iterator

from smlocal.contract import paths
from smlocal.contract.checkpoints import UPLOADING
from smlocal.planning.model import CheckpointPlan, HostPlan, JobPlan
from smlocal.planning.script.shell import beside, here, quote

_NOT_ITS_OWN = f"! -name {quote(f'*{UPLOADING}')}"


def folders(plan: JobPlan, host: HostPlan) -> Iterator[tuple[str, str]]:
    """What is mounted for them alone: (here, there), words of the script."""
    checkpoints = plan.checkpoints
    if checkpoints is not None and checkpoints.own_mount:
        yield _checkpoints(checkpoints, host), checkpoints.local_path
    for collector in plan.collectors:
        if collector.own_mount:
            yield beside(host, f"/{collector.name}"), collector.local_path


def brought(plan: JobPlan) -> Iterator[str]:
    """Checkpoints in S3, which are here from then on."""
    checkpoints = plan.checkpoints
    if checkpoints is None or not checkpoints.listing.remote:
        return
    folder = quote(checkpoints.directory)
    yield f'[ ! -e {folder} ] || mv {folder} {folder}-until-"$(date +%s)"'
    if checkpoints.listing.paths:
        listing = checkpoints.listing
        source = quote(f"{listing.bucket_uri}{listing.key_base}")
        yield f"aws s3 cp --recursive --only-show-errors --exclude {quote(f'*{UPLOADING}')} {source} {folder}/"


def prepared(plan: JobPlan, host: HostPlan) -> Iterator[str]:
    """The folders as a host finds them, and a list of what was put there."""
    for folder, _ in folders(plan, host):
        yield f"mkdir -p {folder}"
    checkpoints = plan.checkpoints
    if checkpoints is not None:
        folder, prefix = _checkpoints(checkpoints, host), quote(checkpoints.directory)
        yield f"[ ! -d {prefix} ] || cp -RL {prefix}/. {folder}/"
        yield f"(cd {folder} && find . -type f) >{_list(host)}"


def saved(plan: JobPlan) -> Iterator[str]:
    """Copied is what is new or was written since the list was made; deleted, what is on it and gone."""
    checkpoints = plan.checkpoints
    if checkpoints is not None:
        for host in plan.hosts:
            folder, prefix = _checkpoints(checkpoints, host), quote(checkpoints.directory)
            yield _copied(folder, prefix, f"-newer {_list(host)}")
            yield f"""while IFS= read -r f; do [ -e {folder}/"$f" ] || rm -f {prefix}/"$f"; done <{_list(host)}"""
    for collector in plan.collectors:
        for host in plan.hosts:
            own = beside(host, f"/{collector.name}")
            yield _copied(own if collector.own_mount else here(host, collector.local_path), quote(collector.directory))


def _copied(folder: str, target: str, chosen: str = "") -> str:
    files = " ".join(("find . -type f", _NOT_ITS_OWN, *([chosen] if chosen else [])))
    return (
        f'(cd {folder} && [ -z "$({files} -print -quit)" ] || '
        f"{{ mkdir -p {target} && {files} -exec cp -f --parents -t {target} {{}} +; }})"
    )


def _checkpoints(checkpoints: CheckpointPlan, host: HostPlan) -> str:
    return here(host, paths.CHECKPOINTS if checkpoints.own_mount else checkpoints.local_path)


def _list(host: HostPlan) -> str:
    return beside(host, "/restored")
