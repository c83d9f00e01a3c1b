"""The owner's settings in `Local` for jobs of clients, who know nothing of this machine."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smlocal.endpoint.call import ServiceError
from smlocal.endpoint.sagemaker.request_folders import local_block
from smlocal.endpoint.serving import ClientRights, Options, Serving


@pytest.mark.parametrize(
    ("asked", "allow_cpu"),
    [({}, True), ({"MaxHosts": 3}, True), ({"AllowCpu": False}, False), ({"Gpus": 2}, None), ({"Gpus": "none"}, None)],
)
def test_what_a_request_says_itself_counts(serving: Serving, asked: dict[str, Any], allow_cpu: bool | None) -> None:
    on_cpus = replace(serving, options=Options(local={"AllowCpu": True}))
    assert local_block(on_cpus, {"Local": asked}).get("AllowCpu") is allow_cpu
    assert "AllowCpu" not in local_block(serving, {})


def test_engines_of_the_server_hold_for_jobs_of_clients_which_name_none(serving: Serving) -> None:
    spread = replace(serving, options=Options(local={"SpreadOver": ["a", "b"], "AllowCpu": True}))
    assert local_block(spread, {"Local": {"Gpus": 2}})["SpreadOver"] == ["a", "b"]
    assert local_block(spread, {"Local": {"SpreadOver": ["a", "b"]}})["SpreadOver"] == ["a", "b"]  # as a pipeline does
    for refused in (["a"], ["elsewhere"], None):
        with pytest.raises(ServiceError, match=r"does not let clients set Local.SpreadOver"):
            local_block(spread, {"Local": {"SpreadOver": refused}})


def test_what_lies_in_buckets_is_the_clients_own(serving: Serving) -> None:
    """A model that the step of a pipeline has made names the folder, and any client may use the model."""
    few = replace(serving, options=Options(rights=ClientRights(allowed_paths=())))
    own = {"s3://b/model": f"{serving.buckets}/b/model"}
    assert local_block(few, {"Local": {"Sources": own}})["Sources"] == own
    with pytest.raises(ServiceError, match="may not use the path"):
        local_block(few, {"Local": {"Sources": {"s3://b/model": f"{serving.buckets}/../jobs"}}})


def test_what_a_bucket_has_at_the_output_of_a_query_stands_for_its_result(serving: Serving) -> None:
    folder = Path(serving.buckets, "bbb", "o")
    query = {"AthenaDatasetDefinition": {"OutputS3Uri": "s3://bbb/o/"}, "LocalPath": "/opt/ml/processing/i"}
    request = {"ProcessingInputs": [{"InputName": "i", "DatasetDefinition": query}]}
    assert local_block(serving, request)["Sources"] == {}
    folder.mkdir(parents=True)
    assert local_block(serving, request)["Sources"] == {}
    folder.joinpath("part-0").write_text("rows")
    assert local_block(serving, request)["Sources"] == {"s3://bbb/o/": str(folder)}
    own = {"Sources": {"s3://bbb/o/": f"{serving.buckets}/other"}}
    assert local_block(serving, {**request, "Local": own})["Sources"] == own["Sources"]
