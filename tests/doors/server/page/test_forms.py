"""The forms of the page, which no other site can use."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smlocal.endpoint.serving import ClientRights, Options


@pytest.mark.slow(2)
def test_a_job_is_stopped_only_with_the_token_and_from_the_page(
    endpoint: Any, browserless: Any, run_job: Callable[..., None]
) -> None:
    run_job("page-stop", "trap 'exit 0' TERM; echo up; sleep 600 & wait", until="Training")
    page, stop = "/-/jobs/page-stop", "/-/jobs/page-stop/stop"
    token = browserless.token(page)
    for fields, headers in (
        ({}, {}),
        ({"token": token[:-1] + "ä"}, {}),
        ({"token": token}, {"Origin": "http://evil.example"}),
        ({"token": token}, {"Origin": "null"}),
        ({"token": token}, {"Origin": ""}),
        ({"token": token}, {"Sec-Fetch-Site": "cross-site"}),
        ({"token": token}, {"Sec-Fetch-Site": "same-site"}),
    ):
        assert browserless.post(stop, fields, headers=headers).status == 403, (fields, headers)
    assert browserless.get(stop).status == 405
    assert endpoint.store.get("page-stop").status == "InProgress"

    done = browserless.post(stop, {"token": token})
    assert (done.status, done.headers["location"]) == (303, page)
    endpoint.client("sagemaker").get_waiter("training_job_completed_or_stopped").wait(TrainingJobName="page-stop")
    assert endpoint.store.get("page-stop").status == "Stopped"
    assert browserless.post(stop, {"token": token}).status == 303  # it has ended: nothing to stop
    assert browserless.post("/-/jobs/none/stop", {"token": token}).status == 404


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_job_file_becomes_a_job(
    form: str, endpoint: Any, browserless: Any, script_job: Callable[..., dict[str, Any]]
) -> None:
    request = script_job("page-form", "echo hello")
    if form == "yaml":
        del request["TrainingJobName"]  # it gets the name of its image, as with smlocal run
        script, image = request["Environment"]["SCRIPT"], request["AlgorithmSpecification"]["TrainingImage"]
        text = f"AlgorithmSpecification:\r\n  TrainingImage: {image}\r\n  TrainingInputMode: File\r\n"
        text += f'Environment: {{SCRIPT: "{script}"}}\r\nLocal: {{Cpus: 1}}\r\n'
        text += "\r\n".join(f"{key}: {json.dumps(request[key])}" for key in list(request)[1:] if key not in text)
    else:
        text = json.dumps(request, indent=1)
    done = browserless.post("/-/new", {"token": browserless.token("/-/new"), "document": text})
    assert done.status == 303, done.text
    name = done.headers["location"].removeprefix("/-/jobs/")
    assert name == "page-form" or form == "yaml"
    endpoint.client("sagemaker").get_waiter("training_job_completed_or_stopped").wait(TrainingJobName=name)
    assert endpoint.store.get(name).status == "Completed"
    assert browserless.get(f"/-/jobs/{name}/logs/algo-1").text == "hello\n"
    if form == "json":
        again = browserless.post("/-/new", {"token": browserless.token("/-/new"), "document": text})
        assert again.status == 400
        assert "page-form" in again.text.partition("<form")[0]


def test_mistakes_are_shown_with_their_lines_and_the_text_is_kept(
    browserless: Any, script_job: Callable[..., dict[str, Any]]
) -> None:
    token = browserless.token("/-/new")
    text = json.dumps(script_job("my_job", "true", HyperParamters={}), indent=1)

    def shown(document: str) -> str:
        answer = browserless.post("/-/new", {"token": token, "document": document})
        assert answer.status == 400
        return str(answer.text)

    page = shown(text)
    assert "2 problems in job file" in page
    assert "job file:2 " in page
    assert "did you mean HyperParameters?" in page
    assert "&#34;TrainingJobName&#34;: &#34;my_job&#34;" in page
    assert "job file is empty" in shown("")
    assert "</textarea><b>" not in shown("</textarea><b>")
    assert "job file:2:1 " in shown("a: [")
    assert browserless.post("/-/new", {"token": "", "document": text}).status == 403


def test_a_job_file_may_name_only_allowed_folders(
    make_endpoint: Callable[..., Any], page_client: Any, script_job: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    for folder in (allowed, other):
        folder.mkdir()
        (folder / "data").write_text("1")
    (allowed / "way").symlink_to(other)
    with make_endpoint(options=Options(rights=ClientRights(allowed_paths=(str(allowed),)))) as endpoint:
        client = page_client(address=endpoint.address)
        token = client.token("/-/new")

        def post(name: str, path: Path, **local: Any) -> Any:
            source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": str(path)}}
            request = script_job(
                name, "ls /opt/ml/input/data/train", InputDataConfig=[{"ChannelName": "train", "DataSource": source}]
            )
            return client.post("/-/new", {"token": token, "document": json.dumps({**request, "Local": local})})

        for path in (other, allowed / ".." / "other", allowed / "way", Path("./other"), Path("/")):
            answer = post("page-refused", path)
            assert answer.status == 400
            refused = "has a link below" if path == allowed / "way" else "this job may not use the path"
            assert refused in answer.text
        assert "does not let clients set Local.Credentials" in post("page-refused", allowed, Credentials="share").text
        assert post("page-accepted", allowed).status == 303
        endpoint.client("sagemaker").get_waiter("training_job_completed_or_stopped").wait(
            TrainingJobName="page-accepted"
        )
        assert client.get("/-/jobs/page-accepted/logs/algo-1").text.splitlines()[0] == "data"
        assert not [name for name in endpoint.store.names() if name != "page-accepted"]
