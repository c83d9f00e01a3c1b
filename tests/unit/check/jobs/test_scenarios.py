"""How scenarios change the plain job."""

from typing import Any

from smlocal.check.jobs.interface import Folders
from smlocal.check.jobs.scenarios import TWO_HOSTS


def test_the_second_host_is_on_the_engine_of_the_first() -> None:
    placement = {"algo-1": "ssh://b"}
    request: dict[str, Any] = {
        "ResourceConfig": {"InstanceCount": 1},
        "Local": {"Engines": ["ssh://a", "ssh://b"], "Placement": placement},
    }
    TWO_HOSTS.change(request, Folders(data="/data", first_files={}))
    assert placement == {"algo-1": "ssh://b", "algo-2": "ssh://b"}
