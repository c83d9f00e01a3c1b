"""Parts of job files that have the wrong type are refused with their line, also where something is read before."""

from typing import Any

import pytest

from smlocal.api.job_source import read_any, read_text, validate_file
from smlocal.api.overrides import Overrides
from smlocal.errors import RequestInvalidError, SmlocalError

PROCESSING = """ProcessingJobName: wrong-type
AppSpecification:
  ImageUri: python
"""
TRANSFORM = """TransformJobName: wrong-type
TransformInput: {DataSource: {S3DataSource: {S3DataType: S3Prefix, S3Uri: /data}}}
TransformOutput: out
PrimaryContainer: {Image: python}
"""


def read(text: str, given: Overrides | None = None, *, fill_in: bool = False) -> SmlocalError:
    document = read_text(text.encode(), name="job.yaml", directory="/")
    with pytest.raises(RequestInvalidError) as raised:
        read_any(document, given or Overrides(), path=None, fill_in=fill_in, strict=False)
    return raised.value


@pytest.mark.parametrize(
    ("specification", "line"),
    [("AppSpecification: python\n", 1), ("AppSpecification:\n  ImageUri: 5\n", 2), ("AppSpecification: [1]\n", 1)],
)
def test_the_image_of_a_processing_job(specification: str, line: int, tmp_path: Any) -> None:
    assert any(f"job.yaml:{line} " in each for each in read(specification).details)
    file = tmp_path / "job.yaml"
    file.write_text(specification)
    assert isinstance(validate_file(str(file), strict=False).error, RequestInvalidError)


@pytest.mark.parametrize("inputs", ["5", "text", "{a: b}"])
@pytest.mark.parametrize("given", [Overrides(channels={"data": "/data"}), Overrides(inputs={"data": "/data"})])
def test_the_inputs_of_a_processing_job(inputs: str, given: Overrides) -> None:
    error = read(f"{PROCESSING}ProcessingInputs: {inputs}\n", given)
    assert any("job.yaml:4" in each for each in error.details)


def test_the_outputs_of_a_processing_job() -> None:
    given = Overrides(processing_outputs={"out": "/opt/ml/processing/out:/out"})
    error = read(f"{PROCESSING}ProcessingOutputConfig: {{Outputs: 5}}\n", given)
    assert any("job.yaml:4" in each for each in error.details)


def test_the_output_of_a_transform_job() -> None:
    assert any("job.yaml:3" in each for each in read(TRANSFORM, Overrides(output="/out")).details)


def test_a_member_that_a_job_without_a_file_needs() -> None:
    error = read("{}", Overrides(image="python", members={"ResourceConfig": 5}), fill_in=True)
    assert any("ResourceConfig" in each for each in error.details)
