"""The shared state of all calls to one server: its store, its owner's choices, threads and tasks that watch jobs."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from socket import socket
from threading import Event, Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from starlette.concurrency import run_in_threadpool

from smlocal.base.at_use import at_use
from smlocal.endpoint.objects.bucket_folder import remove_unfinished
from smlocal.engine.engines import connect
from smlocal.errors import SmlocalError
from smlocal.jobs.planning.aspects.network.look import default_gateway
from smlocal.jobs.store.database import StoreChanges
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.jobs.submission.scheduler import InstanceLimit, Scheduler
from smlocal.sagemaker.contract.identity import DEFAULT_ACCOUNT, region
from smlocal.terms.rights import Rights

if TYPE_CHECKING:
    from smlocal.endpoint.endpoint_key import key_of_home
    from smlocal.endpoint.http_server import HttpServer, listen
    from smlocal.endpoint.signature import Signatures
else:  # a leader of an execution seldom opens a port; with them its first step would begin 0.1 s later
    key_of_home = at_use("smlocal.endpoint.endpoint_key", "key_of_home")
    HttpServer = at_use("smlocal.endpoint.http_server", "HttpServer")
    listen = at_use("smlocal.endpoint.http_server", "listen")
    Signatures = at_use("smlocal.endpoint.signature", "Signatures")

CODE = "code"
"""The folder in the home with the code that clients have uploaded for their jobs."""


@dataclass(frozen=True, kw_only=True)
class ClientRights:
    """The rights of clients beyond running containers."""

    allowed_paths: tuple[str, ...] | None = ()
    """Folders of this machine that jobs may name; absolute. None for all."""
    allowed_buckets: tuple[str, ...] | None = ()
    """Buckets of S3 that jobs may use with the owner's AWS credentials; None for all: every client has the key."""
    local_members: bool = False
    """True if requests may have every member of `Local`, including those that share credentials."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The choices of a server's owner."""

    buckets: str | None = None
    """The folder with a folder for each bucket; None for one in the home."""
    limit: InstanceLimit | None = None
    hosts: frozenset[str] = frozenset()
    """Names to answer to, beside those of this machine."""
    rights: ClientRights = field(default_factory=ClientRights)
    with_key: bool = False
    """True if only some programs of this machine are answered: the addresses of endpoints demand a key then."""
    local: Mapping[str, Any] = field(default_factory=dict)
    """Members of `Local` for jobs that do not set them: clients of the service know nothing of this machine."""
    stand_ins: Mapping[str, Any] = field(default_factory=dict)
    """`Local.Steps` for pipelines that have steps of these names."""
    stand_in_folder: str = "/"
    """What files that they name are relative to."""


_LOOK_SECONDS = 0.5
"""How soon the end of another job is noticed. A look takes some microseconds."""
_RECOVER_SECONDS = 5.0
"""How often jobs without a supervisor are looked for while jobs are unfinished."""
_END_SECONDS = 10.0


class StartsJobs(Protocol):
    """Starts jobs that were recorded."""

    def look(self) -> None:
        """Look now: a job was submitted, or stopped while it waited."""


class WaitingJobs:
    """Starts submitted jobs: at once after a call that submits or stops one, and when jobs of others have ended.

    A thread of a server, and a context manager.
    """

    def __init__(self, store: Store, *, limit: InstanceLimit | None, log: Callable[[str], None]) -> None:
        """Nothing is started before the block is entered."""
        self._store = store
        self._log = log
        self._scheduler = Scheduler(store, instances=None if limit is None else limit.instances)
        self._wanted = Event()
        self._over = Event()
        self._thread = Thread(target=self._run, name="starts-jobs", daemon=True)

    def look(self) -> None:
        """Look now: a job was submitted, or stopped while it waited."""
        self._wanted.set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._wanted.set()
        self._thread.join(_END_SECONDS)
        self._scheduler.close()

    def _run(self) -> None:
        self._scheduler.starter.warm_up()
        with StoreChanges(self._store.home) as changes:
            seen, quiet = None, 0.0
            while not self._over.is_set():
                asked = self._wanted.wait(_LOOK_SECONDS)
                self._wanted.clear()
                number, quiet = changes.number(), quiet + _LOOK_SECONDS
                if asked or number != seen or quiet >= _RECOVER_SECONDS:
                    seen, quiet = number, 0.0
                    self._start()

    def _start(self) -> None:
        try:
            for name, why in self._scheduler.start_waiting().items():
                if why is not None:
                    self._log(f"{name} cannot be started yet: {why}")
        except SmlocalError as error:
            self._log(" ".join([error.sentence, *error.details]))


_EVERY = 0.02
"""Seconds. It takes some microseconds, however many calls wait, and nothing while none does."""


