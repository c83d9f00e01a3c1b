"""The debugger rules of one job: a container for each, watched by one thread until the rule or the job has ended."""

import json
import mmap
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from threading import Event, Lock, Thread
from typing import Any

from smlocal.base.files import remove_tree
from smlocal.base.quick_dataclass import dataclass
from smlocal.base.readable import readable_bytes
from smlocal.debugger.rule_container import (
    MEMORY,
    ActionSocket,
    Evaluation,
    acts,
    read_result,
    result_folder,
    rule_container,
    sign_of_progress,
    socket_folder,
)
from smlocal.engine.containers import recreate_container
from smlocal.engine.interface import RULE_LABEL, RUN_LABEL, ContainerSpec, Engine, Resource, ResourceKind
from smlocal.engine.seen_folders import is_path_seen
from smlocal.errors import EngineError, EngineLostError, HomeUnusableError, MachineNotReadyError, StagingError
from smlocal.jobs.planning.aspects.rules.plan import RulePlan
from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.store.jobs import Store
from smlocal.sagemaker.contract.outcome.reasons import (
    RULE,
    RULES,
    RuleStatus,
    first_statuses,
    rule_status,
)

_SAYS = b"SMDebug error has occurred, disabling SMDebug"
"""smdebug.core.error_handling_agent, in a hook whose configuration is the default one."""
_TRACEBACK = re.compile(
    rb"^Traceback \(most recent call last\):\r?$.*?^(?P<error>[^\s:][^\r\n]*)", re.MULTILINE | re.DOTALL
)
_LONGEST_TRACEBACK = 1 << 16
_LONGEST_ERROR = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class DisabledHook:
    """The first such line of a log."""

    host: str
    line: int
    error: str
    """The last line of its traceback; empty if there is none."""

    @property
    def sentence(self) -> str:
        """For a rule that has found nothing, and for the job."""
        why = f": {self.error}" if self.error else ""
        return (
            f"The hook of smdebug disabled itself (line {self.line} of the log of {self.host}{why}), "
            "so no tensors were saved after that."
        )


