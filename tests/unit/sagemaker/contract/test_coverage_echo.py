"""A recorded member is shown by describe; a refused one ends the command with 2 and is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from smlocal.cli.main import run_command_line
from smlocal.sagemaker.contract.coverage.members import TABLE
from smlocal.sagemaker.contract.outcome.describe import JobFacts, describe, request_only
from smlocal.terms.member_table import Support
from smlocal.terms.statuses import JobPhase, JobStatus

JOB = JobFacts(
    name="job",
    arn="arn",
    status=JobStatus.COMPLETED,
    phase=JobPhase.COMPLETED,
    created=1.0,
    modified=2.0,
    started=None,
    ended=None,
    failure_reason=None,
    transitions=[],
    model_uri="s3://bucket/job/output/model.tar.gz",
)


def rows(support: Support) -> list[str]:
    return [leaf for leaf, row in TABLE.items() if row.support is support]


def values(document: Any, steps: list[str]) -> list[Any]:
    """The value at a leaf like `Tags[].Key`; nothing where it is missing."""
    if not steps:
        return [document]
    name = steps[0].removesuffix("[]")
    if not isinstance(document, dict) or name not in document:
        return []
    inner = document[name] if steps[0].endswith("[]") else [document[name]]
    return [value for item in inner for value in values(item, steps[1:])]


@pytest.mark.parametrize("leaf", rows(Support.RECORDED))
def test_a_recorded_member_is_echoed(leaf: str, request_with: Any) -> None:
    request = request_with(leaf)
    given = values(request, leaf.split("."))
    assert given
    answer = describe(request, JOB) | request_only(request)
    assert values(answer, leaf.split(".")) == given


@pytest.mark.parametrize("leaf", rows(Support.REFUSED))
def test_a_refused_member_ends_with_2_and_is_named(
    leaf: str, request_with: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.json"
    job.write_text(json.dumps(request_with(leaf)))
    assert run_command_line(["plan", str(job)]) == 2
    said = capsys.readouterr().err
    assert "[field-refused]" in said or "[request-invalid]" in said
    assert leaf in said
