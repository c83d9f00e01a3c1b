"""`smlocal check` as a function: look at an image, ask the rules, and judge what they say."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from smlocal.check import DEFAULT_TIMEOUT
from smlocal.check.cannot_look import CannotLookError
from smlocal.check.examine import Ignore, examine, ignores_of, without_ignored
from smlocal.check.interface import CheckReport, Rule, RuleResult
from smlocal.check.jobs.interface import Scenario
from smlocal.check.look import look_at
from smlocal.check.places import placer
from smlocal.check.registry import check_ids, chosen_rules
from smlocal.check.subject import LaunchProfile, Subject
from smlocal.engine.interface import Engine
from smlocal.jobs.planning.aspects.image.plan import is_model_trainer
from smlocal.sagemaker.jobfile.job_file import JobFile


def check_image(
    image: str,
    engine: Engine,
    *,
    home: str,
    job: JobFile | None = None,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    profiles: Sequence[LaunchProfile] = (),
    static: bool = False,
    ignores: Sequence[Ignore] = (),
    dockerfile: str = "",
    today: date | None = None,
    timeout: int = DEFAULT_TIMEOUT,
    said: Callable[[str], None] = lambda _: None,
) -> CheckReport:
    """Check an image, or that of a job with what the job asks of it.

    `dockerfile` is the path of the one that made the image; findings are then placed at its lines. Rules that run jobs
    come last: `timeout` is the limit of each job in seconds. `said` is told what takes long: reading a large image, and
    which jobs run and how they end.
    """
    wanted = frozenset(profiles) | _profiles_of(job)
    rules = chosen_rules(only=only, skip=skip, profiles=wanted, static=static)
    check_ids((each.id for each in ignores), "--ignore")
    accepted = (*ignores, *(ignores_of(job) if job is not None else ()))
    place = placer(dockerfile)
    subject = look_at(image, engine, rules, home=home, job=job, profiles=wanted, said=said)
    found = [
        *examine([rule for rule in rules if not rule.runs_jobs], subject),
        *_examine_with_jobs([rule for rule in rules if rule.runs_jobs], subject, engine, timeout=timeout, said=said),
    ]
    found.sort(key=lambda result: rules.index(result.rule))
    results = without_ignored(found, accepted, today or date.today(), place(subject))  # noqa: DTZ011 - the day of whoever reads it
    return CheckReport(
        image=image,
        image_id=subject.facts.id,
        job_file=job.document.name if job is not None else "",
        dockerfile=dockerfile,
        results=results,
    )


def _profiles_of(job: JobFile | None) -> frozenset[LaunchProfile]:
    """The launcher whose command a job file has."""
    specification = job.request.AlgorithmSpecification if job is not None else None
    if specification is None:
        return frozenset()
    words = (*(specification.ContainerEntrypoint or ()), *(specification.ContainerArguments or ()))
    return frozenset({LaunchProfile.MODEL_TRAINER} if is_model_trainer(words) else ())


def _examine_with_jobs(
    rules: Sequence[Rule], subject: Subject, engine: Engine, *, timeout: int, said: Callable[[str], None]
) -> Iterator[RuleResult]:
    if not rules:
        return
    from smlocal.check.jobs.run_jobs import RunningJobs  # static checks do without

    with RunningJobs(subject.image, subject.job, engine, home=subject.home, timeout=timeout, said=said) as jobs:
        subject = replace(subject, started=jobs)
        jobs.start(_scenarios(rules, subject))
        yield from examine(rules, subject)


def _scenarios(rules: Sequence[Rule], subject: Subject) -> Iterator[Scenario]:
    """What the rules want to be run; a rule that cannot say will be skipped."""
    for rule in rules:
        if rule.jobs is not None:
            try:
                yield from rule.jobs(subject)
            except CannotLookError:
                continue
