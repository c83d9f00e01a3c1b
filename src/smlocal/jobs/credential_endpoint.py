"""The credentials endpoint of one job: keys are fetched before the job is made and served while containers run."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from typing import Any

from smlocal.base.quick_dataclass import dataclass
from smlocal.data.sources.s3.aws_session import Credentials
from smlocal.engine.facts import EngineFacts
from smlocal.engine.interface import CREDENTIALS_LABEL, Engine, Resource, ResourceKind
from smlocal.errors import CredentialsUnreachableError, EngineError, MachineNotReadyError, RequestInvalidError
from smlocal.jobs.containers import labels
from smlocal.jobs.credentials.listener import ADDRESS, LOOPBACK, Secret, new_secret, released, use_address
from smlocal.jobs.credentials.server import CredentialServer, RenewedKeys, role_keys, user_keys
from smlocal.jobs.history import CREDENTIALS
from smlocal.jobs.planning.aspects.credentials.plan import CredentialPlan
from smlocal.jobs.planning.model import JobPlan


def check_engine(engine: EngineFacts, *, several: bool = False) -> None:
    """Raise an error for an engine whose containers cannot reach this machine at the service's address."""
    if several:
        kind = "is one of several"
    elif engine.rootless:
        kind = "is rootless"
    elif engine.product == "podman":
        kind = "is Podman, whose networks exist only while a container uses them"
    elif engine.desktop or not engine.local:
        kind = "runs in a virtual machine"
    else:
        return
    raise CredentialsUnreachableError(
        f"containers of the engine at {engine.address} cannot ask this machine for credentials: it {kind}",
        remedy=(
            "Use the Docker engine of this machine (docker context use default, no --engine), or --credentials none",
        ),
    )


@dataclass(kw_only=True, slots=True)
class CredentialEndpoint:
    """It is opened and closed in every attempt."""

    plan: CredentialPlan
    mark: str
    """The volume that shows that this job uses the address."""
    labels: Mapping[str, str]
    region: str
    engine: Engine
    loopback: bool = False
    """True if the containers share the addresses of smlocal: then no other address is made."""
    notes: list[str] = field(default_factory=list)
    """Problems that occurred."""
    warn: Callable[[str], None] = lambda _: None
    died: Callable[[str, BaseException], None] = lambda _, __: None
    """Gets the name and the exception of a server thread that ended unexpectedly."""
    containers: Callable[[], Iterable[str]] = tuple
    """Gives the ids of the containers of the current attempt."""
    _keys: RenewedKeys = field(init=False)
    _secret: Secret = field(default_factory=new_secret)
    _server: CredentialServer | None = None
    _known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._keys = RenewedKeys(fetch=self._fetch, warn=self._not_renewed)

    @classmethod
    def of(cls, plan: JobPlan, engine: Engine) -> "CredentialEndpoint | None":
        """The endpoint of a job, or None if it needs none; it is not opened yet."""
        if plan.credentials is None:
            return None
        mark = f"smlocal-credentials-{plan.name}-{plan.run_id}"
        return cls(
            plan=plan.credentials,
            mark=mark,
            labels=labels(plan),
            region=plan.identity.region,
            engine=engine,
            loopback=plan.engines.first.place is not None,
        )

    def find(self, job: JobPlan) -> None:
        """Get the first keys; raises what this machine, one of the job's engines or the request lacks."""
        for each in () if self.loopback else job.engines.several or (job.engines.first,):
            check_engine(each, several=bool(job.engines.several))
        if self.plan.mode == "role" and not self.plan.role_arn:
            raise RequestInvalidError(
                "Local.Credentials is role, and the request names no role",
                remedy=["Name it: --role ARN, or in the job file; or use --credentials inherit."],
            )
        self._keys.fetch_first()

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Make the address; raises what this machine lacks. It is removed if the job is not made after all."""
        self._serve(None)
        try:
            yield
        except BaseException:
            self.give_up()
            raise

    def open(self, record: Callable[[str, Mapping[str, object]], None]) -> None:
        """Serve the containers that are made from now on."""
        if self._server is None:
            self._secret = new_secret()
            self._serve(None)
        port = 0 if self._server is None else self._server.listener.port
        record(CREDENTIALS, {"Path": self._secret.path, "Token": self._secret.token, "Port": port})

    def reopen(self, recorded: Mapping[str, Any]) -> None:
        """Serve containers that an earlier supervisor has started; a failure is noted."""
        self._secret = Secret(path=recorded["Path"], token=recorded["Token"])
        try:
            self._serve(recorded["Port"])
        except (EngineError, MachineNotReadyError, OSError) as error:
            self._note(f"the containers get no credentials after smlocal was killed: {error}")

    def close(self) -> None:
        """Stop serving. It may be called twice."""
        if self._server is not None:
            self._server.close()
        self._server = None
        self._known.clear()

    def give_up(self) -> None:
        """Remove the address of a job that is not made after all."""
        self.close()
        if self.loopback:
            return
        with suppress(EngineError, MachineNotReadyError), released(self.engine, {self.mark}):
            mark = Resource(kind=ResourceKind.VOLUME, id=self.mark, labels={CREDENTIALS_LABEL: "mark"})
            self.engine.remove(mark)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that tell a container's AWS clients where to ask."""
        if self._server is None:
            return {}
        if self._server.listener.shared:
            return {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": self._secret.path}
        return {
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"http://{self._address}:{self._server.listener.port}{self._secret.path}",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": self._secret.token,
        }

    def _fetch(self) -> Credentials:
        if self.plan.mode == "inherit":
            return user_keys()
        return role_keys(self.plan.role_arn, self.region, session=self.plan.session)

    def _serve(self, port: int | None) -> None:
        def make_address() -> None:
            if not self.loopback:
                use_address(self.engine, self.mark, self.labels)

        try:
            make_address()
            self._server = CredentialServer.open(
                port,
                loopback=self.loopback,
                make_address=make_address,
                secret=self._secret,
                keys=self._keys,
                role_arn=self.plan.role_arn,
                is_ours=self._is_ours,
                died=self._server_died,
            )
        except BaseException:
            self.give_up()
            raise

    @property
    def _address(self) -> str:
        return LOOPBACK if self.loopback else ADDRESS

    def _is_ours(self, address: str) -> bool:
        if self.loopback:
            return address == LOOPBACK  # the token tells them from others
        if address not in self._known:
            # Either a container that was just started, or not one of this job.
            with suppress(EngineError, MachineNotReadyError):
                found = [each for container in self.containers() for each in self.engine.addresses(container)]
                self._known = set(found)
        return address in self._known

    def _server_died(self, thread: str, error: BaseException) -> None:
        """`died` is set only when an attempt begins, after the server has been made."""
        self.died(thread, error)

    def _not_renewed(self, why: str) -> None:
        self._note(f"the containers' credentials could not be renewed: {why}")

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)
        self.warn(sentence)
