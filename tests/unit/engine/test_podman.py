"""Podman's words, as it said them, in Docker's."""

import pytest

from smlocal.data.channels.copy import is_overlay_refusal
from smlocal.engine.documents import container_state
from smlocal.engine.podman import (
    as_docker_error,
    beside_removals,
    cdi_folders,
    docker_network,
    is_name_in_use,
    is_not_running,
    no_gpus,
)
from smlocal.errors import EngineError
from smlocal.jobs.decide.hints import start_hint

ID = "005b0a1f" * 8
RUNC = "runc create failed: unable to start container process: exec: "
NO_COMMAND = "OCI runtime attempted to invoke a command that was not found"


@pytest.mark.parametrize("earlier", ["", f"preparing container {ID} for attach: "])
@pytest.mark.parametrize(
    ("runtime", "words", "kind", "hint"),
    [
        ("runc", f'{RUNC}"train": executable file not found in $PATH', NO_COMMAND, "can be executed"),
        ("runc", f'{RUNC}"/etc": permission denied', "OCI permission denied", "not executable"),
        ("crun", "executable file `train` not found in $PATH: No such file", NO_COMMAND, "can be executed"),
    ],
)
def test_a_first_process_that_cannot_be_started(earlier: str, runtime: str, words: str, kind: str, hint: str) -> None:
    error = as_docker_error(EngineError(f"{earlier}{runtime}: {words}: {kind}", status=500))
    assert (error.sentence, error.status) == (f"OCI runtime create failed: {words}: unknown", 500)
    assert hint in (start_hint(error.sentence) or "")


def test_an_overlay_that_cannot_be_mounted_is_one() -> None:
    said = f"mounting volume view for container {ID}: mount: /x/_data: special device overlay does not exist.\n dmesg"
    refusal = EngineError(said, status=500)
    assert not is_overlay_refusal(refusal)
    assert is_overlay_refusal(as_docker_error(refusal))


def test_other_words_stay_as_they_are() -> None:
    assert as_docker_error(EngineError("no space left on device", status=500)).sentence == "no space left on device"


def test_a_name_in_use() -> None:
    named = f'the container name "train" is already in use by {ID}. You have to remove that container'
    said = f"container create: creating container storage: {named} to be able to reuse that name"
    assert is_name_in_use(EngineError(f"{said}: that name is already in use", status=500))
    assert is_name_in_use(EngineError("network name n already used: network already exists", status=500))
    assert not is_name_in_use(EngineError("subnet 10.0.0.0/24 is already used on the host", status=500))


def test_an_image_is_looked_at_again_if_another_one_was_removed_meanwhile() -> None:
    removed = "failed to convert ImageData to ImageInspect 'mine': locating image with ID \"0a\": image not known"
    errors = [EngineError(removed, status=500), EngineError(removed, status=500)]

    def look() -> str:
        if errors:
            raise errors.pop()
        return "facts"

    assert beside_removals(look) == "facts"
    errors.append(EngineError("the storage is locked", status=500))
    with pytest.raises(EngineError, match="locked"):
        beside_removals(look)


def test_a_signal_that_comes_too_early() -> None:
    said = f"can only kill running containers. {ID} is in state created: container state improper"
    assert is_not_running(EngineError(said, status=500))
    assert not is_not_running(EngineError("permission denied", status=500))


@pytest.mark.parametrize(
    ("said", "status"),
    [("stopped", "exited"), ("stopping", "running"), ("exited", "exited"), ("created", "created")],
)
def test_what_a_container_is_for_a_moment_has_dockers_name(said: str, status: str) -> None:
    assert container_state({"State": {"Status": said, "ExitCode": 3}}).status == status


@pytest.mark.parametrize(
    ("version", "folders", "why"),
    [
        ("Libpod/4.3.1 (linux)", False, "before 5.4"),
        ("5.3.9", False, "before 5.4"),
        ("5.4.2", True, "/etc/cdi"),
        ("Libpod/10.0.0-dev (linux)", True, "/etc/cdi"),
        ("", False, "before 5.4"),
    ],
)
def test_gpus_are_cdi_devices_of_newer_versions(version: str, folders: bool, why: str) -> None:
    assert bool(cdi_folders(version)) is folders
    assert why in no_gpus(version)


def test_a_network_has_dockers_form() -> None:
    listed = {
        "name": "n",
        "id": "2f25",
        "driver": "bridge",
        "subnets": [{"subnet": "10.89.0.0/24", "gateway": "10.89.0.1"}, {"subnet": "fd00::/64"}],
        "labels": {"smlocal.job": "j"},
    }
    assert docker_network(listed) == {
        "Id": "2f25",
        "Name": "n",
        "IPAM": {
            "Config": [{"Subnet": "10.89.0.0/24", "Gateway": "10.89.0.1"}, {"Subnet": "fd00::/64", "Gateway": ""}]
        },
        "Labels": {"smlocal.job": "j"},
    }
    assert docker_network({"name": "n", "id": "2f25", "subnets": None})["IPAM"] == {"Config": []}
