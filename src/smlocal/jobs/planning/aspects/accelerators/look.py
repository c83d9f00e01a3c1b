"""Whether this machine has the GPUs and Neuron devices that a job needs, found before anything is staged.

A job never runs without them unless the user allows it.
"""

import os
import re
import stat
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from smlocal.engine.facts import EngineFacts
from smlocal.engine.interface import JOB_LABEL, Engine
from smlocal.errors import GpuUnavailableError, GpuUnknownError, MachineNotReadyError, NeuronUnavailableError
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.accelerators.plan import (
    GPUS_LABEL,
    AcceleratorFacts,
    GpuFacts,
    gpu_counts,
    gpu_pool,
    neuron_devices,
    share_out,
    wants_gpus,
)
from smlocal.jobs.planning.aspects.engines.look import PlacedEngine
from smlocal.jobs.planning.aspects.engines.plan import MachineFacts
from smlocal.jobs.planning.aspects.looks import Asked
from smlocal.terms.gpus import GpuDevices
from smlocal.terms.hosts import EVERY, Host

_SMI_SECONDS = 30
"""`nvidia-smi` may first have to start the driver."""
_DRIVER: Final = ("/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg", "/dev/nvhost-gpu", "/dev/nvmap")
"""With a driver one of these exists. The last three are those of WSL and of Jetson boards."""
_NO_TOOLKIT: Final = ("could not select device driver", "unknown or invalid runtime name: nvidia")
_CDI = "CDI devices"
_NEURON_DEVICE = re.compile(r"neuron\d+", re.ASCII)
_ALTERNATIVES: Final = (
    "or run without a GPU: --allow-cpu (noted in the result);",
    "or use another number per host: --gpus N",
)


def examine(asked: Asked, placed: PlacedEngine, machine: MachineFacts, *, home: str) -> MachineFacts:  # noqa: ARG001 - others need it
    """The machine's facts with the GPUs and Neuron devices that it has, if its hosts need any."""
    if asked.before is not None:
        return replace(machine, accelerators=asked.before.accelerators)
    hosts, local, engine = asked.hosts, asked.local, placed.engine
    gpus, neuron = GpuFacts(), None
    if wants_gpus(hosts, local):
        gpus = find_gpus(engine, placed.facts)
        if asked.required:
            check_gpu_count(hosts, local, gpus)
            if engine.image(asked.image) is None:
                check_gpu_driver(hosts, local, gpus, placed.facts, asked.image)
    if any(neuron_devices(hosts, local)):
        neuron = count_neuron_devices(placed.facts)
        if asked.required:
            check_neuron_count(hosts, local, neuron)
    return replace(machine, accelerators=AcceleratorFacts(gpus=gpus, neuron=neuron))


def try_out(asked: Asked, placed: PlacedEngine, machine: MachineFacts) -> None:
    """Try whether the engine gives them to a container."""
    if wants_gpus(asked.hosts, asked.local):
        try_gpus(asked.hosts, asked.local, machine.accelerators.gpus, placed.engine, asked.image)
    if any(neuron_devices(asked.hosts, asked.local)):
        try_neuron(asked.hosts, asked.local, placed.engine, asked.image)


def find_gpus(engine: Engine, facts: EngineFacts) -> GpuFacts:
    """The GPUs of the engine's machine."""
    listed, trouble = _query_driver() if facts.local else (None, None)
    by_name = engine.cdi_gpus()
    ids = by_name or (None if listed is None else tuple(listed))
    return GpuFacts(ids=ids, cdi=by_name is not None, busy=_busy(engine), trouble=trouble)


def check_gpu_count(hosts: Sequence[Host], local: LocalSettings, facts: GpuFacts) -> None:
    """Compare the requested GPUs with those that are known."""
    counts = gpu_counts(hosts, local, facts.ids)
    if isinstance(local.Gpus, list) and facts.ids is not None:
        _check_ids([str(each) for each in local.Gpus], facts.ids)
    pool = gpu_pool(local, facts)
    hosts_with_gpus = sum(count != 0 for count in counts)
    if pool is None:
        if EVERY in counts and hosts_with_gpus > 1:
            raise GpuUnavailableError(
                f"the GPUs of this machine cannot be shared out among {hosts_with_gpus} hosts: "
                "nvidia-smi does not tell how many there are",
                details=[facts.trouble] if facts.trouble is not None else [],
                remedy=["Set the number for each host: --gpus N"],
            )
        return
    if sum(counts) > len(pool):
        raise _too_few(hosts, counts, pool)


