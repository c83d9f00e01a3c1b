"""The views of engines: their rows, and notes on others than Docker on this machine."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smlocal.base.at_use import at_use
from smlocal.engine.facts import SLOW
from smlocal.jobs.planning.aspects.network.plan import local_port
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule, RareRules
from smlocal.jobs.planning.workload import Workload

if TYPE_CHECKING:
    from smlocal.jobs.planning.aspects.place.show import PLACE_RULES
else:
    PLACE_RULES = at_use("smlocal.jobs.planning.aspects.place.show", "PLACE_RULES")


def engine_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """The engines of a job on several, each with its hosts."""
    for index, engine in enumerate(plan.engines.several):
        hosts = [host.host.name for host in plan.hosts if host.engine == engine.address]
        yield "" if index else "Engines", f"{engine.address}: {', '.join(hosts)}"


def _podman(plan: JobPlan, work: Workload) -> str | None:
    if plan.engines.first.product != "podman":
        return None
    return (
        "the engine is Podman: it does not report that memory ran out (exit code 137; the kernel's log does), "
        "sets the variables TERM and container, and adds names to /etc/hosts"
    )


def _rootless(plan: JobPlan, work: Workload) -> str | None:
    if not plan.engines.first.rootless:
        return None
    return "the engine is rootless: root in the container is your user; other users have no equal on this machine"


def _ulimits(plan: JobPlan, work: Workload) -> str | None:
    if not work.local.Ulimits or not plan.engines.first.rootless or plan.engines.first.product != "podman":
        return None
    return "rootless Podman silently caps Local.Ulimits at its own limits"


def _remote(plan: JobPlan, work: Workload) -> str | None:
    if plan.engines.first.shares_folders or plan.engines.several:
        return None
    why = "is on another machine" if plan.engines.first.elsewhere else "does not see the folders of this machine"
    return (
        f"the engine at {plan.engines.first.address} {why}: data is uploaded to its volumes, and results are "
        "downloaded when the containers have ended, not while they run"
    )


def _several(plan: JobPlan, work: Workload) -> str | None:
    if not plan.engines.several:
        return None
    data = (
        "all of them see the folders of this machine"
        if plan.engines.first.shares_folders
        else "data is uploaded to the volumes of each, and results are downloaded when the containers have ended"
    )
    return (
        f"the hosts run on {len(plan.engines.several)} engines, with an overlay network of their swarm in place of "
        f"that of the service, which is faster; {data}"
    )


def _untried(plan: JobPlan, work: Workload) -> str | None:
    engine = next((each for each in plan.engines.each if each.untried is not None), None)
    if engine is None:
        return None
    assumed = "does" if engine.shares_folders else "does not"
    return (
        f"whether the engine at {engine.address} sees the folders of this machine was not tried "
        f"({engine.untried}); smlocal assumes that it {assumed}"
    )


def _slow(plan: JobPlan, work: Workload) -> str | None:
    times = max(each.slowness or 0 for each in plan.engines.each)
    if times < SLOW or not plan.engines.first.shares_folders:
        return None
    return (
        f"containers read small files of this machine {times:.0f} times as slowly as files of their own: "
        "copy data with many small files to the container's /tmp first, or put them into one archive"
    )


def _alike(plan: JobPlan, work: Workload) -> str | None:
    if not plan.engines.first.ignores_case or not plan.engines.first.shares_folders:
        return None
    return (
        "the disk of smlocal's home ignores case: names that differ only in case are one file in the container's "
        "/opt/ml, and the last one written replaces the others. To keep all, set SMLOCAL_HOME to a folder on a "
        "case-sensitive disk"
    )


def _endpoints(plan: JobPlan, work: Workload) -> str | None:
    engine = next((each for each in plan.engines.each if each.rootless or not each.local), None)
    if not work.local.Endpoints or engine is None:
        return None
    if plan.network.own is not None and plan.network.own.isolated:
        return None
    here = [url for url in work.local.Endpoints.values() if local_port(url) is not None]
    if not here:
        return None
    where = "on another machine" if engine.elsewhere else "in a network of its own"
    which = f"the engine at {engine.address}" if plan.engines.several else "the engine"
    return f"{', '.join(here)} is not this machine in the containers: {which} is {where}"


def _isolation(plan: JobPlan, work: Workload) -> str | None:
    own = plan.network.own
    if own is None or not own.isolated:
        return None
    reach = "containers can reach what listens on this machine's addresses"
    if plan.engines.first.product == "podman":
        return f"isolation is incomplete on Podman: {reach}"
    # Of this machine's address on their network: a firewall could tell who began, and smlocal changes none.
    return f"isolation is incomplete, because this machine must reach the containers: {reach}" if own.reached else None


ENGINE_RULES = (
    NoteRule(id="engine-isolation", says=_isolation, warning=True),
    NoteRule(id="engine-endpoints", says=_endpoints, warning=True),
    NoteRule(id="engine-ulimits", says=_ulimits, warning=True),
    NoteRule(id="engine-remote", says=_remote),
    NoteRule(id="several-engines", says=_several),
    NoteRule(id="engine-untried", says=_untried),
    NoteRule(id="folders-slow", says=_slow),
    NoteRule(id="folders-ignore-case", says=_alike),
    NoteRule(id="engine-podman", says=_podman),
    NoteRule(id="engine-rootless", says=_rootless),
    RareRules(when=lambda plan, _: plan.engines.first.place, rules=PLACE_RULES),
)
