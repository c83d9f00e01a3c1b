"""The abilities of the engine: each check looks at the machine, and its `judge`, which is pure, interprets that."""

import os

from smlocal.base.readable import readable_bytes
from smlocal.doctor.judgement import Judgement, fine, problem, unknown, warning
from smlocal.doctor.machine import ContainerTrial, Machine
from smlocal.engine.endpoint import EngineAddress
from smlocal.engine.facts import SLOW
from smlocal.engine.inspection import EngineDetails
from smlocal.errors import SmlocalError
from smlocal.terms.usage import readable_memory


def check_engine(machine: Machine) -> Judgement:
    """Whether an engine answers, and which one it is. If none does, its error says what to do."""
    if machine.engine_error is not None:
        raise machine.engine_error
    details = machine.details
    return fine(f"{details.product} {details.version} at {machine.endpoint.address}")


_MINIMUM_API = (1, 30)
"""The first with a wait for the next end of a container (Docker 17.06)."""
_API_WITH_GPUS = (1, 40)
"""The first with device requests (Docker 19.03)."""


def check_version(machine: Machine) -> Judgement:
    """Whether the engine is new enough, by the version of its API."""
    return judge_version(machine.details)


def judge_version(details: EngineDetails) -> Judgement:
    """By nothing else: packages change the engine's own version."""
    api = ".".join(map(str, details.api))
    update = f"Update it: {details.product} {details.version} is older than that."
    if details.api < _MINIMUM_API:
        return problem(f"API {api}: smlocal needs 1.30 (Docker 17.06)", update)
    if details.api < _API_WITH_GPUS:
        return warning(f"API {api} does not support GPUs, which need 1.40 (Docker 19.03)", update)
    if details.product == "Podman":
        return fine(f"API {api}, by Podman: docs/engines.md lists the differences")
    return fine(f"API {api}")


_WRITABLE_BY_ALL = 0o002


def check_socket(machine: Machine) -> Judgement:
    """Whether this user may use the engine, and who else may, by the permissions of the socket."""
    try:
        endpoint = machine.endpoint
    except SmlocalError:
        return unknown("not checked: no engine address")
    if not endpoint.path:
        return judge_network_address(endpoint)
    try:
        status = os.stat(endpoint.path)
    except OSError as error:
        return unknown(f"{endpoint.path}: {error.strerror}")
    return judge_socket(endpoint.path, mode=status.st_mode, usable=os.access(endpoint.path, os.R_OK | os.W_OK))


def judge_socket(path: str, *, mode: int, usable: bool) -> Judgement:
    """Write access to the socket is as good as root on the engine's machine."""
    if not usable:
        return problem(
            f"this user may not write to {path}",
            "sudo usermod -aG docker $USER     then log in again, or: newgrp docker",
        )
    if mode & _WRITABLE_BY_ALL:
        return warning(f"every user of this machine may use {path}, and become root", f"sudo chmod o-rw {path}")
    return fine(f"this user may use {path}")


def judge_network_address(endpoint: EngineAddress) -> Judgement:
    """Without TLS, anyone who reaches the port is root there."""
    if endpoint.command:
        return fine(f"{endpoint.address}, by ssh")
    if endpoint.tls is None and endpoint.host not in {"localhost", "127.0.0.1", "::1"}:
        return warning(
            f"{endpoint.address} does not use TLS: anyone who reaches the port is root there",
            "Use ssh or TLS: DOCKER_HOST=ssh://user@host",
        )
    return fine(f"{endpoint.address}, over the network")


def check_container(machine: Machine) -> Judgement:
    """Whether a container can be created and started, by trying it."""
    return judge_container(machine.trial, machine.details)


def judge_container(trial: ContainerTrial, details: EngineDetails) -> Judgement:
    """Repeat what the engine said."""
    if trial.container_error is not None:
        whose = "--user " if details.rootless else ""
        return problem(
            f"cannot start a container: {trial.container_error}",
            f"See the engine's log: journalctl {whose}-u {details.product.lower()}",
        )
    return fine("tested: containers and volumes can be created and removed")


_SLOW_DRIVERS = {
    "vfs": "copies every layer: large images take minutes and many times their size",
    "fuse-overlayfs": "is a FUSE file system: many small files are slow",
    "aufs": "is no longer maintained",
    "devicemapper": "is no longer maintained",
}


def check_storage(machine: Machine) -> Judgement:
    """Whether the engine's storage driver is suitable."""
    return judge_storage(machine.details)


def judge_storage(details: EngineDetails) -> Judgement:
    """Every driver works, but some are slow."""
    driver = details.storage_driver
    if driver not in _SLOW_DRIVERS:
        return fine(f"storage driver {driver or 'unknown'}")
    remedy = 'Set "storage-driver": "overlay2" in daemon.json.'
    if details.product == "Podman":
        folder = "~/.config" if details.rootless else "/etc"
        remedy = (
            f'Set driver = "overlay" below [storage] in {folder}/containers/storage.conf, then: podman system reset, '
            "which removes all images and containers"
        )
    return warning(f"the storage driver {driver} {_SLOW_DRIVERS[driver]}", remedy)


_OTHER_ENGINE = "An engine on this machine mounts them copy-on-write: docker context use default"
_OTHER_HOME = "If it shares other folders, set SMLOCAL_HOME to one of them"


