"""The fixture `training_job` with a processing job, in a pytest of its own."""

import os
from collections.abc import Callable

import pytest
from tests.kit.pytest_plugin_option import WITH_PLUGIN


@pytest.mark.slow(2)
def test_a_processing_job_runs_and_has_no_model(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, image: Callable[[str], str]
) -> None:
    for name in [name for name in os.environ if name.startswith(("SMLOCAL_", "AWS_", "PYTEST_XDIST_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("SMLOCAL_HOME", str(pytester.path / "home"))
    pytester.makepyfile(f"""
from pathlib import Path

import pytest

ROOT = "/opt/ml/processing"

def test_it(training_job, tmp_path):
    (tmp_path / "a").write_text("of the input")
    script = f"cat {{ROOT}}/in/a; cp {{ROOT}}/in/a {{ROOT}}/out/b; printf fine >/opt/ml/output/message"
    request = {{
        "AppSpecification": {{"ImageUri": {image("sh")!r}, "ContainerEntrypoint": ["sh", "-c", script]}},
        "ProcessingInputs": [
            {{"InputName": "data", "S3Input": {{"S3Uri": str(tmp_path), "LocalPath": f"{{ROOT}}/in"}}}}
        ],
        "ProcessingOutputConfig": {{
            "Outputs": [{{"OutputName": "out", "S3Output": {{"S3Uri": "s3://b/out", "LocalPath": f"{{ROOT}}/out"}}}}]
        }},
    }}
    job = training_job(request).assert_completed()
    assert job.logs == "of the input"
    answer = job.job.describe()
    assert answer["ExitMessage"] == "fine"
    (output,) = answer["Local"]["Outputs"]
    assert Path(output["Directory"], "b").read_text() == "of the input"
    assert job.metrics == {{}}
    with pytest.raises(AssertionError, match="no model was written"):
        job.model
""")
    done = pytester.runpytest_subprocess(*WITH_PLUGIN, "--smlocal-required", "-W", "error")
    done.assert_outcomes(passed=1)
