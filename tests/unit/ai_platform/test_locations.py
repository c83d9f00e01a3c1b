from typing import Any

from smlocal.ai_platform.locations import (
    BucketFolder,
    bucket_folders,
    is_bucket_location,
    mounted_path,
    wrong_sources,
)
from smlocal.ai_platform.model.members import ReplicaJobKind

Json = dict[str, Any]


def _folders(kind: ReplicaJobKind, request: Json, **sources: str) -> list[tuple[str, str, bool]]:
    locations = {f"gs://{name.replace('_', '/')}": folder for name, folder in sources.items()}
    found = bucket_folders(kind, request, sources=locations, output="/out")
    return [(each.path, each.folder, each.is_output) for each in found]


def test_a_location_is_a_path_in_the_replica() -> None:
    assert mounted_path("gs://bucket/data/") == "/gcs/bucket/data/"
    assert mounted_path("/gcs/bucket") == "/gcs/bucket"
    assert BucketFolder(location="gs://bucket", folder="/data", is_output=False).path == "/gcs/bucket"
    assert is_bucket_location("gs://bucket")
    assert wrong_sources({"gs://bucket/data": "data", "s3://bucket": "data", "bucket": "data"}) == [
        "s3://bucket",
        "bucket",
    ]
    assert not any(map(is_bucket_location, ("gs://", "gs:///x", "s3://bucket", "bucket")))


def test_output_is_a_folder_of_the_job(training_job: Json, custom_job: Json) -> None:
    expected = [("/gcs/bucket/census", "/out/bucket/census", True)]
    assert _folders(ReplicaJobKind.TRAINING_JOB, training_job) == expected
    assert _folders(ReplicaJobKind.CUSTOM_JOB, custom_job) == expected


def test_a_folder_stands_for_a_bucket(custom_job: Json) -> None:
    assert _folders(ReplicaJobKind.CUSTOM_JOB, custom_job, bucket="/data", other_images="/images") == [
        ("/gcs/bucket", "/data", False),
        ("/gcs/other/images", "/images", False),
    ]
    assert _folders(ReplicaJobKind.CUSTOM_JOB, custom_job, bucket_cens="/data") == [
        ("/gcs/bucket/cens", "/data", False),
        ("/gcs/bucket/census", "/out/bucket/census", True),
    ]


def test_a_folder_comes_before_those_inside_it(custom_job: Json) -> None:
    found = _folders(ReplicaJobKind.CUSTOM_JOB, custom_job, bucket_a_b="/2", bucket_a="/1", bucket="/0")
    assert [folder for _, folder, _ in found] == ["/0", "/1", "/2"]
