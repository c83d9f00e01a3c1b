"""Supervises a transform job: brings its container up as that of an endpoint, transforms, ends it, and publishes."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from threading import Event as Flag
from typing import TYPE_CHECKING, Any, ClassVar, Final

from smlocal.base.at_use import at_use
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import counted
from smlocal.base.threads import watched_thread
from smlocal.engine.interface import Written
from smlocal.errors import SmlocalError
from smlocal.jobfile.document import recorded_document
from smlocal.jobs.containers import FoundContainers
from smlocal.jobs.context import end_details
from smlocal.jobs.decide.attempt_outcome import HostEnd
from smlocal.jobs.decide.events import ContainerExited, ContainerLost, Event, ThreadDied, Woken
from smlocal.jobs.documents import JOB
from smlocal.jobs.history import Past
from smlocal.jobs.logs.log_file import LogFile, log_path
from smlocal.sagemaker.hosting.servers import Server
from smlocal.sagemaker.hosting.supervisor import HostingSupervisor
from smlocal.sagemaker.transform import facts
from smlocal.sagemaker.transform.data_processing import Processing, RecordForm, form_of
from smlocal.sagemaker.transform.json_path import parse
from smlocal.sagemaker.transform.objects import list_objects, move_outputs, store_of
from smlocal.sagemaker.transform.showing import RESULTS
from smlocal.sagemaker.transform.transform_file import TransformFile, read_transform
from smlocal.terms.listing import Listing
from smlocal.terms.statuses import INTERNAL_ERROR, NO_CAPACITY, Ending, JobPhase, PhaseMessage, input_failure

if TYPE_CHECKING:
    from smlocal.jobs.finish.cleanup import clear_attempt
    from smlocal.sagemaker.transform import parameters as stated
    from smlocal.sagemaker.transform.invoking import Invoker
    from smlocal.sagemaker.transform.parameters import Parameters
    from smlocal.sagemaker.transform.transformation import Transformation
else:  # while the container is started
    clear_attempt = at_use("smlocal.jobs.finish.cleanup", "clear_attempt")
    stated = at_use("smlocal.sagemaker.transform.parameters")
    Invoker = at_use("smlocal.sagemaker.transform.invoking", "Invoker")
    Parameters = at_use("smlocal.sagemaker.transform.parameters", "Parameters")
    Transformation = at_use("smlocal.sagemaker.transform.transformation", "Transformation")

_PROGRESS_SECONDS: Final = 0.5
_END_SECONDS: Final = 30.0
"""For requests that were cancelled."""
_SEEN_SECONDS: Final = 3.0
_STAGED: Final = "staged/output"


@dataclass(kw_only=True, slots=True)
class TransformSupervisor(HostingSupervisor):
    """Takes one recorded transform job to its end."""

    IN_SERVICE: ClassVar[Sequence[str]] = (
        "smlocal.sagemaker.transform.transformation",
        "smlocal.engine.networks",
        "smlocal.jobs.finish.artifacts",
        "smlocal.jobs.finish.cleanup",
    )

    asked: TransformFile = field(init=False)
    told: dict[str, Any] = field(default_factory=dict)
    """The results, once there are some."""
    data_log: LogFile = field(init=False)

    def __post_init__(self) -> None:
        HostingSupervisor.__post_init__(self)
        self.asked = read_transform(recorded_document(self.context.store.document(self.plan.name, JOB)))
        self.data_log = LogFile(log_path(self.plan.job_directory, facts.DATA_LOG))

    def resume(self, past: Past, phase: JobPhase) -> None:
        """Continue a job whose supervisor was killed: what was sent is sent again."""
        if begins_again(past, self.found, phase):
            self.attempt.outcome = past.outcome
            clear_attempt(self.context.engines, self.plan)
            self.run()
        else:
            HostingSupervisor.resume(self, past, phase)

    def decide(self) -> tuple[Ending, str | None]:
        """How the job ends, and why, in the service's words."""
        return self.kind.ending(self.attempt.outcome, b"")

    def more_results(self) -> dict[str, Any]:
        """How many objects were transformed, and where the output is."""
        return {RESULTS: self.told} if self.told else {}

    def finish(self) -> None:
        """The data log is complete."""
        why = self.data_log.close()
        if why is not None:
            self.context.reporter.warning(f"the data log may not be complete: {why}")
        HostingSupervisor.finish(self)

    def open_front(self) -> None:
        """Nobody else invokes this container."""

    @property
    def _server(self) -> Server:
        """The only container."""
        (server,) = self.servers.values()
        return server

    def serve(self) -> None:
        """Transform all objects, as soon as the container answers."""
        before = self._server.ready  # it was transforming when an earlier supervisor was killed
        listing = self._input()
        if listing is None or not self._pinged():
            return
        if not before:
            self.context.phases.enter(JobPhase.TRAINING, PhaseMessage.TRAINING, started=True)
        work = self._work(listing)
        if work is None:
            self.attempt.watch_running(stop=True)
        elif self._worked(work):
            self._publish(work)

    def _input(self) -> Listing | None:
        """The objects; None if that fails the job."""
        region = self.plan.identity.region
        try:
            listing = list_objects(self.asked, region=region, store=store_of(region, self.plan.rights))
            reason, why = listing.failure, None
        except SmlocalError as error:
            reason, why = f"ClientError: {error.sentence}", error.with_details
        if reason is None:
            return listing
        self.attempt.fail(input_failure(reason), why)
        self.attempt.watch_running(stop=True)
        return None

    def _pinged(self) -> bool:
        """Wait for the first answer to a ping; False if there is none, or something else came first."""
        for request in self.context.stored_requests.read():
            self.context.events.put(request)
        server = self._server
        server.ready, server.due = False, 0.0
        while True:
            event = self._happened(max(0.0, server.due - time.monotonic()))
            if event is not None:
                self._ended_by(event)
                return False
            trouble = server.look(self.serving.ping)
            if trouble is None:
                return True
            if server.late:
                self.attempt.fail(input_failure(facts.NO_PING), server.silence)
                self.attempt.watch_running(stop=True)
                return False

    def _happened(self, seconds: float) -> Event | None:
        """The next event; None if there is none in time, or only a request to look again."""
        event = self.context.events.next(seconds)
        for request in self.context.stored_requests.read():
            self.context.events.put(request)
        return None if isinstance(event, Woken) else event

    def _ended_by(self, event: Event, first: str = "") -> None:
        """An event came before the end of the work. `first`: the first failure."""
        if not isinstance(event, ContainerExited):
            self.context.events.put(event)
            self.attempt.watch_running(stop=False)
            return
        self._server.run.container.join()
        self.attempt.handle_late_requests()  # a stop that was stored before the end counts first
        end = HostEnd(host=self._server.name, exit_code=event.exit_code, oom_killed=event.oom_killed)
        self.attempt.outcome = replace(self.attempt.outcome, ends=(end,))
        if not self.attempt.outcome.decided:
            self.attempt.outcome = replace(self.attempt.outcome, first_failure=self._server.name)
            why = f"the container ended with exit code {event.exit_code} before everything was transformed"
            self.attempt.fail(input_failure(facts.SEE_LOGS), f"{why}; {first}" if first else why)
        self.attempt.explain_exit_codes(grace=self.plan.stop.grace)
        self.context.phases.leave(end_details(self.attempt.outcome), good=False)

    def _work(self, listing: Listing) -> Transformation | None:
        """What is to be done; None if the parameters fail the job."""
        asked, request = self.asked, self.asked.request
        source, output, client = request.TransformInput, request.TransformOutput, request.ModelClientConfig
        split = source.SplitType or "None"
        processing = Processing(
            before=parse(asked.processing.InputFilter or "$"),
            after=parse(asked.processing.OutputFilter or "$"),
            join=asked.processing.JoinSource == "Input",
            records=form_of(source.ContentType) or RecordForm.CSV,
            answers=form_of(output.Accept) or RecordForm.CSV,
            by_line=split != "None",
        )
        retries = None if client is None else client.InvocationsMaxRetries
        invoker = Invoker(
            address=self._server.address,
            headers={
                **({"Content-Type": source.ContentType} if source.ContentType else {}),
                **({"Accept": output.Accept} if output.Accept else {}),
            },
            seconds=self.serving.invocation,
            retries=facts.RETRIES if retries is None else retries,
            folder=self.plan.job_directory,
            most=facts.MOST_MB * facts.MEGABYTE if processing.of_answers else None,
        )
        try:
            parameters = self._parameters(invoker.parameters())
        except stated.ParametersError as error:
            invoker.close()
            self._log(facts.logged(time.time(), error.sentence))
            self.attempt.fail(input_failure(f"{error.blamed}: {error.sentence}"), None)
            return None
        for remark in parameters.remarks:
            self.context.reporter.warning(remark)
        self.results.notes += parameters.remarks
        line = facts.parameters_line(
            concurrent=parameters.concurrent, payload=parameters.payload, strategy=parameters.strategy
        )
        self._log(facts.logged(time.time(), line))
        return Transformation(
            listing=listing,
            parameters=parameters,
            split=split,
            gzip=source.CompressionType == "Gzip",
            newline=output.AssembleWith == "Line",
            processing=processing,
            invoker=invoker,
            store=store_of(self.plan.identity.region, self.plan.rights),
            folder=os.path.join(self.plan.job_directory, _STAGED),
            log=self._log,
        )

    def _parameters(self, said: Mapping[str, Any] | None) -> Parameters:
        """Those of the request, else what the container says, else the service's."""
        request = self.asked.request
        return stated.parameters_of(
            said,
            strategy=request.BatchStrategy,
            concurrent=request.MaxConcurrentTransforms,
            payload=request.MaxPayloadInMB,
        )

    def _log(self, line: str) -> None:
        data = f"{line}\n".encode(errors="replace")
        self.data_log.write(data)
        self.context.reporter.output(facts.DATA_LOG, Written(data, [(1, data)]))

    def _worked(self, work: Transformation) -> bool:
        """True when the work is done, well or not; False if something came before its end."""
        done, failed, events = Flag(), Flag(), self.context.events

        def run() -> None:
            try:
                work.run()
            finally:
                done.set()
                events.put(Woken())

        def died(name: str, error: BaseException) -> None:
            events.put(ThreadDied(thread=name, error=error))
            failed.set()

        thread = watched_thread(run, name="transforms", died=died)
        thread.start()
        while not done.is_set():
            event = self._happened(_PROGRESS_SECONDS)
            if event is not None:
                work.cancel()
                thread.join(_END_SECONDS)
                self._stopped_by(event, work)
                return False
            counts = work.counts
            objects = counted(len(work.listing.paths), "object")
            self.context.reporter.working(f"{counts.objects:,} of {objects}, {counted(counts.requests, 'request')}")
        thread.join()
        event = self._end_seen() if work.counts.client is False and not failed.is_set() else None
        while failed.is_set() and event is None:
            event = self._happened(0)  # its death is there
        if event is not None:
            self._stopped_by(event, work)
        return event is None

    def _end_seen(self) -> Event | None:
        """What has happened to a container that no longer answers: an engine tells that a moment after its end."""
        if self._server.look(self.serving.ping) is None:
            return None
        latest, event = time.monotonic() + _SEEN_SECONDS, None
        while event is None and (left := latest - time.monotonic()) > 0:
            event = self._happened(left)
        return event

    def _stopped_by(self, event: Event, work: Transformation) -> None:
        """Something came before the output is moved."""
        self._store_found(work, outputs=0)
        self._ended_by(event, work.counts.first)

    def _publish(self, work: Transformation) -> None:
        """End the container, and move the output to its folder, unless the job was stopped."""
        counts, attempt, phases = work.counts, self.attempt, self.context.phases
        attempt.handle_late_requests()
        if work.trouble is not None and not attempt.outcome.decided:
            attempt.fail(input_failure(f"ClientError: {work.trouble.strerror}"), str(work.trouble))
        elif counts.client is not None and not attempt.outcome.decided:
            reason = facts.SEE_LOGS_CLIENT if counts.client else facts.SEE_LOGS
            attempt.fail(input_failure(reason), counts.first)
        done = f"{counted(counts.objects, 'object')}, {counted(counts.requests, 'request')}"
        phases.leave(done, good=not counts.failed)
        if attempt.outcome.stopped is None:
            phases.enter(JobPhase.UPLOADING, PhaseMessage.UPLOADING, ended=True)
        self._end_container()
        attempt.handle_late_requests()
        outputs = 0
        failure = attempt.outcome.failure
        if attempt.outcome.stopped is None and work.trouble is None and failure not in {INTERNAL_ERROR, NO_CAPACITY}:
            try:
                outputs = self._moved(work)
            except OSError as error:
                attempt.fail(input_failure(f"ClientError: Failed to write the output: {error}"), str(error))
        self._store_found(work, outputs=outputs)
        phases.leave(
            f"{counted(outputs, 'file')} in {self.plan.output.directory}", good=attempt.outcome.failure is None
        )

    def _end_container(self) -> None:
        """Nothing is left for it to do."""
        ended = self._server.run.container.stop(facts.END_SECONDS)
        self._server.run.container.join()
        if isinstance(ended, ContainerLost):
            self.attempt.find_lost_engines()
        if isinstance(ended, ContainerExited):
            end = HostEnd(
                host=self._server.name,
                exit_code=ended.exit_code,
                oom_killed=ended.oom_killed,
                signalled=True,
                killed=self._server.run.container.killed,
            )
            self.attempt.outcome = replace(self.attempt.outcome, ends=(end,))
            self.attempt.explain_exit_codes(grace=facts.END_SECONDS)
        kept = []
        while (event := self.context.events.next(0)) is not None:
            if not isinstance(event, ContainerExited | ContainerLost):
                kept.append(event)
        for each in kept:
            self.context.events.put(each)

    def _moved(self, work: Transformation) -> int:
        """Move each output to the path of its object in the folder; returns how many there are."""
        paths = work.listing.paths
        return move_outputs(
            ((work.output(index), f"{path}{facts.OUT}") for index, path in enumerate(paths)),
            self.plan.output.directory,
            links=self.plan.rights.links,
            run_id=self.plan.run_id,
        )

    def _store_found(self, work: Transformation, *, outputs: int) -> None:
        counts, parameters = work.counts, work.parameters
        if counts.blank:
            self.results.notes.append(_blank(counts.blank))
        self.told = {
            "Objects": len(work.listing.paths),
            "Outputs": outputs,
            "Requests": counts.requests,
            "Retries": work.invoker.retried,
            "RecordsRead": counts.records if work.counts_records else None,
            "BytesRead": counts.read,
            "LinesWritten": counts.lines if work.split == "Line" else None,
            "BytesWritten": counts.written,
            "Failed": counts.failed[:_MOST_NAMED],
            **({"Causes": counts.causes[:_MOST_NAMED]} if counts.causes else {}),
            "FailedCount": len(counts.failed),
            "Directory": self.plan.output.directory,
            "BatchStrategy": parameters.strategy,
            "MaxConcurrentTransforms": parameters.concurrent,
            "MaxPayloadInMB": parameters.payload,
        }


def begins_again(past: Past, found: FoundContainers, phase: JobPhase) -> bool:
    """True if a job that was left needs another container: its own has nothing to do, or has ended with the engine."""
    return (phase is JobPhase.UPLOADING or found.ended_with_the_engine) and not past.outcome.decided


def _blank(paths: Sequence[str]) -> str:
    others = len(paths) - 1
    who = f"{paths[0]} and {others:,} more have" if others else f"{paths[0]} has"
    return f"{who} only blank lines, which were sent as records"


_MOST_NAMED: Final = 100
"""Objects without output that are named."""


SUPERVISOR: Final = TransformSupervisor
