"""Files of tuning jobs: told apart by their members, read, and refused where training jobs are wanted."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.sagemaker.tuning.test_tuning_file import REQUEST

from smlocal.api.job_source import read_any, read_document, read_source, validate_file
from smlocal.errors import UsageRefusedError
from smlocal.errors.of_jobs import IsATuningJobError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.tuning.tuning_file import TuningFile


def document(**more: Any) -> Document:
    return Document({**json.loads(json.dumps(REQUEST)), **more}, name="tuning.yaml", directory="/here")


def test_a_tuning_job_is_read_by_its_members() -> None:
    job, name = read_any(document(), {}, path="tuning.yaml", fill_in=False, strict=False)
    assert isinstance(job, TuningFile)
    assert name == "held"


def test_it_gets_a_name_from_its_file_and_from_a_flag() -> None:
    nameless = document(HyperParameterTuningJobName=None)
    _, name = read_any(nameless, {}, path="/x/depth.yaml", fill_in=False, strict=False)
    assert name.startswith("depth-")
    _, name = read_any(document(), {"name": "other"}, path=None, fill_in=False, strict=False)
    assert name == "other"


def test_flags_about_a_training_job_are_refused() -> None:
    with pytest.raises(UsageRefusedError) as raised:
        read_any(document(), {"hyperparameters": {"a": "b"}}, path=None, fill_in=False, strict=False)
    assert "Set it in the file of the tuning job" in raised.value.remedy[0]


def test_a_tuning_job_is_refused_where_a_training_job_is_wanted() -> None:
    with pytest.raises(IsATuningJobError):
        read_document(document(), {}, path=None, fill_in=False, strict=False)


def test_a_dict_is_a_tuning_job_too() -> None:
    job, _ = read_source(REQUEST, {}, strict=False)
    assert isinstance(job, TuningFile)


def test_a_file_is_validated(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    path.write_text(json.dumps(REQUEST))
    assert validate_file(str(path), strict=False).error is None
    path.write_text(json.dumps({**REQUEST, "Autotune": {"Mode": "Enabled"}}))
    error = validate_file(str(path), strict=False).error
    assert error is not None
    assert "Autotune" in error.sentence


def test_flags_about_this_machine_are_those_of_its_training_jobs() -> None:
    asked = document()
    read_any(asked, {"publish": True, "credentials": "inherit"}, path=None, fill_in=False, strict=False)
    assert asked.data["Local"] == {"Publish": True, "Credentials": "inherit"}
