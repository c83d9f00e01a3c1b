"""Notes on the regexes of MetricDefinitions."""

from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule, some
from smlocal.sagemaker.contract.requested import definitions_of
from smlocal.sagemaker.jobfile.job_file import JobFile
from smlocal.terms.metrics import never_a_number, wanted_controls


def _dialect(plan: JobPlan, job: JobFile) -> str | None:
    given = definitions_of(plan.request)
    return "metrics are searched with Python's regular expressions; the service's are not published" if given else None


def _controls(plan: JobPlan, job: JobFile) -> str | None:
    found = [
        f"{each.name} ({', '.join(controls)})"
        for each in definitions_of(plan.request)
        if (controls := wanted_controls(each.regex))
    ]
    return (
        f"metrics that never match: the service's log has control characters escaped, a TAB as #011: {some(found)}"
        if found
        else None
    )


def _words(plan: JobPlan, job: JobFile) -> str | None:
    found = [each.name for each in definitions_of(plan.request) if never_a_number(each.regex)]
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
