"""A job without an engine: containers that do what a test wants, and a driver that checks each action."""

import json
from collections import Counter
from dataclasses import dataclass, field

from smlocal.ai_platform.lifecycle.actions import (
    Action,
    AttachError,
    Decision,
    EnterState,
    Happened,
    HistoryEntry,
    Kill,
    Record,
    Restart,
    Start,
    Terminate,
)
from smlocal.ai_platform.lifecycle.events import Event, ReplicaExited, ReplicaLost, ReplicaReady, StartRefused
from smlocal.ai_platform.lifecycle.lifecycle import Lifecycle
from smlocal.ai_platform.lifecycle.progress import JobProgress, ReplicaProgress, Rules, read_progress
from smlocal.ai_platform.lifecycle.states import FOLLOWING, MOST_REPLICA_RESTARTS, JobState

PRIMARY = "workerpool0-0"
REPLICAS = (
    ReplicaProgress(name=PRIMARY, primary=True),
    ReplicaProgress(name="workerpool1-0"),
    ReplicaProgress(name="workerpool1-1"),
)
ENDS = {Happened.EXITED, Happened.LOST, Happened.START_REFUSED}


@dataclass
class Container:
    number: int
    up: bool = False
    exit_code: int | None = None
    """Set once it has ended."""


@dataclass
class World:
    """Drives a `Lifecycle` as a supervisor does."""

    rules: Rules = field(default_factory=lambda: Rules(region="us-central1"))
    replicas: tuple[ReplicaProgress, ...] = REPLICAS
    now: float = 100.0
    lifecycle: Lifecycle = field(init=False)
    stored: str = ""
    containers: dict[str, Container] = field(default_factory=dict)
    states: list[JobState] = field(default_factory=lambda: [JobState.QUEUED])
    entries: list[HistoryEntry] = field(default_factory=list)
    restarts: list[Restart] = field(default_factory=list)
    signals: list[Terminate | Kill] = field(default_factory=list)
    started: set[str] = field(default_factory=set)
    """Replicas that have been ready in this attempt."""
    error: AttachError | None = None
    forgetful: bool = False
    """True: the supervisor dies after it has stored what it decided, and does nothing of it."""

    def __post_init__(self) -> None:
        self.lifecycle = Lifecycle(replicas=self.replicas, rules=self.rules, progress=JobProgress(created=self.now))
        self._store()

    @property
    def progress(self) -> JobProgress:
        return self.lifecycle.progress

    def last_decision(self) -> Decision:
        return self.entries[-1].decision

    @property
    def decisions(self) -> list[Decision]:
        return [entry.decision for entry in self.entries]

    def begin(self) -> None:
        """To the first start of the replicas."""
        self.do(self.lifecycle.begin_attempt())
        self.do(self.lifecycle.start())

    def begin_and_run(self) -> None:
        self.begin()
        self.all_ready()

    def all_ready(self) -> None:
        for name in sorted(self.progress.starting):
            self.ready(name)

    def go_on(self) -> None:
        """The work of a supervisor when no replica is running."""
        if self.lifecycle.over or self.lifecycle.running:
            return
        progress = self.progress
        for left in (progress.starting, progress.moving, progress.signalled, progress.killed):
            assert left == set()
        for due in (progress.kill_at, progress.lost_at):
            assert due == {}
        if progress.verdict is not None:
            self.do(self.lifecycle.after_attempt(self.now))
        elif progress.attempt == 0:
            self.do(self.lifecycle.begin_attempt())
        else:
            self.do(self.lifecycle.start())

    def ready(self, name: str) -> None:
        container = self.containers[name]
        container.up = True
        self.started.add(name)
        self.handle(ReplicaReady(replica=name, number=container.number))

    def exits(self, name: str, exit_code: int, *, oom_killed: bool = False) -> None:
        container = self.containers[name]
        container.exit_code = exit_code
        number = container.number
        self.handle(ReplicaExited(replica=name, number=number, exit_code=exit_code, oom_killed=oom_killed))

    def handle(self, event: Event) -> None:
        self.do(self.lifecycle.handle(event, self.now))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.do(self.lifecycle.tick(self.now))

    def finish(self) -> None:
        """Every container ends as it is told to, or well; then the clock goes on until the error is attached."""
        for _ in range(100):
            for name in sorted(self.lifecycle.running):
                if name in self.containers:
                    if not self.containers[name].up:
                        self.ready(name)
                    if name in self.lifecycle.running and self.containers[name].up:
                        self.exits(name, 143 if name in self.progress.signalled else 0)
            self.go_on()
            if self.lifecycle.over:
                break
        assert self.lifecycle.over
        if self.lifecycle.wake_at is not None:
            self.wait(self.lifecycle.wake_at - self.now)
        assert self.lifecycle.wake_at is None

    def do(self, actions: list[Action]) -> None:
        if actions:
            self._store()
        for action in actions:
            self._check(action)
            if isinstance(action, Record):
                self.entries.append(action.entry)
            elif isinstance(action, EnterState):
                self.states.append(action.state)
            elif isinstance(action, AttachError):
                self.error = action
            elif not self.forgetful:
                self._do_to_containers(action)

    def adopt(self) -> None:
        """Another supervisor takes the job over. It knows what was stored, and sees the containers."""
        self.forgetful = False
        restored = read_progress(json.loads(self.stored))
        self.lifecycle = Lifecycle(replicas=self.replicas, rules=self.rules, progress=restored)
        for name, container in self.containers.items():
            number = container.number
            if container.up:
                self.handle(ReplicaReady(replica=name, number=number))
            if container.exit_code is not None:
                self.handle(ReplicaExited(replica=name, number=number, exit_code=container.exit_code))
        found = {
            name
            for name in self.lifecycle.running & self.containers.keys()
            if self.containers[name].number == self.progress.numbers[name]
        }
        self.do(self.lifecycle.resume(found, self.now))

    def every_container_has_one_end(self) -> bool:
        """True if each container that was decided on has exactly one end in the history."""
        ends = Counter((entry.replica, entry.number) for entry in self.entries if entry.happened in ENDS)
        wanted = {(name, n) for name, last in self.progress.numbers.items() for n in range(1, last + 1)}
        return ends == Counter(wanted)

    def lose(self, name: str) -> None:
        number = self.containers.pop(name).number
        self.handle(ReplicaLost(replica=name, number=number, why="gone"))

    def refuse_start(self, name: str) -> None:
        number = self.containers.pop(name).number
        self.handle(StartRefused(replica=name, number=number, why="no such file"))

    def _store(self) -> None:
        self.stored = json.dumps(self.progress.stored())

    def _do_to_containers(self, action: Start | Restart | Terminate | Kill) -> None:
        match action:
            case Start(numbers=numbers):
                self.started = set()
                self.containers = {name: Container(number) for name, number in numbers.items()}
            case Restart(replica=name, number=number):
                self.restarts.append(action)
                self.containers[name] = Container(number)
            case Terminate() | Kill():
                self.signals.append(action)

    def _check(self, action: Action) -> None:
        progress = self.progress
        match action:
            case EnterState(state=state):
                assert state in FOLLOWING[self.states[-1]]
                assert state is not JobState.RUNNING or self.started == {each.name for each in self.replicas}
                assert (state.terminal) == self.lifecycle.over
            case Start() | Restart():
                assert progress.verdict is None, "nothing starts once the end of the attempt is decided"
                assert not self.lifecycle.over
                assert all(n <= MOST_REPLICA_RESTARTS for n in progress.restarts.values())
            case Terminate(replicas=replicas) | Kill(replicas=replicas):
                assert replicas
                assert not {*replicas} & progress.starting, "no signal to what is not there yet"
            case AttachError():
                assert self.lifecycle.over
            case Record():
                assert not self.lifecycle.over
