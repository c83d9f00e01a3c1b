"""The data that the checks look at: each is read once, when the first check needs it."""

import json
import os
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cached_property
from http.client import HTTPException
from threading import Thread
from typing import Any

from smlocal.data.channels.copy import is_overlay_refusal, overlay_volume
from smlocal.engine.client import place_here
from smlocal.engine.containers import PROBE_PROGRAM
from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import EngineAddress, find_endpoint
from smlocal.engine.engines import engine_at
from smlocal.engine.facts import Place
from smlocal.engine.inspection import EngineDetails, Inspection
from smlocal.engine.interface import JOB_LABEL, RUN_LABEL, ContainerSpec, Mount
from smlocal.errors import EngineError, EngineUnreachableError, MachineNotReadyError, SmlocalError
from smlocal.jobs.planning.aspects.engines.look_folders import try_folders_again
from smlocal.jobs.store.home import home_directory, prepare_home
from smlocal.terms.gpus import GpuDevices

DOCTOR_NAME = "smlocal-doctor"
_INDEXES = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL")
"""Variables that may have the address of a package index."""
_INDEX_SECONDS = 5.0
"""For the name of the index, the connection and the whole answer."""
_LARGEST_ANSWER = 8 << 20
_RELEASE = re.compile(r"smlocal-(\d{1,6}(?:\.\d{1,6}){1,3})(?:-py3-none-any\.whl|\.tar\.gz)$")
"""The file of a release; pre-releases do not match."""
_LONGEST_SECONDS = 600.0
"""No doctor takes so long."""


class EngineUnavailableError(Exception):
    """A check needs the engine, which is unreachable. The check `engine` has reported that."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContainerTrial:
    """The result of creating and starting containers. An error is None if there was none."""

    container_error: str | None = None
    """Why no container can be created or started."""
    untried: str | None = None
    """Why there was no image to try it with, in a place where that says nothing of other images."""
    overlay_error: str | None = None
    gpu_error: str | None = None
    shared_memory: int = 0
    """Bytes of /dev/shm."""
    shares_folders: bool = True
    slowness: float | None = None
    """As in `EngineFacts`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AwsIdentity:
    """The owner of the credentials, as AWS reports it."""

    arn: str = ""
    error: str = ""
    """Why there is no answer, or why the credentials were refused."""
    unreachable: bool = False
    """AWS was not reached, so nothing is known of the credentials."""
    behind: float | None = None
    """Seconds by which this machine's clock is behind that of AWS; negative if it is ahead. None without an answer."""


@dataclass(kw_only=True)
class Machine:
    """This machine and its engine."""

    online: bool = False
    """Whether requests to AWS and to the package index are allowed."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @cached_property
    def endpoint(self) -> EngineAddress:
        """The address of the engine; raises the same errors as every command."""
        return find_endpoint()

    @cached_property
    def place(self) -> Place | None:
        """What restricts the engine; None for an engine that is this machine's own, or on another one."""
        with suppress(SmlocalError):  # an address that cannot be used
            return place_here() if self.endpoint.local else None
        return place_here()

    @cached_property
    def home(self) -> str:
        """The folder where jobs are stored. It is not created."""
        return home_directory()

    stuck: bool = False
    """Set when a check did not return in time: the engine is not asked again."""

    @property
    def engine_error(self) -> SmlocalError | None:
        """Why the engine is unreachable; None if it answers."""
        if self.stuck:
            return EngineUnreachableError("the engine did not answer in time")
        return self._connect_error

    @cached_property
    def _connect_error(self) -> SmlocalError | None:
        try:
            self._details  # noqa: B018 - it may raise
        except SmlocalError as error:
            return error
        return None

    @cached_property
    def _details(self) -> tuple[EngineDetails, float]:
        before = time.time()
        details = Inspection(self.endpoint).details()
        return details, (before + time.time()) / 2

    @property
    def details(self) -> EngineDetails:
        """The engine's report about itself."""
        if self.engine_error is not None:
            raise EngineUnavailableError
        return self._details[0]

    @property
    def asked_at(self) -> float:
        """When the engine reported its time, by this machine's clock."""
        return self._details[1]

    @property
    def engine(self) -> DockerEngine:
        """The engine, after it has answered."""
        self.details  # noqa: B018 - raises if it is unreachable
        return engine_at(self.endpoint)

    @property
    def inspection(self) -> Inspection:
        """The calls that only the doctor makes."""
        self.details  # noqa: B018 - raises if it is unreachable
        return Inspection(self.endpoint)

    @cached_property
    def trial(self) -> ContainerTrial:
        """The result of creating and starting a container."""
        return try_container(self.engine, self.inspection, self.home, place=self.place)

    @cached_property
    def newest_release(self) -> "str | None":
        """The newest release of smlocal that the package index has; None if it does not say. This sends a request."""
        return ask_newest_release(self.environment, seconds=_INDEX_SECONDS)

    @cached_property
    def aws_identity(self) -> AwsIdentity:
        """The owner of the credentials, as AWS reports it. This sends a request to AWS."""
        return ask_aws_identity()


