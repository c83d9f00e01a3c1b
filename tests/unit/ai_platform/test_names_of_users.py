"""Names that a user chooses with --name."""

import pytest

from smlocal.api.job_source import read_any
from smlocal.api.overrides import Overrides
from smlocal.errors import UsageRefusedError
from smlocal.jobfile.document import Document

_CUSTOM_JOB = {
    "workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-4"}, "containerSpec": {"imageUri": "image"}}]
}
_TRAINING_JOB = {"trainingInput": {"masterConfig": {"imageUri": "image"}}}


def _name(data: dict[str, object], name: str) -> str:
    document = Document(dict(data), name="job.yaml", directory="/")
    return read_any(document, Overrides(name=name), path=None, fill_in=False, strict=False)[1]


@pytest.mark.parametrize(
    ("data", "name"),
    [(_CUSTOM_JOB, "my.job_1-b"), (_CUSTOM_JOB, "1"), (_CUSTOM_JOB, "a" * 63), (_TRAINING_JOB, "my_job_1")],
)
def test_a_name_that_a_folder_and_a_container_can_have(data: dict[str, object], name: str) -> None:
    assert _name(data, name) == name


@pytest.mark.parametrize(
    ("data", "name"),
    [
        *((_CUSTOM_JOB, name) for name in ("../zz", "..", "has space", "-x", "é", "", "a" * 64, "a\n")),
        *((_TRAINING_JOB, name) for name in ("../zz", "my-job", "1job", "_job", "", "a" * 129)),
    ],
)
def test_another_name_is_refused(data: dict[str, object], name: str) -> None:
    with pytest.raises(UsageRefusedError, match="cannot be the name of a") as caught:
        _name(data, name)
    assert caught.value.remedy[0].startswith("Choose a name that has letters, digits")
