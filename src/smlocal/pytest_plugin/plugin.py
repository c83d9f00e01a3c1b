"""What pytest loads when it starts, used or not: two options and a fixture. It imports nothing but pytest."""

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from smlocal.pytest_plugin.training_jobs import TrainingJobs

_FAILED = pytest.StashKey[bool]()
_JOBS = pytest.StashKey["TrainingJobs"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, in a group of their own."""
    group = parser.getgroup("smlocal", "smlocal (training jobs in containers)")
    group.addoption(
        "--smlocal-required",
        action="store_true",
        help="Fail tests that need a container engine when there is none; they are skipped otherwise.",
    )
    group.addoption(
        "--smlocal-keep",
        choices=("failed", "all", "none"),
        default="failed",
        help="Which tests' jobs and logs `smlocal` remembers afterwards. Default: those of tests that failed.",
    )


@pytest.fixture
def training_job(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> "Iterator[TrainingJobs]":
    """Runs a training job to its end: `training_job(image=..., channels={...}, hyperparameters={...})`.

    It takes a job file or a request, and the keywords of `smlocal.run`. The result has `status`, `failure_reason`,
    `logs`, `model`, `metrics` and `assert_completed()`.
    """
    from smlocal.pytest_plugin.training_jobs import TrainingJobs

    node = request.node
    jobs = node.stash[_JOBS] = TrainingJobs(request.config, node.name, tmp_path_factory)
    yield jobs
    keep = request.config.getoption("--smlocal-keep")
    if keep == "none" or (keep == "failed" and not node.stash.get(_FAILED, False)):
        jobs.remove()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the jobs of a test that fails."""
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
        if _JOBS in item.stash and report.when != "teardown":
            report.sections += item.stash[_JOBS].sections()
    return report
