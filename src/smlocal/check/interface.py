"""Rules, findings, and results. Reports and rules share only this file."""

from collections.abc import Callable, Iterable
from enum import StrEnum

from smlocal.base.quick_dataclass import dataclass
from smlocal.check.image_files import Files
from smlocal.check.jobs.interface import Scenario
from smlocal.check.serving.interface import Probe
from smlocal.check.subject import LaunchProfile, Subject


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """A job of this image fails on the service, or its result is lost."""
    WARNING = "warning"
    """Some jobs of this image fail, or something is given away."""
    INFO = "info"
    """Worth knowing; nothing need be done."""

    @property
    def rank(self) -> int:
        """The higher, the worse."""
        return (Severity.INFO, Severity.WARNING, Severity.ERROR).index(self)


class Mark(StrEnum):
    """How sure it is that the service does what a rule says."""

    DOCUMENTED = "documented"
    """AWS says so, or its own code that runs in the container does."""
    SEEN = "seen"
    """Real jobs did it."""
    INFERRED = "inferred"
    """It follows from the other two."""
    OWN = "own"
    """About the check itself: the service has no part in it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One problem."""

    message: str
    """A sentence without a full stop, which names the finding."""
    brief: str = ""
    """A shorter message, for a job whose failure reason already says the rest; empty: use `message`."""
    path: str = ""
    """Absolute, inside the image."""
    instruction: str = ""
    """The Dockerfile instruction that causes it, such as `USER`, or `ENV NAME` for one variable."""
    layer: int | None = None
    """The layer of the image that has the path, from 0."""
    job: str = ""
    """Name of the job that showed it, of a rule that runs one."""
    host: str = ""
    """The host of that job, such as `algo-2`."""
    file: str = ""
    """The Dockerfile or job file that a person would change; filled in after the rule."""
    line: int = 0
    """In that file, from 1; 0 where it is not known."""
    details: tuple[str, ...] = ()
    """Lines that say more: hints, and the end of a job's log."""
    severity: Severity | None = None
    """How much it matters, where that is more than the rule says."""
    remedy: str = ""
    """The remedy, where it is not the rule's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """Two images that show a rule. The documentation has them, and a test builds them and compares the output."""

    bad: str
    """A Dockerfile that the rule has something to say about."""
    output: str
    """The rule's findings in the bad one: its messages, one a line."""
    good: str | None = None
    """The same without the mistake; None: the mistake lies beside the Dockerfile."""
    bad_files: tuple[tuple[str, str], ...] = ()
    """Name and content of what lies beside the bad Dockerfile. Files that begin with `#!` are executable."""
    good_files: tuple[tuple[str, str], ...] | None = None
    """The same for the good one; None: as for the bad one."""
    bad_job: str = ""
    """Members of a job file that the bad image is checked with; empty: only the image."""
    good_job: str | None = None
    """The same for the good one; None: as for the bad one."""
    options: tuple[str, ...] = ()
    """Options of the command, besides the image."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One rule. A module of `smlocal.check.rules` has those of its topic in `RULES`, in the order of the report."""

    id: str
    severity: Severity
    title: str
    """The problem of an image that breaks the rule, as a short sentence."""
    why: str
    """The demand of the contract, and the behavior of the service."""
    mark: Mark
    remedy: str
    """The remedy, as a sentence."""
    check: Callable[[Subject], Iterable[Finding]]
    """Raises `CannotLookError` where there is nothing to judge by: the rule is skipped then."""
    files: tuple[Files, ...] = ()
    """Which files of the image it looks at. Without any, the image's configuration is enough, and nothing is read."""
    profiles: frozenset[LaunchProfile] = frozenset()
    """Only looked at for one of these; none: whenever training is checked."""
    jobs: Callable[[Subject], Iterable[Scenario]] | None = None
    """Which jobs show it, of a rule that runs some; rules share them. Raises `CannotLookError` as `check` does."""
    probes: frozenset[Probe] = frozenset()
    """What an endpoint is asked for it, of a rule that deploys one; rules share it."""
    is_general: bool = False
    """True if it is about the image whatever that does; other rules without profiles are about training."""
    example: Example | None = None

    @property
    def runs_jobs(self) -> bool:
        """True for a rule that runs a job or an endpoint, which `--static` leaves out."""
        return self.jobs is not None or bool(self.probes)


class Outcome(StrEnum):
    """The outcome of a rule."""

    FINDING = "finding"
    IGNORED = "ignored"
    """All that it found is ignored."""
    PASSED = "passed"
    SKIPPED = "skipped"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ignored:
    """A finding that somebody has decided to live with."""

    finding: Finding
    reason: str
    until: str = ""
    """Its last day, as `2026-12-31`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RuleResult:
    """The result of one rule for one image."""

    rule: Rule
    seconds: float
    findings: tuple[Finding, ...] = ()
    """Without those that are ignored."""
    ignored: tuple[Ignored, ...] = ()
    skipped: str = ""
    """Why it could not be judged."""
    skipped_details: tuple[str, ...] = ()
    """Lines that say more about it."""
    test: str = ""
    """The step that lets it be judged, as a clause; empty where there is nothing to judge."""
    code: int = 0
    """The exit code of a check in which this rule is skipped, because nothing could be run."""

    @property
    def severity(self) -> Severity:
        """The severity of the worst finding, or of the rule."""
        worse = (finding.severity for finding in self.findings if finding.severity is not None)
        return max((self.rule.severity, *worse), key=lambda each: each.rank)

    @property
    def remedy(self) -> str:
        """The remedies of the findings."""
        return next((finding.remedy for finding in self.findings if finding.remedy), self.rule.remedy)

    @property
    def outcome(self) -> Outcome:
        """Findings first: those that were found before the rule gave up count."""
        if self.findings:
            return Outcome.FINDING
        if self.skipped:
            return Outcome.SKIPPED
        return Outcome.IGNORED if self.ignored else Outcome.PASSED


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckReport:
    """Everything that a check has to say, for a screen, a document or a report."""

    image: str
    """As it was named."""
    image_id: str
    job_file: str
    """Empty where only an image was checked."""
    dockerfile: str
    """Empty where none was given."""
    results: tuple[RuleResult, ...]
    """One for each rule that was asked for, in the order of the registry."""

    def fails(self, level: Severity) -> bool:
        """Whether anything of this level or worse was found."""
        return any(result.findings and result.severity.rank >= level.rank for result in self.results)

    @property
    def not_run(self) -> int:
        """The exit code for jobs or an endpoint that could not be run; 0 if they were, or none was wanted."""
        return max((result.code for result in self.results), default=0)
