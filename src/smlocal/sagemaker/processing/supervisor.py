"""Supervises a processing job: as any job, but its end has a message, and its outputs are folders."""

import os
from typing import TYPE_CHECKING, Any, Final

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.container_supervisor import ContainerSupervisor
from smlocal.jobs.planning.model import collector_directory
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.processing.showing import EXIT_MESSAGE, OUTPUTS
from smlocal.sagemaker.processing.workload import shown
from smlocal.terms.statuses import FAILED, Ending, JobStatus, input_failure

if TYPE_CHECKING:
    from smlocal.jobs.host.symptoms import failure_file
else:
    failure_file = at_use("smlocal.jobs.host.symptoms", "failure_file")


@dataclass(kw_only=True, slots=True)
class ProcessingSupervisor(ContainerSupervisor):
    """Takes one recorded processing job to its end."""

    message: str = ""
    """The ExitMessage."""

    def decide(self) -> tuple[Ending, str | None]:
        """How the job ends. A message that is not UTF-8 fails one that would have completed."""
        text = b"".join(failure_file(run) for run in self.reachable_runs())
        ended, reason = ContainerSupervisor.decide(self)
        try:
            self.message = decoded_message(text)
        except UnicodeDecodeError:
            self.message = ""
            if ended.status is JobStatus.COMPLETED:
                return FAILED, self.kind.reason(input_failure(facts.NOT_UTF_8))
        return ended, reason

    def more_results(self) -> dict[str, Any]:
        """The message, and where the outputs are."""
        outputs = list(shown(self.plan.mirrored.collectors))
        return {**({EXIT_MESSAGE: self.message} if self.message else {}), OUTPUTS: outputs}

    def uploaded(self) -> str:
        """The outputs, for the screen. What is wrong with one of them becomes a note."""
        if self.plan.engines.first.shares_folders:
            for collector in self.plan.mirrored.collectors:
                folders = [collector_directory(self.plan, host, collector) for host in self.plan.hosts]
                if not any(os.path.isdir(each) and not os.path.islink(each) for each in folders):
                    self.results.notes.append(f"{collector.local_path} is not a folder any more: nothing was uploaded")
                elif all(map(_is_empty, folders)):
                    self.results.notes.append(f"nothing was written to {collector.local_path}")
        return ", ".join(each["Name"] for each in shown(self.plan.mirrored.collectors)) or "no outputs"

    def ignored_failure_files(self) -> dict[str, str]:
        """None: the message is in the answer."""
        return {}


def decoded_message(text: bytes) -> str:
    """The first kilobyte. A character that is cut off at its end is left out."""
    if len(text) <= facts.MESSAGE_BYTES:
        return text.decode()
    whole = text[: facts.MESSAGE_BYTES]
    for cut in range(4):
        try:
            return whole[: len(whole) - cut].decode()
        except UnicodeDecodeError as error:
            if cut == 3 or error.start < len(whole) - 3:  # noqa: PLR2004 - a character has at most four bytes
                raise
    raise AssertionError(text)


def _is_empty(folder: str) -> bool:
    try:
        return not os.listdir(folder)
    except OSError:  # the engine reads it
        return False


SUPERVISOR: Final = ProcessingSupervisor
