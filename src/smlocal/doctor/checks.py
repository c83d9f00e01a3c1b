"""Each check looks at the engine, or at this machine; its `judge`, which is pure, interprets what is there."""

import os
import platform
import re
from collections.abc import Collection, Mapping, Sequence

from smlocal.base.alike_names import ignores_case
from smlocal.base.files import free_bytes
from smlocal.base.installed import upgrade_command
from smlocal.base.readable import readable_bytes
from smlocal.base.web import proxy_remedy
from smlocal.data.channels.fastfile.availability import why_no_fuse
from smlocal.data.sources.s3.aws_session import Profile, read_profile
from smlocal.doctor import place as there
from smlocal.doctor.judgement import Judgement, fine, problem, unknown, warning
from smlocal.doctor.machine import DOCTOR_NAME as NAME
from smlocal.doctor.machine import AwsIdentity, ContainerTrial, Machine, numbers_of
from smlocal.engine.endpoint import EngineAddress
from smlocal.engine.facts import SLOW
from smlocal.engine.inspection import EngineDetails
from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, Resource, ResourceKind
from smlocal.errors import JobUnknownError, SmlocalError
from smlocal.jobs.control.orphans import orphans
from smlocal.jobs.finish.cleanup import clear_this_engine, kept_by
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.store.records import JobRecord, LeftOnEngine
from smlocal.sagemaker.contract import identity
from smlocal.terms.clock import CLOCK_REMEDY, is_wrong_clock
from smlocal.terms.usage import readable_memory

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"}


def check_smlocal(machine: Machine) -> Judgement:
    """Which smlocal this is. Only --online asks whether there is a newer one."""
    from importlib.metadata import version

    return judge_release(version("smlocal"), machine.newest_release if machine.online else "")


def judge_release(own: str, newest: str | None) -> Judgement:
    """`newest`: None if the package index does not say, empty if it was not asked."""
    where = f"{own}, Python {platform.python_version()}"
    if newest is None:
        return fine(f"{where}; the package index does not say which release is the newest")
    if not newest:
        return fine(where)
    digits = re.match(r"\d+(?:\.\d+)*", own)
    if digits is not None and numbers_of(newest) > numbers_of(digits[0]):
        return warning(f"{where}; there is a newer release: {newest}", upgrade_command())
    return fine(f"{where}; there is no newer release")


def check_home(machine: Machine) -> Judgement:
    """Whether jobs can be stored.

    The home is opened as every command does, which creates the folder and its database if they are missing.
    """
    home = home_directory()
    with Store.open(home) as store:
        kind = file_system_of(store.home, _mounts())
        found = judge_home(store.home, file_system=kind, one_case=ignores_case(store.home))
        return found if machine.place is None else there.judge_home_there(machine.place, store.home, found)


def _mounts() -> str:
    """The kernel's table; empty on systems without it."""
    try:
        with open("/proc/mounts", encoding="utf-8", errors="surrogateescape") as mounts:
            return mounts.read()
    except OSError:
        return ""


def judge_home(home: str, *, file_system: str, one_case: bool = False) -> Judgement:
    """Locks and SQLite's shared memory do not work reliably across a network."""
    if file_system in _NETWORK:
        return warning(
            f"{home} is on a network file system ({file_system}): two machines must not use it at once",
            "Set SMLOCAL_HOME to a folder of your own on a local disk.",
        )
    return fine(f"{home} can be written{', on a disk that ignores case: A and a are one name' if one_case else ''}")


def file_system_of(path: str, mounts: str) -> str:
    """The type of the file system that a path is on. `mounts` is the text of /proc/mounts."""
    best, kind = "", ""
    for line in mounts.splitlines():
        _, point, type_, *_ = line.split(" ")
        point = point.encode("latin-1", "surrogateescape").decode("unicode_escape")
        if len(point) >= len(best) and (path + "/").startswith(point.rstrip("/") + "/"):
            best, kind = point, type_
    return kind


