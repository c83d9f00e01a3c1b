"""Whether copy-on-write channels work."""

from smlocal.doctor.interface import Finding, fine, unknown, warning
from smlocal.doctor.look import Look
from smlocal.doctor.trial import Trial


def check(look: Look) -> Finding:
    """Really try."""
    return judge(look.trial, home=look.home, local=look.endpoint.local, rootless=look.details.rootless)


def judge(trial: Trial, *, home: str, local: bool, rootless: bool = False) -> Finding:
    """Without them every channel is copied."""
    if trial.container_trouble is not None:
        return unknown("not checked: cannot start a container")
    if not local:
        return warning(
            "the engine is on another machine: channels are uploaded before each run, and results downloaded",
            "An engine on this machine mounts them copy-on-write: docker context use default",
        )
    if trial.overlay_trouble is not None:
        return warning(
            f"File channels are copied before each run: {trial.overlay_trouble}",
            f"An engine on this machine can overlay folders on ext4, xfs, btrfs or tmpfs. Tested: {home}",
        )
    if rootless:
        return warning(
            "File channels are copied before each run: in a rootless overlay, folders cannot be renamed",
            "If the training renames no folder of a channel, use --staging overlay",
        )
    return fine("tested: File channels of any size are mounted copy-on-write")
