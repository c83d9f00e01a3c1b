import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.endpoint.conftest import Ask
from tests.unit.report.conftest import BEGAN, StoredJob

from smlocal.endpoint.call import ServiceError
from smlocal.endpoint.logs import operations
from smlocal.jobs.logs.log_file import ENTRY

GROUP = "/aws/sagemaker/TrainingJobs"
START = int(BEGAN * 1000)


def log(job: StoredJob, host: str, *lines: tuple[float, str]) -> str:
    """Lines with their seconds after the beginning; returns the name of the stream."""
    position, times = 0, b""
    for after, line in lines:
        times += ENTRY.pack(position, BEGAN + after)
        position += len(line.encode()) + 1
    job.log(host, "".join(f"{line}\n" for _, line in lines).encode())
    Path(job.directory, "logs", f"{host}.times").write_bytes(times)
    return f"{job.name}/{host}-{int(BEGAN)}"


@pytest.fixture
def numbered(store_job: Callable[..., StoredJob]) -> str:
    """A stream with an event each second."""
    job = store_job("numbers")
    stream = log(job, "algo-1", *((number, f"line {number}") for number in range(100)))
    job.end(100)
    return stream


def texts(answer: dict[str, Any]) -> list[str]:
    return [event["message"] for event in answer["events"]]


def lines(*numbers: int) -> list[str]:
    return [f"line {number}" for number in numbers]


def test_streams_are_named_as_the_service_names_them_and_come_in_name_order(
    ask: Ask, store_job: Callable[..., StoredJob]
) -> None:
    job = store_job("two", hosts=("algo-1", "algo-10", "algo-2"))
    for host in job.hosts:
        log(job, host, (1, "first"), (3, "last"))
    log(store_job("two-more"), "algo-1", (1, "x"))

    answer = ask("logs", "DescribeLogStreams", logGroupName=GROUP, logStreamNamePrefix="two/")
    assert "nextToken" not in answer
    second = int(BEGAN)
    assert [each["logStreamName"] for each in answer["logStreams"]] == [
        f"two/algo-1-{second}",
        f"two/algo-10-{second}",
        f"two/algo-2-{second}",
    ]
    first = answer["logStreams"][0]
    assert first["firstEventTimestamp"] == START + 1000
    assert first["lastEventTimestamp"] == START + 3000
    assert first["arn"] == (f"arn:aws:logs:eu-west-1:{'1' * 12}:log-group:{GROUP}:log-stream:two/algo-1-{second}")
    assert not ask("logs", "DescribeLogStreams", logGroupName=GROUP, logStreamNamePrefix="tw/")["logStreams"]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("order", ["LogStreamName", "LastEventTime"])
def test_streams_come_page_by_page(ask: Ask, store_job: Callable[..., StoredJob], order: str, descending: bool) -> None:
    names = ["b", "a", "a-b", "c", "a0"]
    made = [log(store_job(name), "algo-1", (index, "x")) for index, name in enumerate(names)]
    found: list[str] = []
    asked = {"logGroupName": GROUP, "orderBy": order, "descending": descending, "limit": 2}
    while True:
        answer = ask("logs", "DescribeLogStreams", **asked)
        found += [each["logStreamName"] for each in answer["logStreams"]]
        if "nextToken" not in answer:
            break
        asked["nextToken"] = answer["nextToken"]
    expected = sorted(made) if order == "LogStreamName" else made
    assert found == (expected[::-1] if descending else expected)


def test_the_group_is_known_by_name_and_arn_and_no_other_is(ask: Ask) -> None:
    arn = f"arn:aws:logs:eu-west-1:{'1' * 12}:log-group:{GROUP}"
    (group,) = ask("logs", "DescribeLogGroups", logGroupNamePrefix="/aws/sage")["logGroups"]
    assert (group["logGroupName"], group["logGroupArn"]) == (GROUP, arn)
    assert not ask("logs", "DescribeLogGroups", logGroupNamePrefix="/ecs")["logGroups"]
    for asked in ({"logGroupName": GROUP}, {"logGroupIdentifier": GROUP}, {"logGroupIdentifier": arn}):
        assert ask("logs", "DescribeLogStreams", **asked) == {"logStreams": []}
    with pytest.raises(ServiceError, match="ResourceNotFoundException: The specified log group does not exist"):
        ask("logs", "DescribeLogStreams", logGroupName="/ecs/other")
    for wrong in ({}, {"logGroupName": GROUP, "logGroupIdentifier": GROUP}):
        with pytest.raises(ServiceError, match="InvalidParameterException"):
            ask("logs", "DescribeLogStreams", **wrong)