def check_overlay(machine: Machine) -> Judgement:
    """Whether channels can be mounted copy-on-write, by trying it."""
    return judge_overlay(
        machine.trial, home=machine.home, local=machine.endpoint.local, rootless=machine.details.rootless
    )


def judge_overlay(trial: ContainerTrial, *, home: str, local: bool, rootless: bool = False) -> Judgement:
    """Otherwise every channel is copied."""
    if trial.container_error is not None:
        return unknown("not checked: cannot start a container")
    if not trial.shares_folders:
        if local:
            why, remedy = f"the engine does not see {home}", _OTHER_HOME
        else:
            why, remedy = "the engine is on another machine", _OTHER_ENGINE
        return warning(f"{why}: channels are uploaded before each run, and results downloaded", remedy)
    if trial.slowness is not None and trial.slowness >= SLOW:
        return warning(
            f"containers read small files of this machine {trial.slowness:.0f} times as slowly as files of their own",
            "Put many small files into one archive, or copy them to the container's /tmp first",
        )
    if trial.overlay_error is not None:
        return warning(
            f"File channels are copied before each run: {trial.overlay_error}",
            f"An engine on this machine can overlay folders on ext4, xfs, btrfs or tmpfs. Tested: {home}",
        )
    if rootless:
        return warning(
            "File channels are copied before each run: in a rootless overlay, folders cannot be renamed",
            "If the training renames no folder of a channel, use --staging overlay",
        )
    return fine("tested: File channels of any size are mounted copy-on-write")


def check_cgroup(machine: Machine) -> Judgement:
    """Whether the engine can limit the memory and CPUs of containers."""
    return judge_cgroup(machine.details)


def judge_cgroup(details: EngineDetails) -> Judgement:
    """Only Local.EnforceInstanceLimits needs limits."""
    version = f"cgroup v{details.cgroup_version}" if details.cgroup_version else "no cgroups told"
    if not details.unlimited:
        return fine(f"{version}: memory and CPUs can be limited")
    if details.rootless:
        remedy = (
            "A rootless engine needs cgroup v2 and delegation: systemctl edit user@.service, Delegate=cpu memory pids"
        )
    else:
        remedy = "Give the engine these controllers: on Debian, cgroup_enable=memory swapaccount=1 on the kernel's line"
    return warning(f"{version}: {' and '.join(details.unlimited)} cannot be limited (EnforceInstanceLimits)", remedy)


_GPU_DRIVER = "/proc/driver/nvidia/version"


def check_gpu(machine: Machine) -> Judgement:
    """Whether a container can get a GPU, by trying it."""
    return judge_gpu(machine.trial, driver=os.path.exists(_GPU_DRIVER), details=machine.details)


def judge_gpu(trial: ContainerTrial, *, driver: bool, details: EngineDetails) -> Judgement:
    """Only jobs with GPUs need it."""
    if trial.container_error is not None:
        return unknown("not checked: cannot start a container")
    if trial.gpu_error is None and details.api >= (1, 40):
        return fine("tested: a container gets a GPU")
    why = (trial.gpu_error or "the engine's API is too old").strip()
    if details.product == "Podman":
        return warning(
            f"jobs with GPUs are refused: {why}",
            "With a GPU, and Podman 5.4: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml. Without: --allow-cpu",
        )
    if driver:
        return warning(
            f"the driver is installed, but containers get no GPU: {why}",
            "Install nvidia-container-toolkit, run: nvidia-ctk runtime configure; then restart the engine",
        )
    return warning(
        f"jobs of instance types with GPUs are refused: {why}",
        "With a GPU: install its driver and nvidia-container-toolkit, restart the engine. Without: --allow-cpu",
    )


_DEFAULT_SHARED_MEMORY = 60 << 20
"""Docker's default is 64 MiB, Podman's 64 MB."""


def check_shared_memory(machine: Machine) -> Judgement:
    """The size of /dev/shm in a container, read from the container of the trial."""
    return judge_shared_memory(machine.trial)


def judge_shared_memory(trial: ContainerTrial) -> Judgement:
    """Compare it with Docker's default. The service's value is not known."""
    if trial.container_error is not None:
        return unknown("not checked: cannot start a container")
    size = readable_bytes(trial.shared_memory)
    if trial.shared_memory < _DEFAULT_SHARED_MEMORY:
        return warning(
            f"containers get {size} of /dev/shm, less than Docker's default of 64 MiB: data loaders may fail",
            'Docker: "default-shm-size": "64M" in daemon.json. Podman: shm_size in containers.conf. Then restart it.',
        )
    return fine(f"containers get {size} of /dev/shm")


_LOW_MEMORY = 2 << 30


def check_memory(machine: Machine) -> Judgement:
    """Whether there is enough memory.

    For the engine's machine: Docker Desktop's virtual machine has less memory than this one.
    """
    return judge_memory(machine.details)


def judge_memory(details: EngineDetails) -> Judgement:
    """Compare it with the smallest training instance, which has 4 GiB."""
    size = f"{readable_memory(details.memory)} of memory, {details.cpus} CPUs"
    if details.memory < _LOW_MEMORY:
        return warning(f"{size}: the smallest training instance has 4 GiB", "Give the engine's machine more memory.")
    return fine(size)
