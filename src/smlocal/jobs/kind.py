"""What is known of a kind of job without importing it: how its documents are recognised, and where its modules are."""

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.errors import RequestRefusedError
from smlocal.jobfile.job_reading import AskedJob, JobReading

FOLDERS: Final[Mapping[str, str]] = {
    "sagemaker": "smlocal.sagemaker.training",
    "ai_platform": "smlocal.ai_platform",
    "sagemaker_hosting": "smlocal.sagemaker.hosting",
    "sagemaker_processing": "smlocal.sagemaker.processing",
    "sagemaker_transform": "smlocal.sagemaker.transform",
    "sagemaker_tuning": "smlocal.sagemaker.tuning",
    "sagemaker_pipeline": "smlocal.pipelines",
}
"""The folder of each, by its name in plans and recorded jobs. Nothing below imports one in another way."""


OF_JOBS: Final = ("planning", "preparing", "showing", "supervisor", "running")
"""The modules in it that each of its jobs needs."""


def module_of(kind: str, name: str) -> Any:
    """One of the modules in the folder of a kind, by the kind's name: the only door to them."""
    return import_module(f"{FOLDERS[kind]}.{name}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One row of the table of kinds."""

    name: str
    """In plans and records."""
    spoken: str
    """`training job`, in sentences."""
    word: str
    """`training`, for options."""
    file: str
    """The usual name of its file."""
    requests: tuple[str, ...]
    """The requests in its documents, the usual one first."""
    sign: str
    """The key of a document that shows best what it is."""
    describes: Callable[[Mapping[str, Any]], bool]
    """True for the keys of one of its documents."""
    reading: str
    """The module that reads its documents, by `READING`."""
    stem: str = ""
    """What the names of its operations and members are made of, if clients make such jobs."""
    log_group: str = ""
    """The group of its logs, and the namespace of its metrics, for clients; empty: they know none for the kind."""
    started_by: str = "run"
    """The command that starts its files."""
    has_workload: bool = False
    """True for jobs that are one set of hosts: `workload_of` in its planning says what one needs of machines.

    A container of it can be started as at the beginning of a job, without a job.
    """
    leaves_model: bool = False
    """True if its jobs, or their training jobs, leave a model."""
    refusal: type[RequestRefusedError] | None = None
    """The error where another kind is wanted; None: it is never refused as such."""
    on_service: str = ""
    """Other commands for the service, if `submit` does not send it; FILE stands for the file."""

    @property
    def with_article(self) -> str:
        """`a training job`."""
        return f"{'an' if self.spoken[0] in 'aeiou' else 'a'} {self.spoken}"

    def start_command(self, file: str) -> str:
        """The command that starts a file."""
        return f"smlocal {self.started_by} {file}"

    def deployed(self, file: str) -> tuple[str, ...]:
        """The remedy when a file of this kind is given as a model."""
        if not self.leaves_model:
            return (f"Run it: {self.start_command(file)}",)
        return ("Run the job, then deploy it by its name:", f"  {self.start_command(file)}", "  smlocal deploy NAME")

    @property
    def name_member(self) -> str:
        """The member with the name."""
        return f"{self.stem}Name"

    @property
    def status_member(self) -> str:
        """The member with the status."""
        return f"{self.stem}Status"

    @property
    def arn_member(self) -> str:
        """The member with the ARN."""
        return f"{self.stem}Arn"

    @property
    def in_commands(self) -> str:
        """The stem as the names of commands and ARNs have it: in small letters, with hyphens."""
        return re.sub(r"(?<=.)([A-Z])", r"-\1", self.stem).lower()

    def waiting_job(self, asked: AskedJob, name: str) -> Any:
        """What is recorded of a valid job that waits for its start: a `WaitingJob`, which stands above this room."""
        return self.planning.waiting_job(asked, name)

    @property
    def planning(self) -> Any:
        """The module that plans its jobs."""
        return module_of(self.name, "planning")

    @property
    def reads(self) -> JobReading:
        """What reads its documents."""
        part: JobReading = import_module(self.reading).READING
        return part


def keys(*signs: str, unless: frozenset[str] = frozenset()) -> Callable[[Mapping[str, Any]], bool]:
    """Recognises a document that has one of these keys, and none of the others."""

    def has(data: Mapping[str, Any]) -> bool:
        return any(sign in data for sign in signs) and unless.isdisjoint(data)

    return has