def test_groups_come_page_by_page(ask: Ask, store_job: Callable[..., StoredJob]) -> None:
    for kind in ("processing", "transform", "hosting"):
        store_job(f"a-{kind}", platform=f"sagemaker_{kind}")
    found, asked = [], {"limit": 1}
    while True:
        answer = ask("logs", "DescribeLogGroups", **asked)
        found += [each["logGroupName"] for each in answer["logGroups"]]
        if "nextToken" not in answer:
            break
        asked["nextToken"] = answer["nextToken"]
    of_jobs = [f"/aws/sagemaker/{kind}Jobs" for kind in ("Processing", "Training", "Transform")]
    assert found == ["/aws/sagemaker/Endpoints/a-hosting", *of_jobs]


@pytest.mark.parametrize("name", ["numbers/algo-1-1", "numbers/algo-2-1790000000", "none/algo-1-1790000000", "numbers"])
@pytest.mark.usefixtures("numbered")
def test_an_unknown_stream_is_refused_in_the_words_of_the_service(ask: Ask, name: str) -> None:
    with pytest.raises(ServiceError, match="ResourceNotFoundException: The specified log stream does not exist"):
        ask("logs", "GetLogEvents", logGroupName=GROUP, logStreamName=name)
    with pytest.raises(ServiceError, match="The specified log stream does not exist"):
        ask("logs", "FilterLogEvents", logGroupName=GROUP, logStreamNames=[name])


def test_events_are_read_forwards_and_the_token_at_the_end_stays(ask: Ask, numbered: str) -> None:
    asked: dict[str, Any] = {"logGroupName": GROUP, "logStreamName": numbered, "startFromHead": True, "limit": 40}
    found, tokens = [], []
    for _ in range(5):
        answer = ask("logs", "GetLogEvents", **asked)
        found += texts(answer)
        tokens.append(answer["nextForwardToken"])
        asked["nextToken"] = answer["nextForwardToken"]
    assert found == lines(*range(100))
    assert tokens[2] == tokens[3] == tokens[4]
    assert re.fullmatch(r"f/\d+/s", tokens[0])
    assert answer["events"] == []
    # Back from there.
    asked["nextToken"] = answer["nextBackwardToken"]
    assert texts(ask("logs", "GetLogEvents", **asked)) == lines(*range(60, 100))


def test_without_start_from_head_the_newest_come_first_and_the_token_at_the_beginning_stays(
    ask: Ask, numbered: str
) -> None:
    asked: dict[str, Any] = {"logGroupName": GROUP, "logStreamName": numbered, "limit": 60}
    newest = ask("logs", "GetLogEvents", **asked)
    oldest = ask("logs", "GetLogEvents", **asked, nextToken=newest["nextBackwardToken"])
    before = ask("logs", "GetLogEvents", **asked, nextToken=oldest["nextBackwardToken"])
    assert texts(newest) == lines(*range(40, 100))
    assert texts(oldest) == lines(*range(40))
    assert (before["events"], before["nextBackwardToken"]) == ([], oldest["nextBackwardToken"])


def test_a_start_time_is_included_and_an_end_time_is_not(ask: Ask, numbered: str) -> None:
    asked = {"logGroupName": GROUP, "logStreamName": numbered, "startTime": START + 5000, "endTime": START + 8000}
    for head in (True, False):
        answer = ask("logs", "GetLogEvents", **asked, startFromHead=head)
        assert texts(answer) == lines(5, 6, 7)
        assert answer["events"][0] == {
            "timestamp": START + 5000,
            "message": "line 5",
            "ingestionTime": START + 5000,
        }
    # FilterLogEvents includes both.
    asked = {"logGroupName": GROUP, "startTime": START + 5000, "endTime": START + 8000}
    assert texts(ask("logs", "FilterLogEvents", **asked)) == lines(5, 6, 7, 8)


def test_a_page_has_a_megabyte(ask: Ask, store_job: Callable[..., StoredJob]) -> None:
    stream = log(store_job("wide"), "algo-1", *((number, f"{number} {'x' * 200_000}") for number in range(12)))
    asked = {"logGroupName": GROUP, "logStreamName": stream}
    first = ask("logs", "GetLogEvents", **asked, startFromHead=True)
    assert [text.partition(" ")[0] for text in texts(first)] == ["0", "1", "2", "3", "4"]
    assert [text.partition(" ")[0] for text in texts(ask("logs", "GetLogEvents", **asked))] == [
        "7",
        "8",
        "9",
        "10",
        "11",
    ]


