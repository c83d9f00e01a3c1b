"""AWS's own tests of SDK v2's pipelines against the service, unmodified, which its packages do not have."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.clients.conftest import PROGRAMS, User, client_folder, skip_without_python_of_images

CHECKOUT = os.environ.get("SMLOCAL_SDK_2_CHECKOUT", "")
FOLDER = "tests/integ/sagemaker/workflow"
WITHOUT_IMAGES = {
    "test_callback_steps.py": "",
    "test_fail_steps.py": "",
    "test_lambda_steps.py": "",
    "test_pipeline_var_behaviors.py": "",
    "test_workflow.py": "versioning or large or update_with_parallelism or three_step_definition",
}
FUNCTIONS = {
    "test_selective_execution.py": "pure_function",
    "test_step_decorator.py": "dependencies or pipeline_parameters or pre_execution or json_get or step_failed "
    "or checksum or client_error or serialization",
}
ALGORITHMS = {
    "test_model_create_and_registration.py": "not mxnet and not repack",
    "test_model_steps.py": "drift or mxnet or xgboost",
    "test_workflow.py": "end_to_end or caching or map_params or start_with",
}
"""For each file, which of its tests; empty: all. docs/pipelines.md says what the others need."""
SCIKIT_LEARN = "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-scikit-learn"
XGBOOST = "246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost"
NAMES = (
    *(f"{SCIKIT_LEARN}:{version}-cpu-py3" for version in ("0.20.0", "1.0-1", "1.2-1")),
    *(f"{XGBOOST}:{version}" for version in ("0.90-2-cpu-py3", "1.0-1-cpu-py3", "1.3-1")),
)


@contextmanager
def named(image: str) -> Iterator[None]:
    """The image has the names of AWS's, unless there are such images."""
    there = subprocess.run(
        ["docker", "images", "--format", "{{.Repository}}:{{.Tag}}"], check=True, capture_output=True, text=True
    )
    mine = [name for name in NAMES if name not in there.stdout.split()]
    for name in mine:
        subprocess.run(["docker", "tag", image, name], check=True)
    try:
        yield
    finally:
        if mine:
            subprocess.run(["docker", "rmi", "--no-prune", *mine], check=True, capture_output=True)


@pytest.mark.skipif(not CHECKOUT, reason="SMLOCAL_SDK_2_CHECKOUT names no checkout of the SDK's branch master-v2")
@pytest.mark.slow(300)
@pytest.mark.long
@pytest.mark.parametrize(
    "chosen", [WITHOUT_IMAGES, FUNCTIONS, ALGORITHMS], ids=["no images", "functions", "algorithms"]
)
def test_pipelines_as_on_the_service(chosen: dict[str, str], user: User, image: Callable[[str], str]) -> None:
    if chosen is FUNCTIONS:
        skip_without_python_of_images("sdk-2-tests")
    python = client_folder("sdk-2-tests") / "bin" / "python"
    failed = []
    with named(image("algorithms")):
        for file, names in chosen.items():
            options = ["-p", "no:cacheprovider", "-p", "aws_tests_plugin", "-q", *(["-k", names] if names else [])]
            done = user.run(
                [
                    sys.executable,
                    "-m",
                    "smlocal",
                    "exec",
                    "--",
                    str(python),
                    "-m",
                    "pytest",
                    *options,
                    f"{FOLDER}/{file}",
                ],
                cwd=Path(CHECKOUT),
                PYTHONPATH=f"{PROGRAMS}:{CHECKOUT}",
                FUNCTION_IMAGE=image("sdk-2"),
            )
            if done.returncode != 0:
                failed.append(f"{file}\n{done.stdout[-4_000:]}")
    assert not failed, "\n".join(failed)
