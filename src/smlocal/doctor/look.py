"""What several checks look at, looked at once."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from smlocal.doctor.trial import Trial, try_engine
from smlocal.engine.docker import DockerEngine
from smlocal.engine.endpoint import Endpoint, find_endpoint
from smlocal.engine.inspection import EngineDetails, Inspection
from smlocal.errors import EngineUnreachableError, SmlocalError
from smlocal.store.home import home_directory

if TYPE_CHECKING:
    from smlocal.doctor.caller import Caller


class NoEngineError(Exception):
    """A check wants the engine, and the check of the engine has said already that there is none."""


@dataclass(kw_only=True)
class Look:
    """One look at the machine. Everything is found out when it is first asked for."""

    online: bool = False
    """Whether AWS may be asked anything."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @cached_property
    def endpoint(self) -> Endpoint:
        """Where the engine is; raises the error that every command would."""
        return find_endpoint()

    @cached_property
    def home(self) -> str:
        """Where jobs are remembered; nothing is made."""
        return home_directory()

    stuck: bool = False
    """Set once a check did not come back: the engine is not asked again."""

    @property
    def engine_trouble(self) -> SmlocalError | None:
        """Why there is no engine to speak to; None when there is one."""
        if self.stuck:
            return EngineUnreachableError("the engine did not answer in time")
        return self._trouble

    @cached_property
    def _trouble(self) -> SmlocalError | None:
        try:
            self._details  # noqa: B018 - to ask is the point
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
        """What the engine says of itself."""
        if self.engine_trouble is not None:
            raise NoEngineError
        return self._details[0]

    @property
    def asked_at(self) -> float:
        """When the engine told its time, by our clock."""
        return self._details[1]

    @property
    def engine(self) -> DockerEngine:
        """The engine, known to answer."""
        self.details  # noqa: B018 - raises where there is none
        return DockerEngine(self.endpoint)

    @property
    def inspection(self) -> Inspection:
        """The other view of it."""
        self.details  # noqa: B018 - likewise
        return Inspection(self.endpoint)

    @cached_property
    def trial(self) -> Trial:
        """What became of a container that was really made."""
        return try_engine(
            self.engine, self.inspection, self.home, local=self.endpoint.local, rootless=self.details.rootless
        )

    @cached_property
    def caller(self) -> "Caller":
        """Who AWS takes us for; asks it."""
        from smlocal.doctor.caller import ask_caller

        return ask_caller()
