"""What the checks look at. Each thing is read once, when the first check needs it."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from smlocal.doctor.trial import Trial, try_container
from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import Endpoint, find_endpoint
from smlocal.engine.inspection import EngineDetails, Inspection
from smlocal.errors import EngineUnreachableError, SmlocalError
from smlocal.store.home import home_directory

if TYPE_CHECKING:
    from smlocal.doctor.aws_identity import AwsIdentity


class EngineUnavailableError(Exception):
    """A check needs the engine, which is unreachable. The check `engine` has reported that."""


@dataclass(kw_only=True)
class Machine:
    """This machine and its engine."""

    online: bool = False
    """Whether requests to AWS are allowed."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @cached_property
    def endpoint(self) -> Endpoint:
        """The address of the engine; raises the same errors as every command."""
        return find_endpoint()

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
        """What the engine reports about itself."""
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
        return DockerEngine(self.endpoint)

    @property
    def inspection(self) -> Inspection:
        """The calls that only the doctor makes."""
        self.details  # noqa: B018 - raises if it is unreachable
        return Inspection(self.endpoint)

    @cached_property
    def trial(self) -> Trial:
        """The result of creating and starting a container."""
        return try_container(self.engine, self.inspection, self.home)

    @cached_property
    def aws_identity(self) -> "AwsIdentity":
        """Who AWS says the credentials belong to. This sends a request to AWS."""
        from smlocal.doctor.aws_identity import ask_aws_identity

        return ask_aws_identity()