def test_a_token_of_somebody_else_is_refused(ask: Ask, numbered: str) -> None:
    for token in ("f/1", "x/00000000000000000001/s", "bm9uZQ==", "W10=", "f/\u06600000000000000000001/s"):
        for operation, asked in (
            ("GetLogEvents", {"logStreamName": numbered}),
            ("FilterLogEvents", {}),
            ("DescribeLogStreams", {}),
        ):
            with pytest.raises(ServiceError, match="The specified nextToken is invalid"):
                ask("logs", operation, logGroupName=GROUP, nextToken=token, **asked)


def test_events_of_several_streams_come_by_time_with_stable_unique_ids(
    ask: Ask, store_job: Callable[..., StoredJob]
) -> None:
    job = store_job("two", hosts=("algo-1", "algo-2"))
    one = log(job, "algo-1", (1, "a"), (3, "c"), (3, "c"), (5, "e"))
    two = log(job, "algo-2", (2, "b"), (3, "d"), (6, "f"))
    log(store_job("other"), "algo-1", (1.5, "other"))
    asked: dict[str, Any] = {"logGroupName": GROUP, "logStreamNamePrefix": "two/", "interleaved": True}
    whole = ask("logs", "FilterLogEvents", **asked)
    assert texts(whole) == ["a", "b", "c", "c", "d", "e", "f"]
    assert [event["logStreamName"] for event in whole["events"]] == [one, two, one, one, two, one, two]
    assert "nextToken" not in whole
    assert len({event["eventId"] for event in whole["events"]}) == 7

    paged: list[dict[str, Any]] = []
    asked["limit"] = 3
    while True:
        answer = ask("logs", "FilterLogEvents", **asked)
        paged += answer["events"]
        if "nextToken" not in answer:
            break
        asked["nextToken"] = answer["nextToken"]
    assert paged == whole["events"]
    named = {"logGroupName": GROUP, "logStreamNames": [two, one, two]}
    assert ask("logs", "FilterLogEvents", **named)["events"] == whole["events"]
    # All jobs.
    assert texts(ask("logs", "FilterLogEvents", logGroupName=GROUP)) == ["a", "other", "b", "c", "c", "d", "e", "f"]


def test_a_search_that_is_long_is_continued_by_a_token(
    ask: Ask, numbered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "_MOST_SEARCHED", 100)
    asked: dict[str, Any] = {"logGroupName": GROUP, "logStreamNames": [numbered], "filterPattern": "99"}
    pages = [ask("logs", "FilterLogEvents", **asked)]
    while "nextToken" in pages[-1]:
        pages.append(ask("logs", "FilterLogEvents", **asked, nextToken=pages[-1]["nextToken"]))
    assert [texts(page) for page in pages if page["events"]] == [["line 99"]]
    assert len(pages) > 5


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", ["ERROR: disk full", "error code", "INFO ok 'x'", 'say "x y"']),
        ("ERROR", ["ERROR: disk full"]),
        ("disk ERR", ["ERROR: disk full"]),
        ("disk code", []),
        ("?disk ?code", ["ERROR: disk full", "error code"]),
        ('"disk full"', ["ERROR: disk full"]),
        ('"full disk"', []),
        (r'"\"x y\""', ['say "x y"']),
        ("-ERROR -say", ["error code", "INFO ok 'x'"]),
        ('-"x"  code', ["error code"]),
    ],
)
def test_terms_and_phrases_select_events(
    ask: Ask, store_job: Callable[..., StoredJob], pattern: str, found: list[str]
) -> None:
    said = ["ERROR: disk full", "error code", "INFO ok 'x'", 'say "x y"']
    log(store_job("said"), "algo-1", *enumerate(said))
    assert texts(ask("logs", "FilterLogEvents", logGroupName=GROUP, filterPattern=pattern)) == found


@pytest.mark.parametrize("pattern", ["{ $.a = 1 }", "[a, b]", "%a.*%", "a.b", '"open', "?a b", 'a"b"', "- a"])
def test_other_patterns_are_refused(ask: Ask, pattern: str) -> None:
    with pytest.raises(ServiceError, match="InvalidParameterException: Invalid filter pattern"):
        ask("logs", "FilterLogEvents", logGroupName=GROUP, filterPattern=pattern)


def test_what_is_written_now_is_read_as_soon_as_it_cannot_change(ask: Ask, store_job: Callable[..., StoredJob]) -> None:
    job = store_job("running")
    stream = log(job, "algo-1", (1, "done"))
    with (job.directory / "logs" / "algo-1.log").open("ab") as file:
        file.write(b"half a line")
    asked = {"logGroupName": GROUP, "logStreamName": stream, "startFromHead": True}
    first = ask("logs", "GetLogEvents", **asked)
    assert texts(first) == ["done"]
    job.end(3)
    rest = ask("logs", "GetLogEvents", **asked, nextToken=first["nextForwardToken"])
    assert texts(rest) == ["half a line"]
