"""Notes on the regexes of MetricDefinitions."""

from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule, some
from smlocal.jobs.planning.workload import Workload
from smlocal.terms.metric_regex import never_a_number, wanted_controls


def _dialect(plan: JobPlan, work: Workload) -> str | None:
    given = work.metrics
    return "metrics are searched with Python's regular expressions; the service's are not published" if given else None


def _controls(plan: JobPlan, work: Workload) -> str | None:
    found = [
        f"{each.name} ({', '.join(controls)})" for each in work.metrics if (controls := wanted_controls(each.regex))
    ]
    return (
        f"metrics that never match: the service's log has control characters escaped, a TAB as #011: {some(found)}"
        if found
        else None
    )


def _words(plan: JobPlan, work: Workload) -> str | None:
    found = [each.name for each in work.metrics if never_a_number(each.regex)]
    return (
        f"metrics that never have a value: the first group of their regex matches no digit, and only numbers count: "
        f"{some(found)}"
        if found
        else None
    )


METRIC_RULES = (
    NoteRule(id="metric-controls", says=_controls, warning=True),
    NoteRule(id="metric-words", says=_words, warning=True),
    NoteRule(id="metric-definitions", says=_dialect),
)