_NO_SPACE = 64 << 20
"""With less, even the record of a job may not fit."""
_LOW_SPACE = 10 << 30
"""The size of a framework's image."""


def check_disk(machine: Machine) -> Judgement:
    """Whether there is enough space on the disks.

    The disk of the home, and of the engine's folder if the engine runs on this machine.
    """
    places = {"SMLOCAL_HOME": machine.home}
    if machine.engine_error is None and machine.endpoint.local and machine.details.root:
        places["the engine"] = machine.details.root
    return judge_disk(
        {f"{path} ({name})": free for name, path in places.items() if (free := free_bytes(path)) is not None}
    )


def judge_disk(free: Mapping[str, int]) -> Judgement:
    """The disk with the least free space decides."""
    if not free:
        return warning("no disk could be checked", "Set SMLOCAL_HOME to a folder of your own on a local disk.")
    place, least = min(free.items(), key=lambda item: item[1])
    sentence = f"{readable_bytes(least)} free at {place}"
    if least < _NO_SPACE:
        return problem(sentence, "Free some space there:  smlocal rm, smlocal cache rm --all, docker system df")
    if least < _LOW_SPACE:
        return warning(f"{sentence}: images and datasets may not fit", "Free some:  smlocal cache rm, docker system df")
    return fine("; ".join(f"{readable_bytes(size)} free at {place}" for place, size in free.items()))


def check_fuse(machine: Machine) -> Judgement:
    """Whether FastFile channels can be streamed from S3, by what the channels themselves check."""
    if machine.place is not None:
        return there.judge_fuse_there(machine.place)
    return judge_fuse(why_no_fuse())


def judge_fuse(trouble: str | None) -> Judgement:
    """Without FUSE the objects are downloaded before the container starts."""
    if trouble is None:
        return fine("FastFile channels are streamed from S3")
    why, _, remedy = trouble.partition(": ")
    return warning(f"FastFile channels in S3 are downloaded first: {why}", remedy)


_LOG_IN = "Log in:  aws sso login, aws configure, or set AWS_PROFILE. Jobs with local data need none."
_ELSEWHERE = ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI")


def check_credentials(machine: Machine) -> Judgement:
    """Where AWS credentials for S3, ECR and containers that call AWS would come from. Only --online uses them."""
    if machine.online:
        return judge_aws_identity(machine.aws_identity, machine.environment)
    return judge_credentials(machine.environment, read_profile())


def judge_credentials(environment: Mapping[str, str], profile: Profile) -> Judgement:
    """The credentials are neither shown nor tested."""
    if profile.named and not profile.exists:
        return warning(f"the profile {profile.name} is not in the AWS configuration files", _LOG_IN)
    origin = _origin(environment, profile)
    if origin is None:
        return warning("no AWS credentials: data in S3 and images in ECR cannot be read", _LOG_IN)
    return fine(f"{origin} (not tested; use --online)")


def _origin(environment: Mapping[str, str], profile: Profile) -> str | None:
    """Where botocore would find them, in its order."""
    if environment.get("AWS_ACCESS_KEY_ID") and environment.get("AWS_SECRET_ACCESS_KEY"):
        return "from the environment"
    if environment.get("AWS_WEB_IDENTITY_TOKEN_FILE"):
        return "by web identity"
    if any(key.startswith("sso_") for key in profile.settings):
        return f"profile {profile.name}, by single sign-on"
    if {"role_arn", "credential_process", "aws_access_key_id"} & {*profile.settings}:
        return f"profile {profile.name}"
    return "from the role of this container" if any(environment.get(name) for name in _ELSEWHERE) else None