def disabled_hook(job_directory: str, hosts: Iterable[str]) -> DisabledHook | None:
    """Look into the logs of the hosts, in this order."""
    for host in hosts:
        try:
            descriptor = os.open(f"{job_directory}/logs/{host}.log", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as log:
                found = log.find(_SAYS)
                if found >= 0:
                    traceback = _TRACEBACK.search(log[found : found + _LONGEST_TRACEBACK])
                    error = traceback["error"].decode("utf-8", "replace")[:_LONGEST_ERROR] if traceback else ""
                    return DisabledHook(host=host, line=log[:found].count(b"\n") + 1, error=error)
        except (OSError, ValueError):  # an empty file cannot be mapped
            continue
        finally:
            os.close(descriptor)
    return None


QUIET_SECONDS = 300.0
"""After the end of training a rule may read the rest of the tensors. One that reads nothing for so long waits for ever.

A container that yields to all others may need minutes to begin on a busy machine.
"""
_LOOK_SECONDS = 0.2
_ASK_SECONDS = 1.0
"""Between two questions to the engine."""
_END_SECONDS = 5.0
_REMOVAL_SECONDS = 60.0
_NOT_FOUND = 404
_LONGEST_LOG_NAME = 200
_ENDED = {"exited", "dead"}
Fetch = Callable[[str, str, Callable[[], bool]], str]
"""Gets a location in S3, a folder for it, and whether to stop. Returns the path here, or raises `StagingError`."""
_FAILURES = (EngineError, EngineLostError, MachineNotReadyError, StagingError, OSError)


@dataclass(kw_only=True, slots=True)
class _Rule:
    """One rule and where it stands."""

    number: int
    name: str
    status: RuleStatus
    container: str = ""
    asked: float = 0.0
    """When the engine was asked last."""
    sign: tuple[int, ...] = ()
    """Its last sign of progress."""
    moved: float = 0.0
    """When that was seen."""


@dataclass(kw_only=True, slots=True)
class JobRules:
    """Nothing that goes wrong here changes the job itself."""

    plan: JobPlan
    engine: Engine
    store: Store
    tensors: str | None
    """The local folder with the job's tensors; None if the job saves none."""
    created: float
    changed: Callable[[str, RuleStatus, Evaluation], None]
    """Called by the thread with every new status."""
    fetch: Fetch
    """Brings what a rule names in S3 to this machine."""
    _socket: ActionSocket = field(init=False)
    _rules: list[_Rule] = field(default_factory=list)
    _statuses: list[dict[str, Any]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _over: Event = field(default_factory=Event)
    _thread: Thread | None = None
    _starting: list[Thread] = field(default_factory=list)
    """Threads of rules that wait for objects in S3."""

    def __post_init__(self) -> None:
        self._socket = ActionSocket(
            home=self.store.home,
            job=self.plan.name,
            folder=socket_folder(self.plan),
            rules=[rule.name for rule in self.plan.rules.each],
        )

    def begin(self) -> None:
        """Start the containers, or take over those that an earlier supervisor started, and watch them."""
        arn = self.plan.identity.arn
        request = {"DebugRuleConfigurations": [{"RuleConfigurationName": rule.name} for rule in self.plan.rules.each]}
        recorded = self.store.document(self.plan.name, RULES)
        self._statuses = recorded or first_statuses(request, arn=arn, created=self.created)
        self._rules = [
            _Rule(number=number, name=entry["RuleConfigurationName"], status=RuleStatus(entry["RuleEvaluationStatus"]))
            for number, entry in enumerate(self._statuses)
        ]
        self.store.put_document(self.plan.name, RULES, self._statuses)
        self._thread = Thread(target=self._run, name="rules", daemon=True)
        self._thread.start()

    def finish(self, working: Callable[[str], None], cancelled: Callable[[], bool]) -> None:
        """Let the rules read the rest; stop those that only wait. Remove their containers and folders."""
        if self._thread is None:
            return
        for rule in self._rules:
            rule.moved = time.monotonic()
        while self._thread.is_alive() and self._progress() and not cancelled():
            self._thread.join(_LOOK_SECONDS)
            names = ", ".join(rule.name for rule in self._active())
            working(f"waiting for debugger rules: {names}" if names else "")
        self._over.set()
        for thread in (self._thread, *self._starting):
            thread.join(_END_SECONDS * (2 + len(self._rules)))
        stopped = cancelled()
        why = "a stop was requested" if stopped else f"it read nothing for {QUIET_SECONDS:g} s after the training"
        self._stop(self._active(), why)
        removals = [Thread(target=self._remove, args=[rule], daemon=True) for rule in self._rules]
        for removal in removals:
            removal.start()
        for removal in removals:
            removal.join(_REMOVAL_SECONDS)
        self._socket.close()
        for folder in ("rules", "tensors"):
            with _harmless():
                remove_tree(f"{self.plan.job_directory}/{folder}")

    def _active(self) -> list[_Rule]:
        return [rule for rule in self._rules if not rule.status.terminal]

    def _progress(self) -> bool:
        """True if one of the rules has read something lately. Each sign is the status document, written again."""
        now = time.monotonic()
        for rule in self._active():
            sign = sign_of_progress(result_folder(self.plan, rule.number))
            if sign != rule.sign:
                rule.sign, rule.moved = sign, now
        return any(now - rule.moved < QUIET_SECONDS for rule in self._active())

    def _run(self) -> None:
        with _harmless():
            self._find()
        if any(map(acts, self.plan.rules.each)):
            with _harmless():  # a rule that cannot reach it says so itself
                self._socket.open()
        for rule in self._active():
            if rule.container:
                continue
            if any(map(_in_s3, _named(self.plan.rules.each[rule.number]))):
                thread = Thread(target=self._start, args=(rule,), name=f"rule-{rule.number}", daemon=True)
                self._starting.append(thread)
                thread.start()
            else:
                self._start(rule)
        while (active := self._active()) and not self._over.is_set():
            for rule in active:
                self._look(rule)
            self._over.wait(_LOOK_SECONDS)

    def _find(self) -> None:
        for resource in self.engine.owned(self.plan.name):
            number = resource.labels.get(RULE_LABEL, "")
            own = resource.labels.get(RUN_LABEL) == self.plan.run_id and resource.kind is ResourceKind.CONTAINER
            if own and number.isdigit() and int(number) < len(self._rules):
                self._rules[int(number)].container = resource.id
                if self.engine.state(resource.id).status == "created":  # the supervisor was killed before the start
                    self.engine.start(resource.id)

    def _start(self, rule: _Rule) -> None:
        planned = self.plan.rules.each[rule.number]
        if planned.recorded:
            details = f"smlocal records the built-in rule {planned.recorded} and does not evaluate it"
            self._set(rule, Evaluation(status=RuleStatus.STOPPED, details=details))
            return
        error = planned.unknown or self._missing(planned)
        if not error and self.tensors is not None:
            try:
                here = self._fetched(planned, f"{self.plan.job_directory}/rules/{rule.number}/fetched")
                if self._over.is_set():
                    return  # the user who set it tells what became of the rule
                os.makedirs(self.tensors, exist_ok=True)
                spec = rule_container(self.plan, rule.number, here, self.tensors)
                error = self._unseen(spec)
                if not error:
                    rule.container = recreate_container(self.engine, spec)
                    self.engine.start(rule.container)
            except _FAILURES as failure:
                error = f"the rule could not be started: {_sentence(failure)}"
        if error:
            self._set(rule, Evaluation(status=RuleStatus.ERROR, details=error))

    def _unseen(self, spec: ContainerSpec) -> str:
        """What an engine with other mounts does not see of what the rule reads: it would mount an empty folder."""
        if self.plan.engines.first.same_mounts:
            return ""
        for mount in spec.mounts:
            source, inside = mount.source, mount.source.startswith(f"{self.plan.job_directory}/")
            if not inside and not is_path_seen(source, [self.engine], spec.image):
                return f"the engine does not see {source}: use a folder that it sees at the same path"
        return ""

    def _missing(self, rule: RulePlan) -> str:
        """The missing part that the rule needs, as a sentence; empty if nothing is missing."""
        if self.tensors is None:
            return "the job saves no tensors: it has no DebugHookConfig"
        if acts(rule) and self.plan.engines.first.desktop:
            return (
                "the rule's own actions cannot leave the engine's virtual machine: use Local.OnRule (--on-rule) instead"
            )
        for path in _named(rule):
            if not _in_s3(path) and not os.path.exists(path):
                return f"{path} does not exist"
        if rule.image is not None and self._no_image(rule.image):
            return f"the engine does not have the image {rule.image}: pull it first"
        return ""

    def _fetched(self, rule: RulePlan, folder: str) -> RulePlan:
        """The rule with paths of this machine only."""

        def here(index: int, uri: str) -> str:
            return self.fetch(uri, f"{folder}/{index}", self._over.is_set) if _in_s3(uri) else uri

        return replace(
            rule,
            source=None if rule.source is None else here(0, rule.source),
            trials=tuple(here(index, uri) for index, uri in enumerate(rule.trials, 1)),
        )

    def _no_image(self, image: str) -> bool:
        try:
            return self.engine.image(image) is None
        except _FAILURES:
            return False

    def _look(self, rule: _Rule) -> None:
        """First the status document, which a rule writes before it ends."""
        if not rule.container:
            return  # it has not begun
        if self._take_result(rule) or time.monotonic() - rule.asked < _ASK_SECONDS:
            return
        rule.asked = time.monotonic()
        try:
            state = self.engine.state(rule.container)
        except EngineError as error:
            if error.status == _NOT_FOUND:
                self._set(rule, Evaluation(status=RuleStatus.ERROR, details="the container of the rule was removed"))
            return
        except (EngineLostError, MachineNotReadyError):
            return
        if state.status not in _ENDED or self._take_result(rule):
            return
        if state.oom_killed:
            details = f"the rule used more than {readable_bytes(MEMORY)} of memory"
        elif state.exit_code == 0 and self.plan.rules.each[rule.number].image is not None:
            self._set(rule, Evaluation(status=RuleStatus.NO_ISSUES_FOUND))
            return
        elif state.exit_code == 0:
            details = "the rule ended its process before it had a result"
        else:
            details = f"the container of the rule ended with exit code {state.exit_code}"
        self._set(rule, Evaluation(status=RuleStatus.ERROR, details=details))

    def _take_result(self, rule: _Rule) -> bool:
        """True if the rule has ended by its own account."""
        result = read_result(result_folder(self.plan, rule.number))
        if result is None or not result.status.terminal:
            return False
        self._set(rule, self._explained(result))
        return True

    def _explained(self, result: Evaluation) -> Evaluation:
        """A rule that has found nothing does not know that nothing was saved any more."""
        if result.status is RuleStatus.ISSUES_FOUND:
            return result
        disabled = self.disabled_hook()
        if disabled is None:
            return result
        return replace(result, details=f"{disabled.sentence} {result.details}".rstrip())

    def disabled_hook(self) -> DisabledHook | None:
        """What the logs say of it."""
        return disabled_hook(self.plan.job_directory, [host.host.name for host in self.plan.hosts])

    def _stop(self, rules: list[_Rule], why: str) -> None:
        """All of them together have some seconds to end; the rest is killed with its container."""
        for rule in rules:
            self._set(rule, Evaluation(status=RuleStatus.STOPPING))
            with _harmless():
                self.engine.signal(rule.container, "SIGTERM")
        deadline = time.monotonic() + _END_SECONDS
        for rule in rules:
            with _harmless():
                while self.engine.state(rule.container).status not in _ENDED and time.monotonic() < deadline:
                    time.sleep(_LOOK_SECONDS)
            if not self._take_result(rule):
                self._set(rule, Evaluation(status=RuleStatus.STOPPED, details=why))

    def _remove(self, rule: _Rule) -> None:
        if not rule.container:
            return
        with _harmless(), open(rule_log(self.plan.job_directory, rule.name, rule.number), "wb") as log:
            log.writelines(line for _, line in self.engine.logs(rule.container))
        with _harmless():
            self.engine.remove(Resource(kind=ResourceKind.CONTAINER, id=rule.container))

    def _set(self, rule: _Rule, result: Evaluation) -> None:
        at = round(time.time(), 3)
        rule.status = result.status
        entry = rule_status(
            rule.name, result.status, arn=self.plan.identity.arn, created=self.created, at=at, details=result.details
        )
        more: dict[str, Any] = {} if result.step is None else {"Step": result.step}
        if result.reason:
            more["Reason"] = result.reason
        with self._lock:
            self._statuses[rule.number] = entry | more
            with _harmless():
                self.store.put_document(self.plan.name, RULES, self._statuses)
                self.store.add_event(self.plan.name, at, RULE, entry | more)
        self.changed(rule.name, result.status, result)


def rule_log(job_directory: str, rule: str, number: int) -> str:
    """The log of a rule's container. A name that no file can have gets the number of the rule."""
    name = re.sub(r"[^\w.-]", "_", rule, flags=re.ASCII)[:_LONGEST_LOG_NAME]
    return f"{job_directory}/logs/rule-{name if name == rule else f'{name}-{number}'}.log"


def _named(rule: RulePlan) -> list[str]:
    """The locations that the rule reads beside the tensors of its job."""
    return [*([] if rule.source is None else [rule.source]), *rule.trials]


def _in_s3(path: str) -> bool:
    return path.startswith("s3://")


@contextmanager
def _harmless() -> Iterator[None]:
    """The engine may be lost and the disk full: then the rules of a job are not what matters."""
    try:
        yield
    except (*_FAILURES, HomeUnusableError):
        pass


def _sentence(failure: BaseException) -> str:
    return str(getattr(failure, "sentence", "") or failure)


STOP = "stop"
"""In `Local.OnRule`, which says what follows when a rule has found an issue."""
_LONGEST_COMMAND_SECONDS = 300.0


def action_of(on_rule: Mapping[str, str], rule: str) -> str | None:
    """`stop`, a command, or None. The rule's own entry counts before that of all rules."""
    return on_rule.get(rule, on_rule.get("*"))


def run_command(command: str, document: Mapping[str, Any], failed: Callable[[str], None]) -> None:
    """Run a command beside the job, with the status on its standard input. `failed` gets a sentence if it fails."""

    def run() -> None:
        try:
            done = subprocess.run(
                ["/bin/sh", "-c", command],
                input=json.dumps(document).encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=_LONGEST_COMMAND_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            failed(f"Local.OnRule: {command}: {error}")
            return
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            failed(f"Local.OnRule: {command} ended with exit code {done.returncode}{f': {said}' if said else ''}")

    Thread(target=run, name="on-rule", daemon=True).start()
