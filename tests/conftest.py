"""Tests side by side (`pytest -n auto`): which of them may run at the same time, and which begin first.

All of them use one engine, and a test that looks for what its job left there knows the job by its name. So tests that
give the same name to their jobs take turns: those of one file do, and those of different files use different names,
which `claim_names` sees to.
"""

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests import tiers
from tests.contract.member_tests import TEST_OF

pytest_plugins = ["pytester", "tests.kit.fixtures", "tests.kit.jobs", "tests.kit.life", "tests.kit.studio_engine"]
_WITHOUT_ENGINE = ("tests/unit/", "tests/docs/", "tests/repo/")
"""Only those of the tests in these folders need one that are marked, or that ask for what is on one."""
_ON_ENGINE = {"docker", "image", "smlocal_home"}
_CASES = "tests/contract/test_cases.py::test_case["
"""Jobs named after their folder."""
_MUTATION = "tests/contract/mutation/test_members.py::test_the_test_of_an_emulated_member_fails_without_it["
"""Runs the test of a member."""
_BY_FUNCTION = (
    "tests/data/in_jobs/test_artifacts.py",
    "tests/doors/api/test_python_api.py",
    "tests/doors/api/test_python_process.py",
    "tests/doors/server/test_serve.py",
    "tests/jobs/crash/test_adoption.py",
    "tests/jobs/crash/test_crash.py",
    "tests/jobs/crash/test_left_on_engine.py",
    "tests/jobs/rules/test_bad_rules.py",
    "tests/jobs/rules/test_end_of_tensors.py",
    "tests/jobs/rules/test_rules.py",
    "tests/jobs/spot/test_spot.py",
    "tests/jobs/start/test_detach.py",
    "tests/jobs/start/test_docker_command.py",
    "tests/jobs/start/test_rerun.py",
    "tests/jobs/start/test_submitted.py",
    "tests/jobs/stop/test_packing.py",
    "tests/jobs/stop/test_stop.py",
    "tests/jobs/watch/test_clock.py",
    "tests/jobs/watch/test_keep.py",
    "tests/jobs/watch/test_result_schema.py",
    "tests/jobs/watch/test_shell.py",
    "tests/stress/test_flood.py",
    "tests/stress/test_long_run.py",
    "tests/stress/test_race.py",
)
"""Long tests, each function of which has names of its own."""
_LONG_SECONDS = 900
"""The time limit of a test marked `long`; pyproject.toml has that of the others."""


_BEGAN = pytest.StashKey[float]()
_SAID = pytest.StashKey[list[str]]()
_SHOWN = 12


def scope_of(test: str) -> str:
    """Tests of one scope run one after another."""
    if test.startswith(_MUTATION):
        test = TEST_OF[test.removeprefix(_MUTATION).removesuffix("]")]
    if test.startswith(_CASES):
        return test
    return test.partition("[" if test.startswith(_BY_FUNCTION) else "::")[0]


def pytest_configure(config: pytest.Config) -> None:
    """How long an example takes says how busy the machine is, and nothing about the code."""
    if config.pluginmanager.hasplugin("hypothesispytest"):  # its import is half of the start of a pytest without it
        import hypothesis

        examples = int(os.environ.get("SMLOCAL_EXAMPLES", "100"))
        hypothesis.settings.register_profile("smlocal", deadline=None, max_examples=examples)
        hypothesis.settings.load_profile("smlocal")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """More than there are processors: most of the time goes by while a container starts, sleeps or ends."""
    processors = os.cpu_count() or 1
    if sys.platform == "linux":
        processors = len(os.sched_getaffinity(0))
    return 3 * processors


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hands out scopes as they come, the long ones having been put first."""
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # published without types

    class Scopes(LoadScopeScheduling):  # type: ignore[misc]  # likewise
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    config.option.loadscopereorder = False  # by the number of tests, which says little of the time they take
    return Scopes(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow", choices=("all", "some", "none"), default="all", help="which slow tests run (tests/tiers.py)"
    )


@pytest.hookimpl(tryfirst=True)  # `-m` looks at the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what needs no image, which may still be built; then with what takes long, which would end last.

    Last is what needs a large image: it is made meanwhile.
    """
    for item in items:
        if not item.nodeid.startswith(_WITHOUT_ENGINE) or _ON_ENGINE & set(getattr(item, "fixturenames", ())):
            item.add_marker("engine")
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.timeout(_LONG_SECONDS))
        if sys.platform != "linux" and (mark := item.get_closest_marker("linux")):
            item.add_marker(pytest.mark.skip(reason=f"Linux: {mark.args[0]}"))
    leave_out(config, items)
    if hasattr(config, "workerinput"):
        items.sort(
            key=lambda item: (
                item.get_closest_marker("large") is not None,
                item.get_closest_marker("engine") is not None,
                item.get_closest_marker("long") is None,
            )
        )


