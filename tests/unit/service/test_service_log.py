"""The end of a log in CloudWatch, read by botocore from a server that answers as CloudWatch does."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.service.aws_answers import Answers, aws_answering

from smlocal.service.job_end import LogEnd
from smlocal.service.last_lines import host_in, service_log
from smlocal.service.service import Service

pytestmark = pytest.mark.usefixtures("aws_user")


def read(answers: Answers, host: str = "algo-1") -> LogEnd:
    with aws_answering(answers) as address:
        return service_log(Service(endpoint_url=address), "job", host=host)


def refusing(code: str, status: int = 400) -> Answers:
    return {"DescribeLogStreams": (status, {"__type": code, "message": "no"})}


def streams(*names: str) -> Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]:
    found = [{"logStreamName": name, "creationTime": number} for number, name in enumerate(names)]
    return lambda asked: (200, {"logStreams": found if asked["logStreamNamePrefix"] == "job/" else []})


def test_the_newest_stream_of_the_host_is_read_across_empty_pages() -> None:
    def events(asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        assert asked["logStreamName"] == "job/algo-2-30"
        page = {None: ([], "b/1"), "b/1": (["3\n4"], "b/2"), "b/2": (["1", "2"], "b/2")}[asked.get("nextToken")]
        return 200, {"events": [{"message": each} for each in page[0]], "nextBackwardToken": page[1]}

    found = streams("job/algo-1-10", "job/algo-2-20", "job/algo-2-30")
    assert read({"DescribeLogStreams": found, "GetLogEvents": events}, "algo-2").lines == {
        "algo-2": ["1", "2", "3", "4"]
    }


def test_without_that_host_the_first_one_is_read() -> None:
    def events(asked: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        found = [] if "nextToken" in asked else [{"message": asked["logStreamName"]}]
        return 200, {"events": found, "nextBackwardToken": "b/0"}

    found = streams("job/algo-2-1", "job/algo-1-2")
    assert read({"DescribeLogStreams": found, "GetLogEvents": events}, "algo-9").lines == {"algo-1": ["job/algo-1-2"]}


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"DescribeLogStreams": streams()}, "CloudWatch has no log of job"),
        (
            {
                "DescribeLogStreams": streams("job/algo-1-1"),
                "GetLogEvents": (200, {"events": [], "nextBackwardToken": "b/0"}),
            },
            "the log of job is empty",
        ),
        (refusing("ResourceNotFoundException"), "CloudWatch has no log group"),
        (refusing("AccessDeniedException"), "the log cannot be read: the AWS credentials may not do logs:"),
        (refusing("ExpiredTokenException"), "the log cannot be read: "),
        (refusing("ServiceUnavailableException", 500), "the log cannot be read: CloudWatch Logs cannot answer"),
    ],
    ids=["no stream", "no events", "no group", "no right", "old credentials", "broken"],
)
def test_what_prevents_it_is_said(answers: Answers, said: str) -> None:
    found = read(answers)
    assert found.lines == {}
    assert found.missing is not None
    assert found.missing.startswith(said)


def test_no_way_to_cloudwatch() -> None:
    found = service_log(Service(region="eu-west-1", endpoint_url="http://127.0.0.1:1"), "job", host="algo-1")
    assert found.missing is not None
    assert "does not answer" in found.missing


@pytest.mark.parametrize(
    ("stream", "host"), [("job/algo-1-1700000000", "algo-1"), ("job/algo-1", "algo-1"), ("x", "x"), ("", "")]
)
def test_the_host_of_a_stream(stream: str, host: str) -> None:
    assert host_in(stream) == host
