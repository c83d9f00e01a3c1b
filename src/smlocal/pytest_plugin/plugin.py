"""The part that pytest loads when it starts, used or not: two options and three fixtures.

It imports nothing but pytest.
"""

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pluggy import Result

    from smlocal.pytest_plugin.endpoints import Endpoints
    from smlocal.pytest_plugin.training_jobs import TrainingJobs

_FAILED = pytest.StashKey[bool]()
_JOBS = pytest.StashKey["TrainingJobs"]()
_ENDPOINTS = pytest.StashKey["Endpoints"]()
_SHARED = "shared_training_job"


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
    _remove(jobs, request.config, failed=node.stash.get(_FAILED, False))


@pytest.fixture(scope="session")
def shared_training_job(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[TrainingJobs]":
    """The same for fixtures of a module or session: several tests look at the result of one job."""
    from smlocal.pytest_plugin.training_jobs import TrainingJobs

    jobs = request.session.stash[_JOBS] = TrainingJobs(request.config, "shared", tmp_path_factory)
    yield jobs
    _remove(jobs, request.config, failed=request.session.stash.get(_FAILED, False))


@pytest.fixture
def endpoint(request: pytest.FixtureRequest) -> "Iterator[Endpoints]":
    """Deploys a model until the test has ended: `endpoint(model, image=...)`.

    `model` is the result of `training_job`, the name of a job, an archive, a folder or a model file. The result has
    `invoke()`, `address` and `logs`.
    """
    from smlocal.pytest_plugin.endpoints import Endpoints

    node = request.node
    endpoints = node.stash[_ENDPOINTS] = Endpoints(request.config, node.name)
    yield endpoints
    endpoints.remove(forget=_is_forgotten(request.config, failed=node.stash.get(_FAILED, False)))


def _remove(jobs: "TrainingJobs", config: pytest.Config, *, failed: bool) -> None:
    if _is_forgotten(config, failed=failed):
        jobs.remove()


def _is_forgotten(config: pytest.Config, *, failed: bool) -> bool:
    keep = config.getoption("--smlocal-keep")
    return bool(keep == "none" or (keep == "failed" and not failed))


@pytest.hookimpl(hookwrapper=True)  # the older kind of wrapper, which every pytest since 7.0 knows
def pytest_runtest_makereport(item: pytest.Item) -> "Generator[None, Result[pytest.TestReport], None]":
    """Show the jobs and endpoints of a test that fails."""
    report = (yield).get_result()
    if report.failed:
        uses_shared = _SHARED in getattr(item, "fixturenames", ())
        for node in (item, item.session) if uses_shared else (item,):
            node.stash[_FAILED] = True
            if _JOBS in node.stash and report.when != "teardown":
                report.sections += node.stash[_JOBS].sections()
            if _ENDPOINTS in node.stash and report.when != "teardown":
                report.sections += node.stash[_ENDPOINTS].sections()
