"""The steps of executions, by the names that people give: their jobs, and answers to those that wait."""

import os
from collections.abc import Mapping

from smlocal.errors import JobUnknownError
from smlocal.jobs.documents import STEP_OF
from smlocal.jobs.store.home import home_directory
from smlocal.jobs.store.jobs import Store
from smlocal.terms.validation.violation import closest

_MOST_NAMED = 20


def job_of_step(store: Store, execution: str, step: str) -> str:
    """The job that the last attempt of a step has made, or whose result it has; `JobUnknownError` if there is none."""
    run = store.get(execution).run_id  # an earlier job may have had the name
    made = [
        (by["Step"], by["Attempt"], record.name)
        for record, by in store.jobs_with(STEP_OF)
        if (by["Name"], by["Run"]) == (execution, run)
    ]
    found = [each for each in made if each[0] == step]
    if found:
        return max(found, key=lambda each: each[1])[2]
    from smlocal.sagemaker.pipelines.stored import step_document  # for a result of another execution

    earlier = (store.document(execution, step_document(step)) or {}).get("Job")
    if earlier is not None and earlier in store.names(earlier):
        return str(earlier)
    names = sorted({name for name, _, _ in made})
    meant = closest(step, names)
    more = ", …" if len(names) > _MOST_NAMED else ""
    details = [f"Steps with a job: {', '.join(names[:_MOST_NAMED])}{more}"] if names else []
    log = os.path.join(store.directory(execution), "logs", f"{os.path.basename(step)}.log")
    if os.path.isfile(log):
        details = [f"What stands in for it has written {log}"]
    raise JobUnknownError(
        f"no job of a step '{step}' is in '{execution}'",
        details=details,
        remedy=[*([f"Did you mean {execution}/{meant}?"] if meant else []), f"smlocal describe {execution}"],
    )


def answer(token: str, *, outputs: Mapping[str, str] | None = None, reason: str | None = None) -> str:
    """Answer a step that waits with this token: it succeeds with `outputs`, or fails with `reason`.

    Returns the name of its execution.
    """
    from smlocal.sagemaker.pipelines.stored import answer_callback

    with Store.open(home_directory()) as store:
        return store.name_of(answer_callback(store, token, outputs=outputs, reason=reason))
