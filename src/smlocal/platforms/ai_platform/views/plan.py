"""Rows of a plan for people."""

from collections.abc import Iterator

from smlocal.contract.secrets.masking import masked_words
from smlocal.job.plan_rows import device_rows, environment_rows, network_text, note_rows, request_text
from smlocal.planning.model import HostPlan, JobPlan
from smlocal.readable import readable_bytes, short_path


def plan_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """What would run, and how it differs from the service."""
    yield "Job", plan.name
    yield "", plan.arn
    yield from note_rows(plan)
    for index, host in enumerate(plan.hosts):
        yield "" if index else "Replicas", _replica(plan, host)
    yield "Network", network_text(plan)
    yield from device_rows(plan)
    yield from _limits(plan)
    yield "Request", request_text(plan)
    for index, tree in enumerate(plan.trees):
        yield "" if index else "Buckets", f"{tree.target} is {short_path(tree.listing.root)}, for {tree.uri}"
    yield from environment_rows(plan)
    stop = plan.stop
    yield "Stops", f"after {stop.max_runtime} s; SIGTERM, {stop.grace} s, SIGKILL"


def _replica(plan: JobPlan, host: HostPlan) -> str:
    """`workerpool0-0 on n1-standard-4: IMAGE   runs: sh -c …`."""
    image, words = plan.image, ["ENTRYPOINT"]
    if host.program is not None:
        image = host.program.image
        words = [*masked_words(host.program.entrypoint or ("ENTRYPOINT",)), *masked_words(host.program.command or ())]
    accelerators = f" with {host.host.gpus} accelerators" if host.host.gpus else ""
    return f"{host.host.name} on {host.host.instance_type}{accelerators}: {image}   runs: {' '.join(words)}"


def _limits(plan: JobPlan) -> Iterator[tuple[str, str]]:
    shown = {}
    for host in plan.hosts:
        memory = f"memory {readable_bytes(host.limits.memory)}" if host.limits.memory else ""
        cpus = f"{host.limits.cpus:g} processors" if host.limits.cpus else ""
        shown[host.host.instance_type] = ", ".join(filter(None, (memory, cpus)))
    yield from (("Limits", f"{machine}: {text}") for machine, text in shown.items() if text)
