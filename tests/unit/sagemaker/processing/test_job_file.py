"""What a request of a processing job says, and what is wrong with it, by the lines of the file."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smlocal.api.job_source import read_text
from smlocal.errors import FieldRefusedError, RequestInvalidError
from smlocal.sagemaker.contract.identity import plain_names
from smlocal.sagemaker.processing.job_file import ProcessingFile, read_processing

LEAST = "AppSpecification: {ImageUri: an-image}\n"


def read(text: str, **more: Any) -> ProcessingFile:
    return read_processing(read_text(text.encode(), name="job.yaml", directory="/here"), **{"strict": False, **more})


def test_an_image_is_enough_here_but_not_on_the_service() -> None:
    job = read(LEAST)
    assert job.instances == ("local", 1)
    assert (job.volume_gb, job.max_runtime, job.isolated) == (30, 86_400, False)
    assert (job.inputs, job.outputs) == ((), ())
    with pytest.raises(RequestInvalidError) as error:
        read(LEAST, strict=True)
    said = "\n".join(error.value.details)
    with pytest.raises(RequestInvalidError) as more:
        read(
            LEAST
            + "ProcessingResources: {ClusterConfig: {}}\n"
            + "ProcessingInputs: [{InputName: a, S3Input: {S3Uri: s3://b/k, LocalPath: /opt/ml/processing/a}}]\n",
            strict=True,
        )
    for member in ("clusterConfig.volumeSizeInGB", "processingInputs.1.member.s3Input.s3DataType"):
        assert member in "\n".join(more.value.details)
    for member in ("processingJobName", "processingResources", "roleArn"):
        assert f"'{member}' failed to satisfy constraint: Member must not be null" in said


def test_what_the_members_say() -> None:
    job = read(
        LEAST
        + """
ProcessingInputs:
  - InputName: a b
    S3Input:
      {S3Uri: ./a, LocalPath: /opt/ml/processing//in/./a/, S3InputMode: Pipe, S3CompressionType: Gzip}
  - {InputName: own, AppManaged: true, S3Input: {S3Uri: s3://b/k}}
  - {InputName: c, S3Input: {S3Uri: s3://b/k, LocalPath: /opt/ml/processing/c, S3DataDistributionType: ShardedByS3Key}}
ProcessingOutputConfig:
  Outputs:
    - {OutputName: o, S3Output: {S3Uri: s3://b/o, LocalPath: /opt/ml/processing/o, S3UploadMode: Continuous}}
ProcessingResources:
  ClusterConfig:
    VolumeSizeInGB: 5
    InstancePreferences: [{InstanceType: ml.m5.large, InstanceCount: 3}, {InstanceType: ml.c5.large}]
NetworkConfig: {EnableNetworkIsolation: true}
StoppingCondition: {MaxRuntimeInSeconds: 7}
""".replace("ml.c5.large", "ml.c5.xlarge")
    )
    first, last = job.inputs
    assert (first.name, first.index, first.path, first.pipe, first.gzip) == (
        "input-1",
        0,
        "/opt/ml/processing/in/a",
        True,
        True,
    )
    assert (last.name, last.index, last.sharded, last.data_type) == ("c", 2, True, "S3Prefix")
    (output,) = job.outputs
    assert (output.name, output.continuous) == ("o", True)
    assert job.instances == ("ml.m5.large", 3)
    assert (job.volume_gb, job.max_runtime, job.isolated) == (5, 7, True)


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ("{InputName: a, S3Input: {S3Uri: ./a}}", "LocalPath: is missing"),
        ("{InputName: a}", "needs exactly one of S3Input and DatasetDefinition"),
        ("{InputName: a, S3Input: {S3Uri: ./a, LocalPath: /opt/ml/processing}}", "must be a folder below"),
        ("{InputName: a, S3Input: {S3Uri: ./a, LocalPath: opt/ml/processing/a}}", "must be a folder below"),
        ("{InputName: a, S3Input: {S3Uri: ./a, LocalPath: /opt/ml/processing/../a}}", "must be a folder below"),
    ],
)
def test_inputs_that_cannot_be(inputs: str, says: str) -> None:
    with pytest.raises(RequestInvalidError) as error:
        read(f"{LEAST}ProcessingInputs:\n  - {inputs}\n")
    (detail,) = error.value.details
    assert detail.startswith("job.yaml:3   ")
    assert says in detail


def test_an_output_that_contains_an_input_is_refused() -> None:
    both = (
        "ProcessingInputs:\n  - {InputName: a, S3Input: {S3Uri: ./a, LocalPath: /opt/ml/processing/x/in}}\n"
        "ProcessingOutputConfig:\n  Outputs:\n"
        "    - {OutputName: o, S3Output: {S3Uri: ./o, LocalPath: /opt/ml/processing/x}}\n"
    )
    with pytest.raises(FieldRefusedError, match="LocalPath"):
        read(LEAST + both)
    assert read(LEAST + both.replace("processing/x}", "processing/x/in/out}")).outputs[0].path.endswith("/in/out")


def test_settings_without_a_meaning() -> None:
    with pytest.raises(RequestInvalidError) as error:
        read(f"{LEAST}Local: {{Code: ./code, Rules: false, StopGraceSeconds: 3}}\n")
    assert len(error.value.details) == 2


@given(st.lists(st.text(max_size=70), max_size=10))
def test_names_become_names_of_files_and_none_is_there_twice(given_names: list[str]) -> None:
    names = [*plain_names(given_names, "input")]
    assert len(names) == len(given_names)
    assert all(name and "/" not in name and name not in {".", ".."} for name in names)
    assert len(set(names)) == len(names)


def test_a_fault_names_an_instance_type_that_the_job_asks_for() -> None:
    job = LEAST + (
        "ProcessingResources: {ClusterConfig: {InstanceType: ml.m5.large, InstanceCount: 1, VolumeSizeInGB: 1}}\n"
        "Local: {Faults: [{Kind: CapacityError, Instance: %s}]}\n"
    )
    assert [each.Instance for each in read(job % "ml.m5.large").local.Faults] == ["ml.m5.large"]
    with pytest.raises(RequestInvalidError) as error:
        read(job % "ml.m5.xlarge")
    assert "the job does not ask for 'ml.m5.xlarge'; it has ml.m5.large" in error.value.with_details