Ended = Callable[[set[str]], bool]
"""True when what a call waits for has come about; it gets the names of the unfinished jobs."""


class StatusWatch:
    """Tells calls that wait when the status of a job has changed, whichever process changed it.

    Used by the tasks of one event loop.
    """

    def __init__(self, store: Store) -> None:
        """Nothing is asked until somebody waits."""
        self._store = store
        self._changes = StoreChanges(store.home)
        self._waiting: dict[asyncio.Future[None], Ended] = {}
        """What each of them waits for."""
        self._task: asyncio.Task[None] | None = None
        self.over = False
        """True once the server is to end."""
        self.answered: dict[str, float] = {}
        """When a waiter was told that its job has not ended yet: by job, monotonic."""
        self.unending: set[str] = set()
        """Of which the owner was told that a waiter does not return."""

    async def until_ended(self, name: str, *, seconds: float) -> bool:
        """True when the job has ended or is missing, or the server is to end; False after this many seconds."""
        return await self.until(lambda unfinished: name not in unfinished, seconds=seconds)

    async def until(self, ended: Ended, *, seconds: float) -> bool:
        """The same for anything that changes with the store. `ended` gets the names of unfinished jobs, in a thread."""
        let_go = asyncio.get_running_loop().create_future()
        self._waiting[let_go] = ended
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())
        try:
            if not await run_in_threadpool(self._have_ended, [ended]) and not self.over:
                await asyncio.wait_for(let_go, seconds)
        except TimeoutError:
            return False
        else:
            return True
        finally:
            del self._waiting[let_go]

    def release(self) -> None:
        """Let all calls go on, now and from here on: the server is to end."""
        self.over = True
        for each in self._waiting:
            _let_go(each)

    async def _look(self) -> None:
        """Runs while a client waits."""
        seen = None
        while self._waiting:
            with suppress(SmlocalError):  # such as a full disk: the call that goes on says so
                number = self._changes.number()
                if number != seen:
                    asked = list(self._waiting.items())
                    over = await run_in_threadpool(self._have_ended, [ended for _, ended in asked])
                    for place in over:
                        _let_go(asked[place][0])
                    seen = number
            await asyncio.sleep(_EVERY)

    def _have_ended(self, asked: list[Ended]) -> set[int]:
        """Which of these have."""
        unfinished = self._unfinished()
        return {number for number, ended in enumerate(asked) if ended(unfinished)}

    def _unfinished(self) -> set[str]:
        return {record.name for record in self._store.unfinished()}

    def number(self) -> int:
        """Another number than before if any job has changed."""
        return self._changes.number()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._changes.close()


def _let_go(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)


_KEY = "container-key.json"
_ADDRESS = "container-port.json"
MakeApplication = Callable[[Signatures], Any]
"""The application that answers requests signed with a key."""


class ContainerPort:
    """Closed until a job needs it. The key is of the home, and containers of such jobs get it."""

    def __init__(self, home: str, *, log: Callable[[str], None]) -> None:
        self._home = home
        self._log = log
        self._lock = Lock()
        self._open_now = ExitStack()
        self._url: str | None = None
        self._impossible = False

    def url(self, application: MakeApplication) -> str | None:
        """The address with the key, as containers reach it; None if they cannot. It is opened with the first call."""
        with self._lock:
            if self._url is None and not self._impossible:
                try:
                    address = _gateway()
                except SmlocalError as error:  # no engine now; the job says so when it begins
                    self._log(f"S3 for containers: {error.sentence}")
                    return None
                self._impossible = address is None
                if address is None:
                    self._log("S3 for containers: this engine gives them no address of this machine")
                else:
                    self._open(address, self._last_port(address), application) or self._open(address, 0, application)
            return self._url

    def reopen(self, application: MakeApplication) -> None:
        """Open what the last server of this home had: there are jobs that know its address."""
        with self._lock, suppress(FileNotFoundError), open(self._path(), encoding="utf-8") as file:
            last = json.load(file)
            if not self._open(last["Address"], last["Port"], application):
                self._log("S3 for containers: jobs started under an earlier server have lost it")

    def close(self) -> None:
        """Containers that still run find nothing there any more."""
        with self._lock:
            self._open_now.close()
            self._url = None

    def _open(self, address: str, port: int, application: MakeApplication) -> bool:
        """False if the port is another program's."""
        try:
            listener = listen(address, port)
        except OSError as error:
            self._log(f"S3 for containers: cannot listen on {address} port {port}: {error.strerror}")
            return False
        key = key_of_home(self._home, _KEY)
        self._open_now.enter_context(listener)
        self._open_now.enter_context(HttpServer(application(key), listener))
        port = listener.getsockname()[1]
        with open(self._path(), "w", encoding="utf-8") as file:
            json.dump({"Address": address, "Port": port}, file)
        self._url = f"http://{key.access_key}:{key.secret_key}@{address}:{port}"
        return True

    def _last_port(self, address: str) -> int:
        """The port of the last server, so that jobs that run since then find this one; else any."""
        with suppress(FileNotFoundError), open(self._path(), encoding="utf-8") as file:
            last = json.load(file)
            if last["Address"] == address:
                return int(last["Port"])
        return 0

    def _path(self) -> str:
        return os.path.join(self._home, _ADDRESS)