def begin_images(items: Sequence[pytest.Item]) -> None:
    """Make the large images of these tests meanwhile, one after another. A test waits for what is not there yet."""
    asked = [str(name) for item in items for mark in item.iter_markers("large") for name in mark.args]
    folders = [name for name in dict.fromkeys(asked) if (tiers.ROOT / name / "Dockerfile").is_file()]
    if folders:
        subprocess.run(
            ["/bin/sh", "-c", 'for folder in "$@"; do scripts/image "$folder"; done &', "images", *folders],
            cwd=tiers.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            check=True,
            timeout=200,
        )


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """As `--slow` says."""
    if config.option.slow == "all":
        return
    slow: dict[str, float] = {}
    named: dict[str, str] = {}
    begun: set[str] = set()
    large: set[str] = set()
    for item in items:
        mark = item.get_closest_marker("slow")
        if mark is None or (config.option.slow == "some" and tiers.seconds_of(mark) < tiers.SLOW_SECONDS):
            continue
        function = item.nodeid.partition("[")[0]
        if mark.kwargs.get("others") and config.option.slow == "some" and function not in begun:
            begun.add(function)  # its first case, which runs with each commit
            continue
        together = mark.kwargs.get("together", False)
        named[item.nodeid] = item.nodeid.partition("::")[0] if together else item.nodeid
        slow[named[item.nodeid]] = tiers.seconds_of(mark)
        if item.get_closest_marker("large"):
            large.add(named[item.nodeid])
    commit = tiers.this_commit()
    chosen = tiers.Chosen(left=list(slow))
    if config.option.slow == "some":
        chosen = tiers.choose(slow.items(), commit, large=large)
    left = {test for test, name in named.items() if name in set(chosen.left)}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in left])
    items[:] = [item for item in items if item.nodeid not in left]
    said = [f"{len(left)} slow tests are left out; scripts/test --all runs them"]
    if config.option.slow == "some":
        said = [
            f"{len(left)} of {chosen.seconds_left:.0f} s of processor time are left out",
            f"{len(chosen.always)} run with each commit",
            f"{len(chosen.touched)} of what the commit touches are in: {shortened(sorted(commit.places))}",
            f"{len(chosen.part)} are in as part {commit.number % tiers.PARTS + 1} of {tiers.PARTS}",
            f"{len(large & {*chosen.left})} need large images, and run with --all or if the commit touches them",
            tiers.last_whole_run(),
        ]
    if hasattr(config, "workeroutput"):
        config.workeroutput["slow"] = said
    else:
        config.stash[_SAID] = said


def shortened(names: list[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN]) or 'nothing'}{more}"


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[_SAID] = getattr(node, "workeroutput", {}).get("slow", [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    said = config.stash.get(_SAID, [])
    if said:
        terminalreporter.section("slow tests")
        terminalreporter.write_line("\n".join(said))
    audited = os.environ.get("SMLOCAL_AUDITED")
    if audited is not None:
        terminalreporter.section("known vulnerabilities")
        terminalreporter.write_line(Path(audited).read_text(encoding="utf-8").rstrip())


def pytest_collection_finish(session: pytest.Session) -> None:
    """Collected tests stay to the end: the garbage collector need not look at them again and again."""
    if getattr(session.config, "workerinput", {}).get("workerid") == "gw0":
        begin_images(session.items)
    gc.collect()
    gc.freeze()
    pass_on_no_ignored_signal()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    item.stash[_BEGAN] = sum(os.times()[:4])
    yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """For the file of results: the time of this process and of those it has waited for. Containers are not in it."""
    yield
    item.user_properties.append(("processor_seconds", f"{sum(os.times()[:4]) - item.stash[_BEGAN]:.2f}"))


def pass_on_no_ignored_signal() -> None:
    """Go on ignoring a signal that is ignored, but let the processes that tests start hear it.

    A shell ignores SIGINT for what it starts in the background, nohup ignores SIGHUP, and a child inherits that. A
    handler is not inherited.
    """
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.fixture
def claim_names(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """Fails when a job in this home has the name of a job in another scope, whichever of them runs first."""
    base = tmp_path_factory.getbasetemp()
    claimed = (base.parent if hasattr(request.config, "workerinput") else base) / "names-of-jobs"
    claimed.mkdir(exist_ok=True)
    scope = scope_of(request.node.nodeid)

    def claim(home: Path) -> None:
        jobs = home / "jobs"
        for name in os.listdir(jobs) if jobs.is_dir() else ():
            with suppress(FileExistsError):
                # Written aside, so that no reader sees half a word.
                aside = claimed / f"{name}.{os.getpid()}"
                aside.write_text(scope)
                try:
                    os.link(aside, claimed / name)
                finally:
                    aside.unlink()
            other = (claimed / name).read_text()
            assert other == scope, f"a job of {other} is called {name} too, and both may run at the same time"

    return claim
