"""Signals to replicas, and when the next are due."""

from collections.abc import Collection

from smlocal.platforms.ai_platform.lifecycle.actions import Action, Kill, Terminate
from smlocal.platforms.ai_platform.lifecycle.progress import Progress


def terminate(progress: Progress, replicas: Collection[str], *, grace: float, now: float) -> list[Action]:
    """SIGTERM to those that have not had it. A shorter grace than before moves their SIGKILL forward.

    A replica whose container is just starting gets its signal when it has started.
    """
    for replica in progress.running & {*replicas} - progress.killed:
        progress.kill_at[replica] = min(now + grace, progress.kill_at.get(replica, now + grace))
    chosen = (progress.running & {*replicas}) - progress.signalled
    progress.signalled |= chosen
    there = tuple(sorted(chosen - progress.starting))
    return [Terminate(replicas=there)] if there else []


def kill(progress: Progress, replicas: Collection[str], *, timeout: float, now: float) -> list[Action]:
    """SIGKILL to those that have not had it."""
    chosen = (progress.running & {*replicas}) - progress.killed
    for replica in chosen:
        progress.kill_at.pop(replica, None)
        progress.lost_at[replica] = now + timeout
    progress.signalled |= chosen
    progress.killed |= chosen
    there = tuple(sorted(chosen - progress.starting))
    return [Kill(replicas=there)] if there else []


def kill_due(progress: Progress, *, timeout: float, now: float) -> list[Action]:
    """SIGKILL to those whose grace period is over."""
    due = [replica for replica, at in progress.kill_at.items() if now >= at]
    return kill(progress, due, timeout=timeout, now=now)


def repeat_signal(progress: Progress, replica: str) -> list[Action]:
    """The signal that this replica could not get because it was just starting."""
    if replica in progress.killed:
        return [Kill(replicas=(replica,))]
    return [Terminate(replicas=(replica,))] if replica in progress.signalled else []


def signal_to(progress: Progress, replica: str) -> str | None:
    """The last signal that this replica got; None: it got none."""
    if replica in progress.killed:
        return "SIGKILL"
    return "SIGTERM" if replica in progress.signalled else None


def forget(progress: Progress, replica: str) -> None:
    """The container has ended: no signal to it is remembered or due."""
    for names in (progress.signalled, progress.killed):
        names.discard(replica)
    for times in (progress.kill_at, progress.lost_at):
        times.pop(replica, None)