def _gateway() -> str | None:
    """This machine's address on the engine's default network."""
    engine = connect()
    facts = engine.facts()
    if facts.rootless or facts.desktop or not facts.local:
        return None
    return default_gateway(engine.networks()) or None


@dataclass(frozen=True, kw_only=True)
class Serving:
    """One server. Threads share it."""

    store: Store
    waiting_jobs: StartsJobs
    status_watch: StatusWatch
    container_port: ContainerPort
    """S3 for containers."""
    buckets: str
    artifacts: str
    """Where artifacts go whose bucket has no folder."""
    account: str
    region: str
    """For calls that are not signed."""
    address: str
    """As clients reach it: `http://127.0.0.1:4597`."""
    log: Callable[[str], None]
    """Called with what the owner of the server should know; never with what clients send."""
    submitted: Callable[[str], None]
    """Called with the name of each job that a client has started."""
    options: Options
    directory: str = "/"
    """What relative paths in requests are relative to: clients know no folder."""
    with_jobs: Mapping[str, Any] = field(default_factory=dict)
    """Documents that are stored with each new job."""

    @property
    def home(self) -> str:
        """The home of its jobs."""
        return self.store.home

    def job_rights(self) -> Rights:
        """The rights of a client's job here: the owner's grants, and the files that this server keeps for it."""
        kept = (self.buckets, self.artifacts, os.path.join(self.home, CODE))
        rights = self.options.rights
        folders = None if rights.allowed_paths is None else (*rights.allowed_paths, *kept)
        return Rights(folders=folders, buckets=rights.allowed_buckets)


@contextmanager
def open_serving(
    listener: socket | None,
    *,
    log: Callable[[str], None],
    submitted: Callable[[str], None] = lambda _: None,
    options: Options | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Iterator[Serving]:
    """Open the store of the home for a server on this port; without one, it is reached under AWS's names."""
    chosen = options or Options()
    its_region = region(stated=None, environment=environment, profile=None, image=None)
    home = home_directory()
    buckets = chosen.buckets or os.path.join(home, "buckets")
    remove_unfinished(buckets)
    container_port = ContainerPort(home, log=log)
    with (
        Store.open(home) as store,
        WaitingJobs(store, limit=chosen.limit, log=log) as waiting_jobs,
        StatusWatch(store) as status_watch,
        ExitStack() as stack,
    ):
        stack.callback(container_port.close)
        yield Serving(
            store=store,
            waiting_jobs=waiting_jobs,
            status_watch=status_watch,
            container_port=container_port,
            buckets=buckets,
            artifacts=artifacts_folder(home),
            account=DEFAULT_ACCOUNT,
            region=its_region,
            address=f"https://s3.{its_region}.amazonaws.com" if listener is None else _address(listener),
            log=log,
            submitted=submitted,
            options=chosen,
        )


def artifacts_folder(home: str) -> str:
    """Where artifacts of clients' jobs go whose bucket has no folder."""
    return os.path.join(home, "artifacts")


class _StartedByLeader:
    """A job that leads others starts them itself."""

    def look(self) -> None:
        """Nothing is to be done."""


@contextmanager
def serving_in_leader(
    store: Store,
    *,
    options: Options,
    region: str,
    account: str,
    directory: str,
    artifacts: str | None,
    log: Callable[[str], None],
) -> Iterator[Serving]:
    """Calls of a job that leads others, without a server: the leader makes the calls itself, and starts the jobs."""
    container_port = ContainerPort(store.home, log=log)
    with StatusWatch(store) as status_watch, ExitStack() as stack:
        stack.callback(container_port.close)
        yield Serving(
            store=store,
            waiting_jobs=_StartedByLeader(),
            status_watch=status_watch,
            container_port=container_port,
            buckets=options.buckets or os.path.join(store.home, "buckets"),
            artifacts=artifacts or artifacts_folder(store.home),
            account=account,
            region=region,
            address=f"https://s3.{region}.amazonaws.com",
            log=log,
            submitted=lambda _: None,
            options=options,
            directory=directory,
        )


def _address(listener: socket) -> str:
    host, port = listener.getsockname()[:2]
    named = f"[{host}]" if ":" in host else host
    return f"http://{named}:{port}"
