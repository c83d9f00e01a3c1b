import json
from typing import Any

import pytest

from smlocal.engine.interface import PullState
from smlocal.engine.pull import _report, classified, registry_host, split_reference
from smlocal.errors import EngineError, ImagePullError, RegistryUnreachableError
from smlocal.errors.of_jobs import DiskTooSmallError


@pytest.mark.parametrize(
    ("name", "parts", "host"),
    [
        ("img", ("img", "latest"), "docker.io"),
        ("img:1", ("img", "1"), "docker.io"),
        ("team/img:1", ("team/img", "1"), "docker.io"),
        ("localhost/img", ("localhost/img", "latest"), "localhost"),
        ("reg:5000/img", ("reg:5000/img", "latest"), "reg:5000"),
        ("reg:5000/img:1", ("reg:5000/img", "1"), "reg:5000"),
        ("reg.io/a/b@sha256:00", ("reg.io/a/b", "sha256:00"), "reg.io"),
        ("index.docker.io/team/img", ("index.docker.io/team/img", "latest"), "docker.io"),
        ("reg:5000/b:1@sha256:00", ("reg:5000/b", "sha256:00"), "reg:5000"),
    ],
)
def test_names_are_taken_apart(name: str, parts: tuple[str, str], host: str) -> None:
    assert split_reference(name) == parts
    assert registry_host(parts[0]) == host


@pytest.mark.parametrize(
    ("message", "status", "kind"),
    [
        ("pull access denied for x, repository does not exist or may require 'docker login'", 404, ImagePullError),
        ("manifest for x:1 not found: manifest unknown: manifest unknown", 404, ImagePullError),
        ("Head https://r/v2/x/manifests/1: no basic auth credentials", 500, ImagePullError),
        ("unauthorized: authentication required", 500, ImagePullError),
        ("toomanyrequests: You have reached your pull rate limit", 0, ImagePullError),
        ("no matching manifest for linux/arm64/v8 in the manifest list entries", 0, ImagePullError),
        ("invalid reference format", 400, ImagePullError),
        ("Get https://r/v2/: dial tcp: lookup r on 10.0.0.1:53: no such host", 500, RegistryUnreachableError),
        ("Get https://r/v2/: dial tcp 1.2.3.4:443: connect: connection refused", 500, RegistryUnreachableError),
        ("Get https://r/v2/: net/http: TLS handshake timeout", 500, RegistryUnreachableError),
        ("Get https://r/v2/: net/http: request canceled (Client.Timeout exceeded)", 500, RegistryUnreachableError),
        ("dial tcp 1.2.3.4:443: connect: network is unreachable", 0, RegistryUnreachableError),
        ("x509: certificate signed by unknown authority", 500, RegistryUnreachableError),
        ("received unexpected HTTP status: 503 Service Unavailable", 500, RegistryUnreachableError),
        ("Get https://r/v2/: http: server gave HTTP response to HTTPS client", 500, RegistryUnreachableError),
        ("write /var/lib/docker/tmp/x: no space left on device", 0, DiskTooSmallError),
        ("filesystem layer verification failed for digest sha256:00", 0, EngineError),
    ],
)
def test_a_refusal_is_told_from_a_registry_out_of_reach(message: str, status: int, kind: type[Exception]) -> None:
    error = classified("r/x:1", EngineError(message, status=status))
    assert type(error) is kind
    assert message in (error.sentence, *error.details)


def test_a_name_with_a_registry_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(ImagePullError, match="Invalid index name"):
        registry_host("-reg.io/img")


def told(*events: dict[str, Any]) -> tuple[list[str], list[PullState]]:
    lines: list[str] = []
    states: list[PullState] = []
    layers: dict[str, Any] = {}
    for event in events:
        _report(json.dumps(event).encode(), layers, lines.append, states.append)
    return lines, states


def downloading(layer: str, current: int, total: int) -> dict[str, Any]:
    return {"id": layer, "status": "Downloading", "progressDetail": {"current": current, "total": total}}


def test_the_bytes_of_a_pull_are_counted_and_their_total_once_all_layers_are_known() -> None:
    lines, states = told(
        {"status": "Pulling from team/x", "id": "v1"},
        {"status": "Pulling fs layer", "progressDetail": {}, "id": "a"},
        {"status": "Waiting", "progressDetail": {}, "id": "b"},
        {"status": "Already exists", "progressDetail": {}, "id": "c"},
        downloading("a", 10, 100),
        {"status": "Retrying in 5 seconds", "progressDetail": {}, "id": "b"},
        downloading("b", 20, 50),
        {"status": "Download complete", "progressDetail": {}, "id": "a"},
        {"status": "Extracting", "progressDetail": {"current": 5, "total": 100}, "id": "a"},
        {"status": "Pull complete", "progressDetail": {}, "id": "a"},
        {"status": "Digest: sha256:00"},
    )
    assert lines == ["Pulling from team/x", "Digest: sha256:00"]
    assert states[3] == (10, None, 1, 3)
    assert states[5:] == [(30, 150, 1, 3), (120, 150, 1, 3), (120, 150, 1, 3), (120, 150, 2, 3)]


@pytest.mark.parametrize(
    "event",
    [
        {"id": "a", "status": "Downloading"},
        {"id": "a", "status": "Downloading", "progressDetail": {"current": "1", "total": -1}},
        {"id": "a", "status": "Downloading", "progressDetail": []},
        {"id": "a", "status": "Pulling fs layer"},
    ],
    ids=str,
)
def test_a_layer_whose_engine_does_not_count(event: dict[str, Any]) -> None:
    assert told(event)[1] == [(0, None, 0, 1)]
    assert told(event, {"id": "a", "status": "Pull complete"})[1][1] == (0, 0, 1, 1)
    assert told({"id": "a", "status": 5}, {"id": 5, "status": "x"}) == (["x"], [])
