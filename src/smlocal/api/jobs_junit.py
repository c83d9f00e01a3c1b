"""Jobs as a JUnit file."""

from collections.abc import Sequence

from smlocal.ci.junit import junit
from smlocal.job.finish.job_case import job_suite
from smlocal.store.home import home_directory
from smlocal.store.jobs import Store


def jobs_junit(names: Sequence[str]) -> str:
    """JUnit XML with a case for each of these jobs, ended or not."""
    with Store.open(home_directory()) as store:
        return junit([job_suite(store, names)])
