"""The views of a warm pool."""

from smlocal.jobs.planning.model import JobPlan
from smlocal.jobs.planning.note_rule import NoteRule
from smlocal.jobs.planning.workload import Workload


def pool_text(plan: JobPlan) -> str:
    """What the job finds in the cache folder."""
    pool = plan.warm_pool
    if pool is None or not pool.directory:
        return "empty"
    return f"that of a matching job's warm pool, or empty; kept for {pool.seconds} s after the job"


def _warm_pool(plan: JobPlan, work: Workload) -> str | None:
    pool = plan.warm_pool
    if pool is None:
        return None
    kept = f"its cache folder is kept for {pool.seconds} s" if pool.directory else "not even its cache folder is kept"
    return f"a warm pool has no instances here, so no job starts faster; {kept}"


WARM_POOL_RULES = (NoteRule(id="warm-pool", says=_warm_pool),)