def judge_aws_identity(identity: AwsIdentity, environment: Mapping[str, str]) -> Judgement:
    """Whether AWS accepts them."""
    if identity.unreachable:
        cures = proxy_remedy(environment) or ("Check the network and HTTPS_PROXY. Jobs with local data need neither.",)
        return warning(f"AWS is unreachable, and the credentials are not tested: {identity.error}", *cures)
    if identity.error:
        cure = CLOCK_REMEDY if is_wrong_clock(identity.error) else _LOG_IN
        return warning(f"AWS credentials do not work: {identity.error}", cure)
    return fine(f"AWS identifies you as {identity.arn}")


def check_region(machine: Machine) -> Judgement:
    """Which region jobs without Local.Region use."""
    return judge_region(machine.environment, read_profile().region)


def judge_region(environment: Mapping[str, str], profile: str) -> Judgement:
    """It is used for AWS_REGION in the container, for ARNs and for S3."""
    region = identity.region(stated=None, environment=environment, profile=profile, image=None)
    if not identity.is_region_name(region):
        return problem(f"'{region}' is not a valid region", "Set AWS_REGION, for example to us-east-1.")
    if environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION"):
        return fine(f"{region}, from the environment")
    if profile:
        return fine(f"{region}, from the profile")
    return warning(
        f"none configured: jobs use {region}",
        "Set AWS_REGION, or Local.Region in the job file.",
    )


_NOTICEABLE_SECONDS = 5.0
_REFUSED_SECONDS = 300.0
"""A third of the fifteen minutes that AWS allows."""


def check_clock(machine: Machine) -> Judgement:
    """Whether the clock is right: AWS refuses requests with a wrong time, and a machine that slept may be hours behind.

    Compare it with the engine's, and with that of AWS if requests to AWS are allowed.
    """
    engine = None
    if machine.engine_error is None and machine.details.system_time is not None:
        engine = machine.details.system_time - machine.asked_at
    return judge_clock(engine=engine, aws=machine.aws_identity.behind if machine.online else None)


def judge_clock(*, engine: float | None, aws: float | None) -> Judgement:
    """`engine` and `aws`: the seconds by which this machine's clock is behind; negative if it is ahead."""
    if aws is not None and abs(aws) > _REFUSED_SECONDS:
        return warning(f"{_apart(aws)} AWS, which refuses requests with a wrong time", CLOCK_REMEDY)
    if engine is not None and abs(engine) > _NOTICEABLE_SECONDS:
        return warning(
            f"{_apart(engine)} the engine's: the times of logs and metrics are wrong",
            "Restart the engine's machine, or set its clock.",
        )
    if engine is None and aws is None:
        return unknown("no other clock to compare with")
    return fine(f"same time as {' and '.join(('the engine',) * (engine is not None) + ('AWS',) * (aws is not None))}")


def _apart(seconds: float) -> str:
    return f"this machine's clock is {abs(seconds):.0f} s {'behind' if seconds > 0 else 'ahead of'}"


_NAMES_SHOWN = 3
_RESTART_DOCKER = "a network that wrongly reports active endpoints can be removed after a restart of Docker"


def check_leftovers(machine: Machine) -> Judgement:
    """Whether jobs have left something behind.

    Find jobs without a supervisor, and leftovers of jobs on the engine. Remove what ended jobs left there.
    """
    answers = machine.engine_error is None
    with Store.open(machine.home) as store:
        cleared = list(clear_this_engine(store, machine.engine)) if answers else []
        known = store.left_on_engines()
        found = machine.engine.owned() if answers else []
        kept = {each.run_id for name in _jobs_of(found) for each in kept_by(store, name)}
        owned = [each for each in found if each.labels.get(RUN_LABEL) not in kept]
        owned = [each for each in owned if not _is_doing(store, each)]
        ended = {resource.labels.get(RUN_LABEL, "") for resource in owned if _has_ended(store, resource)}
        return judge_leftovers(
            lost=orphans(store),
            owned=owned,
            ended=ended | {left.run_id for left in known},
            cleared=cleared,
            kept=_jobs_of([each for each in found if each.labels.get(RUN_LABEL) in kept]),
            elsewhere=[left for left in known if not answers or left.engine != machine.endpoint.address],
        )


