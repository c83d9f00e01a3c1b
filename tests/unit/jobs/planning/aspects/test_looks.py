"""The aspects that few jobs have are imported by the jobs that have them."""

import subprocess
import sys
from typing import Any

import pytest

from smlocal.jobfile.document import Document
from smlocal.jobfile.settings import LocalSettings
from smlocal.jobs.planning.aspects.accelerators import look as accelerators
from smlocal.jobs.planning.aspects.debugging import look as debugging
from smlocal.jobs.planning.aspects.limits import look as limits
from smlocal.jobs.planning.aspects.looks import ASPECTS, Asked, Look
from smlocal.sagemaker.contract.documents.config_files import homogeneous

LOOKS: dict[str, Look] = {"accelerators": accelerators, "debugging": debugging, "limits": limits}
"""Checked for types here: the table imports them by their names."""


def test_each_row_names_a_look() -> None:
    assert {aspect.name: aspect.look for aspect in ASPECTS} == LOOKS


@pytest.mark.parametrize(
    ("kind", "settings", "wanted"),
    [
        ("ml.m5.large", {}, []),
        ("ml.g4dn.xlarge", {}, ["accelerators"]),
        ("ml.g4dn.xlarge", {"AllowCpu": True}, []),
        ("ml.trn1.2xlarge", {}, ["accelerators"]),
        ("ml.m5.large", {"Gpus": 1, "Processes": 10}, ["accelerators", "limits"]),
        ("ml.m5.large", {"EnforceInstanceLimits": True}, ["limits"]),
        ("ml.m5.large", {"DebugPort": 5678}, ["debugging"]),
    ],
)
def test_what_brings_an_aspect_in(kind: str, settings: dict[str, Any], wanted: list[str]) -> None:
    local = LocalSettings(**settings)
    document = Document({}, name="job.yaml", directory="/work")
    asked = Asked(hosts=homogeneous(1, kind), local=local, document=document, image="image")
    assert [aspect.name for aspect in ASPECTS if aspect.wanted(asked)] == wanted


def test_preparing_a_job_imports_no_look_that_few_jobs_need() -> None:
    program = "import sys, smlocal.sagemaker.training.planning; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {f"smlocal.jobs.planning.aspects.{aspect.name}.look" for aspect in ASPECTS} & {*done.stdout.split()} == set()
