"""Whether channels can be mounted copy-on-write."""

from smlocal.doctor.finding import Finding, fine, unknown, warning
from smlocal.doctor.machine import Machine
from smlocal.doctor.trial import Trial
from smlocal.planning.facts import SLOW

_CHANGE = "An engine on this machine mounts them copy-on-write: docker context use default"
_SHARE = "If it shares other folders, set SMLOCAL_HOME to one of them"


def check(machine: Machine) -> Finding:
    """Try it."""
    return judge(machine.trial, home=machine.home, local=machine.endpoint.local, rootless=machine.details.rootless)


def judge(trial: Trial, *, home: str, local: bool, rootless: bool = False) -> Finding:
    """Otherwise every channel is copied."""
    if trial.container_error is not None:
        return unknown("not checked: cannot start a container")
    if not trial.shares_folders:
        if local:
            why, remedy = f"the engine does not see {home}", _SHARE
        else:
            why, remedy = "the engine is on another machine", _CHANGE
        return warning(f"{why}: channels are uploaded before each run, and results downloaded", remedy)
    if trial.slowness is not None and trial.slowness >= SLOW:
        return warning(
            f"containers read small files of this machine {trial.slowness:.0f} times as slowly as files of their own",
            "Put many small files into one archive, or copy them to the container's /tmp first",
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
