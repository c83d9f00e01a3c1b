"""The subject of a rule: an image, and how a job or a launcher uses it."""

from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum
from itertools import islice

from smlocal.base.quick_dataclass import dataclass
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.image_files import ImageFiles
from smlocal.check.jobs.interface import Jobs
from smlocal.check.serving.interface import EndpointTrial
from smlocal.engine.facts import ImageFacts
from smlocal.sagemaker.jobfile.job_file import JobFile

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The PATH that engines set where an image has none."""
_MOST_FOLDERS = 1000
"""In which programs are looked for."""


class LaunchProfile(StrEnum):
    """What an image is checked for: a client whose launcher expects more of it than the service does, or serving."""

    MODEL_TRAINER = "model-trainer"
    MODEL_TRAINER_MPI = "model-trainer=mpi"
    REMOTE_FUNCTION = "remote-function"
    TOOLKIT = "toolkit"
    TOOLKIT_MPI = "toolkit-mpi"
    SMDDP = "smddp"
    SERVE = "serve"
    """In place of training."""
    PROCESSING = "processing"
    """In place of training."""
    TRAIN_AND_SERVE = "train-and-serve"
    """Both, with the model that the image has trained."""

    @property
    def option(self) -> str:
        """The option that asks for it."""
        return f"--{self}" if self is LaunchProfile.TRAIN_AND_SERVE else f"--for {self}"


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryStep:
    """One instruction of an image's history."""

    text: str
    """As the builder wrote it down."""
    layer: int | None = None
    """The layer that it made; None for an instruction that made none, and where that is not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessingCommand:
    """The command of a CreateProcessingJob request, whose job file was named."""

    file: str
    entrypoint: tuple[str, ...] | None
    arguments: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """One image under examination."""

    image: str
    """As it was named."""
    facts: ImageFacts
    """Its configuration."""
    read: ImageFiles | None = None
    """Its files; None where no rule asked for any."""
    history: tuple[HistoryStep, ...] = ()
    """The oldest first."""
    profiles: frozenset[LaunchProfile] = frozenset()
    job: JobFile | None = None
    """The job that was named in place of an image."""
    home: str = field(default="", repr=False)
    started: Jobs | None = field(default=None, repr=False)
    """The runner of the image's jobs; None where no rule asked for any."""
    served: EndpointTrial | None = field(default=None, repr=False)
    """The image as an endpoint; None where no rule asked for it."""
    processing: ProcessingCommand | None = None
    """The processing job that was named in place of an image."""
    command: tuple[tuple[str, ...] | None, tuple[str, ...]] | None = None
    """Entry point and arguments of a job that has run, which the request has decided already; None as the entry point
    for that of the image."""

    @property
    def files(self) -> ImageFiles:
        """The files of the image, all of them."""
        if self.read is None:
            raise CannotLookError("the image was not read")
        if self.read.unread:
            raise CannotLookError(self.read.unread[0])
        return self.read

    @property
    def jobs(self) -> Jobs:
        """Jobs of the image on tiny data."""
        if self.started is None:
            raise CannotLookError("no job was run")
        return self.started

    @property
    def endpoint(self) -> EndpointTrial:
        """The image as an endpoint."""
        if self.served is None:
            raise CannotLookError("no endpoint was made")
        return self.served

    @property
    def as_server(self) -> "Subject":
        """The image as the service starts it to serve: with the entry point of the image, and `serve`."""
        return replace(self, job=None, command=(None, ("serve",)))

    @property
    def as_processor(self) -> "Subject":
        """The image as the service starts it to process: with its own ENTRYPOINT and CMD, but for the request's."""
        entrypoint = arguments = None
        if self.processing is not None:
            entrypoint, arguments = self.processing.entrypoint, self.processing.arguments
        if arguments is None:
            arguments = () if entrypoint else self.facts.command or ()
        return replace(self, job=None, command=(entrypoint, arguments))

    @property
    def entrypoint(self) -> tuple[str, ...]:
        """The entry point of the job, else of the image."""
        if self.command is not None:
            return self.command[0] or self.facts.entrypoint or ()
        specification = self.job.request.AlgorithmSpecification if self.job is not None else None
        asked = specification.ContainerEntrypoint if specification is not None else None
        return tuple(asked) if asked else self.facts.entrypoint or ()

    @property
    def is_entrypoint_of_job(self) -> bool:
        """Whether the request replaces that of the image."""
        if self.command is not None:
            return bool(self.command[0])
        specification = self.job.request.AlgorithmSpecification if self.job is not None else None
        return bool(specification is not None and specification.ContainerEntrypoint)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments that the service gives to the entry point; `train` unless the request says otherwise."""
        if self.command is not None:
            return self.command[1]
        specification = self.job.request.AlgorithmSpecification if self.job is not None else None
        if specification is None:
            return ("train",)
        given = specification.ContainerArguments
        if given:
            return tuple(given)
        return () if specification.ContainerEntrypoint else ("train",)

    @property
    def search_path(self) -> tuple[str, ...]:
        """The folders in which the engine looks for a program."""
        environment: dict[str, str] = {**self.facts.environment, **self.requested_environment}
        parts = dict.fromkeys(part for part in environment.get("PATH", DEFAULT_PATH).split(":") if part)
        return tuple(islice(parts, _MOST_FOLDERS))

    @property
    def requested_environment(self) -> Mapping[str, str]:
        """Variables of the request."""
        return (self.job.request.Environment or {}) if self.job is not None else {}
