"""Whether this machine has the GPUs that a job needs, checked before anything is staged."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from smlocal.contract.gpus import GpuDevices
from smlocal.contract.hosts import EVERY, Host
from smlocal.engine.interface import JOB_LABEL, Engine
from smlocal.errors import GpuUnavailableError, GpuUnknownError, MachineNotReadyError
from smlocal.job.containers import GPUS_LABEL
from smlocal.jobfile.settings import LocalSettings
from smlocal.planning.facts import EngineFacts, GpuFacts
from smlocal.planning.gpus import gpu_counts, gpu_pool, share_out

_SMI_SECONDS = 30
"""`nvidia-smi` may first have to start the driver."""
_DRIVER: Final = ("/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg", "/dev/nvhost-gpu", "/dev/nvmap")
"""With a driver one of these exists. The last three are those of WSL and of Jetson boards."""
_NO_TOOLKIT: Final = ("could not select device driver", "unknown or invalid runtime name: nvidia")
_CDI = "CDI devices"
_ALTERNATIVES: Final = (
    "or run without a GPU: --allow-cpu (noted in the result);",
    "or use another number per host: --gpus N",
)


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


def _missing(facts: GpuFacts, engine: EngineFacts, said: str) -> list[str]:
    missing = []
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
    if any("driver" in each for each in missing):
        remedies.append("Install the NVIDIA driver, so that nvidia-smi shows the GPUs;")
    if any("toolkit" in each for each in missing):
        remedies.append("install nvidia-container-toolkit (nvidia-ctk runtime configure), and restart the engine;")
    if any(_CDI in each for each in missing):
        remedies.append("describe the GPUs for the engine: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml;")
    return remedies or ["Make docker run --gpus all work on this machine;"]
