"""Rows of a plan for people: what all platforms show alike."""

import json
from collections.abc import Iterator

from smlocal.contract.gpus import GpuDevices
from smlocal.contract.secrets.masking import masked, masked_request, masked_words
from smlocal.planning.model import JobPlan
from smlocal.readable import readable_bytes

COLUMN = 13
"""Of the heads."""
_LINE = 160
_NAMED = 8


def note_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """Warnings, and what differs from the service."""
    warnings = [note for note in plan.notes if note.warning]
    if warnings:
        yield "Warnings", ""
        yield from (("", f"{note.text}  [{note.id}]") for note in warnings)
    yield "Differences from the service", ""
    yield from (("", f"{note.text}  [{note.id}]") for note in plan.notes if not note.warning)


def host_names(plan: JobPlan) -> str:
    """All of them, of many the first and the last."""
    names = [host.host.name for host in plan.hosts]
    return ", ".join(names) if len(names) <= _NAMED else f"{names[0]} to {names[-1]}"


def network_text(plan: JobPlan) -> str:
    """Where the hosts are."""
    if plan.network is None:
        return "on the engine's default network"
    kind = "overlay network" if plan.network.manager else "network"
    own = f"on the job's own {kind} {plan.network.name}, {plan.network.subnet}"
    return f"{own}, isolated" if plan.network.isolated else own


def engine_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """The engines of a job on several, each with its hosts."""
    for index, engine in enumerate(plan.engines):
        hosts = [host.host.name for host in plan.hosts if host.engine == engine.address]
        yield "" if index else "Engines", f"{engine.address}: {', '.join(hosts)}"


def host_kinds(plan: JobPlan) -> list[str]:
    """The instance types, each once, with the GPUs of a host."""
    kinds = {host.host.instance_type: host.devices for host in plan.hosts}
    return [kind + ("" if devices is None else f", {_gpus(devices)} each") for kind, devices in kinds.items()]


def _gpus(devices: GpuDevices) -> str:
    count = len(devices.ids)
    return f"{count or 'all'} GPU{'s' * (count != 1)}"


def device_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """The GPUs and Neuron devices of each host."""
    means = "CDI devices" if plan.machine.gpus.cdi else "a device request"
    shown = [
        f"{host.host.name}: {', '.join(host.devices.ids) or 'all'}" for host in plan.hosts if host.devices is not None
    ]
    if shown:
        yield "GPUs", f"{'; '.join(shown)} (by {means})"
    neuron = [f"{host.host.name}: {', '.join(host.neuron)}" for host in plan.hosts if host.neuron]
    if neuron:
        yield "Neuron", "; ".join(neuron)


def image_text(plan: JobPlan) -> str:
    """The image, and what runs in it."""
    facts = plan.image_facts
    if facts is None:
        return f"{plan.image} (not here)"
    runs = " + ".join(
        part
        for part in (
            " ".join(masked_words(plan.entrypoint))
            if plan.entrypoint is not None
            else "ENTRYPOINT"
            if facts.entrypoint
            else "",
            " ".join(masked_words(plan.command or ())),
        )
        if part
    )
    platform = f"{facts.operating_system}/{facts.architecture}"
    return f"{plan.image} (here, {platform}, {readable_bytes(facts.size)})   runs: {runs}"


def request_text(plan: JobPlan) -> str:
    """The request in one line, without secrets, shortened if it is long."""
    text = json.dumps(masked_request(plan.request), ensure_ascii=False)
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…\nfull text: smlocal plan --json"


def environment_rows(plan: JobPlan) -> Iterator[tuple[str, str]]:
    """The variables of the first host, and those of other hosts that differ."""
    first, *others = plan.hosts
    shown = [("Environment", first.environment)]
    for host in others:
        differing = {n: v for n, v in host.environment.items() if first.environment.get(n) != v}
        head = f"  {host.host.name}"
        shown.append((head if len(head) <= COLUMN else f"{head} ", differing))
    for head, variables in shown:
        for index, (name, value) in enumerate(variables.items()):
            yield head if index == 0 else "", f"{name}={one_line(masked(name, value))}"


def one_line(text: str) -> str:
    """A text of several lines in one."""
    return " ⏎ ".join(text.splitlines())
