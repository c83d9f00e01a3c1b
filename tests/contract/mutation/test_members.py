"""Every emulated member has a test that fails when the member has no effect."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.contract.member_tests import TEST_OF
from tests.contract.mutation.forked import run_pytest

ROOT = Path(__file__).parents[3]
IMAGE = ROOT / "tests" / "kit" / "images" / "show"
PASSED, FAILED = 0, 1
"""Exit codes of pytest; others say that it ran no test."""


def run_without(member: str, test: str, folder: Path) -> tuple[int, set[str], str]:
    """Run a test where no request has the member: pytest's exit code, what became of the member, and the output."""
    report, elsewhere = folder / "report", folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "unheard-of").write_text("something else\n")
    image = ""
    if member.endswith("TrainingImage"):
        image = subprocess.check_output([ROOT / "scripts" / "image", IMAGE], text=True).strip()
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    # Importing unneeded parts takes a third of the time that pytest takes to begin.
    plain = (
        "-x",
        "--no-header",
        "--tb=short",
        # The parent of the fork has imported smlocal, which pytest would rewrite for its plugin.
        "-Wignore::pytest.PytestAssertRewriteWarning",
        *(f"-pno:{each}" for each in ("xdist", "cacheprovider", "hypothesispytest")),
    )
    output = folder / "output"
    code = run_pytest(
        [*plain, f"--basetemp={folder / 'tests'}", test],
        cwd=ROOT,
        environment={
            **outside,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(Path(__file__).parent), outside.get("PYTHONPATH")))),
            "WITHOUT_MEMBER": member,
            "WITHOUT_REPORT": str(report),
            "WITHOUT_ELSEWHERE": str(elsewhere),
            "WITHOUT_IMAGE": image,
        },
        output=output,
        timeout=300,
    )
    told = set(report.read_text().splitlines()) if report.exists() else set()
    return code, told, output.read_text()


@pytest.mark.slow(8)
@pytest.mark.parametrize("member", TEST_OF)
def test_the_test_of_an_emulated_member_fails_without_it(member: str, tmp_path: Path) -> None:
    test = TEST_OF[member]
    code, told, output = run_without(member, test, tmp_path)
    assert told == {"taken out"}, output
    assert code == FAILED, f"{test} does not need {member}:\n{output}"


@pytest.mark.slow(2)
def test_nothing_else_makes_a_test_fail(tmp_path: Path) -> None:
    code, told, output = run_without("EnableManagedSpotTraining", TEST_OF["HyperParameters"], tmp_path)
    assert (code, told) == (PASSED, set()), output
