"""Whether this machine has the Neuron devices that a job needs, checked before anything is staged."""

import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress

from smlocal.contract.hosts import Host
from smlocal.engine.interface import JOB_LABEL, Engine
from smlocal.errors import MachineNotReadyError, NeuronUnavailableError
from smlocal.jobfile.settings import LocalSettings
from smlocal.planning.facts import EngineFacts
from smlocal.platforms.sagemaker.planning.neuron import neuron_devices, type_neuron

_DEVICE = re.compile(r"neuron\d+", re.ASCII)


def count_neuron_devices(engine: EngineFacts, folder: str = "/dev") -> int | None:
    """The number of devices; None if the engine runs on another machine."""
    if not engine.local or engine.desktop:
        return None
    return sum(_is_device(f"{folder}/{name}") for name in os.listdir(folder) if _DEVICE.fullmatch(name))


def check_neuron_count(hosts: Sequence[Host], local: LocalSettings, there: int | None) -> None:
    """Compare the needed devices with those of the machine."""
    if there is not None and sum(map(len, neuron_devices(hosts, local))) > there:
        shown = f"{there or 'no'} Neuron device{'s' * (there != 1)}"
        raise _unavailable(hosts, f"this machine has {shown if there else 'none'}")


def try_neuron(hosts: Sequence[Host], local: LocalSettings, engine: Engine, image: str) -> None:
    """Have the engine start a container with all devices that the job needs."""
    devices = tuple(device for each in neuron_devices(hosts, local) for device in each)
    said = engine.probe(image, {JOB_LABEL: "neuron-probe"}, device_files=devices)
    if said is not None:
        raise _unavailable(hosts, "this engine provides none", said)


def _unavailable(hosts: Sequence[Host], why: str, *details: str) -> MachineNotReadyError:
    kinds = {host.instance_type: type_neuron(host) for host in hosts}
    has = ", ".join(f"{kind} has {count} Neuron device{'s' * (count != 1)}" for kind, count in kinds.items() if count)
    total = sum(map(type_neuron, hosts))
    demand = has if len(hosts) == 1 else f"{len(hosts)} hosts need {total} Neuron devices ({has})"
    return NeuronUnavailableError(
        f"{demand}, and {why}",
        details=details,
        remedy=[
            "Run it on a Trainium or Inferentia machine with the Neuron driver (ls /dev/neuron*),",
            "or run without them: --allow-cpu (noted in the result).",
        ],
    )


def _is_device(path: str) -> bool:
    with suppress(OSError):
        return stat.S_ISCHR(os.stat(path).st_mode)
    return False
