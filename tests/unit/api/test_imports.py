"""The cost of importing the package, and that a room of the same name does not stand in the way of a function."""

import json
import subprocess
import sys

import pytest

HEAVY = {"asyncio", "boto3", "botocore", "click", "docker", "isal", "multiprocessing", "pydantic", "requests", "yaml"}

PURE = ("smlocal.terms", "smlocal.jobs.planning", "smlocal.jobs.kind")
"""The modules that read a request."""
HOME = {"smlocal.jobs.store", "smlocal.jobs.store.home"}
"""Only the path of the home."""


def loaded(code: str) -> set[str]:
    """The modules that this adds to those of a Python that has just started."""
    program = f"import json, sys; before = set(sys.modules)\n{code}\nprint(json.dumps([*set(sys.modules) - before]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_the_package_imports_nothing_else() -> None:
    assert loaded("import smlocal; dir(smlocal)") <= {"smlocal", "__future__"}


def test_the_api_imports_no_library_of_others() -> None:
    modules = loaded("import smlocal; smlocal.run; smlocal.TrainingJob; smlocal.errors; smlocal.plan")
    assert "smlocal.api.run" in modules
    assert not {module.partition(".")[0] for module in modules} & HEAVY


def test_the_functions_of_the_api_import_nothing_that_runs_jobs() -> None:
    modules = loaded("import smlocal; smlocal.run; smlocal.errors; smlocal.plan")
    life = {module for module in modules if module.startswith("smlocal.jobs.") and not module.startswith(PURE)}
    assert not life - HOME | {module for module in modules if module.startswith(("smlocal.engine", "smlocal.cli"))}


def test_what_there_is_not() -> None:
    import smlocal

    assert {"run", "plan", "TrainingJob", "errors"} <= set(dir(smlocal))
    with pytest.raises(AttributeError, match="fly"):
        _ = smlocal.fly


def test_a_job_without_rules_imports_nothing_of_them() -> None:
    modules = loaded("import smlocal.jobs.supervision, smlocal.jobs.control.adopt, smlocal.api.execution")
    assert "smlocal.jobs.attempt" in modules
    assert not {
        module
        for module in modules
        if module.startswith(("smlocal.debugger", "smlocal.sagemaker.training.rules_of_job"))
    }


@pytest.mark.slow(0.5)
def test_a_report_imports_no_reader_of_tensors_until_there_are_some() -> None:
    modules = loaded("import smlocal.report.job_report, smlocal.report.page, smlocal.endpoint.page.live_views")
    assert "smlocal.report.page" in modules
    assert not {module for module in modules if module.startswith("smlocal.debugger.tensors")}
