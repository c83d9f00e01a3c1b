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


def test_the_product_is_judged_by_what_the_container_says() -> None:
    assert found({"MaxPayloadInMB": 1}, concurrent=100) == ("MULTI_RECORD", 100, 1)
    for said in ({}, {"MaxPayloadInMB": 7}):
        with pytest.raises(
            ParametersError, match="MaxConcurrentTransforms times MaxPayloadInMB is at most 100"
        ) as error:
            parameters_of(said, strategy=None, concurrent=17, payload=None)
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
