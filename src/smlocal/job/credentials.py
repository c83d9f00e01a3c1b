"""The credentials of one job: found before it is made, served while its containers run, gone with them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from typing import Any

from smlocal.credentials.address import ADDRESS, claim, giving_back
from smlocal.credentials.answers import Secret, new_secret
from smlocal.credentials.finding import assumed, inherited
from smlocal.credentials.fresh import Fresh
from smlocal.credentials.issued import Issued
from smlocal.credentials.server import Server
from smlocal.engine.interface import CREDENTIALS_LABEL, Engine, Resource, ResourceKind
from smlocal.errors import CredentialsUnreachableError, EngineError, MachineNotReadyError
from smlocal.job.labels import labels
from smlocal.planning.facts import EngineFacts
from smlocal.planning.model import CredentialPlan, JobPlan
from smlocal.quick_dataclass import dataclass

OPENED = "credentials"
"""In the history of a job: where its containers ask, for a supervisor that comes after a crash."""


def check_engine(engine: EngineFacts) -> None:
    """Refuse an engine whose containers cannot ask this machine at the address they know."""
    if engine.rootless:
        kind = "is rootless"
    elif engine.product == "podman":
        kind = "is Podman, whose networks exist only while a container uses them"
    elif engine.desktop or not engine.local:
        kind = "runs in a virtual machine"
    else:
        return
    raise CredentialsUnreachableError(
        f"containers of the engine at {engine.address} cannot ask this machine for credentials: it {kind}",
        remedy=("Use the Docker engine of this machine: docker context use default; or run with --credentials none",),
    )


@dataclass(kw_only=True, slots=True)
class Desk:
    """Opened and closed with every attempt."""

    plan: CredentialPlan
    mark: str
    """The volume by which the engine knows that this job uses the address."""
    labels: Mapping[str, str]
    region: str
    engine: Engine
    notes: list[str] = field(default_factory=list)
    """What went wrong, once each."""
    warn: Callable[[str], None] = lambda _: None
    died: Callable[[str, BaseException], None] = lambda _, __: None
    """Told when a thread that serves the containers has ended by a defect."""
    containers: Callable[[], Iterable[str]] = tuple
    """Of the attempt that runs."""
    _fresh: Fresh = field(init=False)
    _secret: Secret = field(default_factory=new_secret)
    _server: Server | None = None
    _known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._fresh = Fresh(find=self._find, tell=self._not_renewed)

    @classmethod
    def of(cls, plan: JobPlan, engine: Engine) -> "Desk | None":
        """The desk of a job, if it has one; nothing is opened yet."""
        if plan.credentials is None:
            return None
        mark = f"smlocal-credentials-{plan.name}-{plan.run_id}"
        return cls(plan=plan.credentials, mark=mark, labels=labels(plan), region=plan.region, engine=engine)

    def find(self) -> None:
        """Get the first credentials, or raise what this machine lacks."""
        self._fresh.first()

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Have the address, or raise what this machine lacks; given back when the job is not made after all."""
        self._serve(None)
        try:
            yield
        except BaseException:
            self.give_up()
            raise

    def open(self, record: Callable[[str, Mapping[str, object]], None]) -> None:
        """Answer the containers that are made from now on."""
        if self._server is None:
            self._secret = new_secret()
            self._serve(None)
        port = 0 if self._server is None else self._server.listener.port
        record(OPENED, {"Path": self._secret.path, "Token": self._secret.token, "Port": port})

    def reopen(self, recorded: Mapping[str, Any]) -> None:
        """Answer containers that an earlier supervisor has started; what fails is noted."""
        self._secret = Secret(path=recorded["Path"], token=recorded["Token"])
        try:
            self._serve(recorded["Port"])
        except (EngineError, MachineNotReadyError, OSError) as error:
            self._note(f"the containers get no credentials after smlocal was killed: {error}")

    def close(self) -> None:
        """Answer nobody any more; to call it twice does no harm."""
        if self._server is not None:
            self._server.close()
        self._server = None
        self._known.clear()

    def give_up(self) -> None:
        """Take back what was made ready for a job that is not made after all."""
        self.close()
        with suppress(EngineError, MachineNotReadyError), giving_back(self.engine, {self.mark}):
            mark = Resource(kind=ResourceKind.VOLUME, id=self.mark, labels={CREDENTIALS_LABEL: "mark"})
            self.engine.remove(mark)

    @property
    def environment(self) -> dict[str, str]:
        """What tells a container's AWS clients where to ask."""
        if self._server is None:
            return {}
        if self._server.listener.shared:
            return {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": self._secret.path}
        return {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"http://{ADDRESS}:{self._server.listener.port}{self._secret.path}",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": self._secret.token,
        }

    def _find(self) -> Issued:
        return inherited() if self.plan.mode == "inherit" else assumed(self.plan.role_arn, self.region)

    def _serve(self, port: int | None) -> None:
        def appear() -> None:
            claim(self.engine, self.mark, self.labels)

        try:
            appear()
            self._server = Server.open(
                port,
                appear=appear,
                secret=self._secret,
                fresh=self._fresh,
                role_arn=self.plan.role_arn,
                is_ours=self._is_ours,
                died=self._server_died,
            )
        except BaseException:
            self.give_up()
            raise

    def _is_ours(self, address: str) -> bool:
        if address not in self._known:
            # A container that has just been started, or a stranger.
            with suppress(EngineError, MachineNotReadyError):
                found = [each for container in self.containers() for each in self.engine.addresses(container)]
                self._known = set(found)
        return address in self._known

    def _server_died(self, thread: str, error: BaseException) -> None:
        """Whom to tell is known only once an attempt has begun."""
        self.died(thread, error)

    def _not_renewed(self, why: str) -> None:
        self._note(f"the containers' credentials could not be renewed: {why}")

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self.warn(sentence)
