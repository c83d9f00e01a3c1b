"""Whether jobs have left something behind."""

from collections.abc import Collection, Sequence

from smlocal.doctor.finding import Finding, fine, warning
from smlocal.doctor.machine import Machine
from smlocal.doctor.trial import NAME
from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, Resource, ResourceKind
from smlocal.errors import JobUnknownError
from smlocal.job.control.orphans import orphans
from smlocal.job.finish.cleanup import clear_this_engine, kept_by
from smlocal.store.jobs import Store
from smlocal.store.records import JobRecord, LeftOnEngine

_SHOWN = 3
_RESTART = "a network that wrongly reports active endpoints can be removed after a restart of Docker"


def check(machine: Machine) -> Finding:
    """Find jobs without a supervisor, and what jobs left on the engine. Remove what ended jobs left there."""
    answers = machine.engine_error is None
    with Store.open(machine.home) as store:
        cleared = list(clear_this_engine(store, machine.engine)) if answers else []
        known = store.left_on_engines()
        found = machine.engine.owned() if answers else []
        kept = {each.run_id for name in _jobs(found) for each in kept_by(store, name)}
        owned = [each for each in found if each.labels.get(RUN_LABEL) not in kept]
        owned = [each for each in owned if not _is_doing(store, each)]
        ended = {resource.labels.get(RUN_LABEL, "") for resource in owned if _has_ended(store, resource)}
        return judge(
            lost=orphans(store),
            owned=owned,
            ended=ended | {left.run_id for left in known},
            cleared=cleared,
            kept=_jobs([each for each in found if each.labels.get(RUN_LABEL) in kept]),
            elsewhere=[left for left in known if not answers or left.engine != machine.endpoint.address],
        )


def _is_doing(store: Store, resource: Resource) -> bool:
    """True if it belongs to a running job of this home, or to a doctor."""
    record = _record(store, resource)
    return resource.labels.get(JOB_LABEL) == NAME or (record is not None and not record.status.terminal)


def _has_ended(store: Store, resource: Resource) -> bool:
    """True if it belongs to an ended job of this home."""
    record = _record(store, resource)
    return record is not None and record.status.terminal


def _record(store: Store, resource: Resource) -> JobRecord | None:
    """The job of this home that it belongs to."""
    try:
        record = store.get(resource.labels.get(JOB_LABEL, ""))
    except JobUnknownError:
        return None
    return record if record.run_id == resource.labels.get(RUN_LABEL) else None


def judge(
    *,
    lost: Sequence[str],
    owned: Sequence[Resource],
    ended: Collection[str],
    cleared: Sequence[str] = (),
    kept: Sequence[str] = (),
    elsewhere: Sequence[LeftOnEngine] = (),
) -> Finding:
    """None of it prevents other jobs. Whether jobs of other homes still run is not known here.

    `kept`: jobs that keep their containers on purpose.
    `elsewhere`: what may be left on engines that are unreachable, or are not the current one.
    """
    if lost:
        return warning(f"jobs whose supervisor was killed: {_some(lost)}", "smlocal recover     finishes them")
    if elsewhere:
        engines = _some(sorted({each.engine for each in elsewhere}))
        names = sorted({each.name for each in elsewhere})
        return warning(
            f"ended jobs may have left containers on an unreachable engine: {_some(names)} ({engines})",
            "smlocal recover     removes them once that engine is reachable",
            "smlocal rm --force NAME     forgets them, if that engine no longer exists",
        )
    left = [resource for resource in owned if resource.labels.get(RUN_LABEL) in ended]
    if left:
        kinds = ", ".join(f"{resource.kind} {resource.id[:48]}" for resource in left[:_SHOWN])
        return warning(
            f"ended jobs left something on the engine: {_some(_jobs(left))} ({len(left)}: {kinds})",
            f"docker rm --force --volumes $(docker ps --all --quiet --filter label={JOB_LABEL}=NAME)",
            "then the same with docker volume and docker network",
            *([_RESTART] if any(resource.kind is ResourceKind.NETWORK for resource in left) else []),
        )
    if cleared:
        return fine(f"removed what ended jobs left on the engine: {_some(cleared)}")
    others = _jobs(owned)
    known = f"; the engine also runs jobs of another SMLOCAL_HOME: {_some(others)}" if others else ""
    wanted = f" but what they were to keep: {_some(kept)}" if kept else ""
    return fine(f"nothing is left of ended jobs{wanted}{known}")


def _jobs(resources: Sequence[Resource]) -> list[str]:
    return sorted({resource.labels.get(JOB_LABEL, "") for resource in resources})


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