def try_container(
    engine: DockerEngine, inspection: Inspection, home: str, *, place: Place | None = None
) -> ContainerTrial:
    """Create a container with an overlay, and one with a GPU, from an image without files. It takes half a second.

    Nothing can run in them, and nothing has to: an engine mounts volumes and attaches devices before it looks for the
    program, and reports which of these failed. Everything has labels and is removed at once. An engine that does not
    see our folders gets a plain volume, as does that of a place, where only what it allows is tried.
    """
    run = os.urandom(4).hex()
    labels = {JOB_LABEL: DOCTOR_NAME, RUN_LABEL: run}
    image = f"{DOCTOR_NAME}-{run}"
    try:
        _remove_old(engine, inspection)
        try:
            inspection.make_empty_image(image, labels)
        except EngineError as error:
            if place is None or not error.status:
                raise
            return ContainerTrial(container_error=error.sentence, untried=error.sentence)
        with _cleaned_up(engine, inspection, image, run), _folder_to_mount(home) as folder:
            name = f"{DOCTOR_NAME}-{run}"
            facts = engine.facts()
            if place is None:
                facts = try_folders_again(facts, engine, image, home)
            if facts.shares_folders and place is None:
                overlay_volume(folder, engine=engine, name=name, labels=labels, rootless=facts.rootless)
            else:
                engine.create_volume(name, labels, {})
            memory, overlay = _try_volume(engine, inspection, image, name, labels)
            return ContainerTrial(
                overlay_error=overlay,
                gpu_error=engine.probe(image, labels, devices=_every_gpu(engine, place)),
                shared_memory=memory,
                shares_folders=facts.shares_folders,
                slowness=facts.slowness,
            )
    except EngineError as error:
        return ContainerTrial(container_error=error.sentence)


def _every_gpu(engine: DockerEngine, place: Place | None) -> GpuDevices:
    return GpuDevices(ids=(), every=True, cdi=place is None and engine.cdi_gpus() is not None)


def _try_volume(
    engine: DockerEngine, inspection: Inspection, image: str, name: str, labels: dict[str, str]
) -> tuple[int, str | None]:
    container = engine.create(
        ContainerSpec(
            name=name,
            image=image,
            labels=labels,
            entrypoint=(PROBE_PROGRAM,),
            command=(),
            environment={},
            hostname="",
            mounts=(Mount(source=name, target="/doctor", volume=True),),
        )
    )
    memory = inspection.shared_memory(container)
    try:
        engine.start(container)
    except EngineError as error:
        if is_overlay_refusal(error):
            return memory, error.sentence
        if PROBE_PROGRAM not in error.sentence:
            raise
    return memory, None


