"""What the three requests of an endpoint may not have."""

from typing import Any

import pytest

from smlocal.sagemaker.hosting.members import refused_members


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ({"PrimaryContainer": {"Mode": "MultiModel"}}, "PrimaryContainer.Mode"),
        ({"Models": [{"Containers": [{"Mode": "MultiModel"}]}]}, "Containers[].Mode"),
    ],
)
def test_values_are_refused_too(request_: dict[str, Any], name: str) -> None:
    assert [found for found, _ in refused_members(request_)] == [name]


def test_what_is_not_refused_is_silent() -> None:
    assert refused_members({"PrimaryContainer": {"Image": "a", "Mode": "SingleModel"}, "Tags": [{"Key": "a"}]}) == []
