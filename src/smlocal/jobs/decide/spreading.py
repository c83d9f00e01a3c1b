"""Which of several engines runs a job whole: that with the most free room for it. Pure.

The room of an engine is what its machine has, less what the running jobs there take by their instance types. What each
has taken, and which engines are lost, is in one document of the home: the book.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.terms.hosts import EVERY, Host

BOOK: Final = ("SpreadOver", "engines")
"""The kind and the name of the resource that it is."""
TAKEN, LOST = "Taken", "Lost"
"""Members of the book: what each job takes, by its name, and until when each lost engine is left alone."""
_PREPARING_SECONDS: Final = 120.0
"""What a job takes counts for so long before the job is recorded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """What the hosts of one job take together."""

    cpus: int = 0
    memory_mib: int = 0
    gpus: int = 0
    """`EVERY`: all that there are."""
    machines: int = 0
    """How many of its hosts take a whole machine, because their type is `local`."""
    instances: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """One engine: what its machine has, and what jobs take of that."""

    engine: str
    """As `Local.SpreadOver` names it."""
    address: str
    cpus: int
    memory_mib: int
    gpus: int | None = None
    """None if their number is not known."""
    taken: Sequence[Need] = field(default_factory=tuple)

    @property
    def instances(self) -> int:
        """How many are in use."""
        return sum(each.instances for each in self.taken)

    def free(self, need: Need) -> float:
        """How often the need fits into what is free, by what there is least of; negative if more is taken than is."""
        shares = [
            _share(self.cpus, [each.cpus + each.machines * self.cpus for each in (need, *self.taken)]),
            _share(
                self.memory_mib, [each.memory_mib + each.machines * self.memory_mib for each in (need, *self.taken)]
            ),
        ]
        if need.gpus and self.gpus is not None:
            has = self.gpus
            shares.append(_share(has, [has if each.gpus == EVERY else each.gpus for each in (need, *self.taken)]))
        return min(shares)


def _share(has: int, wanted: Sequence[int]) -> float:
    """`wanted`: first what the job needs, then what others have taken."""
    need, *taken = wanted
    return (has - sum(taken)) / max(need, 1)


def need_of(hosts: Sequence[Host], gpus: Sequence[int]) -> Need:
    """What these hosts take. `gpus`: of each, as they are given to them."""
    return Need(
        cpus=sum(host.vcpus for host in hosts),
        memory_mib=sum(host.memory_mib for host in hosts),
        gpus=EVERY if EVERY in gpus else sum(gpus),
        machines=sum(host.is_this_machine for host in hosts),
        instances=len(hosts),
    )


def choose_engine(rooms: Sequence[Room], need: Need, *, most: int | None = None) -> Room | None:
    """The engine with the most free room; of equals, that with the fewest jobs, then the first.

    Engines without GPUs run no job that needs some, unless there are no others. `most`: instances at once on each;
    None is returned while none has so few that the job may begin.
    """
    able = [room for room in rooms if not need.gpus or room.gpus != 0] or rooms
    below = [room for room in able if most is None or room.instances + need.instances <= most]
    return max(below, key=lambda room: (room.free(need), -len(room.taken)), default=None)


# The book. A job that has ended is left out with the next entry, so no crash leaves one behind.


def entry_of(room: Room, need: Need, *, run: str, at: float) -> dict[str, Any]:
    """What is written of a job. `run`: its run id; empty if it is not recorded yet."""
    return {
        "Engine": room.address,
        "Name": room.engine,
        "Run": run,
        "At": at,
        "Need": [need.cpus, need.memory_mib, need.gpus, need.machines, need.instances],
    }


def kept(taken: Mapping[str, Any], *, unfinished: Collection[str], seen: float, now: float) -> dict[str, Any]:
    """The entries of jobs that have not ended. `seen`: when these were unfinished; what is newer is kept."""
    return {
        name: each
        for name, each in taken.items()
        if name in unfinished or each["At"] >= seen or (not each["Run"] and now - each["At"] < _PREPARING_SECONDS)
    }


def taken_at(address: str, taken: Iterable[Mapping[str, Any]]) -> list[Need]:
    """What these entries take of one engine."""
    found = [each["Need"] for each in taken if each["Engine"] == address]
    return [
        Need(cpus=cpus, memory_mib=memory, gpus=gpus, machines=machines, instances=instances)
        for cpus, memory, gpus, machines, instances in found
    ]


def taken_by_plan(plan: Mapping[str, Any]) -> dict[str, Need]:
    """What the hosts of a stored plan take of each engine, by its address; nothing if it has none."""
    hosts = plan.get("hosts")
    if not hosts:
        return {}
    first = plan["engines"]["first"]["address"]
    found: dict[str, Need] = {}
    for address in dict.fromkeys(host["engine"] or first for host in hosts):
        here = [host for host in hosts if (host["engine"] or first) == address]
        types = [host["host"] for host in here]
        gpus = [(host["accelerators"] or {}).get("gpus") for host in here]
        found[address] = Need(
            cpus=sum(each["vcpus"] for each in types),
            memory_mib=sum(each["memory_mib"] for each in types),
            gpus=EVERY
            if any(each and each["every"] for each in gpus)
            else sum(len(each["ids"]) for each in gpus if each),
            machines=sum(not each["vcpus"] for each in types),
            instances=0 if plan.get("serving") else len(here),  # an endpoint may never end
        )
    return found
