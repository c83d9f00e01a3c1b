from dataclasses import replace

import pytest

from smlocal.engine.facts import EngineFacts
from smlocal.errors import CredentialsUnreachableError
from smlocal.jobs.credential_endpoint import check_engine

ENGINE = EngineFacts(
    address="unix:///var/run/docker.sock",
    local=True,
    shares_folders=True,
    version="27.0",
    architecture="amd64",
    operating_system="linux",
    storage_driver="",
)


def test_an_engine_of_this_machine_will_do() -> None:
    check_engine(ENGINE)


@pytest.mark.parametrize(
    ("engine", "why"),
    [
        (replace(ENGINE, rootless=True), "is rootless"),
        (replace(ENGINE, product="podman"), "is Podman"),
        (replace(ENGINE, desktop=True), "virtual machine"),
        (replace(ENGINE, local=False, shares_folders=False), "virtual machine"),
    ],
)
def test_one_whose_containers_do_not_reach_it_is_refused(engine: EngineFacts, why: str) -> None:
    with pytest.raises(CredentialsUnreachableError, match=why):
        check_engine(engine)
