"""How records are sent: what the request says, what the container says, and what is above a limit."""

from typing import Any

import pytest

from smlocal.sagemaker.transform.parameters import Parameters, ParametersError, parameters_of

NOTHING: dict[str, Any] = {"strategy": None, "concurrent": None, "payload": None}


def found(said: Any, **asked: Any) -> tuple[str, int, int]:
    each = parameters_of(said, **{**NOTHING, **asked})
    return each.strategy, each.concurrent, each.payload


def test_the_request_counts_most_then_the_container_then_the_default() -> None:
    said = {"BatchStrategy": "SINGLE_RECORD", "MaxConcurrentTransforms": 3, "MaxPayloadInMB": 2}
    assert found({}) == ("MULTI_RECORD", 1, 6)
    assert found(said) == ("SINGLE_RECORD", 3, 2)
    assert found(said, strategy="MultiRecord", concurrent=4, payload=0) == ("MULTI_RECORD", 4, 0)
    assert found(said, concurrent=0) == ("SINGLE_RECORD", 3, 2)


@pytest.mark.parametrize("wrong", [None, [], {}, "2", 2.5, True, -1, [[]], {"a": []}])
def test_what_a_container_says_in_another_type_does_not_count(wrong: Any) -> None:
    said = {"BatchStrategy": wrong, "MaxConcurrentTransforms": wrong, "MaxPayloadInMB": wrong}
    assert found(said) == ("MULTI_RECORD", 1, 6)
    told = remarks(said)
    assert len(told) == (0 if wrong is None else 3)
    assert all("it is ignored, and" in each for each in told)


def remarks(said: Any, **asked: Any) -> tuple[str, ...]:
    return parameters_of(said, **{**NOTHING, **asked}).remarks


def test_what_is_ignored_is_told_with_what_is_used() -> None:
    (said,) = remarks({"MaxPayloadInMB": "2"})
    assert said.startswith('/execution-parameters has MaxPayloadInMB: "2", which is not a whole number from 0; ')
    assert said.endswith("it is ignored, and 6 MB is used")
    (said,) = remarks({"BatchStrategy": "MultiRecord"})
    assert said.endswith("which is not MULTI_RECORD or SINGLE_RECORD; it is ignored, and MULTI_RECORD is used")
    (said,) = remarks({"MaxConcurrentTransforms": "x" * 1000})
    assert len(said) < 250
    nested: list[Any] = []
    for _ in range(900):
        nested = [nested]
    (said,) = remarks({"MaxConcurrentTransforms": nested})
    assert "a list" in said
    asked = {"strategy": "MultiRecord", "concurrent": 2, "payload": 3}
    assert remarks({"BatchStrategy": 1, "MaxConcurrentTransforms": "", "MaxPayloadInMB": []}, **asked) == ()


def test_an_answer_that_is_no_object_is_told() -> None:
    assert found(None) == ("MULTI_RECORD", 1, 6)
    (said,) = remarks(None)
    assert said.startswith("the answer to /execution-parameters is not a JSON object")


def test_fewer_requests_at_once_than_the_container_says_are_told() -> None:
    assert remarks({"MaxConcurrentTransforms": 16, "MaxPayloadInMB": 6}) == ()
    (said,) = remarks({"MaxConcurrentTransforms": 64, "MaxPayloadInMB": 6})
    assert said.startswith(
        "MaxConcurrentTransforms: 64 (/execution-parameters) of 6 MB (/execution-parameters) may be "
    )
    assert said.endswith("16 are sent at once")
    (said,) = remarks({"MaxConcurrentTransforms": 3}, payload=100)
    assert "100 MB (the request)" in said
    assert said.endswith("1 is sent at once")


def test_the_product_is_judged_by_what_the_container_says() -> None:
    assert found({"MaxPayloadInMB": 1}, concurrent=100) == ("MULTI_RECORD", 100, 1)
    for said, concurrent, text in (
        ({}, 30, r"30 \(the request\) times 6 MB \(the default\), is above 100: set MaxPayloadInMB: 3 or less"),
        (
            {"MaxPayloadInMB": 7},
            17,
            r"times 7 MB \(/execution-parameters\), is above 100: set MaxPayloadInMB: 5 or less",
        ),
        ({}, 200, "set MaxConcurrentTransforms: 16 or less"),
    ):
        with pytest.raises(ParametersError, match=text) as error:
            parameters_of(said, strategy=None, concurrent=concurrent, payload=None)
        assert error.value.blamed == "ClientError"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"MaxConcurrentTransforms": 1_000_000}, "MaxConcurrentTransforms of at most 1000, not 1000000"),
        ({"MaxPayloadInMB": 101}, "MaxPayloadInMB of at most 100, not 101"),
    ],
)
def test_what_a_container_says_has_a_limit(said: Any, text: str) -> None:
    with pytest.raises(ParametersError, match=text) as error:
        found(said)
    assert error.value.blamed == "AlgorithmError"


@pytest.mark.parametrize(
    ("concurrent", "payload", "at_once"), [(1, 100, 1), (16, 6, 16), (64, 6, 16), (1000, 0, 100), (3, 100, 1)]
)
def test_no_more_is_sent_at_once_than_the_service_allows(concurrent: int, payload: int, at_once: int) -> None:
    """A container may state one request for each CPU, and payloads whose sum is above the limit of a request."""
    each = Parameters(strategy="MULTI_RECORD", concurrent=concurrent, payload=payload)
    assert each.at_once == at_once
    assert (each.at_once + each.ahead) * payload <= 132