def _remove_old(engine: DockerEngine, inspection: Inspection) -> None:
    """Remove what killed doctors have left. Their image is made first and removed last, so it is always there."""
    long_ago = time.time() - _LONGEST_SECONDS
    with suppress(EngineError, MachineNotReadyError):  # the next doctor tries again
        for image in inspection.images_with(f"{JOB_LABEL}={DOCTOR_NAME}"):
            if image.created < long_ago:
                _remove(engine, inspection, image.id, image.labels.get(RUN_LABEL, ""))


@contextmanager
def _cleaned_up(engine: DockerEngine, inspection: Inspection, image: str, run: str) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(EngineError, MachineNotReadyError):  # a later doctor removes it
            _remove(engine, inspection, image, run)


def _remove(engine: DockerEngine, inspection: Inspection, image: str, run: str) -> None:
    for resource in engine.owned(DOCTOR_NAME):
        if resource.labels.get(RUN_LABEL) == run:
            engine.remove(resource)
    inspection.remove_image(image)


@contextmanager
def _folder_to_mount(home: str) -> Iterator[str]:
    """A folder to mount. The home is more often on the same disk as the user's data than the temporary folder is."""
    with suppress(MachineNotReadyError, OSError):
        home = prepare_home(home)
    try:
        kept = tempfile.TemporaryDirectory(prefix="doctor-", dir=home)
    except OSError:
        kept = tempfile.TemporaryDirectory(prefix="smlocal-doctor-")
    with kept as folder:
        yield folder


def ask_newest_release(environment: Mapping[str, str], *, seconds: float) -> str | None:
    """Ask the package index that pip or uv would ask; None if it has not answered within so many seconds."""
    found: list[str | None] = []
    # No time limit of a socket holds for the search of a name, or for an answer that comes byte by byte.
    thread = Thread(target=lambda: found.append(_newest_release(environment, seconds)), daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else None


def _newest_release(environment: Mapping[str, str], seconds: float) -> str | None:
    """In the way that all indexes answer (PEP 691)."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    named = (environment[name] for name in _INDEXES if environment.get(name))
    index = next(named, "https://pypi.org/simple").rstrip("/")
    if not index.startswith(("https://", "http://")):
        return None
    request = Request(f"{index}/smlocal/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})  # noqa: S310 - as above
    try:
        with urlopen(request, timeout=seconds) as answer:  # noqa: S310 - likewise
            found = json.loads(answer.read(_LARGEST_ANSWER))
        names = [str(each["filename"]) for each in found["files"] if not each.get("yanked")]
    except HTTPError as error:
        error.close()  # it is the answer
        return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, HTTPException):
        return None
    releases = [match[1] for name in names if (match := _RELEASE.match(name))]
    return max(releases, key=numbers_of, default=None)


def numbers_of(release: str) -> tuple[int, ...]:
    """A key to compare releases."""
    return tuple(map(int, release.split(".")))


def ask_aws_identity() -> AwsIdentity:
    """Ask STS with the configured credentials and endpoint. Only --online sends a request to AWS."""
    import botocore.session
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
    from botocore.exceptions import ConnectionError as UnreachableError

    config = Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 2})
    try:
        session = botocore.session.Session()
        region = session.get_config_variable("region") or "us-east-1"
        before = time.time()
        answer: Any = session.create_client("sts", region_name=region, config=config).get_caller_identity()
    except ClientError as error:
        return AwsIdentity(error=str(error), behind=_behind(error.response, before))
    except BotoCoreError as error:
        return AwsIdentity(error=str(error), unreachable=isinstance(error, UnreachableError | HTTPClientError))
    return AwsIdentity(arn=str(answer["Arn"]), behind=_behind(answer, before))


def _behind(answer: Any, before: float) -> float | None:
    stamp = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
    try:
        return parsedate_to_datetime(stamp).timestamp() - (before + time.time()) / 2
    except (TypeError, ValueError):
        return None