def _is_doing(store: Store, resource: Resource) -> bool:
    """True if it belongs to a running job of this home, or to a doctor."""
    record = _record(store, resource)
    return resource.labels.get(JOB_LABEL) == NAME or (record is not None and not record.status.terminal)


def _has_ended(store: Store, resource: Resource) -> bool:
    """True if it belongs to an ended job of this home."""
    record = _record(store, resource)
    return record is not None and record.status.terminal


def _record(store: Store, resource: Resource) -> JobRecord | None:
    """The job of this home that it belongs to."""
    try:
        record = store.get(resource.labels.get(JOB_LABEL, ""))
    except JobUnknownError:
        return None
    return record if record.run_id == resource.labels.get(RUN_LABEL) else None


def judge_leftovers(
    *,
    lost: Sequence[str],
    owned: Sequence[Resource],
    ended: Collection[str],
    cleared: Sequence[str] = (),
    kept: Sequence[str] = (),
    elsewhere: Sequence[LeftOnEngine] = (),
) -> Judgement:
    """None of it prevents other jobs. Whether jobs of other homes still run is not known here.

    `kept`: jobs that keep their containers on purpose. `elsewhere`: possible leftovers on engines that are unreachable,
    or are not the current one.
    """
    if lost:
        return warning(f"jobs whose supervisor was killed: {_some(lost)}", "smlocal recover     finishes them")
    if elsewhere:
        engines = _some(sorted({each.engine for each in elsewhere}))
        names = sorted({each.name for each in elsewhere})
        return warning(
            f"ended jobs may have left containers on an unreachable engine: {_some(names)} ({engines})",
            "smlocal recover     removes them once that engine is reachable",
            "smlocal rm --force NAME     forgets them, if that engine no longer exists",
        )
    left = [resource for resource in owned if resource.labels.get(RUN_LABEL) in ended]
    if left:
        kinds = ", ".join(f"{resource.kind} {resource.id[:48]}" for resource in left[:_NAMES_SHOWN])
        return warning(
            f"ended jobs left something on the engine: {_some(_jobs_of(left))} ({len(left)}: {kinds})",
            f"docker rm --force --volumes $(docker ps --all --quiet --filter label={JOB_LABEL}=NAME)",
            "then the same with docker volume and docker network",
            *([_RESTART_DOCKER] if any(resource.kind is ResourceKind.NETWORK for resource in left) else []),
        )
    if cleared:
        return fine(f"removed what ended jobs left on the engine: {_some(cleared)}")
    others = _jobs_of(owned)
    known = f"; the engine also runs jobs of another SMLOCAL_HOME: {_some(others)}" if others else ""
    wanted = f" except what they were told to keep: {_some(kept)}" if kept else ""
    return fine(f"ended jobs left nothing behind{wanted}{known}")


def _jobs_of(resources: Sequence[Resource]) -> list[str]:
    return sorted({resource.labels.get(JOB_LABEL, "") for resource in resources})


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    return ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


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
        return fine(f"API {api}, by Podman. Differences: smlocal help engines")
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
    if machine.place is not None and os.access(endpoint.path, os.R_OK | os.W_OK):
        return fine(f"this user may use {endpoint.path}")
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
    if machine.place is not None and machine.trial.untried is not None:
        return there.judge_untried(machine.place, machine.trial)
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
    if machine.place is not None:
        return there.judge_storage_there(machine.place)
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
    if machine.place is not None and machine.engine_error is None:
        return there.judge_overlay_there(machine.place)
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
    if machine.place is not None and machine.engine_error is None:
        return there.judge_cgroup_there(machine.place)
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
    found = judge_gpu(machine.trial, driver=os.path.exists(_GPU_DRIVER), details=machine.details)
    return found if machine.place is None else there.judge_gpu_there(found)


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
