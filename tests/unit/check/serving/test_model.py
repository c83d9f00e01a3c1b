"""What a check deploys, and which rules it asks."""

from pathlib import Path
from typing import Any

import pytest

from smlocal.check.registry import all_rules, chosen_rules
from smlocal.check.serving.model import ServingSubject, has_model, model_document, model_image, says_model_missing
from smlocal.check.subject import LaunchProfile
from smlocal.errors import RequestInvalidError
from smlocal.jobfile.document import Document
from smlocal.sagemaker.serving.model_file import read_model


def deployed(serving: ServingSubject, *, trained: str = "", timeout: int = 60) -> dict[str, Any]:
    document = model_document(serving, trained=trained, timeout=timeout)
    read_model(document)
    return document.data


def test_an_image_alone_has_no_model_and_no_credentials() -> None:
    data = deployed(ServingSubject(image="i", local={"Credentials": "inherit", "Region": "eu-west-1", "Output": "./x"}))
    assert data["PrimaryContainer"] == {"Image": "i"}
    local = data["Local"]
    assert (local["Region"], local["Pull"], local["StopGraceSeconds"]) == ("eu-west-1", "never", 30)
    assert local["Serving"] == {"StartupSeconds": 60, "InvocationSeconds": 60}
    assert not {"Credentials", "Output"} & local.keys()


def test_a_model_file_keeps_what_it_says(tmp_path: Path) -> None:
    given = {
        "EndpointName": "mine",
        "PrimaryContainer": {"Image": "i", "ModelDataUrl": "./model.tar.gz", "Environment": {"A": "b"}},
        "Local": {"Credentials": "inherit", "Serving": {"StartupSeconds": 5, "PingSeconds": 1}, "StopGraceSeconds": 2},
    }
    document = Document(given, name="model.yaml", directory=str(tmp_path))
    assert model_image(document) == "i"
    data = deployed(ServingSubject(image="i", document=document), timeout=20)  # passes: only a number here
    assert data["PrimaryContainer"] == given["PrimaryContainer"]
    assert data["Local"]["Serving"] == {"StartupSeconds": 5, "PingSeconds": 1, "InvocationSeconds": 20}
    assert data["Local"]["StopGraceSeconds"] == 2
    assert "EndpointName" not in data
    assert given["EndpointName"] == "mine"


def test_null_is_the_default_of_a_limit_and_what_is_no_number_is_refused() -> None:
    def serving(**local: Any) -> Any:
        document = Document({"PrimaryContainer": {"Image": "i"}, "Local": local}, name="m", directory="/")
        return deployed(ServingSubject(image="i", document=document))["Local"]["Serving"]

    assert serving(Serving={"StartupSeconds": None}) == {"StartupSeconds": 60, "InvocationSeconds": 60}
    for wrong in ({"Serving": {"InvocationSeconds": None}}, {"Serving": {"StartupSeconds": "5"}}):
        with pytest.raises(RequestInvalidError):
            serving(**wrong)
    with pytest.raises(RequestInvalidError):
        serving(StopGraceSeconds=None)


@pytest.mark.parametrize("is_folder", [True, False])
def test_the_trained_model_is_served_in_place_of_another(tmp_path: Path, *, is_folder: bool) -> None:
    path = tmp_path / "model"
    path.mkdir() if is_folder else path.touch()
    document = Document({"PrimaryContainer": {"ModelDataUrl": "./other"}}, name="m", directory="/")
    container = deployed(ServingSubject(image="i", document=document), trained=str(path))["PrimaryContainer"]
    if is_folder:
        assert container["ModelDataSource"]["S3DataSource"]["S3Uri"] == str(path)
        assert "ModelDataUrl" not in container
    else:
        assert container == {"Image": "i", "ModelDataUrl": str(path)}


def test_serving_is_checked_in_place_of_training_or_with_it() -> None:
    training = {rule.id for rule in chosen_rules()}
    serving = {rule.id for rule in chosen_rules(profiles=[LaunchProfile.SERVE])}
    both = {rule.id for rule in chosen_rules(profiles=[LaunchProfile.TRAIN_AND_SERVE])}
    assert {"train-missing", "job-fails", "image-size"} <= training
    assert not {rule.id for rule in all_rules() if rule.probes} & training
    assert {"server-missing", "no-listener", "image-size", "ignore-unused"} <= serving
    assert not {"train-missing", "job-fails", "trained-model-fails"} & serving
    assert both == training | serving | {"trained-model-fails"}
    static = {rule.id for rule in chosen_rules(profiles=[LaunchProfile.SERVE], static=True)}
    assert static & {rule.id for rule in all_rules() if rule.probes} == set()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: '/opt/ml/model/model.pkl'", True),
        ("OSError: /opt/ml/model does not exist", True),
        ("ValueError: No model found in the folder", True),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/etc/server.conf'", False),
        ("ModuleNotFoundError: No module named 'model'", False),
        ("loading /opt/ml/model/model.pkl", False),
    ],
)
def test_a_log_that_says_that_the_model_is_missing(line: str, says: bool) -> None:
    assert says_model_missing(["start", line, "[INFO] Worker exiting"]) is says


def test_a_container_that_is_given_a_model() -> None:
    assert not has_model(Document({"PrimaryContainer": {"Image": "i"}}, name="m", directory="/"))
    assert has_model(model_document(ServingSubject(image="i"), trained="/tmp/model.tar.gz", timeout=600))