def check_gpu_driver(
    hosts: Sequence[Host], local: LocalSettings, facts: GpuFacts, engine: EngineFacts, image: str
) -> None:
    """Refuse before the image is pulled if there is no driver. Without an image the engine cannot try."""
    missing = _missing(facts, engine, "")
    if missing:
        raise _no_gpus(hosts, local, facts, missing, said=f"{image} is not available locally, so GPUs were not tried")


def try_gpus(hosts: Sequence[Host], local: LocalSettings, facts: GpuFacts, engine: Engine, image: str) -> None:
    """Have the engine start a container with all GPUs that the job needs."""
    shared = [each for each in share_out(hosts, local, facts) if each is not None]
    if not shared:
        return
    ids = tuple(gpu for each in shared for gpu in each.ids)
    every = any(each.every for each in shared)
    together = GpuDevices(ids=ids, every=every, cdi=facts.cdi)
    said = engine.probe(image, {JOB_LABEL: "gpu-probe"}, devices=together)
    if said is None:
        return
    raise _no_gpus(hosts, local, facts, _missing(facts, engine.facts(), said), said=said)


def _no_gpus(
    hosts: Sequence[Host], local: LocalSettings, facts: GpuFacts, missing: Sequence[str], *, said: str
) -> MachineNotReadyError:
    return GpuUnavailableError(
        f"{_demand(hosts, gpu_counts(hosts, local, facts.ids))}, and this engine provides none"
        + (f": {' and '.join(missing)}" if missing else ""),
        details=[said, *([facts.trouble] if facts.trouble is not None else [])],
        remedy=[*_remedies(missing), *_ALTERNATIVES],
    )


def _query_driver() -> tuple[dict[str, str] | None, str | None]:
    """The numbers and UUIDs of the GPUs, or None and the reason."""
    command = ["nvidia-smi", "--query-gpu=index,uuid", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SMI_SECONDS, check=False)
    except FileNotFoundError:
        return None, None
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, f"nvidia-smi: {error}"
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        said = " ".join((text or done.stderr.decode(errors="replace")).split())
        return None, f"nvidia-smi: {said or f'exit code {done.returncode}'}"
    lines = (line.partition(",") for line in text.splitlines())
    found = {index.strip(): uuid.strip() for index, _, uuid in lines if index.strip().isdigit()}
    return (found, None) if found else (None, f"nvidia-smi: {' '.join(text.split()) or 'no devices'}")


def _check_ids(asked: Sequence[str], known: Sequence[str]) -> None:
    """Numbers are checked. UUIDs are left to the driver, since they may be those of MIG parts."""
    unknown = [each for each in asked if each.isdigit() and each not in known]
    if not unknown:
        return
    one = len(unknown) == 1
    raise GpuUnknownError(
        f"there {'is' if one else 'are'} no GPU{'' if one else 's'} {', '.join(unknown)} on this machine",
        details=[f"nvidia-smi lists {', '.join(known)}"],
        remedy=["Correct Local.Gpus or --gpus; nvidia-smi --list-gpus shows them all."],
    )


def _busy(engine: Engine) -> Mapping[str, str]:
    """Which job uses which GPU, by the labels of smlocal's containers."""
    labels = [resource.labels for resource in engine.owned()]
    return {gpu: each.get(JOB_LABEL, "") for each in labels for gpu in each.get(GPUS_LABEL, "").split(",") if gpu}


