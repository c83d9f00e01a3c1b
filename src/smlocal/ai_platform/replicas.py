"""The replicas of a job, the same for both kinds of jobs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from smlocal.ai_platform.identity import cluster_id
from smlocal.ai_platform.machine_types import SCALE_TIERS, MachineType, machine_types
from smlocal.ai_platform.model.members import ReplicaJobKind
from smlocal.base.quick_dataclass import dataclass

PORT: Final = 2222
"""The port of each replica, in the descriptions of the cluster."""
_GROUPS: Final = (("master", "master"), ("worker", "worker"), ("ps", "parameterServer"), ("evaluator", "evaluator"))
"""The names of AI Platform Training's replicas, and the prefixes of their members."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replica:
    """One container of a job."""

    group: str
    """`master`, `worker`, `ps` or `evaluator`; of a custom job `workerpool0` to `workerpool3`."""
    index: int
    name: str
    """As in the messages of the service: `master 0`, `workerpool0-0`."""
    host_name: str
    """The same after a restart."""
    image: str
    entrypoint: tuple[str, ...] | None
    """None for the image's own."""
    arguments: tuple[str, ...] | None
    """None for the image's own."""
    variables: tuple[tuple[str, str], ...]
    """The environment in the request."""
    machine: MachineType
    accelerators: int
    accelerator: str
    """Their type; empty if there are none."""

    @property
    def is_primary(self) -> bool:
        """True for the one whose end decides about the job."""
        return self.group in {"master", "workerpool0"}

    @property
    def host(self) -> str:
        """Its short name on this machine: `master-0`, `workerpool0-0`."""
        return f"{self.group}-{self.index}"

    @property
    def address(self) -> str:
        """In the descriptions of the cluster."""
        return f"{self.host_name}:{PORT}"


def replicas(kind: ReplicaJobKind, request: Mapping[str, Any], *, job: str) -> tuple[Replica, ...]:
    """All replicas of a valid request, the primary one first."""
    found = (
        _of_training_job(request["trainingInput"])
        if kind is ReplicaJobKind.TRAINING_JOB
        else _of_custom_job(request["jobSpec"])
    )
    shared = cluster_id(job)
    return tuple(
        Replica(
            group=group,
            index=index,
            name=f"{group} {index}" if kind is ReplicaJobKind.TRAINING_JOB else f"{group}-{index}",
            host_name=f"cmle-training-{group}-{shared}-{index}",
            **described,
        )
        for group, count, described in found
        for index in range(count)
    )


def _of_training_job(given: Mapping[str, Any]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    image = given["masterConfig"]["imageUri"]
    job_dir = given.get("jobDir")
    for group, member in _GROUPS:
        config = given.get(f"{member}Config") or {}
        count, machine, accelerator = _size(given, member)
        if not count:
            continue
        accelerators = config.get("acceleratorConfig") or ({"type": accelerator, "count": 1} if accelerator else {})
        command, arguments = _program(config.get("containerCommand"), config.get("containerArgs") or given.get("args"))
        if job_dir is not None:
            arguments = (*(arguments or ()), f"--job-dir={job_dir}")
        yield (
            group,
            count,
            {
                "image": config.get("imageUri") or image,
                "entrypoint": command,
                "arguments": arguments,
                "variables": (),
                **_machine(machine, accelerators.get("type"), accelerators.get("count")),
            },
        )


def called_replicas(found: Sequence[Replica]) -> dict[str, str]:
    """The name on this machine of each replica, by what messages and the replicas themselves call it."""
    called = {name: each.host for each in found for name in (each.name, each.host_name)}
    groups = [each.group for each in found]
    return called | {each.group: each.host for each in found if groups.count(each.group) == 1}


def _size(given: Mapping[str, Any], member: str) -> tuple[int, str, str]:
    """How many replicas there are of a role, on which machine, and the accelerator of their scale tier."""
    tier_name = given.get("scaleTier", "BASIC")
    if tier_name == "CUSTOM":
        count = 1 if member == "master" else given.get(f"{member}Count", 0)
        return count, given.get(f"{member}Type", ""), ""
    tier = SCALE_TIERS[tier_name]
    if member == "parameterServer":
        return tier.parameter_servers, tier.parameter_server, ""
    return {"master": 1, "worker": tier.workers}.get(member, 0), tier.master, tier.accelerator


def _of_custom_job(spec: Mapping[str, Any]) -> Iterator[tuple[str, int, dict[str, Any]]]:
    for number, pool in enumerate(spec["workerPoolSpecs"]):
        if not pool:
            continue  # a pool that is left out keeps its number
        container, machine = pool["containerSpec"], pool["machineSpec"]
        command, arguments = _program(container.get("command"), container.get("args"))
        yield (
            f"workerpool{number}",
            pool.get("replicaCount", 1),
            {
                "image": container["imageUri"],
                "entrypoint": command,
                "arguments": arguments,
                "variables": tuple((each["name"], each["value"]) for each in container.get("env", ())),
                **_machine(machine["machineType"], machine.get("acceleratorType"), machine.get("acceleratorCount")),
            },
        )


def _program(
    command: Sequence[str] | None, arguments: Sequence[str] | None
) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Entrypoint and arguments. A command without arguments is run without any, not with those of the image."""
    if not command:
        return None, tuple(arguments) if arguments else None
    return tuple(command), tuple(arguments or ())


def _machine(name: str, accelerator: str | None, count: int | None) -> dict[str, Any]:
    machine = machine_types()[name]
    return {
        "machine": machine,
        "accelerators": count if accelerator and count else machine.gpus,
        "accelerator": accelerator or machine.gpu,
    }
