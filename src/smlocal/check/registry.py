"""All rules, in the order in which they are looked at and shown."""

from collections.abc import Iterable, Sequence
from functools import cache

from smlocal.check.interface import Rule
from smlocal.check.subject import LaunchProfile
from smlocal.errors import CheckRuleUnknownError
from smlocal.terms.validation.suggestions import closest


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule there is."""
    from smlocal.check.rules import (  # after a failure of a job, `check_ids` is imported without them
        contents,
        entrypoint,
        ignores,
        job_data,
        job_interruptions,
        job_results,
        launchers,
        opt_ml,
        program,
        serving,
    )

    return (
        *program.RULES,
        *entrypoint.RULES,
        *opt_ml.RULES,
        *contents.RULES,
        *launchers.RULES,
        *job_results.RULES,
        *job_interruptions.RULES,
        *job_data.RULES,
        *serving.RULES,
        *ignores.RULES,
    )


def check_ids(ids: Iterable[str], where: str) -> None:
    """Refuse ids that no rule has; `where` says who gave them."""
    known = [rule.id for rule in all_rules()]
    for each in ids:
        if each not in known:
            near = closest(each, known)
            raise CheckRuleUnknownError(
                f"{where}: there is no rule {each!r}",
                remedy=[f"Did you mean {near}?" if near else f"The rules are: {', '.join(known)}"],
            )


def chosen_rules(
    *, only: Sequence[str] = (), skip: Sequence[str] = (), profiles: Iterable[LaunchProfile] = (), static: bool = False
) -> tuple[Rule, ...]:
    """The rules to check. A rule named by `only` is among them whatever the profile.

    Training is checked unless only serving or processing is asked for.
    """
    check_ids(only, "--only")
    check_ids(skip, "--skip")
    wanted = frozenset(profiles)
    others = {LaunchProfile.SERVE, LaunchProfile.PROCESSING}
    training = not others & wanted or LaunchProfile.TRAIN_AND_SERVE in wanted
    return tuple(
        rule
        for rule in all_rules()
        if rule.id not in skip
        and not (static and rule.runs_jobs)
        and (rule.id in only if only else _is_wanted(rule, wanted, training=training))
    )


def _is_wanted(rule: Rule, wanted: frozenset[LaunchProfile], *, training: bool) -> bool:
    if rule.profiles:
        return bool(rule.profiles & wanted)
    return training or rule.is_general
