"""botocore's descriptions of services are read once, and are those that botocore would read."""

from pathlib import Path

import pytest
from botocore.loaders import create_loader

from smlocal.data.sources.s3.aws_client import AwsClient
from smlocal.data.sources.s3.aws_session import new_session
from smlocal.data.sources.s3.service_models import shared_loader

KINDS = ("service-2", "endpoint-rule-set-1", "paginators-1")


@pytest.mark.parametrize("kind", KINDS)
def test_every_service_of_botocore_is_known(kind: str) -> None:
    assert set(shared_loader(None).list_available_services(kind)) >= set(create_loader().list_available_services(kind))


def test_models_are_those_of_botocore(tmp_path: Path) -> None:
    ours = shared_loader(str(tmp_path))  # a new one: clients write into their models
    for service in ("s3", "sts"):
        for kind in KINDS:
            assert ours.load_service_model(service, kind) == create_loader().load_service_model(service, kind)


def test_the_data_path_of_the_profile_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "models" / "mine" / "2020-01-01" / "service-2.json"
    model.parent.mkdir(parents=True)
    model.write_text("{}")
    plain = new_session().get_component("data_loader")
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path / "models"))
    loader = new_session().get_component("data_loader")
    assert loader.load_service_model("mine", "service-2") == {}
    assert loader.load_service_model("s3", "service-2")["metadata"]["serviceId"] == "S3"
    assert "mine" not in plain.list_available_services("service-2")


def test_a_second_client_reads_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    first = AwsClient("eu-west-1", retry_seconds=5)
    second = AwsClient("eu-west-1", retry_seconds=5)
    models = [each.client.meta.service_model.metadata for each in (first, second)]
    assert models[0] is models[1]
