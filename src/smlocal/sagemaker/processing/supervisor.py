"""Supervises a processing job: as any job, but its end has a message, and its outputs are folders."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.jobs.container_supervisor import ContainerSupervisor
from smlocal.jobs.decide.attempt_outcome import Trouble
from smlocal.jobs.planning.model import HostPlan, JobPlan, collector_directory, mounted_directory
from smlocal.sagemaker.processing import facts
from smlocal.sagemaker.processing.showing import EXIT_MESSAGE, LOST, OUTPUTS
from smlocal.sagemaker.processing.workload import count_files, output_name, shown
from smlocal.terms.statuses import FAILED, Ending, JobStatus, input_failure

if TYPE_CHECKING:
    from smlocal.jobs.host.symptoms import failure_file, symptoms_of, wrote_elsewhere
else:
    failure_file = at_use("smlocal.jobs.host.symptoms", "failure_file")
    symptoms_of = at_use("smlocal.jobs.host.symptoms", "symptoms_of")
    wrote_elsewhere = at_use("smlocal.jobs.host.symptoms", "wrote_elsewhere")


@dataclass(kw_only=True, slots=True)
class ProcessingSupervisor(ContainerSupervisor):
    """Takes one recorded processing job to its end."""

    message: str = ""
    """The ExitMessage."""
    written: dict[str, tuple[int, int, bool]] = field(default_factory=dict)
    """Files and bytes of each output by name, and whether all were counted."""
    lost: tuple[str, ...] = ()
    """Files of a completed job that no output takes."""
    empty: bool = False
    """True if nothing was written to an output."""

    def decide(self) -> tuple[Ending, str | None]:
        """How the job ends. A message that is not UTF-8 fails a completed job."""
        text = b"".join(failure_file(run) for run in self.reachable_runs())
        ended, reason = ContainerSupervisor.decide(self)
        try:
            self.message = decoded_message(text)
        except UnicodeDecodeError:
            self.message = ""
            if ended.status is JobStatus.COMPLETED:
                return FAILED, self.kind.reason(input_failure(facts.NOT_UTF_8))
        return ended, reason

    def complete(self, ended: Ending) -> None:
        """Look for files outside the outputs."""
        ContainerSupervisor.complete(self, ended)
        if ended.status is JobStatus.COMPLETED and self.plan.engines.first.shares_folders:
            found = (path for host in self.plan.hosts for path in _lost(self.plan, host))
            self.lost = tuple(islice(dict.fromkeys(found), _MOST_LOST))
            first = next(iter(self.reachable_runs()), None)
            if not self.lost and self.empty and first is not None and wrote_elsewhere(first):
                from smlocal.sagemaker.shared_hints import left_files  # rarely

                self.lost = tuple(left_files(symptoms_of(first, Trouble.NO_MODEL)))

    def more_results(self) -> dict[str, Any]:
        """The message, and where the outputs are."""
        outputs = [
            {**each, **({"Files": found[0], "Bytes": found[1], "AllCounted": found[2]} if found else {})}
            for each in shown(self.plan.mirrored.collectors)
            for found in (self.written.get(each["Name"]),)
        ]
        message = {EXIT_MESSAGE: self.message} if self.message else {}
        return {**message, OUTPUTS: outputs, **({LOST: list(self.lost)} if self.lost else {})}

    def uploaded(self) -> str:
        """The outputs, for the screen. What is wrong with one of them becomes a note."""
        if self.plan.engines.first.shares_folders:
            for collector in self.plan.mirrored.collectors:
                folders = [collector_directory(self.plan, host, collector) for host in self.plan.hosts]
                if not any(os.path.isdir(each) and not os.path.islink(each) for each in folders):
                    self.results.notes.append(f"{collector.local_path} is not a folder any more: nothing was uploaded")
                elif all(map(_is_empty, folders)):
                    self.empty = True
                    self.results.notes.append(f"nothing was written to {collector.local_path}")
                counts = [count_files(each, most=facts.MOST_COUNTED) for each in folders if not os.path.islink(each)]
                self.written[output_name(collector)] = (
                    sum(count for count, _, _ in counts),
                    sum(size for _, size, _ in counts),
                    all(whole for _, _, whole in counts),
                )
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


_MOST_LOST: Final = 100
_MOST_SEEN: Final = 10_000
"""The most entries read in one host's folder, so that nobody waits."""


def _lost(plan: JobPlan, host: HostPlan) -> Iterator[str]:
    """Files in no output, by their paths in the container. Inputs are other mounts, so not here."""
    outputs = {each.local_path for each in plan.mirrored.collectors}
    top = mounted_directory(plan, host, facts.PROCESSING)
    seen = 0
    if facts.PROCESSING in outputs:
        return
    for folder, folders, files in os.walk(top):
        inside = facts.PROCESSING + folder[len(top) :]
        folders[:] = sorted(each for each in folders if f"{inside}/{each}" not in outputs)
        seen += len(folders) + len(files)
        if seen > _MOST_SEEN:
            return
        for name in sorted(files):
            path = f"{inside}/{name}"
            with suppress(OSError):  # a folder that this user may only list
                if path not in outputs and stat.S_ISREG(os.lstat(os.path.join(folder, name)).st_mode):
                    yield path


def _is_empty(folder: str) -> bool:
    try:
        return not os.listdir(folder)
    except OSError:  # the engine reads it
        return False


SUPERVISOR: Final = ProcessingSupervisor
