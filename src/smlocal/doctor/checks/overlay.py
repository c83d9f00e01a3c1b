"""Whether channels can be mounted copy-on-write."""

from smlocal.doctor.finding import Finding, fine, unknown, warning
from smlocal.doctor.machine import Machine
from smlocal.doctor.trial import Trial


def check(machine: Machine) -> Finding:
    """Try it."""
    return judge(machine.trial, home=machine.home, local=machine.endpoint.local, rootless=machine.details.rootless)


def judge(trial: Trial, *, home: str, local: bool, rootless: bool = False) -> Finding:
    """Otherwise every channel is copied."""
    if trial.container_error is not None:
        return unknown("not checked: cannot start a container")
    if not local:
        return warning(
            "the engine is on another machine: channels are uploaded before each run, and results downloaded",
            "An engine on this machine mounts them copy-on-write: docker context use default",
        )
    if trial.overlay_error is not None:
        return warning(
            f"File channels are copied before each run: {trial.overlay_error}",
            f"An engine on this machine can overlay folders on ext4, xfs, btrfs or tmpfs. Tested: {home}",
        )
    if rootless:
        return warning(
            "File channels are copied before each run: in a rootless overlay, folders cannot be renamed",
            "If the training renames no folder of a channel, use --staging overlay",
        )
    return fine("tested: File channels of any size are mounted copy-on-write")
