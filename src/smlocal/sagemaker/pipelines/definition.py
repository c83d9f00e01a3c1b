"""A checked definition: its parameters, and its steps with what each waits for."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.jobfile.document import Document
from smlocal.sagemaker.pipelines.step_types import StepType
from smlocal.terms.validation.violation import Path

SUCCEEDED: Final = "Succeeded"
"""The trigger of an ordinary dependency."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """A parameter of the pipeline."""

    name: str
    kind: str
    """String, Integer, Boolean or Float."""
    default: Any = None
    allowed: tuple[Any, ...] = ()
    """Empty: any value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryPolicy:
    """When a failed attempt is followed by another."""

    exceptions: tuple[str, ...]
    interval: float = 1.0
    """Seconds before the first retry."""
    backoff: float = 2.0
    """What each further interval is multiplied by."""
    most: int | None = None
    """Retries; None: as many as fit into the time."""
    minutes: int | None = None
    """Since the first attempt began, after which none follows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheConfig:
    """Whether earlier results of a step may be used."""

    enabled: bool
    seconds: float | None = None
    """How old they may be; None: as old as they are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class After:
    """A step that must have ended first, and how."""

    step: str
    trigger: str = SUCCEEDED
    """Succeeded, Failed, Stopped or Any."""
    path: Path = ()
    """Where the definition says so."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """An output of a Lambda or a Callback."""

    name: str
    kind: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PropertyFile:
    """A JSON file that a processing step writes."""

    name: str
    output: str
    file: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step, also one of a branch or of the body of a ForEach."""

    name: str
    type: StepType
    path: Path
    """Its place in the document."""
    given: Mapping[str, Any] = field(repr=False)
    """As it is written."""
    arguments: Mapping[str, Any] = field(repr=False)
    parent: str | None = None
    """The Condition whose branch it is in, or the ForEach whose body it is."""
    branch: bool | None = None
    """For the branch of a Condition: that of True or that of False."""
    after: tuple[After, ...] = ()
    """What DependsOn says, then the steps that it refers to."""
    retries: tuple[RetryPolicy, ...] = ()
    cache: CacheConfig | None = None
    outputs: tuple[Output, ...] = ()
    files: tuple[PropertyFile, ...] = ()

    @property
    def display_name(self) -> str | None:
        """As it is written."""
        return self.given.get("DisplayName")

    @property
    def description(self) -> str | None:
        """As it is written."""
        return self.given.get("Description")


@dataclass(frozen=True, kw_only=True, slots=True)
class StandIn:
    """One of the four is there."""

    command: tuple[str, ...] = ()
    """A program; the arguments of the step are JSON on its input, and its output is JSON with the outputs."""
    file: str = ""
    handler: str = ""
    """A function in a Python file, as of a Lambda."""
    outputs: Mapping[str, Any] | None = field(default=None)
    """What the step answers, without anything that runs."""
    skip: bool = False
    """The step is taken for done, and answers nothing."""

    @property
    def spoken(self) -> str:
        """What stands in for the step, in sentences."""
        if self.skip:
            return "it is skipped"
        if self.outputs is not None:
            return "its outputs are fixed"
        return f"{self.file}:{self.handler} runs" if self.handler else f"{' '.join(self.command)} runs"


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """All of a pipeline that is valid."""

    parameters: Mapping[str, Parameter]
    steps: Mapping[str, Step]
    """By name, in the order of the document; a step comes before those in its branches."""
    stand_ins: Mapping[str, StandIn] = field(default_factory=dict)
    """By the name of the step."""
    given: Mapping[str, Any] = field(repr=False)
    """As it is written."""
    document: Document = field(repr=False)
    request: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The CreatePipeline request that it came in, without the definition; empty if it came alone."""

    def children(self, name: str) -> Iterator[Step]:
        """The steps directly in the branches or the body of a step."""
        return (step for step in self.steps.values() if step.parent == name)

    def enclosing(self, step: Step) -> Iterator[Step]:
        """The steps that it is in, the nearest first."""
        while step.parent is not None:
            step = self.steps[step.parent]
            yield step
