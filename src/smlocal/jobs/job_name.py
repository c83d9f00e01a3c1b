"""A job name can be used once, unless `--replace` replaces the finished job that has it."""

from smlocal.errors import JobUnknownError, NotPackedError
from smlocal.jobs.documents import LOCAL
from smlocal.jobs.kinds import not_finished, spoken_of
from smlocal.jobs.store.jobs import Store, name_in_use


def check_job_name(store: Store, name: str, *, replace: bool) -> None:
    """Refuse a name that is in use."""
    try:
        record = store.get(name)
    except JobUnknownError:
        return
    if not replace:
        raise name_in_use(name, job=spoken_of(record).job)
    if not record.status.terminal:
        raise not_finished(
            record, "--replace removes finished jobs only; choose another name with --name (in Python name=...)."
        )
    artifacts = (store.document(name, LOCAL) or {}).get("Artifacts", {})
    kept = [*filter(None, [artifacts.get("Kept")]), *artifacts.get("NotSaved", {}).values()]
    if kept:
        raise NotPackedError(
            f"The output of the job '{name}' has not been packed, and --replace would delete it.",
            details=kept,
            remedy=[f"Pack it: smlocal pack {name} --output DIR", f"Or delete it: smlocal rm {name}"],
        )
