"""The Neuron devices (Trainium, Inferentia) of each host: as many as its instance type has, shared with no other."""

from collections.abc import Sequence

from smlocal.contract.hosts import Host
from smlocal.jobfile.settings import LocalSettings
from smlocal.platforms.sagemaker.contract.instance_types import instance_type, is_this_machine

NEURON = "/dev/neuron"
"""Devices are numbered from 0: `/dev/neuron0`."""


def type_neuron(host: Host) -> int:
    """How many Neuron devices the instance type of a host has."""
    return 0 if is_this_machine(host.instance_type) else instance_type(host.instance_type).neuron_devices


def neuron_devices(hosts: Sequence[Host], local: LocalSettings) -> tuple[tuple[str, ...], ...]:
    """The device files of each host, even if this machine has fewer; none with `--allow-cpu`."""
    shared: list[tuple[str, ...]] = []
    used = 0
    for host in hosts:
        count = 0 if local.AllowCpu else type_neuron(host)
        shared.append(tuple(f"{NEURON}{number}" for number in range(used, used + count)))
        used += count
    return tuple(shared)