def _demand(hosts: Sequence[Host], counts: Sequence[int]) -> str:
    """How many GPUs the job needs, and because of which instance type."""
    host, count = max(zip(hosts, counts, strict=True), key=lambda pair: pair[1])
    if count == EVERY:
        return "the job requests all GPUs"
    gpus = f"{count} GPU{'s' * (count != 1)}"
    if len(hosts) == 1:
        return f"{host.instance_type} has {gpus}" if count == host.gpus else f"the job requests {gpus}"
    total = sum(count for count in counts if count > 0)
    kinds = ", ".join(
        f"{kind} has {next(h for h in hosts if h.instance_type == kind).gpus}"
        for kind in dict.fromkeys(h.instance_type for h in hosts)
        if "." in kind
    )
    return f"{len(hosts)} hosts request {total} GPU{'s' * (total != 1)}{f' ({kinds})' if kinds else ''}"


def _too_few(hosts: Sequence[Host], counts: Sequence[int], pool: Sequence[str]) -> MachineNotReadyError:
    hosts_with_gpus = sum(count != 0 for count in counts)
    each = len(pool) // hosts_with_gpus
    remedy = ["Run it on a machine with more GPUs,", _ALTERNATIVES[0]]
    if each:
        remedy.append(f"or use fewer per host: --gpus {each}")
    else:
        remedy.append(f"or use fewer hosts, at most {len(pool)} (--instance-count), and --gpus N")
    there = f"{len(pool)} GPU{'s' * (len(pool) != 1)}"
    return GpuUnavailableError(
        f"{_demand(hosts, counts)}, and there {'is' if len(pool) == 1 else 'are'} only {there}: "
        + ", ".join(sorted(pool)),
        remedy=remedy,
    )


_SPACE = "the instance of this space has no GPU"


def _missing(facts: GpuFacts, engine: EngineFacts, said: str) -> list[str]:
    missing = []
    if engine.place is not None and facts.ids is None:
        return [_SPACE]
    if engine.local and not engine.desktop and facts.ids is None and not any(map(os.path.exists, _DRIVER)):
        missing.append("no NVIDIA driver on this machine")
    elif facts.trouble is not None:
        missing.append("the NVIDIA driver does not work")
    if any(words in said for words in _NO_TOOLKIT):
        missing.append("no NVIDIA container toolkit in the engine")
    if _CDI in said:
        missing.append("no CDI devices")
    return missing


def _remedies(missing: Sequence[str]) -> list[str]:
    remedies = []
    if _SPACE in missing:
        remedies.append("Run the space on an instance type that has GPUs;")
    if any("driver" in each for each in missing):
        remedies.append("Install the NVIDIA driver, so that nvidia-smi shows the GPUs;")
    if any("toolkit" in each for each in missing):
        remedies.append("install nvidia-container-toolkit (nvidia-ctk runtime configure), and restart the engine;")
    if any(_CDI in each for each in missing):
        remedies.append("describe the GPUs for the engine: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml;")
    return remedies or ["Make docker run --gpus all work on this machine;"]


def count_neuron_devices(engine: EngineFacts, folder: str = "/dev") -> int | None:
    """The number of devices; None if the engine runs on another machine."""
    if not engine.local or engine.desktop:
        return None
    return sum(_is_device(f"{folder}/{name}") for name in os.listdir(folder) if _NEURON_DEVICE.fullmatch(name))


def check_neuron_count(hosts: Sequence[Host], local: LocalSettings, there: int | None) -> None:
    """Compare the needed devices with those of the machine."""
    if there is not None and sum(map(len, neuron_devices(hosts, local))) > there:
        shown = f"{there or 'no'} Neuron device{'s' * (there != 1)}"
        raise _no_neuron(hosts, f"this machine has {shown if there else 'none'}")


def try_neuron(hosts: Sequence[Host], local: LocalSettings, engine: Engine, image: str) -> None:
    """Have the engine start a container with all devices that the job needs."""
    devices = tuple(device for each in neuron_devices(hosts, local) for device in each)
    said = engine.probe(image, {JOB_LABEL: "neuron-probe"}, device_files=devices)
    if said is not None:
        raise _no_neuron(hosts, "this engine provides none", said)


def _no_neuron(hosts: Sequence[Host], why: str, *details: str) -> MachineNotReadyError:
    kinds = {host.instance_type: host.neuron for host in hosts}
    has = ", ".join(f"{kind} has {count} Neuron device{'s' * (count != 1)}" for kind, count in kinds.items() if count)
    total = sum(host.neuron for host in hosts)
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
